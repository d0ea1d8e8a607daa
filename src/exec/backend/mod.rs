//! Backends run tools: one module for each kind. A call that comes here was admitted.
//!
//! 1. [`Backends::of`] finds the backend of a tool ([`backends`]).
//! 2. [`Backends::run`] runs a [`BackendRequest`]; [`Backends::preview`] is its dry run.
//! 3. [`identity`] is the token that a request to a server is sent with.
//! 4. A [`BackendResponse`] comes back, or a [`BackendError`], which [`error`] turns into the error of an envelope.

mod backends;
mod command;
mod error;
mod http;
mod identity;
mod mcp;
mod mcp_answer;

pub use backends::Backends;
pub use backends::{BackendRequest, BackendResponse, Begun};
pub use error::{BackendError, BackendErrorKind, ErrorAnswer};
pub(super) use error::{failure_of, no_backend};
pub use mcp_answer::{DataBlock, McpAnswer};
