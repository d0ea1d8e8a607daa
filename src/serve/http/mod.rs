//! The HTTP door: docs, functions, files about the catalog, and the health of the server.
//!
//! 1. [`listen`] accepts connections up to a limit, and closes slow or silent ones; [`refused_connections`] refuses the others.
//!    [`workers`] are the threads that serve them.
//! 2. [`service`] handles each request: [`host_check`], the token, the profile ([`requested_profile`]), the route, and
//!    the headers of the answer.
//! 3. Docs, the hot path, are answered by [`docs`] at once; all other requests pass the router of [`routes`], and
//!    slow work, such as [`pages`], runs in [`blocking_pool`].
//! 4. People [`sign_in`] to the pages; a browser without a token gets the form for that.
//! 5. Bodies are cached ([`super::response`]), or a [`stream`].

mod address;
mod blocking_pool;
mod caller;
mod caller_places;
mod catalog_files;
mod docs;
mod functions;
mod health;
mod host_check;
mod job_body;
mod job_request;
mod jobs;
mod listen;
mod openapi;
mod pages;
mod query;
mod refused_caller;
mod refused_connections;
mod reload;
mod request_context;
mod requested_profile;
mod resource_metadata;
mod result_data;
mod route;
mod routes;
mod service;
mod session_numbers;
mod sessions;
mod sign_in;
mod stream;
mod workers;
mod workspace;
mod write_timeout;

use std::sync::Arc;

use super::response::build::Response;
use super::{Authenticator, CallLimiter, Metrics};
use crate::config::ServeLimits;

use blocking_pool::BlockingPool;
use sessions::Streams;

pub use super::response::problem::ProblemCode;
pub use host_check::Hosts;
pub use listen::Listener;
pub use service::HttpService;

/// State shared by all requests.
#[derive(Debug)]
pub(super) struct Shared {
    hosts: Hosts,
    authenticator: Authenticator,
    sign_in: sign_in::SignIn,
    limits: ServeLimits,
    metrics: Arc<Metrics>,
    blocking_pool: BlockingPool,
    call_limiter: Arc<CallLimiter>,
    streams: Streams,
}
