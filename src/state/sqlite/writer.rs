//! The one thread with the connection. Work that arrives while it is busy, and events that come soon after each
//! other, are written in one transaction.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rusqlite::Connection;
use tokio::sync::{oneshot, watch};
use tokio::time::timeout;

use super::events;
use super::files::Files;
use super::open::DatabasePath;
use crate::guard::guarded_now;
use crate::state::write_failure::WriteFailure;
use crate::state::{Event, Health, StateError, StateFuture};

/// Most events that wait to be written.
const ROOM: usize = 8_192;

/// Most pieces of work in one transaction.
const BATCH: usize = 512;

/// Wait of an event for others, since a transaction takes ten times as long as its content. Work with a waiting
/// caller takes queued events along.
const LINGER: Duration = Duration::from_millis(50);

/// Wait after a failed write before the next attempt.
const PROBE: Duration = Duration::from_secs(1);

/// Longest wait for another process's lock, for work that a call can do without.
const LOCK_WAIT: Duration = Duration::from_millis(200);

/// Interval of checks that the files are still the opened ones.
const FILE_CHECK_INTERVAL: Duration = Duration::from_secs(2);

/// Use of the database by a piece of work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AccessMode {
    /// Reads only.
    Read,
    /// Writes; the last ones may be lost in a power failure.
    Write,
    /// Writes, and answers when the transaction is on the disk.
    Durable,
    /// Erases durably: the log is emptied, so that the old content is in no file.
    Erasing,
}

/// A piece of work with a waiting caller.
trait Work: Send {
    fn run(&mut self, db: &Connection) -> rusqlite::Result<()>;
    fn end(self: Box<Self>, problem: Option<&StateError>);
}

struct Task<T, F> {
    run: Option<F>,
    answer: Option<Result<T, StateError>>,
    to: oneshot::Sender<Result<T, StateError>>,
}

impl<T: Send, F> Work for Task<T, F>
where
    F: FnOnce(&Connection) -> rusqlite::Result<Result<T, StateError>> + Send,
{
    fn run(&mut self, db: &Connection) -> rusqlite::Result<()> {
        self.answer = self.run.take().map(|run| run(db)).transpose()?;
        Ok(())
    }

    fn end(self: Box<Self>, problem: Option<&StateError>) {
        let answer = match (problem, self.answer) {
            (None, Some(answer)) => answer,
            (problem, _) => Err(problem.cloned().unwrap_or_else(ended)),
        };
        // The receiver may be gone.
        let _ = self.to.send(answer);
    }
}

fn ended() -> StateError {
    StateError::Failed("the database is closed".into())
}

enum Message {
    /// There are events.
    Events,
    Work(AccessMode, Box<dyn Work>),
}

/// State shared with the thread.
#[derive(Debug)]
pub(super) struct Shared {
    events: Mutex<Vec<Event>>,
    lost: AtomicU64,
    /// Whether the thread waits for another process's lock.
    is_locked_out: AtomicBool,
    write_failure: WriteFailure,
    written: watch::Sender<i64>,
}

impl Default for Shared {
    fn default() -> Self {
        let (events, lost, is_locked_out, write_failure) = Default::default();
        Self { events, lost, is_locked_out, write_failure, written: watch::channel(0).0 }
    }
}

impl Shared {
    pub(super) fn health(&self, is_volatile: bool) -> Health {
        Health { problem: self.write_failure.current(), lost: self.lost.load(Relaxed), is_volatile }
    }

    pub(super) fn written(&self) -> watch::Receiver<i64> {
        self.written.subscribe()
    }

    fn events(&self) -> MutexGuard<'_, Vec<Event>> {
        self.events.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The result of a request, unless another process's lock is in the way for more than a moment.
    pub(super) async fn unless_locked<T>(&self, mut asking: StateFuture<'_, T>) -> Result<T, StateError> {
        let moment = if self.write_failure.is_none() { LOCK_WAIT } else { Duration::from_millis(5) };
        loop {
            match timeout(moment, &mut asking).await {
                Ok(answer) => return answer,
                Err(_) if self.is_locked_out.load(Relaxed) => {
                    return Err(StateError::Failed("another process holds the database".into()));
                }
                Err(_) => {}
            }
        }
    }
}

