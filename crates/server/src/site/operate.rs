//! Pages for the people who run the server: approvals, sessions, usage, servers. All their texts come from callers and tools,
//! and are cleaned; templates escape them.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::{Value, json};
use tera::Context;

use super::frame::{AT_ROOT, Frame, IN_FOLDER, Link, Position, clipped, cut, inline_html, json_text};
use super::{Page, Site};
use toolcrib_definition::finding::{Finding, pointer_join};
use toolcrib_definition::{clean_line, clean_text};
use toolcrib_docs::TemplateError;
use toolcrib_front::mcp::{ServerState, Status};
use toolcrib_gateway::exec::{erased, whole_arguments};
use toolcrib_gateway::state::{Approval, ApprovalStatus, Event, EventKind, SessionSummary, Usage, utc};
use toolcrib_providers::report::grouped;

/// Most rows that a list skips, since a database reads what it skips. An export has everything.
pub const MAX_SKIPPED: usize = 4_000;
/// Most changes of a definition on the page.
const MAX_CHANGES: usize = 40;
/// Most bytes of the input of an event.
const MAX_INPUT: usize = 4 << 10;
/// Most found tools that a search shows.
const MAX_FOUND: usize = 8;
/// Most findings on the definitions of one server.
const MAX_SERVER_FINDINGS: usize = 50;
/// Most tools in the table of usage.
const MAX_TOOLS: usize = 200;
/// Most characters of a value in a list.
const MAX_VALUE: usize = 300;

/// One approval, with what a person needs to decide.
#[derive(Debug)]
pub struct ApprovalView {
    /// The approval.
    pub approval: Approval,
    /// The definition of its tool when the call was sent.
    pub definition: Option<Value>,
    /// The last approval of the tool before this one that was given.
    pub last: Option<Approval>,
    /// The definition at that time.
    pub before: Option<Value>,
    /// Whether the tool has changed since the call was sent.
    pub has_changed: bool,
    /// The reason why this visitor cannot decide.
    pub obstacle: Option<&'static str>,
    /// The value of the form, for a visitor who can decide.
    pub csrf: Option<String>,
}

/// A live server.
#[derive(Debug)]
pub struct ServerView<'f> {
    /// Its state.
    pub state: ServerState,
    /// Its sign-in, in words.
    pub sign_in: Option<String>,
    /// What was repaired, renamed or left out in its definitions.
    pub findings: Vec<&'f Finding>,
}

/// The filter of a list.
#[derive(Clone, Debug, Default)]
pub struct Filter {
    /// The caller.
    pub caller: Option<String>,
    /// The tool.
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

/// Fields as the query of an address; empty ones are left out.
fn query_of(fields: &[(&str, &str)]) -> String {
    let given = fields.iter().filter(|(_, value)| !value.is_empty());
    form_urlencoded::Serializer::new(String::new()).extend_pairs(given).finish()
}

/// The address of a session, or of something of it, from the root of the site. Names of sessions need no escapes.
fn session_href(session: &str, caller: &str, more: &str) -> String {
    let caller = form_urlencoded::byte_serialize(caller.as_bytes()).collect::<String>();
    format!("sessions/{session}{more}?caller={caller}")
}

/// Counts of a day or a tool.
#[derive(Default)]
struct Counts {
    calls: i64,
    failed: i64,
    searches: i64,
    unfound: i64,
    us: i64,
}

impl Counts {
    fn add(&mut self, sum: &Usage) {
        if sum.is_search {
            self.searches += sum.events;
            self.unfound += if sum.outcome == "ok" { 0 } else { sum.events };
        } else {
            self.calls += sum.events;
            self.failed += if sum.outcome == "ok" { 0 } else { sum.events };
            self.us += sum.latency_us;
        }
    }

    fn values(&self) -> Value {
        let number = |count: i64| grouped(count.unsigned_abs() as usize);
        json!({
            "calls": number(self.calls),
            "failed": number(self.failed),
            "has_failed": self.failed > 0,
            "percent": (self.calls > 0).then(|| 100 * self.failed / self.calls),
            "searches": number(self.searches),
            "unfound": number(self.unfound),
            "ms": (self.calls > 0).then(|| format!("{:.1}", self.us as f64 / 1000.0 / self.calls as f64)),
        })
    }
}

impl Site<'_> {
    /// The waiting approvals, and the newest others.
    pub fn approvals(
        &self,
        waiting: &[Approval],
        others: &[Approval],
        now: i64,
    ) -> Result<Page, TemplateError> {
        let row = |approval: &Approval| approval_row(approval, now);
        let values = json!({
            "waiting": waiting.iter().map(row).collect::<Vec<_>>(),
            "others": others.iter().map(row).collect::<Vec<_>>(),
        });
        self.operate("approvals", ("approvals", "Approvals"), AT_ROOT, values)
    }

