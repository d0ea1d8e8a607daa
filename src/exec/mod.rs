//! A call of a tool: checked, gated, run, and wrapped (EXEC-1..6). Which door it came through is not known here.
//!
//! 1. [`CallRequest`] is what was asked for, and [`Caller`] who asks; [`resolve`] finds the tool.
//! 2. [`arguments`] are coerced and validated ([`crate::arguments`]). Else a [`Failure`] says what is wrong, with a corrected
//!    call.
//! 3. [`gates`] say whether the call may be run, [`doc`] whether its tool was read of, [`approval`] whether a person agrees.
//! 4. [`run`] takes it through all of that to a [`backend`]; [`idempotency`] sees to it that a write with a key is run once.
//! 5. [`result_paging`] shortens long results, [`session_context`] notes what the session is about.
//! 6. [`CallResult`] is what came of it; [`repeat_guard`] answers the same mistake otherwise each time, [`audit`] writes it all down.

mod active_call;
mod approval;
mod arguments;
mod audit;
pub mod backend;
mod backend_failure;
mod call_fields;
mod call_result;
mod caller;
mod doc_gate;
mod failure;
mod fingerprint;
mod gates;
mod idempotency;
mod repeat_guard;
mod request;
mod resolve;
mod result_paging;
mod run;
mod session_context;

use std::pin::Pin;
use std::time::Duration;

use serde_json::Value;

use crate::catalog::Catalog;
use crate::state::StateStore;

use backend::{BackendError, Backends};

pub use approval::binding;
pub use call_result::{CallResult, Outcome};
pub use caller::{Caller, EVERY_ROLE};
pub use failure::Failure;
pub use request::{CallRequest, EffectLimit};
pub use result_paging::{Part, next_page};
pub use run::{answer, run};

/// What a call finds around it.
pub trait CallContext: Send + Sync {
    /// The tools that exist for the caller.
    fn catalog(&self) -> &Catalog;
    /// Whether the caller may know of the tool at this place that it is there, and no more.
    fn is_forbidden(&self, index: usize) -> bool;
    /// The doc of the tool at this place.
    fn doc(&self, index: usize) -> Option<Doc>;
    /// The profile that the caller sees.
    fn profile(&self) -> Option<&str>;
    /// Who calls.
    fn caller(&self) -> &Caller;
    /// What outlives the call.
    fn state(&self) -> &dyn StateStore;
    /// What the request is known by.
    fn trace_id(&self) -> &str;
    /// Counts a call that was answered, by `ok` or the code of its error.
    fn count(&self, outcome: &str, took: Duration);
    /// What runs tools.
    fn backends(&self) -> &Backends;
    /// Whether any tool's result can change what a session is about.
    fn has_context_shifts(&self) -> bool;
    /// Runs a function of ours as a tool.
    fn function<'h>(&'h self, name: &'h str, input: Value) -> FunctionFuture<'h>;
}

/// What a function answers as a tool; waited for.
pub type FunctionFuture<'h> = Pin<Box<dyn Future<Output = Result<Value, BackendError>> + Send + 'h>>;

/// What a doc is known by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Doc {
    /// The doc version.
    pub version: String,
    /// The receipt.
    pub receipt: String,
}
