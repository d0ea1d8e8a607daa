//! What outlives a call: idempotency keys, approvals, sessions, results that are read on, and the trace of it all. A server
//! keeps nothing else, so that another one beside it, or after it, goes on where it was.
//!
//! 1. [`StateStore`] is what there is to keep and to ask; it knows nothing of tools.
//! 2. [`Event`] is one line of a trace.
//! 3. [`sqlite`] keeps it in a file, or in memory; `postgres` where several servers share it.

mod clock;
mod event;
mod failed_sessions;
mod open;
mod random_id;
// SQLite does not hang: without PostgreSQL nothing counts how long it is waited for.
#[cfg_attr(not(feature = "postgres"), expect(dead_code, reason = "only PostgreSQL is waited for"))]
mod patience;
#[cfg(feature = "postgres")]
pub mod postgres;
mod problem;
pub mod sqlite;

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::sync::watch;

pub use clock::{now, utc};
pub use event::{Event, EventKind, EventQuery, SessionSummary};
pub use open::open;
pub use patience::Patience;
#[cfg(feature = "postgres")]
pub use postgres::Postgres;
pub use random_id::random_id;
pub use sqlite::Sqlite;

/// An answer that is waited for.
pub type StateFuture<'a, T> = Pin<Box<dyn Future<Output = Result<T, StateError>> + Send + 'a>>;

/// What outlives a call.
pub trait StateStore: Send + Sync + fmt::Debug {
    /// Writes down what happened, soon. Nobody waits for it; what could not be written is counted in [`Health`].
    fn record(&self, event: Event);

    /// Whether it can be written to, as far as is known.
    fn health(&self) -> Health;

    /// Takes an idempotency key for one call, durably, before anything is run. The claim holds for `lease`, and is renewed
    /// by claiming again with the same `owner`.
    fn claim<'a>(&'a self, claim: &'a Claim, lease: Duration) -> StateFuture<'a, ClaimStatus>;

    /// How a key stands that would be claimed so, without taking it; none where it is free. Needs nothing to be written.
    fn recall<'a>(&'a self, claim: &'a Claim, lease: Duration) -> StateFuture<'a, Option<ClaimStatus>>;

    /// Writes down, durably, what became of a claim; only for the owner that has it.
    fn settle<'a>(&'a self, claim: &'a Claim, outcome: ClaimOutcome) -> StateFuture<'a, ()>;

    /// Puts a call in the queue of those that wait for a person; the one that waits there already, or has been decided
    /// and not used, if it is the same caller's and the same call (`fingerprint`). Those of the same call that are bound
    /// to something else are void from then on.
    fn request_approval<'a>(&'a self, request: &'a Approval) -> StateFuture<'a, Asked>;

    /// Uses an approval up, so that it serves for one run, and erases its arguments; false where it was not there to be
    /// used.
    fn use_approval<'a>(&'a self, id: &'a str) -> StateFuture<'a, bool>;

    /// Undoes [`StateStore::use_approval`] for a call that was not sent.
    fn give_back<'a>(&'a self, approval: &'a Approval) -> StateFuture<'a, ()>;

    /// The random key of hashes that people see, made once and shared by all who use this state.
    fn hash_key(&self) -> StateFuture<'_, String>;

    /// The calls that wait, or all that are still kept, oldest first.
    fn approvals(&self, waiting_only: bool) -> StateFuture<'_, Vec<Approval>>;

    /// Says yes or no to a call that waits; a no erases its arguments. None where there is no such call; else what it is
    /// now.
    fn decide_approval<'a>(
        &'a self,
        id: &'a str,
        yes: bool,
        reason: Option<&'a str>,
    ) -> StateFuture<'a, Option<Approval>>;

    /// Notes that a session was given the doc of an op.
    fn record_doc_read<'a>(
        &'a self,
        session: &'a Session,
        op: &'a str,
        doc_version: &'a str,
    ) -> StateFuture<'a, ()>;

    /// The version of the doc that a session was given last.
    fn doc_read_version<'a>(&'a self, session: &'a Session, op: &'a str) -> StateFuture<'a, Option<String>>;

    /// Counts a failure of a call (`fingerprint`) in a session, and says how many there are now. Ten minutes after the
    /// last one the count starts anew.
    fn count_failure<'a>(&'a self, session: &'a Session, fingerprint: &'a str) -> StateFuture<'a, u32>;

    /// How many failures of a call there are in a session, counted like [`StateStore::count_failure`] does.
    fn failure_count<'a>(&'a self, session: &'a Session, fingerprint: &'a str) -> StateFuture<'a, u32>;

    /// Forgets the failures in a session whose fingerprints begin like this.
    fn clear_failures<'a>(&'a self, session: &'a Session, beginning: &'a str) -> StateFuture<'a, ()>;

    /// Whether this process has counted a failure in a session, so that there may be some to forget. Asks nobody.
    fn has_failed(&self, session: &Session) -> bool;

    /// What a session is about, once some result has said so.
    fn session_context<'a>(&'a self, session: &'a Session) -> StateFuture<'a, Option<Value>>;

    /// Changes what a session is about.
    fn set_session_context<'a>(&'a self, session: &'a Session, context: &'a Value) -> StateFuture<'a, ()>;

    /// Keeps a result to be read on, for its caller.
    fn store_result<'a>(&'a self, result: &'a StoredResult) -> StateFuture<'a, ()>;

    /// A result that was kept for this caller.
    fn stored_result<'a>(&'a self, caller: &'a str, id: &'a str) -> StateFuture<'a, Option<StoredResult>>;

    /// What happened, oldest first.
    fn events<'a>(&'a self, wanted: &'a EventQuery) -> StateFuture<'a, Vec<Event>>;

    /// The sessions in which something happened last, newest first, at most so many.
    fn sessions(&self, limit: usize) -> StateFuture<'_, Vec<SessionSummary>>;

    /// Tells the number of the last event that was written by this process.
    fn last_written(&self) -> watch::Receiver<i64>;

    /// Forgets what is older than this, and the arguments of approvals that have expired, and waits until all that was
    /// recorded before is written.
    fn delete_older(&self, older_than: Duration) -> StateFuture<'_, ()>;

    /// Waits until all that was recorded before is written.
    fn flush(&self) -> StateFuture<'_, ()>;
}

