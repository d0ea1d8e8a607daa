//! The use of tools in recorded sessions: calls, reads, and searches without an answer; and the price of tools that no
//! call has used.

use std::collections::{BTreeMap, HashSet};

use serde::Serialize;
use serde_json::Value;

use super::price::{Price, line, listed, never_called};
use super::{SimulationError, Task};
use crate::catalog::{Catalog, Resolved};
use crate::provider::Provider;
use crate::refusal::ErrorCode;
use crate::render::Templates;
use crate::report::{RequestMeter, aligned, grouped};
use crate::state::{Event, EventKind, utc};
use crate::tool::{clean_line, quoted};

/// Most rows of a table.
const ROWS: usize = 30;

/// The use of a profile.
#[derive(Debug, Default, Serialize)]
pub struct Usage {
    pub registry_version: String,
    pub provider: &'static str,
    /// Sessions with an event, and tasks.
    pub sessions: usize,
    /// Times of the first and the last event, in milliseconds of Unix time; `None` where there is no recorded one.
    pub since: Option<i64>,
    pub until: Option<i64>,
    pub calls: usize,
    pub failed: usize,
    /// Docs and help that were read, of tools and of groups.
    pub reads: usize,
    /// Queries, and those without an answer.
    pub searches: usize,
    pub without_answer: usize,
    /// Tools that were called or read, the most called first.
    pub tools: Vec<ToolUse>,
    /// Queries without an answer, the most frequent first.
    pub unanswered: Vec<Unanswered>,
    /// Names that were called and that no tool has, the most called first.
    pub unknown: Vec<Unknown>,
    /// The largest first.
    pub never_called: Vec<Price>,
    /// Tokens of these in each request where they are bound in full.
    pub never_called_tokens: usize,
}

/// The use of a tool.
#[derive(Debug, Default, Serialize)]
pub struct ToolUse {
    pub name: String,
    pub calls: usize,
    pub failed: usize,
    /// Calls as a step of another tool, which are in no other number.
    pub steps: usize,
    pub reads: usize,
    /// Tokens of its definition, bound in full.
    pub tokens: usize,
}

/// A query without an answer.
#[derive(Debug, Serialize)]
pub struct Unanswered {
    pub query: String,
    pub count: usize,
}

/// A name that no tool has.
#[derive(Debug, Serialize)]
pub struct Unknown {
    pub name: String,
    pub calls: usize,
}

/// Counts while events are read.
#[derive(Default)]
struct Counts {
    sessions: HashSet<(String, String)>,
    tools: BTreeMap<String, ToolUse>,
    queries: BTreeMap<String, usize>,
    unknown: BTreeMap<String, usize>,
}

/// The events of tasks: each is a session, and all of its calls ran well.
pub fn events_of(tasks: &[Task]) -> Vec<Event> {
    let event = |(place, name): (usize, &String)| Event {
        session: Some(format!("task {place}")),
        tool: Some(name.clone()),
        outcome: "ok".into(),
        ..Event::default()
    };
    let names = tasks
        .iter()
        .enumerate()
        .flat_map(|(place, task)| task.calls.iter().map(move |call| (place, &call.name)));
    names.map(event).collect()
}

impl Usage {
    /// The use of a profile in these events.
    pub fn of(
        catalog: &Catalog,
        profile: Option<&str>,
        templates: &Templates,
        provider: Provider,
        events: &[Event],
    ) -> Result<Self, SimulationError> {
        let profile = catalog.profile(profile).map_err(SimulationError::Profile)?;
        let definitions = RequestMeter::new(catalog, templates, provider).definitions(&profile);
        let (mut usage, mut counts) = (Self::default(), Counts::default());
        events.iter().for_each(|event| usage.count(event, catalog, &mut counts));
        let is_called = |name: &str| counts.tools.get(name).is_some_and(|tool| tool.calls + tool.steps > 0);
        let never_called = never_called(&profile, &definitions, is_called);
        let use_of = |(name, tool): (String, ToolUse)| {
            let tokens = definitions.get(&name).copied().unwrap_or_default();
            ToolUse { name, tokens, ..tool }
        };
        let mut tools: Vec<ToolUse> = counts.tools.into_iter().map(use_of).collect();
        tools.sort_by(|a, b| (b.calls, b.reads, &a.name).cmp(&(a.calls, a.reads, &b.name)));
        Ok(Self {
            registry_version: catalog.version.clone(),
            provider: provider.as_str(),
            sessions: counts.sessions.len(),
            tools,
            unanswered: sorted(counts.queries, |query, count| Unanswered { query, count }),
            unknown: sorted(counts.unknown, |name, calls| Unknown { name, calls }),
            never_called_tokens: never_called.iter().map(|tool| tool.tokens).sum(),
            never_called,
            ..usage
        })
    }

