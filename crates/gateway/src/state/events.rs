//! Events: the lines of a trace, and the thread that writes them.
//!
//! There are two tables: one for tool calls, and one for all other events. Both take their numbers from the same
//! counter. The transaction that writes the events increments the counter, so that a reader who asks for the events
//! after a number misses no event. The thread writes events that arrive close together in one transaction, and tries
//! again after a failed write.

use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicU64, AtomicUsize};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, OnceLock};
use std::thread::JoinHandle;
use std::time::Duration;

use rusqlite::types::Value;
use serde::{Deserialize, Serialize};
use strum::VariantArray;
use tokio::sync::oneshot;

use super::approvals::erase_expired;
use super::database::{Access, Database, Row, Sql, insert, values};
use super::sums::{add_up, forget_sums};
use super::{Health, Session, StateError, StateStore, millis, now, waited};
use toolcrib_definition::Effect;
use toolcrib_definition::guard::{guarded_now, locked};

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
    pub input: serde_json::Value,
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
    /// Whether the call was a dry run.
    pub dry_run: bool,
    /// Duration in microseconds.
    pub latency_us: i64,
    /// Estimated tokens of the answer.
    pub tokens: i64,
    /// Further data, such as the version of a doc or the new context.
    pub detail: serde_json::Value,
}

/// Longest message of an error, in bytes.
const ERROR: usize = 2 << 10;
/// Most bytes of recorded arguments, and of further data: thousands of events wait in memory.
const INPUT: usize = 16 << 10;

impl Event {
    /// The event as it is written: with the time, and with long texts cut.
    pub(super) fn stamped(mut self) -> Self {
        if self.at == 0 {
            self.at = now();
        }
        if let Some(error) = &mut self.error {
            error.truncate(error.floor_char_boundary(ERROR));
        }
        cut(&mut self.input);
        cut(&mut self.detail);
        self
    }
}

