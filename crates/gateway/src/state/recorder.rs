//! The thread that writes events. It writes those that arrive close together in one transaction, and tries again after a failed
//! write.

use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicU64, AtomicUsize};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, OnceLock};
use std::thread::JoinHandle;
use std::time::Duration;

use tokio::sync::oneshot;

use super::database::{Access, Database, Result, Sql, StateError, Transaction, values};
use super::event::Event;
use super::event_rows::write;
use toolcrib_definition::guard::{guarded_now, locked};

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

/// Most events that wait to be written.
const ROOM: usize = 8_192;

/// How long an event waits for others to share its transaction, since a transaction takes ten times as long as the
/// writes in it.
const LINGER: Duration = Duration::from_millis(50);

/// Wait after a failed write before the next attempt.
const PROBE: Duration = Duration::from_secs(1);

/// Bytes that must find room before writing is considered possible again. A row or two could still fit into the last
/// free page.
const PROBED: usize = 64 << 10;

enum Message {
    /// There are events.
    Events,
    /// Something could not be written.
    Failed,
    Flush(oneshot::Sender<Result<()>>),
}

#[derive(Debug)]
struct Shared {
    database: Arc<dyn Database>,
    events: Mutex<Vec<Event>>,
    /// Events that are not written yet.
    waiting: AtomicUsize,
    lost: AtomicU64,
    problem: Mutex<Option<String>>,
}

/// The queue of events. The thread writes all of them and ends when this is dropped.
#[derive(Debug)]
pub(super) struct Recorder {
    shared: Arc<Shared>,
    /// Started at its first use.
    thread: OnceLock<Option<(Sender<Message>, JoinHandle<()>)>>,
}

impl Recorder {
    pub(super) fn new(database: Arc<dyn Database>) -> Self {
        let (events, waiting, lost, problem) = Default::default();
        let shared = Shared { database, events, waiting, lost, problem };
        Self { shared: Arc::new(shared), thread: OnceLock::new() }
    }

    pub(super) fn health(&self) -> Health {
        Health {
            problem: locked(&self.shared.problem).clone(),
            lost: self.shared.lost.load(Relaxed),
            is_volatile: self.shared.database.is_volatile(),
        }
    }

    fn send(&self, message: Message) -> bool {
        let start = || {
            let ((to, from), shared) = (channel(), Arc::clone(&self.shared));
            let thread = std::thread::Builder::new().name("state".into()).spawn(move || shared.work(&from));
            Some((to, thread.ok()?))
        };
        self.thread.get_or_init(start).as_ref().is_some_and(|(to, _)| to.send(message).is_ok())
    }

    /// Queues an event, unless too many wait.
    pub(super) fn record(&self, event: Event) {
        let mut events = locked(&self.shared.events);
        if events.len() >= ROOM {
            self.shared.lost.fetch_add(1, Relaxed);
            return;
        }
        events.push(event);
        self.shared.waiting.fetch_add(1, Relaxed);
        let is_first = events.len() == 1;
        drop(events);
        // Only the first event in the queue wakes the thread.
        if is_first && !self.send(Message::Events) {
            self.shared.lost.fetch_add(locked(&self.shared.events).drain(..).len() as u64, Relaxed);
        }
    }

    /// Records a failed write of other code, and makes the thread test when writing works again.
    pub(super) fn failed(&self, problem: &StateError) {
        self.shared.note(Some(problem));
        self.send(Message::Failed);
    }

    /// Waits until all queued events are written. After a failure, tries to write again.
    pub(super) async fn flush(&self) -> Result<()> {
        if self.shared.waiting.load(Acquire) == 0 && locked(&self.shared.problem).is_none() {
            return Ok(());
        }
        let (done, answer) = oneshot::channel();
        self.send(Message::Flush(done));
        answer.await.unwrap_or_else(|_| Err(StateError::Failed("the database is closed".into())))
    }
}

