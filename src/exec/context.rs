//! The surroundings of a call: catalog, caller, state, backends.

use std::pin::Pin;
use std::time::Duration;

use serde_json::Value;

use super::Caller;
use super::backend::{BackendError, Backends};
use crate::catalog::Catalog;
use crate::state::StateStore;

/// The surroundings of a call.
pub trait CallContext: Send + Sync {
    /// The tools that exist for the caller.
    fn catalog(&self) -> &Catalog;
    /// Whether the caller may know of the tool at this place that it is there, and no more.
    fn is_forbidden(&self, index: usize) -> bool;
    /// The doc of the tool at this place.
    fn doc(&self, index: usize) -> Option<Doc>;
    /// The name of the profile that the caller sees.
    fn profile(&self) -> Option<&str>;
    /// The caller.
    fn caller(&self) -> &Caller;
    /// The state: keys, approvals, sessions, traces.
    fn state(&self) -> &dyn StateStore;
    /// The trace id of the request.
    fn trace_id(&self) -> &str;
    /// Counts a call that was answered, by `ok` or the code of its error.
    fn count(&self, outcome: &str, took: Duration);
    /// The backends of the catalog.
    fn backends(&self) -> &Backends;
    /// Whether any tool's result can change what a session is about.
    fn has_context_shifts(&self) -> bool;
    /// Runs a function of toolcrib as a tool.
    fn function<'h>(&'h self, name: &'h str, input: Value) -> FunctionFuture<'h>;
}

/// The result of a function that is run as a tool.
pub type FunctionFuture<'h> = Pin<Box<dyn Future<Output = Result<Value, BackendError>> + Send + 'h>>;

/// The identity of a doc.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Doc {
    /// The doc version.
    pub version: String,
    /// The receipt.
    pub receipt: String,
}