/// Puts the beginning of its JSON in place of a value that is too long.
fn cut(value: &mut serde_json::Value) {
    let text = value.to_string();
    if text.len() > INPUT {
        *value = serde_json::json!({ "cut": &text[..text.floor_char_boundary(INPUT)], "bytes": text.len() });
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

impl EventKind {
    /// Every kind.
    pub const ALL: &[EventKind] = Self::VARIANTS;

    /// The word that is stored.
    pub fn as_str(self) -> &'static str {
        self.into()
    }
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
    /// The number of events to skip at the beginning.
    pub skip: i64,
    /// Most events; all when zero.
    pub limit: usize,
}

impl EventQuery {
    /// The events of a session.
    pub fn of(session: &Session) -> Self {
        let caller = Some(session.caller.to_string());
        let session = Some(session.id.to_string());
        Self { session, caller, ..Self::default() }
    }
}

/// Most events that are kept if the state is in memory only.
const NEWEST: i64 = 10_000;

/// Bytes that must find room before writing is considered possible again. A row or two could still fit into the last
/// free page.
const PROBED: usize = 64 << 10;

/// Most milliseconds by which ages grow between two clean-ups, so that a clock that is wrong once makes nothing too
/// old.
const STEP: i64 = 86_400_000;

/// Columns of both tables of events.
pub(super) const SHARED: &str =
    "id, at, trace_id, caller, session, function, op, tool, outcome, error, latency_us, tokens, detail";

/// The other columns of `tool_executions`.
pub(super) const OF_CALLS: &str =
    "arguments, validated, no_schema_mode, effect, dry_run, profile, registry_version, doc_version";

/// The other columns of `session_events`.
const OF_OTHERS: &str = "input, kind, found";

impl StateStore {
    /// Records an event in the background. Nobody waits for it; [`Health`] counts lost events.
    pub fn record(&self, event: Event) {
        self.recorder.record(event.stamped());
    }

    /// Waits until all recorded events are written.
    pub async fn flush(&self) -> Result<(), StateError> {
        waited(self.recorder.flush()).await
    }

    /// Returns events, oldest first. Events that this process has just recorded are
    /// written first, if possible, and included.
    pub async fn events(&self, wanted: &EventQuery) -> Result<Vec<Event>, StateError> {
        let _ = self.flush().await;
        let mut chosen = "id > ?1".to_string();
        let mut values = values![wanted.after].to_vec();
        for (column, text) in [("session", &wanted.session), ("caller", &wanted.caller)] {
            if let Some(text) = text {
                values.push(text.clone().into());
                chosen.push_str(&format!(" AND {column} = ?{}", values.len()));
            }
        }
        let most = i64::try_from(wanted.limit).ok().filter(|limit| *limit > 0).unwrap_or(i64::MAX);
        // Each half has its own limit, so that a database reads no more of a long session.
        let half = format!("WHERE {chosen} ORDER BY id LIMIT {}", most.saturating_add(wanted.skip));
        let select = format!(
            "SELECT * FROM (SELECT {SHARED}, {OF_CALLS}, 'call' AS kind, '[]' AS found FROM tool_executions {half}) AS calls \
             UNION ALL SELECT * FROM (SELECT {SHARED}, input, CAST(NULL AS boolean), NULL, NULL, FALSE, NULL, NULL, NULL, \
             kind, found FROM session_events {half}) AS others ORDER BY id LIMIT {most} OFFSET {}",
            wanted.skip
        );
        self.rows(Access::Read, &select, values).await?.into_iter().map(event).collect()
    }

    /// Deletes events and state older than this, and the arguments of expired approvals, after all recorded events
    /// are written.
    pub async fn delete_older(&self, older_than: Duration) -> Result<(), StateError> {
        let _ = self.recorder.flush().await;
        let age = millis(older_than);
        self.ask(Access::Erase, move |sql| forget(sql, age)).await
    }
}

/// Events per read, which limits the size of a database's answer.
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

/// Writes events.
fn write(sql: &mut dyn Sql, events: &[Event], is_volatile: bool) -> Result<(), StateError> {
    let count = events.len() as i64;
    let counter = "UPDATE tool_event_counter SET last = last + ?1 WHERE one = 1 RETURNING last";
    let last = sql.row(counter, &values![count])?.map_or(0, |mut row| row.int());
    for (table, own, is_calls) in [("tool_executions", OF_CALLS, true), ("session_events", OF_OTHERS, false)]
    {
        let numbered = (last - count + 1..).zip(events);
        let numbered = numbered.filter(|(_, event)| (event.kind == EventKind::Call) == is_calls);
        let rows: Vec<Vec<Value>> = numbered.map(|(id, event)| row(id, event)).collect();
        insert(sql, &format!("{table} ({SHARED}, {own})"), rows, "")?;
        if is_volatile && !events.is_empty() {
            sql.rows(&format!("DELETE FROM {table} WHERE id <= ?1"), &values![last - NEWEST])?;
        }
    }
    if is_volatile {
        sql.rows("DELETE FROM session_sums WHERE last <= ?1", &values![last - NEWEST])?;
    }
    add_up(sql, last - count + 1, events)
}

/// The columns of an event, in the order of its table.
fn row(id: i64, event: &Event) -> Vec<Value> {
    let mut row = values![
        id,
        event.at,
        event.trace_id,
        event.caller,
        event.session,
        event.function,
        event.op,
        event.tool,
        event.outcome,
        event.error,
        event.latency_us,
        event.tokens,
        event.detail.to_string(),
        event.input.to_string(),
    ]
    .to_vec();
    row.extend(match event.kind {
        EventKind::Call => values![
            event.validated,
            event.no_schema_mode,
            event.effect.map(|effect| effect.as_str().to_string()),
            event.dry_run,
            event.profile,
            event.registry_version,
            event.doc_version,
        ]
        .to_vec(),
        kind => values![*kind.as_str(), serde_json::to_string(&event.found).unwrap_or_default()].to_vec(),
    });
    row
}

pub(super) fn event(mut row: Row) -> Result<Event, StateError> {
    Ok(Event {
        id: row.int(),
        at: row.int(),
        trace_id: row.string(),
        caller: row.string(),
        session: row.text(),
        function: row.string(),
        op: row.text(),
        tool: row.text(),
        outcome: row.string(),
        error: row.text(),
        latency_us: row.int(),
        tokens: row.int(),
        detail: row.json()?,
        input: row.json()?,
        validated: row.number().map(|is| is != 0),
        no_schema_mode: row.text(),
        effect: row.text().as_deref().and_then(Effect::parse),
        dry_run: row.int() != 0,
        profile: row.text(),
        registry_version: row.text(),
        doc_version: row.text(),
        kind: row.string().parse().unwrap_or_default(),
        found: row.json()?,
    })
}

/// Tests whether there is room for the writes of a large call. Leaves nothing behind.
fn probe(sql: &mut dyn Sql) -> Result<(), StateError> {
    let row = values!["probe", "", vec![b' '; PROBED], 0_i64];
    sql.rows("INSERT INTO tool_results (id, caller, text, until) VALUES (?1, ?2, ?3, ?4)", &row)?;
    sql.rows("DELETE FROM tool_results WHERE id = ?1", &values!["probe"]).map(drop)
}

/// Deletes rows older than this many milliseconds, and rows that have expired.
fn forget(sql: &mut dyn Sql, age: i64) -> Result<(), StateError> {
    erase_expired(sql)?;
    let clock = format!(
        "UPDATE tool_state SET clock = clock + CASE WHEN NOW_MS < seen THEN 0 WHEN NOW_MS - seen > {STEP} THEN {STEP} \
         ELSE NOW_MS - seen END, seen = NOW_MS WHERE one = 1 RETURNING clock"
    );
    let clock = sql.row(&clock, &[])?.map_or(0, |mut row| row.int());
    forget_sums(sql, clock.saturating_sub(age))?;
    let before = values![clock.saturating_sub(age)];
    for table in ["tool_executions", "session_events", "session_docs", "session_contexts"] {
        sql.rows(&format!("DELETE FROM {table} WHERE at < ?1"), &before)?;
    }
    let keys = "DELETE FROM tool_idempotency_keys WHERE changed_at < ?1 AND (status <> 'running' OR lease_until < NOW_MS)";
    sql.rows(keys, &before)?;
    sql.rows("DELETE FROM tool_approvals WHERE asked_at < ?1 AND until < NOW_MS", &before)?;
    let unused = "DELETE FROM approval_definitions WHERE bound NOT IN (SELECT bound FROM tool_approvals)";
    sql.rows(unused, &[])?;
    sql.rows("DELETE FROM tool_results WHERE until < NOW_MS", &[]).map(drop)
}

// The thread that writes events.

/// Most events that wait to be written.
const ROOM: usize = 8_192;

/// How long an event waits for others to share its transaction, since a transaction takes ten times as long as the
/// writes in it.
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
    pub(super) async fn flush(&self) -> Result<(), StateError> {
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
    fn write(&self) -> Result<(), StateError> {
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

#[cfg(test)]
mod tests {
    use super::super::Claim;
    use super::*;

    #[tokio::test]
    async fn long_arguments_are_cut_in_the_trace() {
        let state = StateStore::in_memory();
        let input = serde_json::json!({ "text": "ä".repeat(INPUT) });
        state.record(Event { input, ..Event::default() });
        let events = state.events(&EventQuery::default()).await.unwrap();
        assert_eq!(events[0].input["bytes"], 2 * INPUT + 11);
        assert!(events[0].input["cut"].as_str().unwrap().starts_with(r#"{"text":"ää"#));
    }

    #[tokio::test]
    async fn a_clock_that_jumps_ages_keys_by_a_day_and_one_that_is_behind_makes_no_old_ones() {
        let state = StateStore::in_memory();
        let rows =
            async |sql: &str, values: Vec<Value>| state.rows(Access::Write, sql, values).await.unwrap();
        // To let days go by, the test moves the time at which the database was last seen.
        let later = async |days: i64| {
            rows("UPDATE tool_state SET seen = NOW_MS - ?1", values![days * STEP].to_vec()).await;
            state.delete_older(Duration::from_millis(30 * STEP.unsigned_abs())).await.unwrap();
        };
        let count = async || rows("SELECT count(*) FROM tool_idempotency_keys", Vec::new()).await[0].int();
        let op = "op".into();
        let fingerprint = "f".into();
        let owner = "o".into();
        let claim = Claim { caller: "".into(), key: "k".into(), op, fingerprint, owner };
        state.claim(&claim, Duration::from_millis(1)).await.unwrap();
        rows("UPDATE tool_idempotency_keys SET status = 'unknown'", Vec::new()).await;
        later(40).await;
        later(-40).await;
        assert_eq!(count().await, 1);
        for _ in 1..=28 {
            later(1).await;
        }
        assert_eq!(count().await, 1);
        for _ in 29..=31 {
            later(1).await;
        }
        assert_eq!(count().await, 0);
    }
}
