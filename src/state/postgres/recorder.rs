//! Writes events in the background: the events that arrive during one batch make the next.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use tokio::runtime::Handle;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::sync::{oneshot, watch};
use tokio::time::timeout;

use super::connect::CONNECT_TIMEOUT;
use super::{Database, events};
use crate::guard::guarded;
use crate::state::write_failure::WriteFailure;
use crate::state::{Event, Health, StateError};

/// Most events that wait to be written.
const ROOM: usize = 8_192;

/// Most messages in one batch.
const BATCH: usize = 512;

/// Wait after a failure before the next attempt.
const PROBE: Duration = Duration::from_secs(1);

enum Message {
    Event(Box<Event>),
    Flush(oneshot::Sender<Result<(), StateError>>),
    /// Another statement has failed.
    Probe,
}

struct Shared {
    waiting: AtomicUsize,
    lost: AtomicU64,
    write_failure: WriteFailure,
    written: watch::Sender<i64>,
}

/// The queue of events for the database.
pub(super) struct Recorder {
    database: Arc<Database>,
    shared: Arc<Shared>,
    to: OnceLock<UnboundedSender<Message>>,
}

impl Recorder {
    pub(super) fn new(database: Arc<Database>) -> Self {
        let written = watch::channel(0).0;
        let shared = Shared {
            waiting: Default::default(),
            lost: Default::default(),
            write_failure: Default::default(),
            written,
        };
        Self { database, shared: Arc::new(shared), to: OnceLock::new() }
    }

    pub(super) fn health(&self) -> Health {
        Health {
            problem: self.shared.write_failure.current(),
            lost: self.shared.lost.load(Relaxed),
            is_volatile: false,
        }
    }

    pub(super) fn written(&self) -> watch::Receiver<i64> {
        self.shared.written.subscribe()
    }

    /// Starts to write at the first message.
    fn send(&self, message: Message) -> bool {
        if self.to.get().is_none() {
            let Ok(runtime) = Handle::try_current() else { return false };
            self.to.get_or_init(|| {
                let (to, from) = unbounded_channel();
                runtime.spawn(write(Arc::clone(&self.database), Arc::clone(&self.shared), from));
                to
            });
        }
        self.to.get().is_some_and(|to| to.send(message).is_ok())
    }

    pub(super) fn record(&self, event: Event) {
        let has_room = self.shared.waiting.fetch_add(1, Relaxed) < ROOM;
        if !(has_room && self.send(Message::Event(Box::new(event)))) {
            self.shared.waiting.fetch_sub(1, Relaxed);
            self.shared.lost.fetch_add(1, Relaxed);
        }
    }

    /// Records a failure, and tests when writing works again.
    pub(super) fn probe(&self, problem: &StateError) {
        self.shared.write_failure.record(Some(problem));
        self.send(Message::Probe);
    }

    /// Waits until queued events are written, if there are any.
    pub(super) async fn settle(&self) -> Result<(), StateError> {
        match self.shared.waiting.load(Relaxed) {
            0 => Ok(()),
            _ => self.flush().await,
        }
    }

    pub(super) async fn flush(&self) -> Result<(), StateError> {
        let (done, answer) = oneshot::channel();
        self.send(Message::Flush(done));
        answer
            .await
            .unwrap_or_else(|_| Err(StateError::Failed("the connection to PostgreSQL has ended".into())))
    }
}

async fn write(database: Arc<Database>, shared: Arc<Shared>, mut from: UnboundedReceiver<Message>) {
    let mut messages = Vec::with_capacity(BATCH);
    loop {
        let waited = match shared.write_failure.is_none() {
            true => Ok(from.recv_many(&mut messages, BATCH).await),
            false => timeout(PROBE, from.recv_many(&mut messages, BATCH)).await,
        };
        if waited == Ok(0) {
            return;
        }
        let (mut given, mut waiting, mut doubts) = (Vec::new(), Vec::new(), false);
        for message in messages.drain(..) {
            match message {
                Message::Event(event) => given.push(*event),
                Message::Flush(done) => waiting.push(done),
                Message::Probe => doubts = true,
            }
        }
        if doubts && given.is_empty() && waiting.is_empty() {
            continue;
        }
        // When idle, it tests whether anything can be written.
        let done = async { events::write(database.client().await?, &given, !waiting.is_empty()).await };
        let done = match timeout(2 * CONNECT_TIMEOUT, guarded(done)).await {
            Ok(Ok(done)) => done,
            Ok(Err(_)) => Err(StateError::Failed("writing broke down; it is tried again".into())),
            Err(_) => Err(StateError::Failed("PostgreSQL did not answer in time".into())),
        };
        shared.waiting.fetch_sub(given.len(), Relaxed);
        shared.write_failure.record(done.as_ref().err());
        match &done {
            Ok(last) if !given.is_empty() => drop(shared.written.send_replace(*last)),
            Ok(_) => {}
            Err(_) => drop(shared.lost.fetch_add(given.len() as u64, Relaxed)),
        }
        for waiting in waiting {
            // The receiver may be gone.
            let _ = waiting.send(done.clone().map(drop));
        }
    }
}
