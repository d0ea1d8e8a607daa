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
mod ended_cookies;
mod event;
mod event_rows;
mod events;
mod idempotency_keys;
#[cfg(feature = "postgres")]
mod postgres;
mod random_id;
mod recorder;
mod result_costs;
mod sessions;
mod sqlite;
mod store;
mod stored_results;
mod summaries;
mod sums;
mod wait_budget;

use std::path::Path;
use std::sync::Arc;

use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use toolcrib_catalog::config::{Environment, MissingVariable};

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
pub use result_costs::ResultCost;
pub use sessions::{InvalidSessionName, Session};
pub use sqlite::Sqlite;
pub use store::StateStore;
pub use stored_results::StoredResult;
pub use summaries::Usage;
pub use sums::SessionSummary;
pub use wait_budget::WaitBudget;

/// Opens the state at `at`: a file, relative to `root`, or `postgres://...` over so many `connections` at most, in which
/// `${NAME}` stands for the value of `variable` for `NAME`. Without a place it is in memory.
pub fn open(
    at: Option<&str>,
    connections: usize,
    root: &Path,
    variable: impl Fn(&str) -> Option<String> + Send + Sync + 'static,
) -> Result<Arc<StateStore>, StateError> {
    let Some(at) = at.map(str::trim).filter(|at| !at.is_empty()) else {
        return Ok(Arc::new(StateStore::in_memory()));
    };
    if at.rsplit_once("${").is_some_and(|(_, name)| !name.contains('}')) {
        return Err(StateError::Failed("`${` without a `}`".into()));
    }
    let at = filled(at, Arc::new(variable)).map_err(|missing| StateError::Failed(missing.to_string()))?;
    if is_postgres(&at) {
        #[cfg(feature = "postgres")]
        return Ok(Arc::new(StateStore::postgres(&at, connections)?));
        #[cfg(not(feature = "postgres"))]
        let _ = connections;
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

fn is_postgres(at: &str) -> bool {
    at.starts_with("postgres://") || at.starts_with("postgresql://")
}

/// The values of variables, by their names.
type Variables = dyn Fn(&str) -> Option<String> + Send + Sync;

/// The place with the values of its variables. Those in the user and the password of a URL may have any characters.
fn filled(at: &str, variable: Arc<Variables>) -> Result<String, MissingVariable> {
    let user = at.find("://").map(|scheme| scheme + 3).zip(at.rfind('@'));
    let (from, to) = user.filter(|(from, to)| from < to && is_postgres(at)).unwrap_or_default();
    let of_user = Arc::clone(&variable);
    let encoded = move |name: &str| Some(utf8_percent_encode(&of_user(name)?, NON_ALPHANUMERIC).to_string());
    let plain = Environment::new(move |name| variable(name));
    let user = Environment::new(encoded).filled(&at[from..to])?;
    Ok(format!("{}{user}{}", plain.filled(&at[..from])?, plain.filled(&at[to..])?))
}

#[cfg(all(test, feature = "postgres"))]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_user_and_a_password_of_any_characters_arrive(user in "[^\\x00]{1,20}", password in "[^\\x00]{0,20}") {
            let values = [("U", user.clone()), ("P", password.clone()), ("H", "db.example".to_string())];
            let variable = move |name: &str| Some(values.iter().find(|(known, _)| *known == name)?.1.clone());
            let url = filled("postgres://${U}:${P}@${H}/x", Arc::new(variable)).unwrap();
            let config: tokio_postgres::Config = url.parse().unwrap();
            prop_assert_eq!(config.get_user(), Some(&*user));
            prop_assert_eq!(config.get_password(), Some(password.as_bytes()));
            prop_assert_eq!(config.get_dbname(), Some("x"));
        }
    }
}
