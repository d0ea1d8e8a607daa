//! Writes events on one thread: those that come soon after each other, in one transaction. The thread also tries again
//! when something could not be written.

use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicU64, AtomicUsize};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use strum::VariantArray;
use tokio::sync::oneshot;

use super::database::{Access, Database};
use super::{Health, Session, StateError, StateStore, events};
use crate::guard::guarded_now;
use crate::tool::Effect;

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

// One line of a trace: a search, a doc that was read, a tool that was expanded or called, and the outcome.

/// One event of a trace.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Event {
    /// Its number; assigned when it is written.
    pub id: i64,
    /// Time in milliseconds of Unix time; zero is replaced by the current time when the event is recorded.
    pub at: i64,
    /// Id of the answer.
    pub trace_id: String,
    /// The caller; empty where everybody may come in.
    pub caller: String,
    /// The session.
    pub session: Option<String>,
    /// Kind of the event.
    pub kind: EventKind,
    /// The function that was called.
    pub function: String,
    /// The op.
    pub op: Option<String>,
    /// The tool of the op.
    pub tool: Option<String>,
    /// The query or the arguments, with secrets redacted.
    pub input: Value,
    /// The ops that were found, best first.
    pub found: Vec<String>,
    /// `ok`, or the code of the error.
    pub outcome: String,
    /// Message of the error.
    pub error: Option<String>,
    /// The profile of the caller; for calls.
    pub profile: Option<String>,
    /// Version of the catalog that the caller saw; for calls.
    pub registry_version: Option<String>,
    /// Version of the tool's doc; for calls.
    pub doc_version: Option<String>,
    /// Whether the arguments were checked; for calls.
    pub validated: Option<bool>,
    /// No-schema mode of a call without a schema.
    pub no_schema_mode: Option<String>,
    /// Effect of the tool; for calls.
    pub effect: Option<Effect>,
    /// Whether nothing was run on purpose.
    pub dry_run: bool,
    /// Duration in microseconds.
    pub latency_us: i64,
    /// Further data, such as the version of a doc or the new context.
    pub detail: Value,
}

/// Longest message of an error, in bytes.
const ERROR: usize = 2 << 10;

impl Event {
    /// The event as it is written: with the time, and with long texts cut.
    pub(super) fn stamped(mut self) -> Self {
        if self.at == 0 {
            self.at = super::now();
        }
        if let Some(error) = &mut self.error {
            error.truncate(error.floor_char_boundary(ERROR));
        }
        self
    }
}

/// Kind of an event.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[derive(strum::EnumString, strum::IntoStaticStr, VariantArray)]
#[strum(serialize_all = "snake_case")]
pub enum EventKind {
    /// A search for tools.
    Search,
    /// A doc or help was read.
    Read,
    /// A tool was expanded.
    Expand,
    /// A tool was called.
    #[default]
    Call,
    /// A result changed the session's context.
    ContextShift,
    /// A person was asked, or has decided.
    Approval,
}

/// Filter of events.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EventQuery {
    /// Session; any when absent.
    pub session: Option<String>,
    /// Caller; any when absent.
    pub caller: Option<String>,
    /// Least number, exclusive.
    pub after: i64,
    /// The number of events to leave out, the first in the order.
    pub skip: i64,
    /// Most events; all when zero.
    pub limit: usize,
    /// Whether the newest come first, so that a limit leaves the oldest out.
    pub newest_first: bool,
}

impl EventQuery {
    /// The events of a session.
    pub fn of(session: &Session) -> Self {
        let (session, caller) = (Some(session.id.to_string()), Some(session.caller.to_string()));
        Self { session, caller, ..Self::default() }
    }
}

/// Events read at a time: bounds the answers of a database.
const PAGE: usize = 1_000;

/// All events of a query, whatever its limit.
pub async fn every_event(state: &StateStore, mut wanted: EventQuery) -> Result<Vec<Event>, StateError> {
    let mut events = Vec::new();
    wanted.limit = PAGE;
    loop {
        let page = state.events(&wanted).await?;
        let is_last = page.len() < PAGE;
        wanted.after = page.last().map_or(wanted.after, |event| event.id);
        events.extend(page);
        if is_last {
            return Ok(events);
        }
    }
}

/// A session with events.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionSummary {
    /// The caller; empty where everybody may come in.
    pub caller: String,
    /// Name of the session, chosen by the caller.
    pub session: String,
    /// Time of its first event, in milliseconds of Unix time.
    pub since: i64,
    /// Time of its last event.
    pub until: i64,
    /// Number of events.
    pub events: u64,
    /// Number of calls of tools.
    pub calls: u64,
    /// Number of failed calls.
    pub failed: u64,
}

impl EventKind {
    /// Every kind.
    pub const ALL: &[EventKind] = Self::VARIANTS;

    /// The word that is stored.
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}