/// How long failures count, in milliseconds.
const FAILURE_WINDOW_MS: i64 = 600_000;

/// A session of one caller. Sessions of two callers are two, whatever they call them.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Session {
    /// Whose; empty where everybody may come in.
    pub caller: Arc<str>,
    /// As the caller calls it.
    pub id: Arc<str>,
}

/// The longest name of a session.
const MAX_SESSION_NAME: usize = 128;

impl Session {
    /// A name that a session may have.
    pub fn named(id: &str) -> Result<Arc<str>, InvalidSessionName> {
        let is_sign = |byte: u8| byte.is_ascii_alphanumeric() || b"._:-".contains(&byte);
        match (1..=MAX_SESSION_NAME).contains(&id.len()) && id.bytes().all(is_sign) {
            true => Ok(Arc::from(id)),
            false => Err(InvalidSessionName),
        }
    }
}

/// What a session cannot be called.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a session is called by 1 to 128 letters, digits and signs of `._:-`")]
pub struct InvalidSessionName;

/// Whether state can be written to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Health {
    /// What is wrong, if the last write failed.
    pub problem: Option<String>,
    /// How many events were lost.
    pub lost: u64,
    /// Whether it is gone when the process ends.
    pub is_volatile: bool,
}

/// Why state did not answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct StateError(pub String);

/// An idempotency key, and the call that it is for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claim {
    /// Whose; keys of two callers are two.
    pub caller: Arc<str>,
    /// The key.
    pub key: String,
    /// The op.
    pub op: String,
    /// A hash of op and arguments.
    pub fingerprint: String,
    /// Who runs it; random, one for each call.
    pub owner: String,
}

/// What came of a claim.
#[derive(Clone, Debug, PartialEq)]
pub enum ClaimStatus {
    /// The key is ours: run the call.
    Acquired,
    /// The call was run before; this was its answer.
    Answered(Value),
    /// Somebody runs it now.
    Running,
    /// Somebody began to run it, and will not tell what became of it.
    Unknown,
    /// The key was used for another call, of this op.
    Conflict {
        /// The op.
        op: String,
    },
}

/// What became of a call with a key.
#[derive(Clone, Debug, PartialEq)]
pub enum ClaimOutcome {
    /// It was run, and this is the answer.
    Answered(Value),
    /// It was not run; the key is free.
    Released,
    /// It may have been run; nobody knows.
    Unknown,
}

/// A call that waits for a person, or has been decided.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Approval {
    /// What it is known by.
    pub id: String,
    /// Whose call.
    pub caller: String,
    /// In which session.
    pub session: Option<String>,
    /// The op.
    pub op: String,
    /// The arguments, for the person to see: whole, but for `null` in place of what is hidden. Erased once nobody has to
    /// see them.
    pub arguments: Value,
    /// What is hidden of the arguments.
    pub hidden: Vec<HiddenValue>,
    /// A hash of op and arguments. It could tell a short secret, so that nobody is shown it.
    #[serde(skip)]
    pub fingerprint: String,
    /// A hash of the definition and of what runs it, as configured; empty for one that an older toolcrib has asked for.
    #[serde(skip)]
    pub bound: String,
    /// Since when, in milliseconds of Unix time.
    pub asked_at: i64,
    /// Until when it counts.
    pub until: i64,
    /// How it stands.
    pub status: ApprovalStatus,
    /// What the person said.
    pub reason: Option<String>,
}

/// A value that an approval does not show.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HiddenValue {
    /// JSON pointer to it.
    pub pointer: String,
    /// Its length in bytes; that of its JSON unless it is a text.
    pub bytes: usize,
    /// Its hash, by a key of this state: the same value has the same hash, and nobody without the key can try values.
    pub hash: String,
}

/// What has become of asking for a person.
#[derive(Clone, Debug, PartialEq)]
pub struct Asked {
    /// The approval that counts for the call.
    pub approval: Approval,
    /// The one that is void now, since it is bound to something else.
    pub void: Option<String>,
}

impl ApprovalStatus {
    /// Every status.
    pub const ALL: [ApprovalStatus; 5] = [
        ApprovalStatus::Waiting,
        ApprovalStatus::Approved,
        ApprovalStatus::Denied,
        ApprovalStatus::Used,
        ApprovalStatus::Void,
    ];

    /// As it is written.
    pub fn as_str(self) -> &'static str {
        match self {
            ApprovalStatus::Waiting => "waiting",
            ApprovalStatus::Approved => "approved",
            ApprovalStatus::Denied => "denied",
            ApprovalStatus::Used => "used",
            ApprovalStatus::Void => "void",
        }
    }

    /// The status that is written so.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|status| status.as_str() == word)
    }
}

/// How an approval stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ApprovalStatus {
    /// Nobody has decided.
    Waiting,
    /// Yes, once.
    Approved,
    /// No.
    Denied,
    /// Yes, and it was run.
    Used,
    /// The tool, or what runs it, has changed since.
    Void,
}

/// A result that was too long to be returned whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredResult {
    /// What it is known by.
    pub id: String,
    /// Who may read it.
    pub caller: String,
    /// All of it.
    pub text: String,
    /// Until when it is kept, in milliseconds of Unix time.
    pub until: i64,
}