    /// One approval, with the form to decide.
    pub fn approval(&self, view: &ApprovalView, now: i64) -> Result<Page, TemplateError> {
        let approval = &view.approval;
        let mut values = approval_row(approval, now);
        let word = |name: &str| view.definition.as_ref().and_then(|known| known[name].as_str());
        let changes = match (&view.before, &view.definition) {
            (Some(before), Some(after)) => changes(before, after),
            _ => Vec::new(),
        };
        let more = json!({
            "effect": word("effect"),
            "description": word("description").map(inline_html),
            "tool": self.tool_link(&approval.op, "../"),
            "arguments": whole_arguments(approval),
            "erased": erased(approval),
            "last": view.last.as_ref().map(|last| json!({
                "at": utc(last.asked_at),
                "id": last.id,
                "is_same": last.bound == approval.bound,
            })),
            "changes": changes.iter().take(MAX_CHANGES).collect::<Vec<_>>(),
            "more_changes": changes.len().saturating_sub(MAX_CHANGES),
            "has_changed": view.has_changed,
            "obstacle": view.obstacle,
            "csrf": view.csrf,
        });
        if let (Some(values), Value::Object(more)) = (values.as_object_mut(), more) {
            values.extend(more);
        }
        let title = format!("Approval {}", approval.id);
        let crumb = Link { text: "Approvals".into(), href: "../approvals.html".into() };
        self.operate_below("approval", ("approvals", &title), crumb, values)
    }

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
        self.operate("sessions", ("sessions", "Sessions"), AT_ROOT, values)
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
        self.operate("sessions", ("sessions", "Calls"), AT_ROOT, values)
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
        let crumb = Link { text: "Sessions".into(), href: "../sessions.html".into() };
        self.operate_below("session", ("sessions", &session.session), crumb, values)
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

    /// The live servers.
    pub fn servers(&self, servers: &[ServerView<'_>]) -> Result<Page, TemplateError> {
        let row = |ServerView { state, sign_in, findings }: &ServerView<'_>| {
            let (word, kind, problem) = match &state.status {
                Status::NotStarted => ("not started", "old", None),
                Status::Starting => ("starting", "write", None),
                Status::Ready => ("ready", "read", None),
                Status::Failed(problem) => ("away", "destructive", Some(problem)),
            };
            let last = state.last_problem.as_deref().filter(|_| problem.is_none());
            let retry = problem.and_then(|problem| problem.retry_after());
            let shown = findings.iter().take(MAX_SERVER_FINDINGS);
            let finding = |finding: &&Finding| json!({ "code": finding.code, "message": inline_html(&line(&finding.message)) });
            json!({
                "name": line(&state.name),
                "status": word,
                "kind": kind,
                "since": ago(state.since),
                "transport": state.transport(),
                "tools": state.tools,
                "asked": state.asked.map(ago),
                "ends": state.ends,
                "problem": problem.map(|problem| inline_html(&line(&problem.reason))),
                "advice": problem.and_then(|problem| problem.advice()).map(|advice| inline_html(&line(&advice))),
                "retry": retry.map(|retry| retry.as_secs() + 1),
                "last_problem": last.map(|problem| inline_html(&line(problem))),
                "sign_in": sign_in.as_deref().map(line),
                "findings": shown.map(finding).collect::<Vec<_>>(),
                "more": findings.len().saturating_sub(MAX_SERVER_FINDINGS),
            })
        };
        let values = json!({ "servers": servers.iter().map(row).collect::<Vec<_>>() });
        self.operate("servers", ("servers", "Servers"), AT_ROOT, values)
    }

    /// The usage of these days.
    pub fn usage(&self, sums: &[Usage], days: i64, caller: Option<&str>) -> Result<Page, TemplateError> {
        let mut by_day = BTreeMap::new();
        let mut by_tool = BTreeMap::new();
        for sum in sums {
            by_day.entry(sum.day).or_insert_with(Counts::default).add(sum);
            if !sum.is_search {
                by_tool.entry(sum.tool.as_str()).or_insert_with(Counts::default).add(sum);
            }
        }
        let most = by_day.values().map(|counts| counts.calls).max().unwrap_or(0).max(1);
        let day = |(day, counts): (&i64, &Counts)| {
            let mut row = counts.values();
            row["day"] = utc(day * 86_400_000)[..10].into();
            row["share"] = (100 * counts.calls / most).into();
            row
        };
        let mut tools: Vec<(&str, &Counts)> = by_tool.iter().map(|(tool, counts)| (*tool, counts)).collect();
        tools.sort_by_key(|(tool, counts)| (std::cmp::Reverse(counts.calls), *tool));
        let more = tools.len().saturating_sub(MAX_TOOLS);
        let tool = |(tool, counts): (&str, &Counts)| {
            let mut row = counts.values();
            row["tool"] = line(tool).into();
            let query = [("tool", tool), ("caller", caller.unwrap_or_default())];
            row["href"] = (!tool.is_empty()).then(|| format!("sessions.html?{}", query_of(&query))).into();
            let failed = [("tool", tool), ("outcome", "failed"), ("caller", caller.unwrap_or_default())];
            row["failed_href"] =
                (!tool.is_empty()).then(|| format!("sessions.html?{}", query_of(&failed))).into();
            row
        };
        let values = json!({
            "days": days,
            "caller": caller.map(line),
            "by_day": by_day.iter().rev().map(day).collect::<Vec<_>>(),
            "by_tool": tools.into_iter().take(MAX_TOOLS).map(tool).collect::<Vec<_>>(),
            "more": more,
        });
        self.operate("usage", ("usage", "Usage"), AT_ROOT, values)
    }

