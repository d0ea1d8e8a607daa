//! The HTTP door: docs, functions, what machines read of a catalog, and whether the server is well.
//!
//! 1. [`listen`] takes connections, as many as there may be, and lets go of those that are slow or silent; [`full`] is
//!    what those are told for whom there is no room. [`workers`] are
//!    the threads that serve them.
//! 2. [`door`] is what each request passes: [`guard`] (is it for us?), the token, the route, and the headers of the answer.
//! 3. Docs, the hot path, are answered by [`docs`] at once; all else goes through the router of [`routes`], and what takes
//!    long to make, such as [`pages`], through [`heavy`].
//! 4. [`kept`] and [`stream`] are bodies: tagged, compressed, whole or in part.
//! 5. A [`problem`] is what stands in the way of an answer.

mod caller;
mod docs;
mod door;
mod full;
mod functions;
mod guard;
mod health;
mod heavy;
mod kept;
mod listen;
mod negotiate;
mod openapi;
mod pages;
mod patience;
mod problem;
mod query;
mod routes;
mod sessions;
mod shelf;
mod stream;
mod whole;
mod workers;

use std::sync::Arc;

use axum::body::Body;

use super::{Gate, Metrics, Tokens};
use crate::config::ServeLimits;

use heavy::Heavy;
use sessions::Streams;

pub use door::Door;
pub use guard::Hosts;
pub use listen::Listener;
pub use problem::ProblemCode;
pub(super) use shelf::Shelf;

type Response = http::Response<Body>;

/// What all requests share.
#[derive(Debug)]
pub(super) struct Shared {
    tokens: Tokens,
    limits: ServeLimits,
    metrics: Arc<Metrics>,
    heavy: Heavy,
    gate: Arc<Gate>,
    streams: Streams,
}