impl Drop for Recorder {
    fn drop(&mut self) {
        if let Some(Some((to, thread))) = self.thread.take() {
            drop(to);
            let _ = thread.join();
        }
    }
}

impl Shared {
    fn work(&self, from: &Receiver<Message>) {
        loop {
            let is_well = locked(&self.problem).is_none();
            let first = if is_well {
                from.recv().map_err(|_| RecvTimeoutError::Disconnected)
            } else {
                from.recv_timeout(PROBE)
            };
            let next = match first {
                // A flush ends the wait early: it writes the queued events too.
                Ok(Message::Events) => from.recv_timeout(LINGER).ok(),
                Ok(Message::Failed) => continue,
                Ok(first) => Some(first),
                Err(RecvTimeoutError::Timeout) => None,
                Err(RecvTimeoutError::Disconnected) => return,
            };
            let waiting = next.into_iter().chain(from.try_iter()).filter_map(|message| match message {
                Message::Flush(done) => Some(done),
                _ => None,
            });
            let waiting: Vec<_> = waiting.collect();
            let written = self.write();
            // A receiver may be gone.
            waiting.into_iter().for_each(|done| drop(done.send(written.clone())));
        }
    }

    /// Writes the queued events. After a failed write it first tests whether there is room again. Events that then still cannot
    /// be written are lost, so that one of them does not keep back all others.
    fn write(&self) -> Result<()> {
        let has_failed = locked(&self.problem).is_some();
        let probed = if has_failed { self.run(&mut probe) } else { Ok(()) };
        let given = if probed.is_ok() { std::mem::take(&mut *locked(&self.events)) } else { Vec::new() };
        let written =
            probed.and_then(|()| self.run(&mut |sql| write(sql, &given, self.database.is_volatile())));
        self.note(written.as_ref().err());
        let count = given.len();
        if written.is_err() && !has_failed {
            self.wait_again(given);
            return written;
        }
        if written.is_err() && count > 0 {
            self.lose(count);
        }
        // This comes last: a caller who sees an empty queue then also sees the result of the write.
        self.waiting.fetch_sub(count, Release);
        written
    }

    fn run(&self, transaction: Transaction<'_>) -> Result<()> {
        let run = guarded_now(|| self.database.run(Access::Write, transaction));
        let mistake = "the write failed inside toolcrib and is tried again";
        run.unwrap_or_else(|_| Err(StateError::Failed(mistake.into())))
    }

    /// Puts events back to the front of the queue, as many as there is room for.
    fn wait_again(&self, mut given: Vec<Event>) {
        let mut events = locked(&self.events);
        let room = ROOM.saturating_sub(events.len());
        let lost = given.len().saturating_sub(room);
        given.truncate(room);
        events.splice(..0, given);
        drop(events);
        if lost > 0 {
            self.lose(lost);
            self.waiting.fetch_sub(lost, Release);
        }
    }

    fn lose(&self, count: usize) {
        self.lost.fetch_add(count as u64, Relaxed);
        tracing::warn!(count, "events are lost");
    }

    /// Records the result of the last write, and logs the result if it has changed.
    fn note(&self, problem: Option<&StateError>) {
        let message = problem.map(ToString::to_string);
        let mut noted = locked(&self.problem);
        if *noted == message {
            return;
        }
        match &message {
            Some(problem) => tracing::warn!("state cannot be written: {problem}"),
            None => tracing::info!("state can be written again"),
        }
        *noted = message;
    }
}

/// Tests whether there is room for the writes of a large call. Leaves nothing behind.
fn probe(sql: &mut dyn Sql) -> Result<()> {
    let row = values!["probe", "", vec![b' '; PROBED], 0_i64];
    sql.rows("INSERT INTO tool_results (id, caller, text, until) VALUES (?1, ?2, ?3, ?4)", &row)?;
    sql.rows("DELETE FROM tool_results WHERE id = ?1", &values!["probe"]).map(drop)
}
