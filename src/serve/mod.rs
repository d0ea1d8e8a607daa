//! The server: the running catalog, and the doors to it. It has no logic of its own: answers come from `functions`,
//! `render` and `site`.
//!
//! 1. [`live`] holds the current [`Generation`], swaps it when the catalog changes, and notifies listeners;
//!    [`background_indexer`] builds its search indexes. Each profile has [`profile_caches`]. A request sees one
//!    generation and one profile, [`RequestCatalog`].
//! 2. [`auth`] knows the tokens and their issuers, and finds the caller of a request.
//! 3. [`ListingPolicy`] is the content of lists: functions of toolcrib, or the catalog's tools ([`listed_tools`]).
//! 4. [`response`] has bodies ready to be sent, a cache of them for each catalog view, and problems.
//! 5. [`http`] is the door for HTTP, [`mcp`] the one for MCP clients. Calls of functions pass a [`call_limiter`], the
//!    same for both; [`metrics`] counts them.

pub mod auth;
mod background_indexer;
pub mod call_limiter;
pub mod http;
mod listed_tools;
mod listing_policy;
pub mod live;
pub mod mcp;
pub mod metrics;
mod profile_caches;
mod request_catalog;
mod response;

pub use auth::{Authenticator, Tokens};
pub use call_limiter::CallLimiter;
pub use listing_policy::{ListingOptions, ListingPolicy};
pub use live::{Generation, LiveCatalog, ServeOptions, StaleCatalog};
pub use metrics::{Metrics, Route};
pub use request_catalog::RequestCatalog;
use request_catalog::SessionCatalog;
