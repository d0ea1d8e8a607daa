//! Backends run tools: one module for each kind. A call that comes here was admitted.
//!
//! 1. [`Backends::of`] finds the backend of a tool ([`choice`]).
//! 2. [`Backends::run`] runs a [`BackendRequest`]; [`Backends::preview`] is its dry run.
//! 3. [`identity`] is the token that a request to a server is sent with.
//! 4. A [`BackendResponse`] comes back, or a [`BackendError`], which [`failure`] turns into the error of an envelope.

mod backends;
mod choice;
mod command;
mod error;
pub(super) mod failure;
mod http;
mod identity;
mod mcp;
mod mcp_answer;
mod request;

pub use backends::Backends;
pub use error::{BackendError, BackendErrorKind, ErrorAnswer};
pub use mcp_answer::{DataBlock, McpAnswer};
pub use request::{BackendRequest, BackendResponse, Begun};
