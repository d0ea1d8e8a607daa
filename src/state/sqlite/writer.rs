//! The one thread that has the connection. What it is given while it is busy it does in one transaction.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rusqlite::Connection;
use tokio::sync::{oneshot, watch};
use tokio::time::timeout;

use super::events;
use super::open::{FileId, Place};
use crate::state::{Event, Health, Pending, StateError};

/// How many events may wait to be written.
const ROOM: usize = 8_192;

/// How many pieces of work one transaction holds at most.
const BATCH: usize = 512;

/// After a write has failed, how long it is until the next attempt.
const PROBE: Duration = Duration::from_secs(1);

/// How long what a call can do without waits for somebody else's lock.
const MOMENT: Duration = Duration::from_millis(200);

/// How often it is looked whether the file is still where it was.
const LOOK: Duration = Duration::from_secs(2);

/// How a piece of work uses the database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Use {
    /// Reads only.
    Read,
    /// Writes; what was written last may be gone after a power cut.
    Write,
    /// Writes, and is answered when that is on the disk.
    Durable,
}

/// A piece of work that somebody waits for.
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
        // Who no longer waits does not mind.
        let _ = self.to.send(answer);
    }
}

fn ended() -> StateError {
    StateError("the database is closed".into())
}

enum Message {
    Event(Box<Event>),
    Work(Use, Box<dyn Work>),
}

/// What both sides know.
#[derive(Debug)]
pub(super) struct Shared {
    waiting: AtomicUsize,
    lost: AtomicU64,
    /// Whether somebody else's lock is being waited for.
    is_locked_out: AtomicBool,
    problem: Mutex<Option<String>>,
    written: watch::Sender<i64>,
}

impl Default for Shared {
    fn default() -> Self {
        let (waiting, lost, is_locked_out, problem) = Default::default();
        Self { waiting, lost, is_locked_out, problem, written: watch::channel(0).0 }
    }
}

impl Shared {
    pub(super) fn health(&self, is_volatile: bool) -> Health {
        let problem = self.problem.lock().unwrap_or_else(PoisonError::into_inner).clone();
        Health { problem, lost: self.lost.load(Relaxed), is_volatile }
    }

    pub(super) fn written(&self) -> watch::Receiver<i64> {
        self.written.subscribe()
    }

    /// What comes of asking, unless somebody else's lock is in the way for more than a moment.
    pub(super) async fn unless_locked<T>(&self, mut asking: Pending<'_, T>) -> Result<T, StateError> {
        let is_known = self.problem.lock().unwrap_or_else(PoisonError::into_inner).is_some();
        let moment = if is_known { Duration::from_millis(5) } else { MOMENT };
        loop {
            match timeout(moment, &mut asking).await {
                Ok(answer) => return answer,
                Err(_) if self.is_locked_out.load(Relaxed) => {
                    return Err(StateError("another process holds the database".into()));
                }
                Err(_) => {}
            }
        }
    }

    fn say(&self, problem: Option<&StateError>) {
        *self.problem.lock().unwrap_or_else(PoisonError::into_inner) = problem.map(ToString::to_string);
    }
}

/// The thread, from outside. It ends, with all written, when this is dropped.
#[derive(Debug)]
pub(super) struct Writer {
    to: Option<Sender<Message>>,
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

impl Writer {
    /// Starts with a database that was opened.
    pub(super) fn start(db: Connection, place: &Place, shared: Arc<Shared>) -> Self {
        let (to, from) = channel();
        db.set_prepared_statement_cache_capacity(64);
        let desk = Desk {
            db,
            shared: Arc::clone(&shared),
            is_durable: None,
            is_volatile: *place == Place::Memory,
            file: FileId::of(place),
            looked: Instant::now(),
        };
        let thread = std::thread::Builder::new().name("state".into()).spawn(move || desk.work(&from)).ok();
        Self { to: Some(to), shared, thread }
    }

    fn send(&self, message: Message) -> bool {
        self.to.as_ref().is_some_and(|to| to.send(message).is_ok())
    }

