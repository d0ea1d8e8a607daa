//! The trace of a function call: its trace id, the docs that its session has read, and counts. Calls of tools are
//! recorded where they are run.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt::Write;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Duration, Instant};

use serde_json::{Map, Value, json};

use super::{Answer, ErrorCode, Function, FunctionContext, Refusal};
use crate::config::RequireDoc;
use crate::exec::Caller;
use crate::state::{Event, EventKind, InvalidSessionName, Session};

/// Most ops that one event names.
const FOUND: usize = 50;

/// Bytes of an answer per token, estimated.
const BYTES: u64 = 4;

/// Takes the session that a call names itself out of its arguments.
pub(super) fn named(arguments: &mut Value) -> Option<Result<Arc<str>, Refusal>> {
    match arguments.as_object_mut()?.shift_remove("session")? {
        Value::Null => None,
        Value::String(id) => Some(Session::named(&id).map_err(refused)),
        _ => Some(Err(refused(InvalidSessionName))),
    }
}

fn refused(bad: InvalidSessionName) -> Refusal {
    let refusal = Refusal::new(
        ErrorCode::ValidationError,
        format!("`session` does not fit: {bad}"),
        "send a name of your own for the session, such as `s-42`, or none",
    );
    refusal.field("/session", &bad.to_string())
}

impl FunctionContext {
    /// The same call in another session.
    pub(super) fn in_session(&self, session: Arc<str>) -> Self {
        let caller = Caller { session: Some(session), names_session: true, ..Caller::clone(&self.caller) };
        Self { caller: Arc::new(caller), ..self.clone() }
    }
}

/// A call of a function about tools, while it is answered.
pub(super) struct TracedCall {
    kind: EventKind,
    /// The tools that were requested by name.
    names: Vec<String>,
    /// The arguments to record, where there is a session.
    input: Value,
    started: Instant,
}

impl TracedCall {
    /// Records the request.
    pub(super) fn of(function: &Function, context: &FunctionContext, arguments: &Value) -> Option<Self> {
        let kind = function.trace?;
        let names = if kind == EventKind::Search { Vec::new() } else { names(arguments) };
        let input = match context.caller.session {
            Some(_) => context.view.catalog().secrets().noted(&Value::Null, &said(arguments)),
            None => Value::Null,
        };
        Some(Self { kind, names, input, started: Instant::now() })
    }

    /// The first tool that was requested by name.
    pub(super) fn first_name(&self) -> Option<&str> {
        self.names.first().map(String::as_str)
    }

    /// Records the outcome.
    pub(super) async fn record(self, function: &Function, context: &FunctionContext, answer: &Answer) {
        self.count(context, answer);
        let Some(session) = context.caller.session() else { return };
        let event = Event {
            trace_id: context.trace.id().into(),
            caller: session.caller.to_string(),
            session: Some(session.id.to_string()),
            kind: self.kind,
            function: function.name().into(),
            outcome: answer.error().map_or("ok", ErrorCode::as_str).into(),
            latency_us: i64::try_from(self.started.elapsed().as_micros()).unwrap_or(i64::MAX),
            ..Event::default()
        };
        let state = &context.services.state;
        let body = answer.body();
        if let Some(error) = body.get("error").filter(|_| !answer.is_ok()) {
            let error = error.get("message").and_then(Value::as_str);
            let error = error.map(|error| context.view.catalog().secrets().text(error).into_owned());
            return state.record(Event { input: self.input, error, ..event });
        }
        if self.kind == EventKind::Search {
            let mut found = Vec::new();
            ops(body, &mut found);
            let detail = match (body.get("verdict"), body.get("results").and_then(Value::as_array)) {
                (Some(verdict), _) => json!({ "verdict": verdict }),
                (None, Some(results)) => {
                    let verdicts = results.iter().filter_map(|result| result.get("verdict"));
                    json!({ "verdicts": verdicts.collect::<Vec<_>>() })
                }
                (None, None) => Value::Null,
            };
            return state.record(Event { input: self.input, found, detail, ..event });
        }
        let mut docs = Vec::new();
        docs_in(body, &mut docs);
        if docs.is_empty() {
            return state.record(Event { input: self.input, ..event });
        }
        let keeps = context.view.catalog().config.exec.require_doc != RequireDoc::Never;
        for (op, version, proves) in docs {
            if keeps && (proves || self.kind == EventKind::Expand) {
                // A failure of state shows in its health, and prevents no reading.
                let _ = state.record_doc_read(&session, op, version).await;
            }
            let (op, detail) = (Some(op.to_string()), json!({ "doc_version": version }));
            state.record(Event { op, detail, input: self.input.clone(), ..event.clone() });
        }
    }

