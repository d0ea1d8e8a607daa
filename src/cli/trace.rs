//! `toolcrib trace`: the events of a session, for people.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::catalog::CatalogArgs;
use super::error::{CommandResult, failed};
use super::io::Io;
use super::state::{StateArgs, block_on};
use toolcrib_definition::grammar::counted;
use toolcrib_definition::{clean_line, clipped};
use toolcrib_gateway::state::{Callers, Event, EventKind, EventQuery, SessionSummary, every_event, utc};

/// Most sessions in a list.
const SESSIONS: usize = 30;

/// The longest text of a query or of arguments, in characters.
const SHOWN: usize = 100;

const CALLS_WITHOUT: &str = "`toolcrib trace --all` shows calls without a session too";

/// The events of a session: searches, choices, docs read, tools expanded and called.
///
/// Without a session, lists the sessions with the latest events. Arguments are recorded with secrets redacted; texts
/// are printed without control characters.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Try it:
  toolcrib trace .                                         the sessions
  toolcrib trace . --session s-42                          what happened in one
  toolcrib trace --session s-42 --state state.db --json    the same as JSON lines
  toolcrib trace . --all                                   also what happened in none
  toolcrib trace --all --json | jq -r .outcome | sort | uniq -c")]
pub(super) struct TraceArgs {
    #[command(flatten)]
    catalog: CatalogArgs,
    /// The session to print.
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    #[command(flatten)]
    state: StateArgs,
    /// Print only events of this caller: sessions of two callers may have the same name.
    #[arg(long, value_name = "NAME")]
    caller: Option<String>,
    /// Print events of all sessions, and of calls without one.
    #[arg(long, conflicts_with = "session")]
    all: bool,
    /// One JSON object a line.
    #[arg(long)]
    json: bool,
}

impl TraceArgs {
    pub(super) fn run(mut self, io: &Io) -> CommandResult {
        self.catalog = self.catalog.or_adopted(io);
        let state = self.state.open_existing(io, &self.catalog)?;
        if self.session.is_none() && !self.all {
            let callers = self.caller.clone().map_or(Callers::All, Callers::Only);
            return self.list(io, &block_on(state.sessions(&callers, 0, SESSIONS))?);
        }
        let wanted =
            EventQuery { session: self.session.clone(), caller: self.caller, ..EventQuery::default() };
        let events = block_on(every_event(&state, wanted))?;
        match (&self.session, self.json) {
            (Some(session), _) if events.is_empty() => {
                let shown = clean_line(session);
                Err(failed(format!("there is no session `{shown}`; `toolcrib trace` lists the sessions")))
            }
            (_, true) => {
                io.print(&events.iter().map(|event| format!("{}\n", json!(event))).collect::<String>())
            }
            (_, false) => io.print(&chains(&events)),
        }
    }

    fn list(&self, io: &Io, visits: &[SessionSummary]) -> CommandResult {
        if self.json {
            return io.print(&visits.iter().map(|visit| format!("{}\n", json!(visit))).collect::<String>());
        }
        if visits.is_empty() {
            io.note(format!("no session is known; {CALLS_WITHOUT}"));
            return Ok(());
        }
        let width = visits.iter().map(|visit| clean_line(&visit.session).chars().count()).max().unwrap_or(0);
        let line = |visit: &SessionSummary| {
            let session = clean_line(&visit.session);
            let last = utc(visit.until);
            let events = counted(visit.events as usize, "event");
            let calls = counted(visit.calls as usize, "call");
            let failed = if visit.failed > 0 { format!(", {} failed", visit.failed) } else { String::new() };
            let caller = of(&visit.caller);
            format!("{session:width$}  {last} UTC  {events}, {calls}{failed}{caller}\n")
        };
        io.print(&visits.iter().map(line).collect::<String>())?;
        io.note(CALLS_WITHOUT);
        Ok(())
    }
}

fn of(caller: &str) -> String {
    if caller.is_empty() { String::new() } else { format!("  ({})", clean_line(caller)) }
}

