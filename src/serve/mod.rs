//! The server: the running catalog, and the doors to it. No logic of its own: what is answered comes from `functions`,
//! `render` and `site`.
//!
//! 1. [`live`] holds the current [`Generation`], swaps it when the catalog changes, and tells who listens.
//! 2. [`caller`] is who asks, and what that lets them see.
//! 3. [`mcp`] is the door for MCP clients.

pub mod caller;
pub mod live;
pub mod mcp;

pub use caller::Caller;
pub use live::{Generation, Live, Trouble};
