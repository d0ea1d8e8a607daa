//! The report for people, as tables.

use super::costs::{ProfileReport, Report};
use super::modes::ModeReport;
use super::text::{aligned, bar, grouped, wrapped};
use toolcrib_catalog::config::Deferred;
use toolcrib_definition::clean_line;

/// Most tools in the table; a script gets all of them.
const TOOLS: usize = 20;
/// Characters of the longest bar.
const BAR: usize = 16;

impl Report {
    /// Tables, with explanations under them.
    pub fn table(&self) -> String {
        let deferred = if self.deferred == Deferred::Stub { "stubs" } else { "compact" };
        let mut out = format!("Tokens for {} (o200k); deferred tools as {deferred}\n", self.provider);
        self.profiles.iter().for_each(|profile| out += &format!("\n{}", profile.table(self.provider)));
        if !self.tools.is_empty() {
            out += &format!("\n{}", self.tools_table());
        }
        if !self.left_out.is_empty() {
            let count = grouped(self.left_out.len());
            out += &format!(
                "\nleft out, since they cannot be bound for {}: {count}; `payload` says why\n",
                self.provider
            );
        }
        out += "\n";
        self.notes.iter().for_each(|note| out += &wrapped(note));
        out
    }

    fn tools_table(&self) -> String {
        let header = ["tool", "full", "stub", "compact", "doc", "read"];
        let mut rows = vec![header.map(str::to_string).to_vec()];
        rows.extend(self.tools.iter().take(TOOLS).map(|tool| {
            let counts = [Some(tool.full), tool.stub, tool.compact, Some(tool.doc), Some(tool.read)];
            let mut row = vec![tool.safe_name.clone()];
            row.extend(counts.map(|count| count.map_or("-".into(), grouped)));
            row
        }));
        let more = self.tools.len().saturating_sub(TOOLS);
        let more =
            if more > 0 { format!("{} more tools with --json\n", grouped(more)) } else { String::new() };
        aligned(&rows) + &more
    }
}

impl ProfileReport {
    fn table(&self, provider: &str) -> String {
        let title = self.profile.as_deref().map_or("the whole catalog".into(), clean_line);
        let counts = [self.tools, self.full, self.deferred].map(grouped);
        let [tools, full, deferred] = counts;
        let remarks: String = self.modes.iter().filter_map(|mode| mode.remark(provider)).collect();
        let auto = wrapped(&self.auto.note());
        format!(
            "{title}: {tools} tools, {full} full and {deferred} deferred\n{}{remarks}{auto}\n{}",
            self.chart(),
            self.parts()
        )
    }

    /// What the tools take in a request and in a whole task in each mode, as bars.
    fn chart(&self) -> String {
        let counted = || self.modes.iter().filter_map(|mode| mode.tokens.as_ref());
        let longest = [
            counted().map(|tokens| tokens.bound).max().unwrap_or(0),
            counted().map(|tokens| tokens.task).max().unwrap_or(0),
        ];
        let header = [
            String::from("mode"),
            format!("{:BAR$}", "a request"),
            String::new(),
            format!("{:BAR$}", "a task"),
        ];
        let rows = self.modes.iter().map(|mode| mode.bars(longest));
        aligned(&[header.to_vec()].into_iter().chain(rows).collect::<Vec<_>>())
    }

    /// What a request is made of in each mode.
    fn parts(&self) -> String {
        let header = ["mode", "bound", "names", "descriptions", "schemas", "ours", "wrapping", "prompt"];
        let rows = self.modes.iter().map(ModeReport::parts);
        aligned(&[header.map(str::to_string).to_vec()].into_iter().chain(rows).collect::<Vec<_>>())
    }
}

impl ModeReport {
    fn bars(&self, [request, task]: [usize; 2]) -> Vec<String> {
        let Some(tokens) = &self.tokens else {
            return vec![self.mode.as_str().into(), format!("{:BAR$}", "-")];
        };
        let of_full = tokens.task_percent.map_or(String::new(), |percent| format!("{percent:.0} %"));
        vec![
            self.mode.as_str().into(),
            bar(tokens.bound, request, BAR),
            grouped(tokens.bound),
            bar(tokens.task, task, BAR),
            grouped(tokens.task),
            of_full,
        ]
    }

    fn parts(&self) -> Vec<String> {
        let mut row = vec![self.mode.as_str().to_string()];
        let Some(tokens) = &self.tokens else {
            row.push("-".into());
            return row;
        };
        let parts = &tokens.parts;
        let counts = [tokens.bound, parts.names, parts.descriptions, parts.schemas, parts.own_functions];
        row.extend(counts.into_iter().chain([tokens.wrapping, tokens.prompt]).map(grouped));
        row
    }

    fn remark(&self, provider: &str) -> Option<String> {
        let mode = self.mode.as_str();
        let mut remarks = Vec::new();
        if self.as_mode != self.mode {
            let other = self.as_mode.as_str();
            remarks.push(format!("{provider} cannot defer tools by itself; it is as {other}"));
        }
        if let Some(limit) = self.over_limit {
            remarks.push(format!("over the limit of {limit}; {provider} refuses it"));
        }
        if let Some(tokens) = self.tokens.as_ref().filter(|tokens| tokens.sent != tokens.bound) {
            remarks.push(format!("{} tokens are sent", grouped(tokens.sent)));
        }
        remarks.extend(self.problem.as_deref().map(clean_line));
        (!remarks.is_empty()).then(|| format!("  {mode}: {}\n", remarks.join("; ")))
    }
}
