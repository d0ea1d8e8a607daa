//! The thread that writes events. It writes those that arrive close together in one transaction, and tries again after a failed
//! write.

use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicU64, AtomicUsize};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, OnceLock};
use std::thread::JoinHandle;
use std::time::Duration;

use tokio::sync::oneshot;

use super::database::{Access, Database, Result, Sql, StateError, values};
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

    /// Writes the queued events. After a failed write it first tests whether there is room again.
    fn write(&self) -> Result<()> {
        let given = std::mem::take(&mut *locked(&self.events));
        let has_failed = locked(&self.problem).is_some();
        let written = guarded_now(|| {
            self.database.run(Access::Write, &mut |sql| {
                if has_failed {
                    probe(sql)?;
                }
                write(sql, &given, self.database.is_volatile())
            })
        });
        let written = written.unwrap_or_else(|_| {
            Err(StateError::Failed("the write failed inside toolcrib and is tried again".into()))
        });
        self.note(written.as_ref().err());
        if written.is_err() {
            self.lost.fetch_add(given.len() as u64, Relaxed);
        }
        // This comes last: a caller who sees an empty queue then also sees the result of the write.
        self.waiting.fetch_sub(given.len(), Release);
        written
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
