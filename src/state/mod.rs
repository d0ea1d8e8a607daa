//! State that outlives a call: idempotency keys, approvals, sessions, stored results, and the trace. A server
//! keeps nothing else, so that another one beside it, or after it, can continue.
//!
//! 1. [`StateStore`] has an operation for each use of state; it knows nothing of tools. Its statements are in a file for
//!    each kind of state, with one text for both databases.
//! 2. [`Event`] is one line of a trace; `recorder` writes them in the background.
//! 3. [`Database`] runs transactions: `sqlite` in a file or in memory, `postgres` where several servers share state.

mod approvals;
mod claims;
mod database;
mod events;
#[cfg(feature = "postgres")]
mod postgres;
mod recorder;
mod sessions;
mod sqlite;
mod wait_budget;

use std::cell::RefCell;
use std::panic::resume_unwind;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::task::spawn_blocking;

pub use database::{Access, Database, Row, Sql, Transaction, open};
use recorder::Recorder;
pub use recorder::{Event, EventKind, EventQuery, SessionSummary, every_event};
pub use sqlite::Sqlite;
pub use wait_budget::WaitBudget;
use wait_budget::waited;

/// A store of state.
#[derive(Debug)]
pub struct StateStore {
    database: Arc<dyn Database>,
    recorder: Recorder,
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
        Self { recorder: Recorder::new(Arc::clone(&database)), database }
    }

    /// Runs a transaction on a thread that may block, within the time that the call may wait for state.
    async fn ask<T: Send + 'static>(
        &self,
        access: Access,
        run: impl FnOnce(&mut dyn Sql) -> Result<T, StateError> + Send + 'static,
    ) -> Result<T, StateError> {
        let database = Arc::clone(&self.database);
        let asking = spawn_blocking(move || {
            let (mut run, mut answer) = (Some(run), None);
            let ran = database.run(access, &mut |sql| {
                answer = run.take().map(|run| run(sql)).transpose()?;
                Ok(())
            });
            ran.and_then(|()| answer.ok_or_else(|| StateError::Failed("the database is closed".into())))
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

    /// Records an event in the background. Nobody waits for it; [`Health`] counts lost events.
    pub fn record(&self, event: Event) {
        self.recorder.record(event.stamped());
    }

    /// Whether it can be written to, as far as is known.
    pub fn health(&self) -> Health {
        self.recorder.health()
    }

    /// Claims an idempotency key for one call, durably, before anything is run. The claim holds for `lease`, and is
    /// renewed by claiming again with the same `owner`.
    pub async fn claim(&self, claim: &Claim, lease: Duration) -> Result<ClaimStatus, StateError> {
        let claim = claim.clone();
        self.ask(Access::Write, move |sql| claims::claim(sql, &claim, millis(lease))).await
    }

    /// Status that a claim would find, without taking it; `None` where the key is free. Writes nothing.
    pub async fn recall(&self, claim: &Claim, lease: Duration) -> Result<Option<ClaimStatus>, StateError> {
        let claim = claim.clone();
        self.ask(Access::Read, move |sql| claims::status(sql, &claim, millis(lease))).await
    }

    /// Stores the outcome of a claim, durably; only for the owner that has it.
    pub async fn settle(&self, claim: &Claim, outcome: ClaimOutcome) -> Result<(), StateError> {
        let claim = claim.clone();
        let is_ours = self.ask(Access::Write, move |sql| claims::settle(sql, &claim, &outcome)).await?;
        is_ours
            .then_some(())
            .ok_or_else(|| StateError::Failed("the idempotency key is no longer ours".into()))
    }

    /// Queues a call for a person's decision. Returns the existing approval if the same caller has one for the same
    /// call (`fingerprint`) that is waiting, or decided and unused. Approvals of the same call that are bound to
    /// another definition become void.
    pub async fn request_approval(&self, request: &Approval) -> Result<ApprovalResponse, StateError> {
        let request = request.clone();
        self.ask(Access::Erase, move |sql| approvals::ask(sql, request)).await
    }

    /// Uses an approval for one run, and erases its arguments; false where it cannot be used.
    pub async fn use_approval(&self, id: &str) -> Result<bool, StateError> {
        let id = id.to_string();
        self.ask(Access::Erase, move |sql| approvals::take(sql, &id)).await
    }

    /// Undoes [`StateStore::use_approval`] for a call that was not sent.
    pub async fn give_back(&self, approval: &Approval) -> Result<(), StateError> {
        let approval = approval.clone();
        self.ask(Access::Write, move |sql| approvals::give_back(sql, &approval)).await
    }

    /// The random key of hashes that people see, made once and shared by all users of this state.
    pub async fn hash_key(&self) -> Result<String, StateError> {
        self.ask(Access::Write, approvals::hash_key).await
    }

    /// The waiting approvals, or all stored ones, oldest first.
    pub async fn approvals(&self, waiting_only: bool) -> Result<Vec<Approval>, StateError> {
        self.ask(Access::Read, move |sql| approvals::list(sql, waiting_only)).await
    }

    /// Approves or denies a waiting call; a denial erases its arguments. `None` where there is no such approval; else
    /// its new state.
    pub async fn decide_approval(
        &self,
        id: &str,
        yes: bool,
        reason: Option<&str>,
    ) -> Result<Option<Approval>, StateError> {
        let (id, reason) = (id.to_string(), reason.map(ToString::to_string));
        self.ask(Access::Erase, move |sql| approvals::decide(sql, &id, yes, reason.as_deref())).await
    }

    /// Records that a session was given the page of an op.
    pub async fn record_doc_read(
        &self,
        session: &Session,
        op: &str,
        doc_version: &str,
    ) -> Result<(), StateError> {
        let (session, op, version) = (session.clone(), op.to_string(), doc_version.to_string());
        self.ask(Access::Write, move |sql| sessions::give_page(sql, &session, &op, &version)).await
    }

    /// The version of the page that the session was given last.
    pub async fn doc_read_version(&self, session: &Session, op: &str) -> Result<Option<String>, StateError> {
        let (session, op) = (session.clone(), op.to_string());
        self.ask(Access::Read, move |sql| sessions::given_page(sql, &session, &op)).await
    }

    /// The context of a session, once a result has set it.
    pub async fn session_context(&self, session: &Session) -> Result<Option<Value>, StateError> {
        let session = session.clone();
        self.ask(Access::Read, move |sql| sessions::context(sql, &session)).await
    }

    /// Sets the context of a session.
    pub async fn set_session_context(&self, session: &Session, context: &Value) -> Result<(), StateError> {
        let (session, context) = (session.clone(), context.clone());
        self.ask(Access::Write, move |sql| sessions::set_context(sql, &session, &context)).await
    }

    /// Stores a result for its caller, to be read on.
    pub async fn store_result(&self, result: &StoredResult) -> Result<(), StateError> {
        let result = result.clone();
        self.ask(Access::Write, move |sql| sessions::store_result(sql, result)).await
    }

    /// A stored result of this caller.
    pub async fn stored_result(&self, caller: &str, id: &str) -> Result<Option<StoredResult>, StateError> {
        let (caller, id) = (caller.to_string(), id.to_string());
        self.ask(Access::Read, move |sql| sessions::stored_result(sql, &caller, &id)).await
    }

    /// Events, oldest first unless the query says otherwise; those that this process has just recorded, too, if they can
    /// be written.
    pub async fn events(&self, wanted: &EventQuery) -> Result<Vec<Event>, StateError> {
        let wanted = wanted.clone();
        let settled = async {
            self.recorder.settle().await;
            Ok(())
        };
        let _ = waited(settled).await;
        self.ask(Access::Read, move |sql| events::read(sql, &wanted)).await
    }

    /// The sessions with the latest events, newest first, at most this many.
    pub async fn sessions(&self, limit: usize) -> Result<Vec<SessionSummary>, StateError> {
        self.ask(Access::Read, move |sql| events::sessions(sql, limit)).await
    }

    /// Deletes events and state older than this, and the arguments of expired approvals, after all recorded events
    /// are written.
    pub async fn delete_older(&self, older_than: Duration) -> Result<(), StateError> {
        self.recorder.settle().await;
        self.ask(Access::Erase, move |sql| {
            approvals::erase_expired(sql)?;
            events::forget(sql, millis(older_than))
        })
        .await
    }

    /// Waits until all recorded events are written.
    pub async fn flush(&self) -> Result<(), StateError> {
        waited(self.recorder.flush()).await
    }
}

/// A session of one caller. Sessions of two callers are different, whatever their names.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Session {
    /// The caller; empty where everybody may come in.
    pub caller: Arc<str>,
    /// Name, chosen by the caller.
    pub id: Arc<str>,
}

/// Longest name of a session.
const MAX_SESSION_NAME: usize = 128;

impl Session {
    /// A valid name of a session.
    pub fn named(id: &str) -> Result<Arc<str>, InvalidSessionName> {
        let is_sign = |byte: u8| byte.is_ascii_alphanumeric() || b"._:-".contains(&byte);
        match (1..=MAX_SESSION_NAME).contains(&id.len()) && id.bytes().all(is_sign) {
            true => Ok(Arc::from(id)),
            false => Err(InvalidSessionName),
        }
    }
}

/// Error of an invalid session name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a session is called by 1 to 128 letters, digits and signs of `._:-`")]
pub struct InvalidSessionName;

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
    fn newer(version: i64) -> Self {
        Self::Newer(format!(
            "it was written by a newer toolcrib (schema {version}, this one knows {}); update toolcrib, or use another \
             place",
            database::VERSION
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

/// An idempotency key, with its call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claim {
    /// The caller; keys of two callers are different.
    pub caller: Arc<str>,
    /// The key.
    pub key: String,
    /// The op.
    pub op: String,
    /// A hash of op and arguments.
    pub fingerprint: String,
    /// Id of the run that holds the key; random, one for each call.
    pub owner: String,
}

/// Result of a claim.
#[derive(Clone, Debug, PartialEq)]
pub enum ClaimStatus {
    /// The key is ours: run the call.
    Acquired,
    /// The call was run before, with this answer.
    Answered(Value),
    /// Another run of the call is in progress.
    Running,
    /// A run of the call began, and its outcome will never be known.
    Unknown,
    /// The key was used for another call, of this op.
    Conflict {
        /// The op.
        op: String,
    },
}

/// Outcome of a call with a key.
#[derive(Clone, Debug, PartialEq)]
pub enum ClaimOutcome {
    /// It was run, with this answer.
    Answered(Value),
    /// It was not run; the key is free.
    Released,
    /// The call may have been run; the outcome is unknown.
    Unknown,
}

/// A call that waits for a person's decision, or has one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Approval {
    /// Id of the approval.
    pub id: String,
    /// The caller.
    pub caller: String,
    /// The session.
    pub session: Option<String>,
    /// The op.
    pub op: String,
    /// The arguments, for the person to see: whole, except `null` in place of hidden values. Erased once nobody needs
    /// to see them.
    pub arguments: Value,
    /// The hidden values of the arguments.
    pub hidden: Vec<HiddenValue>,
    /// A hash of op and arguments. It could reveal a short secret, so it is never shown.
    #[serde(skip)]
    pub fingerprint: String,
    /// A hash of the definition and of its backend as configured.
    #[serde(skip)]
    pub bound: String,
    /// Time of the request, in milliseconds of Unix time.
    pub asked_at: i64,
    /// Time at which it expires.
    pub until: i64,
    /// Status.
    pub status: ApprovalStatus,
    /// The person's reason.
    pub reason: Option<String>,
}

/// A value that an approval hides.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HiddenValue {
    /// JSON Pointer to it.
    pub pointer: String,
    /// Its length in bytes; for other values than texts that of the JSON.
    pub bytes: usize,
    /// Its hash, with a key of this state: equal values have equal hashes, and nobody without the key can try values.
    pub hash: String,
}

/// Result of asking for a decision.
#[derive(Clone, Debug, PartialEq)]
pub struct ApprovalResponse {
    /// The approval of the call.
    pub approval: Approval,
    /// An approval that became void, since it is bound to another definition.
    pub void: Option<String>,
}

impl ApprovalStatus {
    /// The word that is stored.
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

/// Status of an approval.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, strum::EnumString, strum::IntoStaticStr,
)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
pub enum ApprovalStatus {
    /// Nobody has decided.
    Waiting,
    /// Yes, once.
    Approved,
    /// No.
    Denied,
    /// Approved, and run.
    Used,
    /// The tool or its backend has changed since.
    Void,
}

/// A result that was too long to be returned whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredResult {
    /// Id of the result.
    pub id: String,
    /// The caller who may read it.
    pub caller: String,
    /// All of it.
    pub text: String,
    /// Time at which it expires, in milliseconds of Unix time.
    pub until: i64,
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
    let (days, seconds) = (at.div_euclid(86_400_000), at.rem_euclid(86_400_000) / 1000);
    // Days since 1 March of year 0, in eras of 400 years (Howard Hinnant's civil calendar).
    let days = days.saturating_add(719_468);
    let (era, day) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    let year = year + era * 400 + i64::from(month <= 2);
    let (hour, minute, second) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}")
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

/// Random bits, each used once. They are fetched many at a time, since that is a call of the system.
fn random() -> u64 {
    thread_local! {
        static FETCHED: RefCell<Vec<u64>> = const { RefCell::new(Vec::new()) };
    }
    FETCHED.with_borrow_mut(|fetched| {
        if fetched.is_empty() {
            let mut bytes = [0; 512];
            // Without a source of randomness there is none for keys or TLS either; the clock is better than a crash.
            if getrandom::fill(&mut bytes).is_err() {
                return now() as u64;
            }
            fetched.extend(bytes.as_chunks::<8>().0.iter().map(|chunk| u64::from_ne_bytes(*chunk)));
        }
        fetched.pop().unwrap_or_default()
    })
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
        let (one, other) = (random_id("tr"), random_id("tr"));
        assert!(random_secret().unwrap().len() == 64 && random_secret() != random_secret());
        assert!(one.starts_with("tr_") && one.len() == 15 && one != other, "{one} {other}");
    }
}