/// The handle of the thread. The thread writes all queued work and ends when this is dropped.
#[derive(Debug)]
pub(super) struct Writer {
    to: Option<Sender<Message>>,
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

impl Writer {
    /// Starts with an open database.
    pub(super) fn start(
        db: Connection,
        place: &DatabasePath,
        shared: Arc<Shared>,
    ) -> Result<Self, StateError> {
        let files = Files::of(place)?;
        let (to, from) = channel();
        db.set_prepared_statement_cache_capacity(64);
        let mut desk = WriterThread {
            db,
            shared: Arc::clone(&shared),
            is_durable: None,
            is_volatile: *place == DatabasePath::Memory,
            files,
            looked: Instant::now(),
            in_hand: 0,
        };
        // A problem at the start is recorded at once.
        let _ = desk.look();
        let thread = std::thread::Builder::new().name("state".into()).spawn(move || desk.work(&from)).ok();
        Ok(Self { to: Some(to), shared, thread })
    }

    fn send(&self, message: Message) -> bool {
        self.to.as_ref().is_some_and(|to| to.send(message).is_ok())
    }

    /// Queues an event, unless too many wait.
    pub(super) fn record(&self, event: Event) {
        let mut events = self.shared.events();
        if events.len() >= ROOM {
            self.shared.lost.fetch_add(1, Relaxed);
            return;
        }
        events.push(event);
        let is_first = events.len() == 1;
        drop(events);
        // The thread is woken for the first one only.
        if is_first && !self.send(Message::Events) {
            self.shared.lost.fetch_add(self.shared.events().drain(..).len() as u64, Relaxed);
        }
    }

    /// Queues work, and waits for its result.
    pub(super) async fn ask<T: Send + 'static>(
        &self,
        how: AccessMode,
        run: impl FnOnce(&Connection) -> rusqlite::Result<Result<T, StateError>> + Send + 'static,
    ) -> Result<T, StateError> {
        let (to, answer) = oneshot::channel();
        self.send(Message::Work(how, Box::new(Task { run: Some(run), answer: None, to })));
        answer.await.unwrap_or_else(|_| Err(ended()))
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.to = None;
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

/// The state of the thread.
struct WriterThread {
    db: Connection,
    shared: Arc<Shared>,
    is_durable: Option<bool>,
    is_volatile: bool,
    /// The files of the database, unless it is in memory.
    files: Option<Files>,
    looked: Instant,
    /// Number of events that are being written.
    in_hand: u64,
}

impl WriterThread {
    fn work(mut self, from: &Receiver<Message>) {
        let mut is_well = self.shared.write_failure.is_none();
        loop {
            match from.recv_timeout(if is_well { FILE_CHECK_INTERVAL } else { PROBE }) {
                Ok(first) => {
                    let work = gathered(first, from);
                    is_well = guarded_now(|| self.batch(work, is_well)).unwrap_or_else(|_| self.broke());
                }
                Err(RecvTimeoutError::Timeout) => {
                    let looked = guarded_now(|| match is_well {
                        true => self.look().is_ok(),
                        false => self.commit(&[], &mut []).is_ok(),
                    });
                    is_well = looked.unwrap_or_else(|_| self.broke());
                }
                Err(RecvTimeoutError::Disconnected) => return,
            }
        }
    }

    /// Reports a panic in a piece of work, which loses everything written in its transaction. Waiting callers are
    /// told.
    fn broke(&mut self) -> bool {
        self.shared
            .write_failure
            .record(Some(&StateError::Failed("writing broke down; it is tried again".into())));
        self.shared.lost.fetch_add(std::mem::take(&mut self.in_hand), Relaxed);
        false
    }

    fn batch(&mut self, work: Vec<(AccessMode, Box<dyn Work>)>, was_well: bool) -> bool {
        let given = std::mem::take(&mut *self.shared.events());
        self.in_hand = given.len() as u64;
        let (reads, mut writes): (Vec<_>, Vec<_>) =
            work.into_iter().partition(|(how, _)| *how == AccessMode::Read);
        let written = match given.is_empty() && writes.is_empty() {
            true => None,
            false => Some(self.commit(&given, &mut writes)),
        };
        let problem = written.as_ref().and_then(|written| written.as_ref().err());
        self.in_hand = 0;
        if problem.is_some() {
            self.shared.lost.fetch_add(given.len() as u64, Relaxed);
        }
        writes.into_iter().for_each(|(_, work)| work.end(problem));
        // Reads include the writes of the same batch.
        for (_, mut work) in reads {
            let problem = work.run(&self.db).err().map(StateError::from);
            work.end(problem.as_ref());
        }
        written.map_or(was_well, |written| written.is_ok())
    }

    /// Writes the whole batch, or nothing.
    fn commit(
        &mut self,
        given: &[Event],
        writes: &mut [(AccessMode, Box<dyn Work>)],
    ) -> Result<(), StateError> {
        let wants_disk =
            writes.iter().any(|(how, _)| matches!(how, AccessMode::Durable | AccessMode::Erasing));
        let is_due = wants_disk
            || !self.shared.write_failure.is_none()
            || self.looked.elapsed() >= FILE_CHECK_INTERVAL;
        let looked = if is_due { self.look() } else { Ok(()) };
        let done = looked.and_then(|()| self.transact(given, writes, wants_disk));
        if done.is_ok() && !self.is_volatile && writes.iter().any(|(how, _)| *how == AccessMode::Erasing) {
            // While another process reads, the log stays until the next time.
            let _ = self.db.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()));
        }
        self.shared.write_failure.record(done.as_ref().err());
        if let Some(last) = *done.as_ref().unwrap_or(&None) {
            self.shared.written.send_replace(last);
        }
        done.map(drop)
    }

