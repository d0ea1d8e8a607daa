//! The server: the running catalog over HTTP and MCP. The server adds no logic: answers come from `functions`,
//! `render` and `site`.
//!
//! 1. [`live`] holds the current [`Snapshot`], swaps it when the catalog changes, notifies listeners, and builds
//!    search indexes in advance. A request sees only one snapshot, one profile, and
//!    what its caller may see of it: its [`RequestCatalog`].
//! 2. [`auth`] knows the tokens and their issuers, and finds the caller of a request.
//! 3. [`ListingPolicy`] decides what tool lists contain: toolcrib's functions, or the catalog's tools
//!    ([`listed_tools`]).
//! 4. A [`served_view`] has what is derived from a catalog view, [`response`] complete response bodies and problems.
//! 5. [`http`] and [`mcp`] answer requests. Both pass function calls through the same [`call_limiter::CallLimiter`].
// The futures of the HTTP client are nested deeply, more so with telemetry.
#![recursion_limit = "256"]

pub mod auth;
mod call_limiter;
pub mod http;
mod listed_tools;
mod listing;
pub mod live;
pub mod mcp;
mod request_catalog;
mod response;
mod served_view;
pub mod site;
mod snapshot;

pub use auth::{Authenticator, Tokens};
pub use listing::{ListingOptions, ListingPolicy};
pub use live::LiveCatalog;
pub use request_catalog::RequestCatalog;
pub use snapshot::{ServeOptions, Snapshot};
