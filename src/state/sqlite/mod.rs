//! State in SQLite: one file, which several processes may share, or memory.
//!
//! 1. [`open`] opens the file and updates it to our schema.
//! 2. [`writer`] is the one thread that uses it.
//! 3. [`files`] and [`seal`] notice when another program has changed, cut or removed the files.
//! 4. The other files hold the statements, one file for each kind of state.

mod approvals;
mod claims;
mod events;
mod file_id;
mod files;
mod open;
mod seal;
mod sessions;
mod writer;

use std::path::Path;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use rusqlite::Connection;
use serde_json::Value;
use tokio::sync::watch;

use self::open::DatabasePath;
use self::writer::{AccessMode, Shared, Writer};
use super::clock::{millis, now};
use super::{
    Approval, ApprovalResponse, Claim, ClaimOutcome, ClaimStatus, Event, EventQuery, Health, Session,
    SessionSummary, StateError, StateFuture, StateStore, StoredResult,
};

/// State in SQLite.
#[derive(Debug)]
pub struct Sqlite {
    place: DatabasePath,
    shared: Arc<Shared>,
    /// Started at its first use: most runs of the program store nothing.
    writer: OnceLock<Result<Writer, StateError>>,
}

impl Sqlite {
    /// State in memory, until the process ends.
    pub fn in_memory() -> Self {
        Self::at(DatabasePath::Memory)
    }

    /// State in this file, which is made if it does not exist.
    pub fn open(file: &Path) -> Result<Self, StateError> {
        let state = Self::at(DatabasePath::File(file.into()));
        state.writer().map(drop)?;
        Ok(state)
    }

    fn at(place: DatabasePath) -> Self {
        Self { place, shared: Arc::default(), writer: OnceLock::new() }
    }

    fn writer(&self) -> Result<&Writer, StateError> {
        let start = || {
            let db = self.place.open()?;
            Writer::start(db, &self.place, Arc::clone(&self.shared))
        };
        self.writer.get_or_init(start).as_ref().map_err(Clone::clone)
    }

    fn ask<'a, T: Send + 'static>(
        &'a self,
        how: AccessMode,
        run: impl FnOnce(&Connection) -> rusqlite::Result<T> + Send + 'static,
    ) -> StateFuture<'a, T> {
        Box::pin(async move { self.writer()?.ask(how, |db| run(db).map(Ok)).await })
    }

    /// The same for work that a call can do without: it does not wait for another process's lock.
    fn try_ask<'a, T: Send + 'static>(
        &'a self,
        how: AccessMode,
        run: impl FnOnce(&Connection) -> rusqlite::Result<T> + Send + 'static,
    ) -> StateFuture<'a, T> {
        let asking = self.ask(how, run);
        Box::pin(async move { self.shared.unless_locked(asking).await })
    }
}

impl StateStore for Sqlite {
    fn record(&self, event: Event) {
        if let Ok(writer) = self.writer() {
            writer.record(event.stamped());
        }
    }

    fn health(&self) -> Health {
        self.shared.health(self.place == DatabasePath::Memory)
    }

    fn claim<'a>(&'a self, claim: &'a Claim, lease: Duration) -> StateFuture<'a, ClaimStatus> {
        let claim = claim.clone();
        self.ask(AccessMode::Durable, move |db| claims::claim(db, &claim, millis(lease), now()))
    }

    fn recall<'a>(&'a self, claim: &'a Claim, lease: Duration) -> StateFuture<'a, Option<ClaimStatus>> {
        let claim = claim.clone();
        self.ask(AccessMode::Read, move |db| claims::status(db, &claim, millis(lease), now()))
    }

    fn settle<'a>(&'a self, claim: &'a Claim, outcome: ClaimOutcome) -> StateFuture<'a, ()> {
        let claim = claim.clone();
        Box::pin(async move {
            self.writer()?
                .ask(AccessMode::Durable, move |db| claims::settle(db, &claim, &outcome, now()))
                .await
        })
    }

    fn request_approval<'a>(&'a self, request: &'a Approval) -> StateFuture<'a, ApprovalResponse> {
        let request = request.clone();
        self.ask(AccessMode::Erasing, move |db| approvals::ask(db, request, now()))
    }

    fn use_approval<'a>(&'a self, id: &'a str) -> StateFuture<'a, bool> {
        let id = id.to_string();
        self.ask(AccessMode::Erasing, move |db| approvals::take(db, &id, now()))
    }

    fn give_back<'a>(&'a self, approval: &'a Approval) -> StateFuture<'a, ()> {
        let approval = approval.clone();
        self.ask(AccessMode::Durable, move |db| approvals::give_back(db, &approval))
    }