    /// Gives it an event, unless too many wait.
    pub(super) fn record(&self, event: Event) {
        let has_room = self.shared.waiting.fetch_add(1, Relaxed) < ROOM;
        if !(has_room && self.send(Message::Event(Box::new(event)))) {
            self.shared.waiting.fetch_sub(1, Relaxed);
            self.shared.lost.fetch_add(1, Relaxed);
        }
    }

    /// Gives it work, and waits for what comes of it.
    pub(super) async fn ask<T: Send + 'static>(
        &self,
        how: Use,
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

/// The thread, from inside.
struct Desk {
    db: Connection,
    shared: Arc<Shared>,
    is_durable: Option<bool>,
    is_volatile: bool,
    /// The file that was opened.
    file: Option<FileId>,
    looked: Instant,
}

impl Desk {
    fn work(mut self, from: &Receiver<Message>) {
        let mut is_well = true;
        loop {
            let first = match is_well {
                true => from.recv().map_err(|_| RecvTimeoutError::Disconnected),
                false => from.recv_timeout(PROBE),
            };
            match first {
                Ok(first) => {
                    is_well = self.batch(std::iter::once(first).chain(from.try_iter()).take(BATCH), is_well)
                }
                Err(RecvTimeoutError::Timeout) => is_well = self.commit(&[], &mut []).is_ok(),
                Err(RecvTimeoutError::Disconnected) => return,
            }
        }
    }

    fn batch(&mut self, messages: impl Iterator<Item = Message>, was_well: bool) -> bool {
        let (mut given, mut writes, mut reads) = (Vec::new(), Vec::new(), Vec::new());
        for message in messages {
            match message {
                Message::Event(event) => given.push(*event),
                Message::Work(Use::Read, work) => reads.push(work),
                Message::Work(how, work) => writes.push((how, work)),
            }
        }
        self.shared.waiting.fetch_sub(given.len(), Relaxed);
        let written = match given.is_empty() && writes.is_empty() {
            true => None,
            false => Some(self.commit(&given, &mut writes)),
        };
        let problem = written.as_ref().and_then(|written| written.as_ref().err());
        if problem.is_some() {
            self.shared.lost.fetch_add(given.len() as u64, Relaxed);
        }
        writes.into_iter().for_each(|(_, work)| work.end(problem));
        // What was written just now is read, too.
        for mut work in reads {
            let problem = work.run(&self.db).err().map(told);
            work.end(problem.as_ref());
        }
        written.map_or(was_well, |written| written.is_ok())
    }

    /// All of it, or nothing.
    fn commit(&mut self, given: &[Event], writes: &mut [(Use, Box<dyn Work>)]) -> Result<(), StateError> {
        let wants_disk = writes.iter().any(|(how, _)| *how == Use::Durable);
        let done = match self.is_in_place() {
            Ok(()) => self.durable(wants_disk).and_then(|()| self.transact(given, writes)).map_err(told),
            Err(error) => Err(error),
        };
        self.shared.say(done.as_ref().err());
        if let Some(last) = *done.as_ref().unwrap_or(&None) {
            self.shared.written.send_replace(last);
        }
        done.map(drop)
    }

    /// Whether what is written is written into the file that others find. One that was removed takes all of it, and is gone
    /// with us.
    fn is_in_place(&mut self) -> Result<(), StateError> {
        let Some(file) = &self.file else { return Ok(()) };
        let is_well = self.shared.problem.lock().unwrap_or_else(PoisonError::into_inner).is_none();
        if is_well && self.looked.elapsed() < LOOK {
            return Ok(());
        }
        self.looked = Instant::now();
        file.is_in_place()
    }

    fn transact(
        &mut self,
        given: &[Event],
        writes: &mut [(Use, Box<dyn Work>)],
    ) -> rusqlite::Result<Option<i64>> {
        self.shared.is_locked_out.store(true, Relaxed);
        let all = self.db.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate);
        self.shared.is_locked_out.store(false, Relaxed);
        let all = all?;
        // With nothing to do it finds out whether anything can be written.
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
        all.commit()?;
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

fn told(error: rusqlite::Error) -> StateError {
    StateError(error.to_string())
}
