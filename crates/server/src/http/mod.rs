//! HTTP: pages, functions, files about the catalog, and the health of the server.
//!
//! 1. [`listen`] accepts connections up to a limit, and closes slow or silent ones.
//! 2. [`routes`] has two routers: one answers everybody; the other asks who the caller is ([`admission`]: the token, the
//!    [`profile`]). [`layers`] stand around both. Slow work, such as [`docs`], runs on other threads.
//! 3. People [`sign_in`] to the pages; a browser without a token gets the form for that. [`csrf`] checks forms.

mod address;
mod admission;
mod body;
mod browser;
mod challenge;
mod csrf;
mod docs;
mod functions;
mod health;
mod host_check;
mod idempotency_header;
mod jobs;
mod layers;
mod listen;
mod metrics;
mod openapi;
mod operate;
mod profile;
mod request_context;
mod result_data;
mod routes;
mod service;
mod session_cookie;
mod sign_in;
mod try_it;
mod unread;
mod well_known;
mod workspace;

pub use crate::response::ProblemCode;
pub use host_check::Hosts;
pub use listen::Listener;
pub use service::HttpService;
