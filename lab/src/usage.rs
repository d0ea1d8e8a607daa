//! `toolcrib-lab usage`: the tools that sessions used, searches without an answer, and tools that nobody called.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};
use toolcrib::catalog::{Catalog, Resolved};
use toolcrib::state::{Event, EventKind};

use crate::table::{Printed, print, rows};
use crate::{Result, Source, tasks};

/// Most rows of a list.
const SHOWN: usize = 30;

/// Counts of a tool.
#[derive(Default)]
struct ToolUse {
    calls: usize,
    failed: usize,
    reads: usize,
}

/// Counts while events are read.
#[derive(Default)]
struct Usage {
    sessions: BTreeSet<(String, String)>,
    tools: BTreeMap<String, ToolUse>,
    unanswered: BTreeMap<String, usize>,
    unknown: BTreeMap<String, usize>,
    searches: usize,
}

/// Counts events of the state, and the calls of tasks.
pub async fn usage(source: &Source) -> Result<()> {
    let catalog = tasks::catalog(&source.catalog)?;
    let mut usage = Usage::default();
    source.events().await?.iter().for_each(|event| usage.event(event, &catalog));
    for (place, task) in source.tasks()?.iter().enumerate() {
        usage.sessions.insert((String::new(), format!("task {place}")));
        task.calls.iter().for_each(|call| usage.call(&call.name, true, &catalog));
    }
    print(&[usage.printed(&catalog, source.profile.as_deref())?], source.json);
    Ok(())
}

impl Usage {
    fn event(&mut self, event: &Event, catalog: &Catalog) {
        if let Some(session) = &event.session {
            self.sessions.insert((event.caller.clone(), session.clone()));
        }
        match event.kind {
            EventKind::Call if event.detail.get("step_of").is_none() => {
                let name = event.tool.as_deref().or(event.op.as_deref());
                name.into_iter().for_each(|name| self.call(name, event.outcome == "ok", catalog));
            }
            EventKind::Read | EventKind::Expand if event.outcome == "ok" => {
                if let Some(Resolved::Tool(tool)) = event.op.as_deref().map(|op| catalog.resolve(op)) {
                    self.tools.entry(tool.names.canonical.clone()).or_default().reads += 1;
                }
            }
            EventKind::Search => self.search(event),
            _ => {}
        }
    }

    fn call(&mut self, name: &str, is_ok: bool, catalog: &Catalog) {
        match tasks::name_of(catalog, name) {
            Some(name) => {
                let tool = self.tools.entry(name.to_string()).or_default();
                tool.calls += 1;
                tool.failed += usize::from(!is_ok);
            }
            None => *self.unknown.entry(name.to_string()).or_default() += 1,
        }
    }

    fn search(&mut self, event: &Event) {
        let one = event.input.as_str().or_else(|| event.input.get("query")?.as_str());
        let queries = event.input.get("queries").and_then(Value::as_array).into_iter().flatten();
        let queries: Vec<&str> = one.into_iter().chain(queries.filter_map(Value::as_str)).collect();
        self.searches += queries.len();
        for (place, query) in queries.into_iter().enumerate() {
            let detail = &event.detail;
            let verdict = detail.get("verdict").or_else(|| detail.get("verdicts")?.get(place));
            if verdict.is_some_and(|verdict| verdict == "no_match") {
                *self.unanswered.entry(query.to_string()).or_default() += 1;
            }
        }
    }

    fn printed(self, catalog: &Catalog, profile: Option<&str>) -> Result<Printed> {
        let profile = catalog.profile(profile)?;
        let is_called = |name: &str| self.tools.get(name).is_some_and(|tool| tool.calls > 0);
        let names = profile.tools.iter().map(|entry| entry.tool.names.canonical.as_str());
        let never: Vec<&str> = names.filter(|name| !is_called(name)).collect();
        let mut tools: Vec<(&String, &ToolUse)> = self.tools.iter().collect();
        tools.sort_by_key(|(_, tool)| std::cmp::Reverse((tool.calls, tool.reads)));
        let uses = tools.iter().map(|(name, tool)| {
            json!({ "name": name, "calls": tool.calls, "failed": tool.failed, "reads": tool.reads })
        });
        let uses: Vec<Value> = uses.collect();
        let columns = [("tool", "name"), ("calls", "calls"), ("failed", "failed"), ("reads", "reads")];
        let list = |counts: &BTreeMap<String, usize>| {
            let mut counts: Vec<_> = counts.iter().collect();
            counts.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
            counts
                .iter()
                .take(SHOWN)
                .map(|(text, count)| format!("  {count} x {text:?}\n"))
                .collect::<String>()
        };
        let table = format!(
            "{} sessions, {} searches\n\n{}\nsearches without an answer:\n{}\ncalled, but not in the catalog:\n{}\n\
             never called: {} of {} tools\n",
            self.sessions.len(),
            self.searches,
            rows(&uses[..uses.len().min(SHOWN)], &columns),
            list(&self.unanswered),
            list(&self.unknown),
            never.len(),
            profile.tools.len(),
        );
        let json = json!({
            "sessions": self.sessions.len(),
            "searches": self.searches,
            "tools": uses,
            "unanswered": self.unanswered,
            "unknown": self.unknown,
            "never_called": never,
        });
        Ok(Printed { table, json })
    }
}
