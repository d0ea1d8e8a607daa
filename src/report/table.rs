//! The report for people, and numbers, columns and notes as text.

use super::{Measured, ModeReport, ProfileReport, Report};
use crate::config::Deferred;
use crate::tool::clean_line;

/// Most tools in the table; a script gets all of them.
const TOOLS: usize = 20;

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
            row.extend(counts.map(|count| count.map_or("-".into(), |count| grouped(count.o200k))));
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
        let header = [
            "mode", "bound", "names", "descriptions", "schemas", "ours", "wrapping", "prompt", "saving",
            "task", "of full",
        ];
        let mut rows = vec![header.map(str::to_string).to_vec()];
        rows.extend(self.modes.iter().map(ModeReport::row));
        let title = self.profile.as_deref().map_or("the whole catalog".into(), clean_line);
        let counts = [self.tools, self.full, self.deferred].map(grouped);
        let [tools, full, deferred] = counts;
        let remarks: String = self.modes.iter().filter_map(|mode| mode.remark(provider)).collect();
        let auto = wrapped(&self.auto.note());
        format!(
            "{title}: {tools} tools, {full} full and {deferred} deferred\n{}{remarks}{auto}",
            aligned(&rows)
        )
    }
}

impl ModeReport {
    fn row(&self) -> Vec<String> {
        let mut row = vec![self.mode.as_str().to_string()];
        let Some(tokens) = &self.tokens else {
            row.push("-".into());
            return row;
        };
        row.push(grouped(tokens.bound.o200k));
        let Measured { names, descriptions, schemas, own_functions, wrapping, prompt, .. } = tokens;
        let parts = [names, descriptions, schemas, own_functions, wrapping, prompt];
        row.extend(parts.map(|part| grouped(part.o200k)));
        row.push(tokens.saving_percent.map_or("-".into(), |percent| format!("{percent:.1} %")));
        row.push(grouped(tokens.task));
        row.push(tokens.task_percent.map_or("-".into(), |percent| format!("{percent:.0} %")));
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
            remarks.push(format!("{} tokens are sent", grouped(tokens.sent.o200k)));
        }
        remarks.extend(self.problem.as_deref().map(clean_line));
        (!remarks.is_empty()).then(|| format!("  {mode}: {}\n", remarks.join("; ")))
    }
}

/// Columns at which a note is wrapped.
const WIDTH: usize = 110;

/// `1,234,567`.
pub(crate) fn grouped(number: usize) -> String {
    let digits = number.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// Rounded to one decimal.
pub(crate) fn tenth(number: f64) -> f64 {
    (number * 10.0).round() / 10.0
}

/// Rows as columns: the first to the left, the others to the right.
pub(crate) fn aligned(rows: &[Vec<String>]) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width =
        |column: usize| rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max();
    let widths: Vec<usize> = (0..columns).map(|column| width(column).unwrap_or(0)).collect();
    let line = |row: &Vec<String>| {
        let cells = row.iter().zip(&widths).enumerate().map(|(column, (cell, &width))| match column {
            0 => format!("{cell:<width$}"),
            _ => format!("{cell:>width$}"),
        });
        format!("{}\n", cells.collect::<Vec<_>>().join("  ").trim_end())
    };
    rows.iter().map(line).collect()
}

/// A note as an item of a list.
pub(crate) fn wrapped(note: &str) -> String {
    let mut lines = vec![String::from("-")];
    for word in note.split_whitespace() {
        let line = lines.last().map_or(0, |line| line.chars().count());
        match lines.last_mut() {
            Some(last) if line + 1 + word.chars().count() <= WIDTH => *last += &format!(" {word}"),
            _ => lines.push(format!("  {word}")),
        }
    }
    lines.iter().map(|line| format!("{line}\n")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_grouped_by_thousands() {
        let numbers = [0, 999, 1000, 12_345, 1_234_567];
        assert_eq!(numbers.map(grouped), ["0", "999", "1,000", "12,345", "1,234,567"]);
    }

    #[test]
    fn columns_stand_under_each_other() {
        let rows = [["a", "bound"], ["longer", "1"]].map(|row| row.map(str::to_string).to_vec());
        assert_eq!(aligned(&rows), "a       bound\nlonger      1\n");
    }
}