    fn count(&self, context: &FunctionContext, answer: &Answer) {
        let counts = &context.services.counts;
        let served = answer.bytes() as u64 / BYTES;
        counts.add("toolcrib_tokens_served_total", "", served);
        if self.kind == EventKind::Search {
            let is_none = answer.error() == Some(ErrorCode::NoMatchInCategory)
                || answer.verdict().is_some_and(|verdict| verdict == "no_match");
            return counts.add("toolcrib_search_abstentions_total", "", is_none.into());
        }
        if !answer.is_ok() {
            return;
        }
        let saved = context.view.definition_tokens().saturating_sub(served);
        counts.add("toolcrib_tokens_saved_total", "", saved);
        let catalog = context.view.catalog();
        for name in &self.names {
            if let Some(tool) = catalog.unique_position(name).and_then(|index| catalog.tools.get(index)) {
                counts.add("toolcrib_tool_reads_total", &format!("op=\"{}\"", escaped(&tool.op)), 1);
            }
        }
    }
}

/// A text as the value of a label.
fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

/// The tools that are requested by name.
fn names(arguments: &Value) -> Vec<String> {
    let text = |name: &str| arguments.get(name).and_then(Value::as_str);
    let list = |name: &str| arguments.get(name).and_then(Value::as_array);
    let alone = ["name", "path", "tool_id"].into_iter().filter_map(text);
    let several = ["names", "paths"].into_iter().filter_map(list).flatten().filter_map(Value::as_str);
    alone.chain(several).take(FOUND).map(ToString::to_string).collect()
}

/// The only argument, or all of them.
fn said(arguments: &Value) -> Cow<'_, Value> {
    let only = arguments.as_object().filter(|fields| fields.len() == 1);
    let only = only
        .and_then(|fields| ["query", "name", "path", "tool_id"].iter().find_map(|name| fields.get(*name)));
    only.map_or(Cow::Borrowed(arguments), Cow::Borrowed)
}

/// Fields of an answer that do not count as found.
const ASIDE: [&str; 8] =
    ["meta", "hints", "nearest", "categories", "help", "args_schema", "result_schema", "example"];

fn inside(fields: &Map<String, Value>) -> impl Iterator<Item = &Map<String, Value>> {
    let inner = fields.iter().filter(|(name, _)| !ASIDE.contains(&name.as_str())).map(|(_, value)| value);
    inner.flat_map(|value| {
        let items = value.as_array().into_iter().flatten();
        items.chain(Some(value)).filter_map(Value::as_object)
    })
}

fn op(fields: &Map<String, Value>) -> Option<&str> {
    fields.get("op").or_else(|| fields.get("tool_id"))?.as_str()
}

/// The ops that a search has found, best first.
fn ops(fields: &Map<String, Value>, found: &mut Vec<String>) {
    if let Some(op) = op(fields).filter(|op| found.len() < FOUND && !found.iter().any(|known| known == op)) {
        found.push(op.to_string());
    }
    inside(fields).for_each(|inner| ops(inner, found));
}

/// The docs in an answer: op, version, and whether it carries the receipt.
fn docs_in<'b>(fields: &'b Map<String, Value>, docs: &mut Vec<(&'b str, &'b str, bool)>) {
    if let (Some(op), Some(version)) = (op(fields), fields.get("doc_version").and_then(Value::as_str)) {
        docs.push((op, version, fields.contains_key("receipt")));
        return;
    }
    inside(fields).for_each(|inner| docs_in(inner, docs));
}

// Counters and times for metrics, by name and labels. A series begins when it is first counted.