    /// Checks that writes go to the files that other processes find; other writes would be lost with this process.
    fn look(&mut self) -> Result<(), StateError> {
        self.looked = Instant::now();
        let Some(files) = &mut self.files else { return Ok(()) };
        let mut looked = files.check(&self.db);
        if !self.shared.write_failure.is_none() {
            looked = looked.and_then(|()| files.has_room());
        }
        if let Err(problem) = &looked {
            self.shared.write_failure.record(Some(problem));
        }
        looked
    }

    fn transact(
        &mut self,
        given: &[Event],
        writes: &mut [(AccessMode, Box<dyn Work>)],
        wants_disk: bool,
    ) -> Result<Option<i64>, StateError> {
        self.durable(wants_disk)?;
        self.shared.is_locked_out.store(true, Relaxed);
        let all = self.db.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate);
        self.shared.is_locked_out.store(false, Relaxed);
        let all = all?;
        // When idle, it tests whether anything can be written.
        let last = match given.is_empty() && !writes.is_empty() {
            true => 0,
            false => events::write(&all, given)?,
        };
        for (_, work) in writes {
            work.run(&all)?;
        }
        if self.is_volatile && !given.is_empty() {
            events::keep_newest(&all, last)?;
        }
        match self.files.as_mut().filter(|_| wants_disk) {
            Some(files) => {
                let number = counted(&all)?;
                files.may_become(number)?;
                all.commit()?;
                files.became(number);
            }
            None => all.commit()?,
        }
        Ok((!given.is_empty()).then_some(last))
    }

    /// Whether a commit waits for the disk.
    fn durable(&mut self, is_wanted: bool) -> rusqlite::Result<()> {
        if self.is_volatile || self.is_durable == Some(is_wanted) {
            return Ok(());
        }
        self.db.pragma_update(None, "synchronous", if is_wanted { "FULL" } else { "NORMAL" })?;
        self.is_durable = Some(is_wanted);
        Ok(())
    }
}

/// The queued work; where there are only events, waits a moment for more.
fn gathered(first: Message, from: &Receiver<Message>) -> Vec<(AccessMode, Box<dyn Work>)> {
    let next = match first {
        Message::Events => from.recv_timeout(LINGER).ok(),
        first => Some(first),
    };
    let work = |message| match message {
        Message::Events => None,
        Message::Work(how, work) => Some((how, work)),
    };
    next.into_iter().chain(from.try_iter()).take(BATCH).filter_map(work).collect()
}

/// The number of a durable transaction.
fn counted(db: &Connection) -> rusqlite::Result<i64> {
    let mut count =
        db.prepare_cached("UPDATE tool_state SET changes = changes + 1 WHERE one = 1 RETURNING changes")?;
    count.query_row([], |row| row.get(0))
}

impl From<rusqlite::Error> for StateError {
    fn from(error: rusqlite::Error) -> Self {
        Self::Failed(error.to_string())
    }
}
