//! The server: the running catalog over its transports, HTTP and MCP. It has no logic of its own: answers come from `functions`,
//! `render` and `site`.
//!
//! 1. [`live`] holds the current [`Generation`], swaps it when the catalog changes, notifies listeners, and builds search
//!    indexes ahead. A request sees one generation and one profile, its [`RequestCatalog`].
//! 2. [`auth`] knows the tokens and their issuers, and finds the caller of a request.
//! 3. [`ListingPolicy`] is the content of lists: functions of toolcrib, or the catalog's tools ([`listed_tools`]).
//! 4. [`response`] has bodies ready to be sent, a cache of them for each catalog view, and problems.
//! 5. [`http`] and [`mcp`] answer requests. Calls of functions pass a [`CallLimiter`], the same for both; [`metrics`] writes
//!    the counters.

pub mod auth;
pub mod http;
mod listed_tools;
pub mod live;
pub mod mcp;
pub mod metrics;
mod request_catalog;
mod response;

pub use auth::{Authenticator, Tokens};
pub use listed_tools::{ListingOptions, ListingPolicy};
pub use live::{Generation, LiveCatalog, ServeOptions};
pub use metrics::{CallLimiter, Route};
pub use request_catalog::RequestCatalog;
use request_catalog::{SessionCatalog, Way};
