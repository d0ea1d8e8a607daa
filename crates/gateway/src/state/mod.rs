//! State that outlives a call: idempotency keys, approvals, sessions, stored results, and the trace. A server
//! keeps nothing else, so that another one beside it, or after it, can continue.
//!
//! 1. [`StateStore`] has an operation for each use of state; it knows nothing of tools. Its statements are in a file for
//!    each kind of state, with one text for both databases.
//! 2. [`Event`] is one line of a trace; a thread writes them in the background.
//! 3. [`Database`] runs transactions: in SQLite, or in `postgres` where several servers share state.

mod approvals;
mod bounds;
mod call_search;
mod callers;
mod clock;
mod database;
mod event;
mod event_rows;
mod events;
mod idempotency_keys;
#[cfg(feature = "postgres")]
mod postgres;
mod random_id;
mod recorder;
mod sessions;
mod sqlite;
mod store;
mod stored_results;
mod summaries;
mod sums;
mod wait_budget;

use std::path::Path;
use std::sync::Arc;

use toolcrib_catalog::config::Environment;

pub use approvals::{Approval, ApprovalResponse, ApprovalStatus, HiddenValue};
pub(crate) use bounds::MAX_BYTES_OF_CALLER;
pub use call_search::CallQuery;
pub use callers::Callers;
pub use clock::{millis, now, utc};
pub use database::{Access, Database, Result, Row, Sql, StateError, Transaction};
pub use event::{Event, EventKind, WAITING, is_failure};
pub use events::{EventQuery, every_event};
pub use idempotency_keys::{Claim, ClaimOutcome, ClaimStatus};
pub use random_id::{random_id, random_secret};
pub use recorder::Health;
pub use sessions::{InvalidSessionName, Session};
pub use sqlite::Sqlite;
pub use store::StateStore;
pub use stored_results::StoredResult;
pub use summaries::Usage;
pub use sums::SessionSummary;
pub use wait_budget::WaitBudget;

/// Opens the state at `at`: a file, relative to `root`, or `postgres://...`, in which `${NAME}` stands for the value
/// of `variable` for `NAME`. Without a place it is in memory.
pub fn open(
    at: Option<&str>,
    root: &Path,
    variable: impl Fn(&str) -> Option<String> + Send + Sync + 'static,
) -> Result<Arc<StateStore>, StateError> {
    let Some(at) = at.map(str::trim).filter(|at| !at.is_empty()) else {
        return Ok(Arc::new(StateStore::in_memory()));
    };
    if at.rsplit_once("${").is_some_and(|(_, name)| !name.contains('}')) {
        return Err(StateError::Failed("`${` without a `}`".into()));
    }
    let at =
        Environment::new(variable).filled(at).map_err(|missing| StateError::Failed(missing.to_string()))?;
    if at.starts_with("postgres://") || at.starts_with("postgresql://") {
        #[cfg(feature = "postgres")]
        return Ok(Arc::new(StateStore::postgres(&at)?));
        #[cfg(not(feature = "postgres"))]
        return Err(StateError::Failed(
            "this toolcrib was built without PostgreSQL; build it with `--features postgres`".into(),
        ));
    }
    match at.split_once("://") {
        Some((scheme, _)) => Err(StateError::Failed(format!(
            "state is stored in a file or in `postgres://...`, not in `{}://`",
            toolcrib_definition::clean_line(scheme)
        ))),
        None => Ok(Arc::new(StateStore::open(&root.join(at))?)),
    }
}
