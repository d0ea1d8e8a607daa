//! The HTTP door: docs, functions, what machines read of a catalog, and whether the server is well.
//!
//! 1. [`listen`] takes connections, as many as there may be, and lets go of those that are slow or silent; [`full`] is
//!    what those are told for whom there is no room. [`workers`] are
//!    the threads that serve them.
//! 2. [`service`] is what each request passes: [`host_check`] (is it for us?), the token, the route, and the headers of the answer.
//! 3. Docs, the hot path, are answered by [`docs`] at once; all else goes through the router of [`routes`], the table of them
//!    all, and what takes long to make, such as [`pages`], through [`blocking_pool`].
//! 4. [`cached_body`] and [`stream`] are bodies: tagged, compressed, whole or in part.
//! 5. A [`problem`] is what stands in the way of an answer.

mod address;
mod blocking_pool;
mod cached_body;
mod caller;
mod catalog_files;
mod docs;
mod full;
mod functions;
mod health;
mod host_check;
mod listen;
mod negotiate;
mod openapi;
mod pages;
mod problem;
mod query;
mod response_cache;
mod route;
mod routes;
mod service;
mod sessions;
mod stream;
mod workers;
mod write_timeout;

use std::sync::Arc;

use super::{CallLimiter, Metrics, Tokens};
use crate::config::ServeLimits;

use blocking_pool::BlockingPool;
use problem::Response;
use sessions::Streams;

pub use host_check::Hosts;
pub use listen::Listener;
pub use problem::ProblemCode;
pub(super) use response_cache::ResponseCache;
pub use service::HttpService;

/// What all requests share.
#[derive(Debug)]
pub(super) struct Shared {
    tokens: Tokens,
    limits: ServeLimits,
    metrics: Arc<Metrics>,
    blocking_pool: BlockingPool,
    call_limiter: Arc<CallLimiter>,
    streams: Streams,
}
