//! The server: the running catalog, and the doors to it. No logic of its own: what is answered comes from `functions`,
//! `render` and `site`.
//!
//! 1. [`live`] holds the current [`Generation`], swaps it when the catalog changes, and tells who listens;
//!    [`background_indexer`] makes it ready to be searched. A request sees one of them, [`Seen`].
//! 2. [`auth`] knows the tokens, and finds out who calls.
//! 3. [`ListingPolicy`] is what lists show: our functions, or the catalog's tools.
//! 4. [`http`] is the door for HTTP, [`mcp`] that for MCP clients. Calls of functions pass a [`call_limiter`], the
//!    same for both; [`metrics`] count what passes through.

pub mod auth;
mod background_indexer;
pub mod call_limiter;
pub mod http;
mod listing_policy;
pub mod live;
pub mod mcp;
pub mod metrics;
mod seen;

pub use auth::Tokens;
pub use call_limiter::CallLimiter;
pub use listing_policy::ListingPolicy;
pub use live::{Generation, LiveCatalog, ServeOptions, StaleCatalog};
pub use metrics::{Metrics, Route};
pub use seen::Seen;
