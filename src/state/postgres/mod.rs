//! State in PostgreSQL, for several servers that share it. Leases and ages are measured with its clock, not with the
//! servers'.
//!
//! 1. [`connect`] reads the URL, and updates the database to our schema at its first use.
//! 2. [`recorder`] writes events, many at a time.
//! 3. The other files hold the statements, one file for each kind of state.

mod approvals;
mod claims;
mod connect;
mod events;
mod recorder;
mod sessions;

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use deadpool_postgres::{Client, Pool};
use serde_json::Value;
use tokio::sync::{OnceCell, watch};

use self::recorder::Recorder;
use super::clock::millis;
use super::wait_budget::waited;
use super::{
    Approval, ApprovalResponse, Claim, ClaimOutcome, ClaimStatus, Event, EventQuery, Health, Session,
    SessionSummary, StateError, StateFuture, StateStore, StoredResult,
};

/// State in PostgreSQL.
pub struct Postgres {
    database: Arc<Database>,
    recorder: Recorder,
}

/// The database, once its schema is ours.
struct Database {
    pool: Pool,
    is_ours: OnceCell<()>,
}

impl Database {
    async fn client(&self) -> Result<Client, StateError> {
        self.is_ours.get_or_try_init(|| connect::migrate(&self.pool)).await?;
        Ok(self.pool.get().await?)
    }
}

impl Postgres {
    /// State at this URL. The connection is made at the first use.
    pub fn new(url: &str) -> Result<Self, StateError> {
        let database = Arc::new(Database { pool: connect::pool(url)?, is_ours: OnceCell::new() });
        Ok(Self { recorder: Recorder::new(Arc::clone(&database)), database })
    }

    /// Runs a statement, and records whether that works.
    fn go<'a, T: Send + 'a, F>(&'a self, run: impl FnOnce(Client) -> F + Send + 'a) -> StateFuture<'a, T>
    where
        F: Future<Output = Result<T, StateError>> + Send + 'a,
    {
        Box::pin(async move {
            let done = waited(async { run(self.database.client().await?).await }).await;
            if let Err(error) = &done {
                self.recorder.probe(error);
            }
            done
        })
    }
}

impl fmt::Debug for Postgres {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str("PostgreSQL")
    }
}

/// Texts in PostgreSQL have no zero characters.
fn plain(text: &str) -> Cow<'_, str> {
    if text.contains('\0') { text.replace('\0', "").into() } else { text.into() }
}

fn json<T: serde::de::DeserializeOwned>(text: &str) -> Result<T, StateError> {
    serde_json::from_str(text)
        .map_err(|error| StateError::Failed(format!("stored data is not JSON: {error}")))
}

impl StateStore for Postgres {
    fn record(&self, event: Event) {
        self.recorder.record(event.stamped());
    }

    fn health(&self) -> Health {
        self.recorder.health()
    }

    fn claim<'a>(&'a self, claim: &'a Claim, lease: Duration) -> StateFuture<'a, ClaimStatus> {
        self.go(move |client| claims::claim(client, claim, millis(lease)))
    }

    fn recall<'a>(&'a self, claim: &'a Claim, lease: Duration) -> StateFuture<'a, Option<ClaimStatus>> {
        self.go(move |client| claims::recall(client, claim, millis(lease)))
    }

    fn settle<'a>(&'a self, claim: &'a Claim, outcome: ClaimOutcome) -> StateFuture<'a, ()> {
        Box::pin(async move {
            let is_ours = self.go(move |client| claims::settle(client, claim, outcome)).await?;
            is_ours
                .then_some(())
                .ok_or_else(|| StateError::Failed("the idempotency key is no longer ours".into()))
        })
    }

    fn request_approval<'a>(&'a self, request: &'a Approval) -> StateFuture<'a, ApprovalResponse> {
        self.go(move |client| approvals::ask(client, request))
    }

    fn use_approval<'a>(&'a self, id: &'a str) -> StateFuture<'a, bool> {
        self.go(move |client| approvals::take(client, id))
    }

    fn give_back<'a>(&'a self, approval: &'a Approval) -> StateFuture<'a, ()> {
        self.go(move |client| approvals::give_back(client, approval))
    }

    fn hash_key(&self) -> StateFuture<'_, String> {
        self.go(approvals::hash_key)
    }

    fn approvals(&self, waiting_only: bool) -> StateFuture<'_, Vec<Approval>> {
        self.go(move |client| approvals::list(client, waiting_only))
    }

    fn decide_approval<'a>(
        &'a self,
        id: &'a str,
        yes: bool,
        reason: Option<&'a str>,
    ) -> StateFuture<'a, Option<Approval>> {
        self.go(move |client| approvals::decide(client, id, yes, reason))
    }

    fn record_doc_read<'a>(
        &'a self,
        session: &'a Session,
        op: &'a str,
        doc_version: &'a str,
    ) -> StateFuture<'a, ()> {
        self.go(move |client| sessions::give(client, session, op, doc_version))
    }

    fn doc_read_version<'a>(&'a self, session: &'a Session, op: &'a str) -> StateFuture<'a, Option<String>> {
        self.go(move |client| sessions::given(client, session, op))
    }

    fn session_context<'a>(&'a self, session: &'a Session) -> StateFuture<'a, Option<Value>> {
        self.go(move |client| sessions::context(client, session))
    }

    fn set_session_context<'a>(&'a self, session: &'a Session, context: &'a Value) -> StateFuture<'a, ()> {
        self.go(move |client| sessions::change_context(client, session, context))
    }

    fn store_result<'a>(&'a self, result: &'a StoredResult) -> StateFuture<'a, ()> {
        self.go(move |client| sessions::keep(client, result))
    }

    fn stored_result<'a>(&'a self, caller: &'a str, id: &'a str) -> StateFuture<'a, Option<StoredResult>> {
        self.go(move |client| sessions::kept(client, caller, id))
    }

    fn events<'a>(&'a self, wanted: &'a EventQuery) -> StateFuture<'a, Vec<Event>> {
        Box::pin(async move {
            // The result includes events that this process has just recorded, if they can be written at all.
            let _ = waited(self.recorder.settle()).await;
            self.go(move |client| events::read(client, wanted)).await
        })
    }

    fn sessions(&self, limit: usize) -> StateFuture<'_, Vec<SessionSummary>> {
        self.go(move |client| events::visits(client, limit))
    }

    fn last_written(&self) -> watch::Receiver<i64> {
        self.recorder.written()
    }

    fn delete_older(&self, older_than: Duration) -> StateFuture<'_, ()> {
        Box::pin(async move {
            self.flush().await?;
            self.go(move |client| async move { approvals::erase_expired(&client).await }).await?;
            self.go(move |client| events::forget(client, millis(older_than))).await
        })
    }

    fn flush(&self) -> StateFuture<'_, ()> {
        Box::pin(waited(self.recorder.flush()))
    }
}