    fn hash_key(&self) -> StateFuture<'_, String> {
        self.ask(AccessMode::Durable, approvals::hash_key)
    }

    fn approvals(&self, waiting_only: bool) -> StateFuture<'_, Vec<Approval>> {
        self.ask(AccessMode::Read, move |db| approvals::list(db, waiting_only, now()))
    }

    fn decide_approval<'a>(
        &'a self,
        id: &'a str,
        yes: bool,
        reason: Option<&'a str>,
    ) -> StateFuture<'a, Option<Approval>> {
        let (id, reason) = (id.to_string(), reason.map(ToString::to_string));
        self.ask(AccessMode::Erasing, move |db| approvals::decide(db, &id, yes, reason.as_deref(), now()))
    }

    fn record_doc_read<'a>(
        &'a self,
        session: &'a Session,
        op: &'a str,
        doc_version: &'a str,
    ) -> StateFuture<'a, ()> {
        let (session, op, version) = (session.clone(), op.to_string(), doc_version.to_string());
        self.try_ask(AccessMode::Write, move |db| sessions::give(db, &session, &op, &version, now()))
    }

    fn doc_read_version<'a>(&'a self, session: &'a Session, op: &'a str) -> StateFuture<'a, Option<String>> {
        let (session, op) = (session.clone(), op.to_string());
        self.try_ask(AccessMode::Read, move |db| sessions::given(db, &session, &op))
    }

    fn session_context<'a>(&'a self, session: &'a Session) -> StateFuture<'a, Option<Value>> {
        let session = session.clone();
        self.try_ask(AccessMode::Read, move |db| sessions::context(db, &session))
    }

    fn set_session_context<'a>(&'a self, session: &'a Session, context: &'a Value) -> StateFuture<'a, ()> {
        let (session, context) = (session.clone(), context.clone());
        self.try_ask(AccessMode::Write, move |db| sessions::change_context(db, &session, &context, now()))
    }

    fn store_result<'a>(&'a self, result: &'a StoredResult) -> StateFuture<'a, ()> {
        let result = result.clone();
        self.ask(AccessMode::Write, move |db| sessions::keep(db, &result, now()))
    }

    fn stored_result<'a>(&'a self, caller: &'a str, id: &'a str) -> StateFuture<'a, Option<StoredResult>> {
        let (caller, id) = (caller.to_string(), id.to_string());
        self.ask(AccessMode::Read, move |db| sessions::kept(db, &caller, &id, now()))
    }

    fn events<'a>(&'a self, wanted: &'a EventQuery) -> StateFuture<'a, Vec<Event>> {
        let wanted = wanted.clone();
        self.ask(AccessMode::Read, move |db| events::read(db, &wanted))
    }

    fn sessions(&self, limit: usize) -> StateFuture<'_, Vec<SessionSummary>> {
        self.ask(AccessMode::Read, move |db| events::visits(db, limit))
    }

    fn last_written(&self) -> watch::Receiver<i64> {
        self.shared.written()
    }

    fn delete_older(&self, older_than: Duration) -> StateFuture<'_, ()> {
        self.ask(AccessMode::Erasing, move |db| {
            let now = now();
            approvals::erase_expired(db, now)?;
            events::forget(db, millis(older_than), now)
        })
    }

    fn flush(&self) -> StateFuture<'_, ()> {
        Box::pin(async move {
            // Without any recorded event there is nothing to wait for.
            match self.writer.get() {
                None => Ok(()),
                Some(Err(error)) => Err(error.clone()),
                Some(Ok(writer)) => writer.ask(AccessMode::Durable, |_| Ok(Ok(()))).await,
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;

    /// State in a file that may have this many pages, to simulate a full disk.
    fn limited(file: &Path, pages: i64) -> Sqlite {
        let state = Sqlite::at(DatabasePath::File(file.into()));
        let db = state.place.open().unwrap();
        db.pragma_update_and_check(None, "max_page_count", pages, |_| Ok(())).unwrap();
        let writer = Writer::start(db, &state.place, Arc::clone(&state.shared)).unwrap();
        assert!(state.writer.set(Ok(writer)).is_ok());
        state
    }

    #[test]
    fn a_full_disk_is_told_holds_nobody_up_and_is_over_when_there_is_room() {
        let folder = tempfile::tempdir().unwrap();
        let state = limited(&folder.path().join("state.db"), 60);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let started = Instant::now();
        let in_time = || assert!(started.elapsed() < Duration::from_secs(20), "{:?}", state.health());
        let session = Session { caller: Arc::from(""), id: Arc::from("s") };
        let long = Value::from("x".repeat(20_000));
        runtime.block_on(async {
            while state.health().problem.is_none() {
                in_time();
                state.record(Event { detail: long.clone(), ..Event::default() });
                let _ = state.flush().await;
            }
            assert_eq!(state.health().lost, 1);
            let refused = state.set_session_context(&session, &vec![long; 10].into()).await.unwrap_err();
            assert!(refused.to_string().contains("full"), "{refused}");
            assert_eq!(state.session_context(&session).await, Ok(None));
            state.delete_older(Duration::ZERO).await.unwrap();
            while state.health().problem.is_some() {
                in_time();
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
            state.set_session_context(&session, &1.into()).await.unwrap();
        });
    }
}