/// The events of each session and each caller, since sessions of two callers may have the same name.
fn chains(events: &[Event]) -> String {
    let mut chains: BTreeMap<(Option<&str>, &str), Vec<&Event>> = BTreeMap::new();
    for event in events {
        chains.entry((event.session.as_deref(), &event.caller)).or_default().push(event);
    }
    let chain = |((session, caller), own): ((Option<&str>, &str), Vec<&Event>)| {
        let since = own.first().map_or(0, |first| first.at);
        let session = session.map_or("without a session".into(), clean_line);
        format!("{session}{}, since {} UTC\n{}", of(caller), utc(since), lines(&own, since))
    };
    chains.into_iter().map(chain).collect::<Vec<_>>().join("\n")
}

fn lines(events: &[&Event], since: i64) -> String {
    let mut text = String::new();
    // The tools of the last search, until one of them is used.
    let mut found: &[String] = &[];
    for event in events {
        let at = (event.at - since) as f64 / 1000.0;
        let mut line = |what: &str, told: &str| {
            text.push_str(format!("{at:>+10.3}s  {what:<8} {told}").trim_end());
            text.push('\n');
        };
        let op = event.op.as_deref().unwrap_or_default();
        let rank = found.iter().position(|known| known == op);
        match event.kind {
            EventKind::Search => found = &event.found,
            EventKind::Read | EventKind::Expand | EventKind::Call => {
                if let Some(rank) = rank {
                    line(
                        "choose",
                        &format!("{}  (number {} of {} found)", clean_line(op), rank + 1, found.len()),
                    );
                    found = &[];
                }
            }
            EventKind::ContextShift | EventKind::Approval => {}
        }
        line(word(event), &event_detail(event));
    }
    text
}

fn word(event: &Event) -> &'static str {
    match event.kind {
        EventKind::ContextShift => "context",
        kind => kind.as_str(),
    }
}

fn event_detail(event: &Event) -> String {
    let op = clean_line(event.op.as_deref().unwrap_or_default());
    let input = match &event.input {
        Value::Null => String::new(),
        Value::String(text) => format!("\"{}\"", clipped_line(text)),
        other => clipped_line(&other.to_string()),
    };
    let mut parts = match event.kind {
        EventKind::Search => vec![input, format!("-> {}", found(event))],
        EventKind::Read | EventKind::Expand => vec![op, version(event)],
        EventKind::Call => vec![op, input],
        EventKind::ContextShift => {
            vec![op, event.detail.get("context").map(Value::to_string).unwrap_or_default()]
        }
        EventKind::Approval => {
            let word = |name: &str| event.detail.get(name).and_then(Value::as_str).unwrap_or_default();
            vec![op, clean_line(word("approval")), clean_line(word("status")), clean_line(word("reason"))]
        }
    };
    if event.outcome != "ok" || event.kind == EventKind::Call {
        parts.push(clean_line(&event.outcome));
    }
    parts.push(event.error.as_deref().map(clipped_line).unwrap_or_default());
    if event.kind == EventKind::Call {
        let is_misfit = event.outcome == "VALIDATION_ERROR";
        parts.push(match event.validated {
            Some(true) if !is_misfit => "validated".into(),
            Some(false) if !is_misfit => {
                format!("not validated ({})", event.no_schema_mode.as_deref().unwrap_or("no schema"))
            }
            _ => String::new(),
        });
        parts.push(if event.dry_run { "dry run".into() } else { String::new() });
        let is_replayed = event.detail.get("replayed") == Some(&Value::Bool(true));
        parts.push(if is_replayed { "answered before".into() } else { String::new() });
    }
    if event.latency_us > 0 {
        parts.push(format!("{:.1} ms", event.latency_us as f64 / 1000.0));
    }
    parts.retain(|part| !part.is_empty());
    parts.join("  ")
}

fn found(event: &Event) -> String {
    let names: Vec<String> = event.found.iter().take(5).map(|op| clean_line(op)).collect();
    match (names.is_empty(), event.found.len().saturating_sub(5)) {
        (true, _) => "nothing".into(),
        (false, 0) => names.join(", "),
        (false, more) => format!("{}, and {more} more", names.join(", ")),
    }
}

fn version(event: &Event) -> String {
    let version = event.detail.get("doc_version").and_then(Value::as_str);
    version.map(|version| format!("doc {}", clean_line(version))).unwrap_or_default()
}

/// Untrusted text, shortened.
fn clipped_line(text: &str) -> String {
    clipped(&clean_line(text), SHOWN).into_owned()
}
