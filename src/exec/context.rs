//! The context of a call: catalog, caller, state, backends.

use std::pin::Pin;
use std::time::Duration;

use serde_json::Value;

use super::Caller;
use super::backend::{BackendError, Backends};
use crate::catalog::Catalog;
use crate::state::StateStore;

/// The context of a call.
pub trait CallContext: Send + Sync {
    /// The catalog with the tools that the caller may see.
    fn catalog(&self) -> &Catalog;
    /// Whether the caller may see the tool at this index, but not call it.
    fn is_forbidden(&self, index: usize) -> bool;
    /// The doc of the tool at this index.
    fn doc(&self, index: usize) -> Option<Doc>;
    /// The name of the caller's profile.
    fn profile(&self) -> Option<&str>;
    /// The caller.
    fn caller(&self) -> &Caller;
    /// The state: keys, approvals, sessions, traces.
    fn state(&self) -> &StateStore;
    /// The trace id of the request.
    fn trace_id(&self) -> &str;
    /// Counts an answered call for metrics; `outcome` is `ok` or the code of its error.
    fn count(&self, outcome: &str, took: Duration);
    /// The backends of the catalog.
    fn backends(&self) -> &Backends;
    /// Whether any tool has a `context_shift`.
    fn has_context_shifts(&self) -> bool;
    /// Runs a function of toolcrib as a tool.
    fn function<'h>(&'h self, name: &'h str, input: Value) -> FunctionFuture<'h>;
}

/// The result of a function that is run as a tool.
pub type FunctionFuture<'h> = Pin<Box<dyn Future<Output = Result<Value, BackendError>> + Send + 'h>>;

/// The version and the receipt of a doc.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Doc {
    /// The doc version.
    pub version: String,
    /// The receipt.
    pub receipt: String,
}
