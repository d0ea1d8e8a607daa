//! The pages of sessions and their events.

use serde_json::{Value, json};

use super::super::context::{Page, Site};
use super::super::text::{cut, inline_html, json_text};
use super::layout::{line, query_of, session_href};
use toolcrib_definition::clean_text;
use toolcrib_gateway::state::{Event, EventKind, SessionSummary, utc};
use toolcrib_providers::report::grouped;
use toolcrib_render::TemplateError;

/// Most rows that a list skips, since a database reads what it skips. An export has everything.
pub const MAX_SKIPPED: usize = 4_000;

/// Most bytes of the input of an event.
const MAX_INPUT: usize = 4 << 10;
/// Most found tools that a search shows.
const MAX_FOUND: usize = 8;

/// The filter of a list.
#[derive(Clone, Debug, Default)]
pub struct Filter {
    pub caller: Option<String>,
    pub tool: Option<String>,
    /// `failed`, or an outcome.
    pub outcome: Option<String>,
    /// The number of rows that are skipped.
    pub skip: usize,
    /// Most rows on a page.
    pub rows: usize,
}

impl Filter {
    /// The values of the form, and the links to the pages before and after, of `found` rows.
    fn values(&self, found: usize) -> Value {
        let text = |field: &Option<String>| field.as_deref().map(line).unwrap_or_default();
        let href = |skip: usize| {
            let skip = skip.to_string();
            let fields = [
                ("caller", self.caller.as_deref().unwrap_or_default()),
                ("tool", self.tool.as_deref().unwrap_or_default()),
                ("outcome", self.outcome.as_deref().unwrap_or_default()),
                ("skip", &skip),
            ];
            format!("sessions.html?{}", query_of(&fields))
        };
        json!({
            "caller": text(&self.caller),
            "tool": text(&self.tool),
            "outcome": text(&self.outcome),
            "before": (self.skip > 0).then(|| href(self.skip.saturating_sub(self.rows))),
            "after": (found > self.rows && self.skip + self.rows <= MAX_SKIPPED).then(|| href(self.skip + self.rows)),
        })
    }
}

impl Site<'_> {
    /// The sessions of a filter.
    pub fn sessions(&self, sessions: &[SessionSummary], filter: &Filter) -> Result<Page, TemplateError> {
        let row = |session: &SessionSummary| {
            json!({
                "session": line(&session.session),
                "href": session_href(&session.session, &session.caller, ""),
                "caller": line(&session.caller),
                "since": utc(session.since),
                "until": utc(session.until),
                "events": session.events,
                "calls": session.calls,
                "failed": session.failed,
            })
        };
        let rows = sessions.iter().take(filter.rows).map(row);
        let values = json!({ "sessions": rows.collect::<Vec<_>>(), "filter": filter.values(sessions.len()) });
        self.operate("sessions", ("sessions", "Sessions"), None, values)
    }

    /// The calls of a filter. `is_cut`: older calls were not read.
    pub fn calls(&self, calls: &[Event], is_cut: bool, filter: &Filter) -> Result<Page, TemplateError> {
        let row = |call: &Event| {
            let session = call.session.as_deref();
            let mut row = self.event(call, call.at, "");
            row["when"] = utc(call.at).into();
            row["caller"] = line(&call.caller).into();
            row["session"] = json!(session.map(line));
            row["href"] = json!(session.map(|session| session_href(session, &call.caller, "")));
            row
        };
        let rows = calls.iter().take(filter.rows).map(row);
        let values = json!({
            "calls": rows.collect::<Vec<_>>(),
            "is_cut": is_cut,
            "filter": filter.values(calls.len()),
        });
        self.operate("sessions", ("sessions", "Calls"), None, values)
    }

    /// The events of a session after those that are skipped, at most `rows`.
    pub fn session(
        &self,
        session: &SessionSummary,
        events: &[Event],
        skip: usize,
        rows: usize,
    ) -> Result<Page, TemplateError> {
        let number = |(number, event): (usize, &Event)| {
            let mut row = self.event(event, session.since, "../");
            row["number"] = number.into();
            row
        };
        let rows_of = (skip + 1..).zip(events).take(rows).map(number);
        let own =
            |more: &str| session_href(&session.session, &session.caller, more).replacen("sessions/", "", 1);
        let values = json!({
            "session": line(&session.session),
            "caller": line(&session.caller),
            "since": utc(session.since),
            "until": utc(session.until),
            "counts": [session.events, session.calls, session.failed],
            "events": rows_of.collect::<Vec<_>>(),
            "permalink": own(""),
            "export": own("/events.jsonl"),
            "before": (skip > 0).then(|| format!("{}&skip={}", own(""), skip.saturating_sub(rows))),
            "is_cut": events.len() > rows && skip + rows > MAX_SKIPPED,
            "after": (events.len() > rows && skip + rows <= MAX_SKIPPED).then(|| format!("{}&skip={}", own(""), skip + rows)),
        });
        self.operate(
            "session",
            ("sessions", &session.session),
            Some(("Sessions", "../sessions.html")),
            values,
        )
    }

    /// One event, for a page from which the root of the site is `root`.
    fn event(&self, event: &Event, since: i64, root: &str) -> Value {
        let word = |name: &str| event.detail.get(name).and_then(Value::as_str).map(line);
        let input = match &event.input {
            Value::Null => None,
            Value::String(text) => Some(clean_text(text).into_owned()),
            other => Some(json_text(other)),
        };
        let name = event.tool.as_deref().or(event.op.as_deref());
        let is_empty = event.kind == EventKind::Search && event.found.is_empty() && event.outcome == "ok";
        let found = event.found.iter().take(MAX_FOUND).map(|op| line(op)).collect::<Vec<_>>();
        let told = match event.kind {
            EventKind::Search => Some(found.join(", ")).filter(|found| !found.is_empty()),
            EventKind::Approval => {
                let parts = [word("status"), word("by").map(|by| format!("by {by}")), word("reason")];
                Some(parts.into_iter().flatten().collect::<Vec<_>>().join(", "))
            }
            EventKind::ContextShift => event.detail.get("context").map(|context| line(&context.to_string())),
            _ => None,
        };
        json!({
            "kind": match event.kind {
                EventKind::Read | EventKind::Expand => "page",
                EventKind::ContextShift => "context",
                kind => kind.as_str(),
            },
            "offset": format!("{:+.3} s", (event.at - since) as f64 / 1000.0),
            "op": event.op.as_deref().map(line),
            "tool": name.and_then(|name| self.tool_link(name, root)),
            "input": input.map(|input| cut(input, MAX_INPUT)),
            "told": told,
            "approval": (event.kind == EventKind::Approval).then(|| word("approval")).flatten(),
            "outcome": if is_empty { "nothing found".into() } else { line(&event.outcome) },
            "is_bad": is_empty || event.outcome != "ok",
            "error": event.error.as_deref().map(|error| inline_html(&line(error))),
            "dry_run": event.dry_run,
            "ms": (event.latency_us > 0).then(|| format!("{:.1} ms", event.latency_us as f64 / 1000.0)),
            "tokens": (event.tokens > 0).then(|| grouped(event.tokens.unsigned_abs() as usize)),
        })
    }
}