    fn operate(
        &self,
        template: &str,
        (at, title): (&'static str, &str),
        position: Position<'_>,
        values: Value,
    ) -> Result<Page, TemplateError> {
        self.laid_out(template, Frame::new(self, at, title, String::new(), position), values)
    }

    fn operate_below(
        &self,
        template: &str,
        (at, title): (&'static str, &str),
        crumb: Link,
        values: Value,
    ) -> Result<Page, TemplateError> {
        let frame = Frame::new(self, at, title, String::new(), IN_FOLDER).with_crumbs([crumb]);
        self.laid_out(template, frame, values)
    }

    fn laid_out(&self, template: &str, frame: Frame, values: Value) -> Result<Page, TemplateError> {
        let mut context = Context::new();
        context.insert("page", &values);
        self.render(&format!("site/{template}.html"), frame, context)
    }

    /// The link to a tool, by any of its names, if its page is there.
    fn tool_link(&self, name: &str, root: &str) -> Option<Link> {
        let tool = self.catalog.find(name)?;
        self.index.tool_file(&tool.safe_name)?;
        Some(Link { text: line(name), href: format!("{root}tools/{}.html", tool.safe_name) })
    }
}

/// A time before now, in words.
fn ago(span: Duration) -> String {
    let seconds = span.as_secs();
    match seconds {
        0..120 => format!("{seconds} s ago"),
        120..7_200 => format!("{} min ago", seconds / 60),
        7_200..172_800 => format!("{} h ago", seconds / 3_600),
        _ => format!("{} days ago", seconds / 86_400),
    }
}

fn line(text: &str) -> String {
    clipped(&clean_line(text), MAX_VALUE)
}

fn approval_row(approval: &Approval, now: i64) -> Value {
    let is_past = approval.until <= now;
    let (state, word) = match approval.status {
        ApprovalStatus::Waiting if is_past => ("expired", "expired without a decision"),
        ApprovalStatus::Waiting => ("waiting", "waiting"),
        ApprovalStatus::Approved if is_past => ("expired", "approved, and not used in time"),
        ApprovalStatus::Approved => ("approved", "approved, not used yet"),
        ApprovalStatus::Denied => ("denied", "denied"),
        ApprovalStatus::Used => ("approved", "approved, and run"),
        ApprovalStatus::Void => ("expired", "void"),
    };
    json!({
        "id": line(&approval.id),
        "href": format!("approvals/{}", line(&approval.id)),
        "op": line(&approval.op),
        "caller": line(&approval.caller),
        "session": approval.session.as_deref().map(line),
        "session_href": approval.session.as_deref().map(|session| session_href(session, &approval.caller, "")),
        "asked": utc(approval.asked_at),
        "until": utc(approval.until),
        "state": state,
        "status": word,
        "reason": approval.reason.as_deref().map(line),
    })
}

/// The differences of two values, by their pointers.
fn changes(before: &Value, after: &Value) -> Vec<Value> {
    fn walk(pointer: &str, before: Option<&Value>, after: Option<&Value>, found: &mut Vec<Value>) {
        match (before, after) {
            (Some(Value::Object(old)), Some(Value::Object(new))) => {
                let added = new.keys().filter(|name| !old.contains_key(*name));
                for name in old.keys().chain(added) {
                    walk(&pointer_join(pointer, name), old.get(name), new.get(name), found);
                }
            }
            (old, new) if old == new => {}
            (old, new) => {
                let text = |value: Option<&Value>| {
                    value.map(|value| line(&value.as_str().map_or_else(|| value.to_string(), str::to_string)))
                };
                found.push(json!({ "at": line(pointer), "before": text(old), "after": text(new) }));
            }
        }
    }
    let mut found = Vec::new();
    walk("", Some(before), Some(after), &mut found);
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_of_a_definition_are_named_by_their_pointers() {
        let before =
            json!({"effect": "write", "parameters": {"a/b": {"maximum": 1}, "gone": true, "same": [1]}});
        let after =
            json!({"effect": "write", "parameters": {"a/b": {"maximum": 2}, "same": [1], "new": "x"}});
        let found: Vec<_> = changes(&before, &after).iter().map(Value::to_string).collect();
        assert_eq!(
            found,
            [
                r#"{"at":"/parameters/a~1b/maximum","before":"1","after":"2"}"#,
                r#"{"at":"/parameters/gone","before":"true","after":null}"#,
                r#"{"at":"/parameters/new","before":null,"after":"x"}"#,
            ]
        );
        assert_eq!(changes(&before, &before), Vec::<Value>::new());
    }
}
