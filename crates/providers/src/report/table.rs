//! The report for people.

use std::collections::HashMap;

use rayon::prelude::*;
use serde::Serialize;
use serde_json::json;

use super::meter::{Counted, Meter, TokenParts};
use super::{ProfileReport, Report, with_modes};
use crate::READ_TOOL_DOC;
use toolcrib_catalog::Profile;
use toolcrib_catalog::config::{Deferred, Mode};
use toolcrib_definition::clean_line;
use toolcrib_docs::{Docs, TemplateError};

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
        row.push(grouped(tokens.bound));
        let parts = &tokens.parts;
        let counts = [parts.names, parts.descriptions, parts.schemas, parts.own_functions];
        row.extend(counts.into_iter().chain([tokens.wrapping, tokens.prompt]).map(grouped));
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
            remarks.push(format!("{} tokens are sent", grouped(tokens.sent)));
        }
        remarks.extend(self.problem.as_deref().map(clean_line));
        (!remarks.is_empty()).then(|| format!("  {mode}: {}\n", remarks.join("; ")))
    }
}

// Numbers, columns and notes as text for people.

/// Columns at which a note is wrapped.
const WIDTH: usize = 110;

/// `1,234,567`.
pub fn grouped(number: usize) -> String {
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

// The modes of a profile, compared; and the cost of each tool: in full, deferred, and as a doc.

/// The cost of a profile in one mode.
#[derive(Debug, Serialize)]
pub struct ModeReport {
    /// The requested mode.
    pub mode: Mode,
    /// The mode of the payload: another one where the provider lacks the requested one.
    pub as_mode: Mode,
    /// The most tools that the provider takes, if the payload has more.
    pub over_limit: Option<usize>,
    /// The counts; `None` where no payload can be made.
    pub tokens: Option<Measured>,
    /// Reason why no payload can be made.
    pub problem: Option<String>,
}

/// The tokens of one mode.
#[derive(Debug, Serialize)]
pub struct Measured {
    /// Tokens in the context of every request.
    pub bound: usize,
    /// Their components.
    #[serde(flatten)]
    pub parts: TokenParts,
    /// All other tokens.
    pub wrapping: usize,
    /// Tokens sent: more than bound where the provider defers tools itself.
    pub sent: usize,
    /// Tokens of the section of the system prompt.
    pub prompt: usize,
    /// Saving over the mode `full`, in percent of o200k tokens: bound tokens and the section of the prompt.
    #[serde(serialize_with = "in_tenths")]
    pub saving_percent: Option<f64>,
    /// Estimated o200k tokens of a whole task, with the host's own context in each request.
    pub task: usize,
    /// The same in percent of `full`; `None` when nothing is bound there.
    #[serde(serialize_with = "in_tenths")]
    pub task_percent: Option<f64>,
}

/// The modes that the report is for.
pub(super) fn mode_rows(
    meter: &mut Meter<'_>,
    profile: &Profile<'_>,
) -> Result<Vec<ModeReport>, TemplateError> {
    let full = match meter.bound(profile, Mode::Full) {
        Ok(bound) if bound > 0 => Some(bound + meter.prompt(profile, Mode::Full)?),
        _ => None,
    };
    let only = meter.options.mode;
    let asked = Mode::ALL.iter().copied().filter(|mode| only.is_none_or(|only| only == *mode));
    let row = |mode| {
        let row = ModeReport { mode, as_mode: mode, over_limit: None, tokens: None, problem: None };
        Ok(match meter.count(profile, mode) {
            Ok(counted) => {
                let (as_mode, over_limit) = (counted.mode, counted.limit);
                let tokens = Some(measured(counted, full, meter, profile)?);
                ModeReport { as_mode, over_limit, tokens, ..row }
            }
            Err(error) => ModeReport { problem: Some(error.to_string()), ..row },
        })
    };
    asked.map(row).collect()
}

fn measured(
    counted: Counted,
    full: Option<usize>,
    meter: &mut Meter<'_>,
    profile: &Profile<'_>,
) -> Result<Measured, TemplateError> {
    let Counted { mode, bound, sent, mut parts, .. } = counted;
    let prompt = meter.prompt(profile, mode)?;
    let each = bound + prompt;
    let wrapping = bound.saturating_sub(parts.sum());
    // Counted separately, functions can take a token or two more than in one text.
    parts.own_functions = parts.own_functions.saturating_sub(parts.sum().saturating_sub(bound));
    let task = |mode, tokens| meter.task(profile, mode, tokens);
    let tokens = task(mode, each);
    Ok(Measured {
        bound,
        parts,
        wrapping,
        sent,
        prompt,
        saving_percent: full.map(|full| 100.0 - percent(each, full)),
        task: tokens,
        task_percent: full.map(|full| percent(tokens, task(Mode::Full, full))),
    })
}

fn in_tenths<S: serde::Serializer>(percent: &Option<f64>, serializer: S) -> Result<S::Ok, S::Error> {
    percent.map(tenth).serialize(serializer)
}

fn percent(part: usize, whole: usize) -> f64 {
    100.0 * part as f64 / whole as f64
}

/// The cost of one tool.
#[derive(Debug, Serialize)]
pub struct ToolReport {
    /// Its canonical name.
    pub name: String,
    /// The name of its doc, which is also its name for most providers.
    pub safe_name: String,
    /// Tokens bound in full.
    pub full: usize,
    /// Tokens deferred with the smallest schema; `None` where it cannot be deferred, since one of our functions has
    /// its name.
    pub stub: Option<usize>,
    /// Tokens deferred with a compact schema; `None` where it cannot be deferred.
    pub compact: Option<usize>,
    /// Its doc.
    pub doc: usize,
    /// Tokens of its doc, and of the call that reads it.
    pub read: usize,
}

/// The cost of each tool of a profile, the largest first, and the names of those that cannot be bound.
pub(super) fn tool_rows(
    meter: &mut Meter<'_>,
    profile: &Profile<'_>,
) -> Result<(Vec<ToolReport>, Vec<String>), TemplateError> {
    let full = meter.whole(profile);
    let stub = meter.deferred(profile, Mode::Hybrid, Deferred::Stub);
    let compact = meter.deferred(profile, Mode::Hybrid, Deferred::Compact);
    let docs = Docs::new(meter.catalog, with_modes(profile, |entry| entry.mode), meter.templates);
    let docs: Result<Vec<String>, _> = profile.tools.par_iter().map(|entry| docs.tool(*entry)).collect();
    let (mut reports, mut left_out) = (Vec::new(), Vec::new());
    for (tool, doc) in profile.tools.iter().map(|entry| entry.tool).zip(docs?) {
        let of = |entries: &HashMap<String, usize>| entries.get(&tool.name).copied();
        let Some(full) = of(&full) else {
            left_out.push(tool.name.clone());
            continue;
        };
        let call = json!({"name": READ_TOOL_DOC, "arguments": {"names": [tool.safe_name]}}).to_string();
        let doc = meter.counter.count(&doc);
        let read = doc + meter.counter.count(&call);
        reports.push(ToolReport {
            name: tool.name.clone(),
            safe_name: tool.safe_name.clone(),
            full,
            stub: of(&stub),
            compact: of(&compact),
            doc,
            read,
        });
    }
    reports.sort_by(|a, b| (b.full, &a.name).cmp(&(a.full, &b.name)));
    Ok((reports, left_out))
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
