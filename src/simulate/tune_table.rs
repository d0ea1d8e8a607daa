//! The choices for tasks, for people.

use super::price::{line, listed};
use super::tune::{Choice, Cost, Tuning, Value};
use crate::report::{aligned, grouped, wrapped};
use crate::tool::clean_line;

/// Most tools of a list.
const SHOWN: usize = 15;

/// Notes under the tables.
const NOTES: [&str; 2] = [
    "Half of the tasks chose, by hashes of the tasks, and the other half judged. % is of the same tasks with every tool \
     bound in full. hindsight: the choice that the judging half would have made for itself.",
    "saves: tokens a task, with all requests counted, that binding this tool in full saves, beside the others of the \
     choice. A deferred tool is searched for or read, and called, as before: nothing is hidden.",
];

impl Tuning {
    /// The tables.
    pub fn table(&self) -> String {
        let mut out = format!(
            "{} tasks with {} calls, {} tools, for {}; prompt cache: {}{}\n{} tasks choose, {} judge\n\n",
            grouped(self.tasks),
            grouped(self.calls),
            grouped(self.tools),
            self.provider,
            <&str>::from(self.cache),
            if self.batched { "; batched" } else { "" },
            grouped(self.choosing),
            grouped(self.judging),
        );
        let header =
            ["host", "surface", "in full", "turns", "of full", "% chosen", "% judged", "% hindsight"];
        let mut rows = vec![header.map(str::to_string).to_vec()];
        rows.extend(self.choices.iter().map(Choice::row));
        out += &aligned(&rows);
        for choice in &self.choices {
            out += &choice.lists();
        }
        out += &line(&self.never_called);
        if !self.unknown.is_empty() {
            let names = self.unknown.iter().map(|name| clean_line(name));
            out += &format!("\ncalled, but no tool of the profile, and left out: {}\n", listed(names));
        }
        out.push('\n');
        NOTES.iter().for_each(|note| out += &wrapped(note));
        out
    }
}

impl Choice {
    fn row(&self) -> Vec<String> {
        let Cost { surface, full, turns, turns_of_full, percent, .. } = &self.judged;
        let chosen = self.surfaces.first().map_or(0.0, |cost| cost.percent);
        let hindsight = &self.hindsight;
        vec![
            grouped(self.host),
            surface.as_str().to_string(),
            full.to_string(),
            format!("{turns:.1}"),
            format!("{turns_of_full:.1}"),
            format!("{chosen:.1}"),
            format!("{percent:.1}"),
            format!("{:.1} ({}, {} in full)", hindsight.percent, hindsight.surface.as_str(), hindsight.full),
        ]
    }

    /// The surfaces and the tools of the choice.
    fn lists(&self) -> String {
        let others =
            self.surfaces.iter().map(|cost| format!("{} {:.0} %", cost.surface.as_str(), cost.percent));
        let others = others.collect::<Vec<_>>().join(", ");
        let mut out = format!("\nhost {}: {others}\n", grouped(self.host));
        for (mode, values) in [("in full", &self.full), ("deferred", &self.deferred)] {
            if values.is_empty() {
                continue;
            }
            let mut rows = vec![[mode, "tasks", "tokens", "saves"].map(str::to_string).to_vec()];
            rows.extend(values.iter().take(SHOWN).map(Value::row));
            out += &format!("\n{}", aligned(&rows));
            let more = values.len().saturating_sub(SHOWN);
            out += &if more > 0 { format!("and {} more\n", grouped(more)) } else { String::new() };
        }
        out
    }
}

impl Value {
    fn row(&self) -> Vec<String> {
        let tokens = [self.tasks, self.tokens].map(grouped);
        let saves = format!("{:.0}", self.saves);
        [clean_line(&self.name)].into_iter().chain(tokens).chain([saves]).collect()
    }
}
