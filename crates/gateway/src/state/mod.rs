//! State that outlives a call: idempotency keys, approvals, sessions, stored results, and the trace. A server
//! keeps nothing else, so that another one beside it, or after it, can continue.
//!
//! 1. [`StateStore`] has an operation for each use of state; it knows nothing of tools. Its statements are in a file for
//!    each kind of state, with one text for both databases.
//! 2. [`Event`] is one line of a trace; a thread writes them in the background.
//! 3. [`Database`] runs transactions: in SQLite, or in `postgres` where several servers share state.

mod approvals;
mod calls;
mod database;
mod events;
#[cfg(feature = "postgres")]
mod postgres;
mod sums;

use std::panic::resume_unwind;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use chrono::DateTime;
use rusqlite::types::Value;
use tokio::task::spawn_blocking;
use tokio::time::timeout;

pub use approvals::{Approval, ApprovalResponse, ApprovalStatus, HiddenValue};
pub use calls::{Claim, ClaimOutcome, ClaimStatus, InvalidSessionName, Session, StoredResult};
pub use database::{Access, Database, Row, Sql, Sqlite, Transaction};
use events::Recorder;
pub use events::{Event, EventKind, EventQuery, every_event};
pub use sums::{CallQuery, Callers, SessionSummary, Usage};

use toolcrib_catalog::config::Environment;

/// Most bytes of each kind of state of one caller: stored results, calls that wait for a person, answers of keys, and contexts
/// of sessions.
pub(crate) const MAX_BYTES_OF_CALLER: usize = if cfg!(test) { 1 << 20 } else { 64 << 20 };
/// Most bytes of each kind, of all callers.
const MAX_BYTES_IN_ALL: usize = 4 * MAX_BYTES_OF_CALLER;

/// A store of state.
#[derive(Debug)]
pub struct StateStore {
    database: Arc<dyn Database>,
    recorder: Recorder,
    /// Bytes of answers and contexts since those over the bounds were deleted.
    stored: AtomicUsize,
}

impl StateStore {
    /// State in memory, until the process ends.
    pub fn in_memory() -> Self {
        Self::on(Sqlite::in_memory())
    }

    /// State in this file, which is made if it does not exist.
    pub fn open(file: &Path) -> Result<Self, StateError> {
        Ok(Self::on(Sqlite::open(file)?))
    }

    /// State at this URL of PostgreSQL. The connection is made at the first use.
    #[cfg(feature = "postgres")]
    pub fn postgres(url: &str) -> Result<Self, StateError> {
        Ok(Self::on(postgres::Postgres::new(url)?))
    }

    /// State in this database.
    pub fn on(database: impl Database + 'static) -> Self {
        let database: Arc<dyn Database> = Arc::new(database);
        Self { recorder: Recorder::new(Arc::clone(&database)), database, stored: AtomicUsize::new(0) }
    }

    /// Runs a transaction on a thread that may block, within the time that the call may wait for state.
    pub async fn ask<T: Send + 'static>(
        &self,
        access: Access,
        mut run: impl FnMut(&mut dyn Sql) -> Result<T, StateError> + Send + 'static,
    ) -> Result<T, StateError> {
        let database = Arc::clone(&self.database);
        let asking = spawn_blocking(move || {
            let mut answer = None;
            database.run(access, &mut |sql| run(sql).map(|value| answer = Some(value)))?;
            answer.ok_or_else(|| StateError::Failed("the database is closed".into()))
        });
        let answer = waited(async {
            match asking.await {
                Ok(answer) => answer,
                Err(error) if error.is_panic() => resume_unwind(error.into_panic()),
                Err(error) => Err(StateError::Failed(error.to_string())),
            }
        });
        let answer = answer.await;
        if let Err(error) = &answer {
            self.recorder.failed(error);
        }
        answer
    }

    /// Runs a transaction of one statement.
    async fn rows(
        &self,
        access: Access,
        sql: &str,
        values: impl Into<Vec<Value>>,
    ) -> Result<Vec<Row>, StateError> {
        let statement = sql.to_string();
        let values = values.into();
        self.ask(access, move |sql| sql.rows(&statement, &values)).await
    }

    /// Whether it can be written to, as far as is known.
    pub fn health(&self) -> Health {
        self.recorder.health()
    }
}

/// Whether state can be written to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Health {
    /// The error of the last write, if it failed.
    pub problem: Option<String>,
    /// Number of lost events.
    pub lost: u64,
    /// Whether it is lost when the process ends.
    pub is_volatile: bool,
}

/// Reason why state did not answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StateError {
    /// Another toolcrib wrote it, so that waiting does not help.
    #[error("{0}")]
    Newer(String),
    /// Another process holds it.
    #[error("{0}")]
    Busy(String),
    /// Any other failure.
    #[error("{0}")]
    Failed(String),
}

impl StateError {
    /// State with a schema that is not ours.
    fn newer(version: i64, own: i64) -> Self {
        let (age, step) =
            if version > own { ("a newer", "update toolcrib, or use") } else { ("an older", "use") };
        Self::Newer(format!(
            "it was written by {age} toolcrib (schema {version}, this one knows {own}); {step} another place"
        ))
    }

