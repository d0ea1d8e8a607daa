//! The comparison of surfaces, for people.

use super::report::{LeftOut, Report, SurfaceCost};
use crate::config::Surface;
use crate::report::{aligned, grouped, wrapped};
use crate::tool::clean_line;

/// Notes under the tables.
const NOTES: [&str; 3] = [
    "A task costs the tokens of all its requests: each carries the host's context, the section of the prompt, the \
     bound tools, and all calls and answers before it. % is of the same task with every tool bound in full.",
    "The agent is a script: it makes the known calls, one a turn unless --batched, and before the first call of a tool \
     gets what the surface asks for: a doc, a search and its hits, or help. A call without a recorded result returns \
     {\"ok\":true}.",
    "first, found, no_match: of first searches, in percent, worded with other verbs than the tool's name.",
];

impl Report {
    /// The table.
    pub fn table(&self) -> String {
        let mut out = format!(
            "{} tasks with {} calls, {} tools, for {}; auto is {}; prompt cache: {}{}\n\n",
            grouped(self.tasks),
            grouped(self.calls),
            grouped(self.tools),
            self.provider,
            self.auto.as_str(),
            <&str>::from(self.cache),
            if self.batched { "; batched" } else { "" },
        );
        let mut header: Vec<String> =
            ["surface", "turns", "bound", "prompt", "calls", "answers"].map(str::to_string).into();
        header.extend(self.hosts.iter().map(|host| format!("% at {}", grouped(*host))));
        header.extend(["first", "found", "no_match", "refused", "accepted"].map(str::to_string));
        let mut rows = vec![header];
        rows.extend(self.surfaces.iter().map(SurfaceCost::row));
        out += &aligned(&rows);
        if let Some(refusal) = self.surfaces.iter().find_map(|cost| cost.refusal.as_ref()) {
            out += &format!("\nrefused, for one: {}\n", clean_line(refusal));
        }
        let left_out = self.left_out.iter().map(|LeftOut { surface, reason }| {
            format!("{} is left out: {}\n", surface.as_str(), clean_line(reason))
        });
        let left_out: String = left_out.collect();
        out += &if left_out.is_empty() { left_out } else { format!("\n{left_out}") };
        if self.unknown_calls > 0 {
            let count = grouped(self.unknown_calls);
            out += &format!("\n{count} calls are left out: their tools are not in the catalog\n");
        }
        out
    }
}

/// The size from which each surface costs less than `full`, by host context, and the assumptions of all tables.
pub fn gains(reports: &[Report]) -> String {
    let mut by_size: Vec<&Report> = reports.iter().collect();
    by_size.sort_by_key(|report| report.tools);
    let mut out = String::new();
    if let [first, _, ..] = by_size[..] {
        let header = ["less than full from".to_string()].into_iter();
        let mut rows =
            vec![header.chain(first.hosts.iter().map(|host| format!("at {}", grouped(*host)))).collect()];
        for surface in Surface::ALL.iter().filter(|surface| **surface != Surface::Full) {
            let is_played = |report: &&Report| report.surfaces.iter().any(|cost| cost.surface == *surface);
            if by_size.iter().any(is_played) {
                let from = (0..first.hosts.len()).map(|host| gains_from(&by_size, *surface, host));
                rows.push([surface.as_str().to_string()].into_iter().chain(from).collect());
            }
        }
        out += &format!("{}\n", aligned(&rows));
    }
    NOTES.iter().for_each(|note| out += &wrapped(note));
    out
}

/// The smallest of the sizes from which a surface costs less than `full`.
fn gains_from(by_size: &[&Report], surface: Surface, host: usize) -> String {
    let costs_less = |report: &&&Report| {
        let cost = report.surfaces.iter().find(|cost| cost.surface == surface);
        cost.and_then(|cost| cost.percent.get(host)).is_some_and(|percent| *percent < 100.0)
    };
    let gaining = by_size.iter().rev().take_while(costs_less).last();
    gaining.map_or("-".into(), |report| format!("{} tools", grouped(report.tools)))
}

impl SurfaceCost {
    fn row(&self) -> Vec<String> {
        let share = |share: Option<f64>| share.map_or("-".into(), |share| format!("{share:.1}"));
        let mut row = vec![
            self.surface.as_str().to_string(),
            format!("{:.1}", self.turns),
            grouped(self.bound),
            grouped(self.prompt),
            grouped(self.calls.round() as usize),
            grouped(self.answers.round() as usize),
        ];
        row.extend(self.percent.iter().map(|percent| format!("{percent:.0}")));
        row.extend([self.right_first, self.right_found, self.wrong_no_match].map(share));
        row.extend([self.refused_right, self.accepted_wrong].map(|count| count.to_string()));
        row
    }
}
