//! The server: the running catalog over HTTP and MCP. The server adds no logic: answers come from `functions`,
//! `render` and `site`.
//!
//! 1. [`live`] holds the current [`Generation`], swaps it when the catalog changes, notifies listeners, and builds
//!    search indexes in advance. A request sees only one generation and one profile, its [`RequestCatalog`].
//! 2. [`auth`] knows the tokens and their issuers, and finds the caller of a request.
//! 3. [`ListingPolicy`] decides what tool lists contain: toolcrib's functions, or the catalog's tools
//!    ([`listed_tools`]).
//! 4. [`response`] has complete response bodies, a cache of bodies for each catalog view, and problems.
//! 5. [`http`] and [`mcp`] answer requests. Both pass function calls through the same [`CallLimiter`]; [`metrics`]
//!    writes the counters.

pub mod auth;
pub mod http;
mod listed_tools;
pub mod live;
pub mod mcp;
pub mod metrics;
mod request_catalog;
mod response;
pub mod site;

pub use auth::{Authenticator, Tokens};
pub use listed_tools::{ListingOptions, ListingPolicy};
pub use live::{Generation, LiveCatalog, ServeOptions};
pub use metrics::{CallLimiter, Route};
pub use request_catalog::RequestCatalog;
use request_catalog::SessionCatalog;
