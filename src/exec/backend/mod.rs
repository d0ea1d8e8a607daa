//! Backends run tools: one module for each kind. A call that comes here has been checked, and may be run.
//!
//! 1. [`Backends::of`] finds the backend of a tool, also where its definition names none ([`choice`]).
//! 2. [`Backends::run`] runs a [`BackendRequest`]; [`Backends::preview`] shows what that would send.
//! 3. A [`BackendResponse`] comes back, or a [`BackendError`], which [`failure`] turns into the error of an envelope.

mod backends;
mod choice;
mod command;
mod error;
pub(super) mod failure;
mod http;
mod mcp;
mod request;

pub use backends::Backends;
pub use error::{BackendError, BackendErrorKind, ErrorAnswer};
pub use request::{BackendRequest, BackendResponse, Begun};
