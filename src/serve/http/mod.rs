//! The HTTP door: docs, functions, files about the catalog, and the health of the server.
//!
//! 1. [`listen`] accepts connections up to a limit, and closes slow or silent ones; [`full`] refuses the others.
//!    [`workers`] are the threads that serve them.
//! 2. [`service`] handles each request: [`host_check`], the token, the route, and the headers of the answer.
//! 3. Docs, the hot path, are answered by [`docs`] at once; all other requests pass the router of [`routes`], and
//!    slow work, such as [`pages`], runs in [`blocking_pool`].
//! 4. [`cached_body`] and [`stream`] are bodies: tagged, compressed, whole or in part.
//! 5. A [`problem`] is the error of a request that reaches no function.

mod address;
mod asked;
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
mod response;
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
use response::Response;
use sessions::Streams;

pub use host_check::Hosts;
pub use listen::Listener;
pub use problem::ProblemCode;
pub(super) use response_cache::ResponseCache;
pub use service::HttpService;

/// State shared by all requests.
#[derive(Debug)]
pub(super) struct Shared {
    tokens: Tokens,
    limits: ServeLimits,
    metrics: Arc<Metrics>,
    blocking_pool: BlockingPool,
    call_limiter: Arc<CallLimiter>,
    streams: Streams,
}