/// Upper bounds of times, in microseconds.
const BOUNDS: [u64; 9] = [100, 500, 2_500, 10_000, 50_000, 250_000, 1_000_000, 5_000_000, 60_000_000];

/// Most series of a name: a catalog that is edited for years has had more tools.
const MOST: usize = 20_000;

/// The counters.
#[derive(Debug, Default)]
pub struct Counters {
    counts: Series<AtomicU64>,
    times: Series<Histogram>,
}

#[derive(Debug, Default)]
struct Histogram {
    by_bound: [AtomicU64; BOUNDS.len() + 1],
    micros: AtomicU64,
}

/// A name, and its series by labels.
type Family<T> = (&'static str, Vec<(String, Arc<T>)>);

#[derive(Debug)]
struct Series<T>(RwLock<HashMap<&'static str, HashMap<String, Arc<T>>>>);

impl<T> Default for Series<T> {
    fn default() -> Self {
        Self(RwLock::default())
    }
}

impl<T: Default> Series<T> {
    fn of(&self, name: &'static str, labels: &str) -> Arc<T> {
        let known = self.0.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(series) = known.get(name).and_then(|family| family.get(labels)) {
            return Arc::clone(series);
        }
        drop(known);
        let mut known = self.0.write().unwrap_or_else(PoisonError::into_inner);
        let family = known.entry(name).or_default();
        if family.len() >= MOST {
            return Arc::default();
        }
        Arc::clone(family.entry(labels.into()).or_default())
    }

    /// The families by name, each with its series by labels.
    fn all(&self) -> Vec<Family<T>> {
        let known = self.0.read().unwrap_or_else(PoisonError::into_inner);
        let family = |(name, family): (&&'static str, &HashMap<String, Arc<T>>)| {
            let mut series: Vec<_> =
                family.iter().map(|(labels, of)| (labels.clone(), Arc::clone(of))).collect();
            series.sort_by(|one, other| one.0.cmp(&other.0));
            (*name, series)
        };
        let mut all: Vec<_> = known.iter().map(family).collect();
        all.sort_by_key(|(name, _)| *name);
        all
    }
}

impl Counters {
    /// Adds to a counter. The labels are as Prometheus writes them: `outcome="ok"`.
    pub fn add(&self, name: &'static str, labels: &str, count: u64) {
        self.counts.of(name, labels).fetch_add(count, Relaxed);
    }

    /// Records the time that something took.
    pub fn took(&self, name: &'static str, labels: &str, time: Duration) {
        let histogram = self.times.of(name, labels);
        let micros = u64::try_from(time.as_micros()).unwrap_or(u64::MAX);
        let bound = BOUNDS.iter().position(|&bound| micros <= bound).unwrap_or(BOUNDS.len());
        histogram.by_bound[bound].fetch_add(1, Relaxed);
        histogram.micros.fetch_add(micros, Relaxed);
    }

    /// Writes all series in the text format of Prometheus.
    pub fn write(&self, to: &mut String) {
        for (name, series) in self.counts.all() {
            let _ = writeln!(to, "# TYPE {name} counter");
            for (labels, count) in series {
                let _ = writeln!(to, "{name}{} {}", braced(&labels), count.load(Relaxed));
            }
        }
        for (name, series) in self.times.all() {
            let _ = writeln!(to, "# TYPE {name} histogram");
            for (labels, histogram) in series {
                let (comma, mut total) = (if labels.is_empty() { "" } else { "," }, 0);
                for (index, count) in histogram.by_bound.iter().enumerate() {
                    total += count.load(Relaxed);
                    let bound =
                        BOUNDS.get(index).map_or("+Inf".into(), |&bound| (bound as f64 / 1e6).to_string());
                    let _ = writeln!(to, "{name}_bucket{{{labels}{comma}le=\"{bound}\"}} {total}");
                }
                let (labels, seconds) = (braced(&labels), histogram.micros.load(Relaxed) as f64 / 1e6);
                let _ = writeln!(to, "{name}_sum{labels} {seconds}\n{name}_count{labels} {total}");
            }
        }
    }
}

fn braced(labels: &str) -> String {
    if labels.is_empty() { String::new() } else { format!("{{{labels}}}") }
}
