//! State that outlives a call: idempotency keys, approvals, sessions, stored results, sign-ins, and the trace. A server
//! keeps nothing else, so that another one beside it, or after it, can continue.
//!
//! 1. [`StateStore`] is the trait of every store; it knows nothing of tools.
//! 2. [`Event`] is one line of a trace.
//! 3. [`sqlite`] stores it in a file, or in memory; `postgres` where several servers share it.

mod clock;
mod event;
mod open;
mod random_id;
// SQLite does not hang: without PostgreSQL nothing measures the wait.
#[cfg(feature = "postgres")]
pub mod postgres;
pub mod sqlite;
#[cfg_attr(not(feature = "postgres"), expect(dead_code, reason = "only PostgreSQL is waited for"))]
mod wait_budget;
mod write_failure;

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::sync::watch;

pub use clock::{now, utc};
pub use event::{Event, EventKind, EventQuery, SessionSummary, every_event};
pub use open::open;
#[cfg(feature = "postgres")]
pub use postgres::Postgres;
pub use random_id::{random_id, random_secret};
pub use sqlite::Sqlite;
pub use wait_budget::WaitBudget;

/// Future of an answer.
pub type StateFuture<'a, T> = Pin<Box<dyn Future<Output = Result<T, StateError>> + Send + 'a>>;

/// A store of state.
pub trait StateStore: Send + Sync + fmt::Debug {
    /// Records an event in the background. Nobody waits for it; [`Health`] counts lost events.
    fn record(&self, event: Event);

    /// Whether it can be written to, as far as is known.
    fn health(&self) -> Health;

    /// Claims an idempotency key for one call, durably, before anything is run. The claim holds for `lease`, and is
    /// renewed by claiming again with the same `owner`.
    fn claim<'a>(&'a self, claim: &'a Claim, lease: Duration) -> StateFuture<'a, ClaimStatus>;

    /// Status that a claim would find, without taking it; `None` where the key is free. Writes nothing.
    fn recall<'a>(&'a self, claim: &'a Claim, lease: Duration) -> StateFuture<'a, Option<ClaimStatus>>;

    /// Stores the outcome of a claim, durably; only for the owner that has it.
    fn settle<'a>(&'a self, claim: &'a Claim, outcome: ClaimOutcome) -> StateFuture<'a, ()>;

    /// Queues a call for a person's decision. Returns the existing approval if the same caller has one for the same
    /// call (`fingerprint`) that is waiting, or decided and unused. Approvals of the same call that are bound to
    /// another definition become void.
    fn request_approval<'a>(&'a self, request: &'a Approval) -> StateFuture<'a, ApprovalResponse>;

    /// Uses an approval for one run, and erases its arguments; false where it cannot be used.
    fn use_approval<'a>(&'a self, id: &'a str) -> StateFuture<'a, bool>;

    /// Undoes [`StateStore::use_approval`] for a call that was not sent.
    fn give_back<'a>(&'a self, approval: &'a Approval) -> StateFuture<'a, ()>;

    /// The random key of hashes that people see, made once and shared by all users of this state.
    fn hash_key(&self) -> StateFuture<'_, String>;

    /// The waiting approvals, or all stored ones, oldest first.
    fn approvals(&self, waiting_only: bool) -> StateFuture<'_, Vec<Approval>>;

    /// Approves or denies a waiting call; a denial erases its arguments. `None` where there is no such approval; else
    /// its new state.
    fn decide_approval<'a>(
        &'a self,
        id: &'a str,
        yes: bool,
        reason: Option<&'a str>,
    ) -> StateFuture<'a, Option<Approval>>;

    /// Records that a session was given the doc of an op.
    fn record_doc_read<'a>(
        &'a self,
        session: &'a Session,
        op: &'a str,
        doc_version: &'a str,
    ) -> StateFuture<'a, ()>;

    /// The version of the doc that the session was given last.
    fn doc_read_version<'a>(&'a self, session: &'a Session, op: &'a str) -> StateFuture<'a, Option<String>>;

    /// The context of a session, once a result has set it.
    fn session_context<'a>(&'a self, session: &'a Session) -> StateFuture<'a, Option<Value>>;

    /// Sets the context of a session.
    fn set_session_context<'a>(&'a self, session: &'a Session, context: &'a Value) -> StateFuture<'a, ()>;

    /// Stores a result for its caller, to be read on.
    fn store_result<'a>(&'a self, result: &'a StoredResult) -> StateFuture<'a, ()>;

    /// A stored result of this caller.
    fn stored_result<'a>(&'a self, caller: &'a str, id: &'a str) -> StateFuture<'a, Option<StoredResult>>;

    /// Events, oldest first unless the query says otherwise.
    fn events<'a>(&'a self, wanted: &'a EventQuery) -> StateFuture<'a, Vec<Event>>;

    /// The sessions with the latest events, newest first, at most this many.
    fn sessions(&self, limit: usize) -> StateFuture<'_, Vec<SessionSummary>>;

    /// Signals the number of the last event that this process has written.
    fn last_written(&self) -> watch::Receiver<i64>;

    /// Deletes events and state older than this, and the arguments of expired approvals, after all recorded events
    /// are written.
    fn delete_older(&self, older_than: Duration) -> StateFuture<'_, ()>;

    /// Waits until all recorded events are written.
    fn flush(&self) -> StateFuture<'_, ()>;
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
    /// A newer toolcrib wrote it, so that waiting does not help.
    #[error("{0}")]
    Newer(String),
    /// Any other failure.
    #[error("{0}")]
    Failed(String),
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
    /// A hash of the definition and of its backend as configured; empty for a request of an older toolcrib.
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