    fn count(&mut self, event: &Event, catalog: &Catalog, counts: &mut Counts) {
        if let Some(session) = &event.session {
            counts.sessions.insert((event.caller.clone(), session.clone()));
        }
        if event.at > 0 {
            self.since = Some(self.since.map_or(event.at, |since| since.min(event.at)));
            self.until = self.until.max(Some(event.at));
        }
        match event.kind {
            EventKind::Call => self.count_call(event, catalog, counts),
            EventKind::Read | EventKind::Expand if event.outcome == "ok" => {
                self.reads += 1;
                if let Some(Resolved::Tool(tool)) = event.op.as_deref().map(|op| catalog.resolve(op)) {
                    counts.tools.entry(tool.name.clone()).or_default().reads += 1;
                }
            }
            EventKind::Search => {
                let queries = queries(event);
                self.searches += queries.len();
                let unanswered = queries.into_iter().filter(|(_, is_answered)| !is_answered);
                for (query, _) in unanswered {
                    self.without_answer += 1;
                    *counts.queries.entry(clean_line(query)).or_default() += 1;
                }
            }
            _ => {}
        }
    }

    fn count_call(&mut self, event: &Event, catalog: &Catalog, counts: &mut Counts) {
        let Some(name) = event.tool.as_ref().or(event.op.as_ref()) else { return };
        let tool = match catalog.resolve(name) {
            Resolved::Tool(tool) => Some(counts.tools.entry(tool.name.clone()).or_default()),
            _ => None,
        };
        if event.detail.get("step_of").is_some() {
            tool.into_iter().for_each(|tool| tool.steps += 1);
            return;
        }
        let failed = usize::from(event.outcome != "ok");
        self.calls += 1;
        self.failed += failed;
        match tool {
            Some(tool) => {
                tool.calls += 1;
                tool.failed += failed;
            }
            None => *counts.unknown.entry(clean_line(name)).or_default() += 1,
        }
    }

    /// The tables.
    pub fn table(&self) -> String {
        let times = self.since.zip(self.until);
        let times = times.map(|(since, until)| format!(", {} to {} UTC", utc(since), utc(until)));
        let mut out = format!(
            "{} sessions{}: {} calls ({} failed), {} docs and help read, {} searches ({} without an answer)\n",
            grouped(self.sessions),
            times.unwrap_or_default(),
            grouped(self.calls),
            grouped(self.failed),
            grouped(self.reads),
            grouped(self.searches),
            grouped(self.without_answer),
        );
        if !self.tools.is_empty() {
            let header = ["tool", "calls", "failed", "reads", "tokens"];
            let rows = self.tools.iter().take(ROWS).map(|tool| {
                let counts = [tool.calls, tool.failed, tool.reads, tool.tokens].map(grouped);
                [clean_line(&tool.name)].into_iter().chain(counts).collect()
            });
            let rows: Vec<Vec<String>> =
                [header.map(str::to_string).to_vec()].into_iter().chain(rows).collect();
            out += &format!("\n{}{}", aligned(&rows), more(self.tools.len()));
        }
        if !self.unanswered.is_empty() {
            out += "\nsearches without an answer\n";
            let queries = self.unanswered.iter().take(ROWS);
            queries.for_each(|one| out += &format!("  {} x \"{}\"\n", one.count, quoted(&one.query)));
            out += &more(self.unanswered.len());
        }
        let unknown = self.unknown.iter().map(|one| format!("{} ({})", one.name, one.calls));
        if !self.unknown.is_empty() {
            out += &format!("\ncalled, but no tool of the catalog: {}\n", listed(unknown));
        }
        out + &line(&self.never_called)
    }
}

/// Counts as a list, the largest first.
fn sorted<T>(counts: BTreeMap<String, usize>, of: impl Fn(String, usize) -> T) -> Vec<T> {
    let mut counts: Vec<(String, usize)> = counts.into_iter().collect();
    counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    counts.into_iter().map(|(text, count)| of(text, count)).collect()
}

fn more(rows: usize) -> String {
    match rows.saturating_sub(ROWS) {
        0 => String::new(),
        more => format!("and {} more\n", grouped(more)),
    }
}

/// The queries of a search, and whether each was answered.
fn queries(event: &Event) -> Vec<(&str, bool)> {
    let is_match = |verdict: Option<&Value>| verdict.is_none_or(|verdict| verdict != "no_match");
    let one = event.input.as_str().or_else(|| event.input.get("query")?.as_str());
    if let Some(query) = one {
        let found_none = event.outcome == ErrorCode::NoMatchInCategory.as_str();
        return vec![(query, !found_none && is_match(event.detail.get("verdict")))];
    }
    let several = event.input.get("queries").and_then(Value::as_array).into_iter().flatten();
    let verdict = |place: usize| event.detail.get("verdicts").and_then(|verdicts| verdicts.get(place));
    several
        .enumerate()
        .filter_map(|(place, query)| Some((query.as_str()?, is_match(verdict(place)))))
        .collect()
}
