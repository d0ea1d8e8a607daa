//! The server: the running catalog, and the doors to it. No logic of its own: what is answered comes from `functions`,
//! `render` and `site`.
//!
//! 1. [`live`] holds the current [`Generation`], swaps it when the catalog changes, and tells who listens;
//!    [`indexing`] makes it ready to be searched. A request sees one of them, [`Seen`].
//! 2. [`auth`] knows the tokens, and finds out who calls.
//! 3. [`Shown`] is what lists show: our functions, or the catalog's tools.
//! 4. [`http`] is the door for HTTP, [`mcp`] that for MCP clients. Calls of functions pass a [`gate`], the
//!    same for both; [`metrics`] count what passes through.

pub mod auth;
pub mod gate;
pub mod http;
mod indexing;
pub mod live;
pub mod mcp;
pub mod metrics;
mod seen;
mod shown;

pub use auth::Tokens;
pub use gate::Gate;
pub use live::{Generation, Live, Setting, Trouble};
pub use metrics::{Metrics, Route};
pub use seen::Seen;
pub use shown::Shown;
