//! Writes events on one thread: those that come soon after each other, in one transaction. The thread also tries again
//! when something could not be written.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use tokio::sync::oneshot;

use super::database::{Access, Database};
use super::{Event, Health, StateError, events};
use crate::guard::guarded_now;

/// Most events that wait to be written.
const ROOM: usize = 8_192;

/// Wait of an event for others, since a transaction takes ten times as long as its content.
const LINGER: Duration = Duration::from_millis(50);

/// Wait after a failed write before the next attempt.
const PROBE: Duration = Duration::from_secs(1);

enum Message {
    /// There are events.
    Events,
    /// Something could not be written.
    Failed,
    Flush(oneshot::Sender<Result<(), StateError>>),
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
        // The thread is woken for the first one only.
        if is_first && !self.send(Message::Events) {
            self.shared.lost.fetch_add(locked(&self.shared.events).drain(..).len() as u64, Relaxed);
        }
    }

    /// Records a failure of other work, and finds out when writing works again.
    pub(super) fn failed(&self, problem: &StateError) {
        self.shared.note(Some(problem));
        self.send(Message::Failed);
    }

    /// Waits until all events are written.
    pub(super) async fn flush(&self) -> Result<(), StateError> {
        if self.shared.database.is_volatile() && self.thread.get().is_none() {
            return Ok(());
        }
        let (done, answer) = oneshot::channel();
        self.send(Message::Flush(done));
        answer.await.unwrap_or_else(|_| Err(StateError::Failed("the database is closed".into())))
    }

    /// Waits until all events are written, if there are any.
    pub(super) async fn settle(&self) {
        if self.shared.waiting.load(Relaxed) > 0 {
            let _ = self.flush().await;
        }
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
            let first = match is_well {
                true => from.recv().map_err(|_| RecvTimeoutError::Disconnected),
                false => from.recv_timeout(PROBE),
            };
            let next = match first {
                // Whoever waits takes queued events along.
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
    fn write(&self) -> Result<(), StateError> {
        let given = std::mem::take(&mut *locked(&self.events));
        let has_failed = locked(&self.problem).is_some();
        let written = guarded_now(|| {
            self.database.run(Access::Write, &mut |sql| {
                if has_failed {
                    events::probe(sql)?;
                }
                events::write(sql, &given, self.database.is_volatile())
            })
        });
        let written = written
            .unwrap_or_else(|_| Err(StateError::Failed("writing broke down; it is tried again".into())));
        self.waiting.fetch_sub(given.len(), Relaxed);
        self.note(written.as_ref().err());
        if written.is_err() {
            self.lost.fetch_add(given.len() as u64, Relaxed);
        }
        written
    }

    /// Records the result of the last write. It is logged when it changes.
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

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