    /// The error with the place of the state.
    fn at(self, place: &str) -> Self {
        match self {
            Self::Newer(problem) => Self::Newer(format!("{place}: {problem}")),
            Self::Busy(problem) | Self::Failed(problem) => Self::Failed(format!("{place}: {problem}")),
        }
    }
}

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
        return postgres(&at);
    }
    match at.split_once("://") {
        Some((scheme, _)) => Err(StateError::Failed(format!(
            "state is stored in a file or in `postgres://...`, not in `{}://`",
            toolcrib_definition::clean_line(scheme)
        ))),
        None => Ok(Arc::new(StateStore::open(&root.join(at))?)),
    }
}

#[cfg(feature = "postgres")]
fn postgres(url: &str) -> Result<Arc<StateStore>, StateError> {
    Ok(Arc::new(StateStore::postgres(url)?))
}

#[cfg(not(feature = "postgres"))]
fn postgres(_: &str) -> Result<Arc<StateStore>, StateError> {
    Err(StateError::Failed(
        "this toolcrib was built without PostgreSQL; build it with `--features postgres`".into(),
    ))
}

// The time that one call may wait for state, in total: a database that hangs delays a call once, and not once for every
// use of state.

/// Seconds that one call may wait for state in total: after that, a call without state is better than a later one.
const LONGEST: Duration = Duration::from_secs(5);

/// Milliseconds of a wait that is not counted: a database that works is as slow at times.
const MOMENT: Duration = Duration::from_millis(100);

tokio::task_local! {
    static OF_CALL: WaitBudget;
}

/// The milliseconds that a call has waited. The calls of a batch share them.
#[derive(Clone, Debug, Default)]
pub struct WaitBudget(Arc<AtomicU64>);

impl WaitBudget {
    /// The budget of the current call; a new one outside of calls.
    pub fn current() -> Self {
        OF_CALL.try_with(Clone::clone).unwrap_or_default()
    }

    /// Runs a future as a part of this call.
    pub fn with<F: Future>(self, doing: F) -> impl Future<Output = F::Output> {
        OF_CALL.scope(self, doing)
    }

    fn left(&self) -> Duration {
        LONGEST.saturating_sub(Duration::from_millis(self.0.load(Relaxed)))
    }
}

/// The result of a request to the database, within the budget of the call. A call without budget makes no request.
async fn waited<T>(asking: impl Future<Output = Result<T, StateError>>) -> Result<T, StateError> {
    let budget = WaitBudget::current();
    let begun = Instant::now();
    let late = || StateError::Failed("the database did not answer in time".into());
    let left = budget.left();
    if left.is_zero() {
        return Err(late());
    }
    let answer = timeout(left, asking).await;
    let took = begun.elapsed();
    if took > MOMENT {
        budget.0.fetch_add(u64::try_from(took.as_millis()).unwrap_or(u64::MAX / 2), Relaxed);
    }
    answer.unwrap_or_else(|_| Err(late()))
}

// The time of day. State contains it; nothing that is made from a catalog does.

/// Milliseconds of Unix time.
#[expect(clippy::disallowed_methods, reason = "traces, leases and retention are about time")]
pub fn now() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, millis)
}

/// A span in milliseconds.
pub fn millis(span: Duration) -> i64 {
    i64::try_from(span.as_millis()).unwrap_or(i64::MAX / 4).min(i64::MAX / 4)
}

/// A time as people read it: `2026-11-22 12:30:05`, in UTC.
pub fn utc(at: i64) -> String {
    DateTime::from_timestamp_millis(at).unwrap_or_default().format("%F %T").to_string()
}

// Random ids: short, since models copy them, and impossible to guess. Secrets are longer.

/// Letters and digits that nobody confuses with each other.
const DIGITS: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";

/// An id such as `tr_7f3k9x2m4q5d`, with sixty random bits.
pub fn random_id(kind: &str) -> String {
    let random = random();
    let mut id = String::with_capacity(kind.len() + 13);
    id.push_str(kind);
    id.push('_');
    id.extend((0..12).map(|digit| char::from(DIGITS[(random >> (digit * 5)) as usize & 31])));
    id
}

/// A secret of 256 random bits, for a cookie; `None` where the system has no randomness.
pub fn random_secret() -> Option<String> {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes).ok()?;
    Some(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// Random bits. Falls back to the clock: without randomness, keys and TLS do not work either.
fn random() -> u64 {
    getrandom::u64().unwrap_or_else(|_| now() as u64)
}

#[cfg(test)]
mod tests {
    use super::{random_id, random_secret, utc};

    #[test]
    fn times_are_read_by_the_calendar() {
        assert_eq!(utc(0), "1970-01-01 00:00:00");
        assert_eq!(utc(951_827_696_123), "2000-02-29 12:34:56");
        assert_eq!(utc(1_795_350_605_000), "2026-11-22 12:30:05");
        assert_eq!(utc(-1), "1969-12-31 23:59:59");
        for odd in [i64::MIN, i64::MAX] {
            assert!(!utc(odd).is_empty());
        }
    }

    #[test]
    fn ids_are_short_and_differ() {
        let one = random_id("tr");
        let other = random_id("tr");
        assert!(random_secret().unwrap().len() == 64 && random_secret() != random_secret());
        assert!(one.starts_with("tr_") && one.len() == 15 && one != other, "{one} {other}");
    }
}
