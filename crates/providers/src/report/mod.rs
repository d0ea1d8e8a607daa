//! The cost of a catalog's tools in tokens: in each mode, and one by one. And, in [`retrieval`], measures of
//! search.
//!
//! 1. [`meter`] makes a payload, and counts the part of it that is in the context.
//! 2. The report compares the modes of a profile, and the cost of one tool in full, deferred, and as a page, and prints both.
//! 3. [`mod@estimate`] estimates a task, takes the mode that costs least, and names the modes that fit a budget.

mod estimate;
mod meter;
pub mod retrieval;

use std::collections::HashMap;

pub use estimate::{AutoMode, OverBudget, RequestCost, auto_mode, mode_of};
pub use meter::{Counted, Meter, TokenParts};
use rayon::prelude::*;
use serde::Serialize;
use serde_json::json;

use crate::READ_TOOL_DOC;
use toolcrib_catalog::config::{self, Deferred, Mode};
use toolcrib_catalog::{Catalog, Profile, ProfileTool, UnknownProfile};
use toolcrib_definition::{DescriptionMode, clean_line};
use toolcrib_docs::{Docs, TemplateError, Templates};

/// Options of the report.
#[derive(Clone, Copy, Debug)]
pub struct Options<'a> {
    /// The profile; `None` for the whole catalog and all of its profiles.
    pub profile: Option<&'a str>,
    /// The mode; `None` for all.
    pub mode: Option<Mode>,
    /// Settings of payloads.
    pub payload: config::Payload,
    /// Most tokens that a mode may bind.
    pub budget: Option<usize>,
}

/// The cost of a catalog's tools.
#[derive(Debug, Serialize)]
pub struct Report {
    /// The registry version that was counted.
    pub registry_version: String,
    /// The provider.
    pub provider: &'static str,
    /// The schema of deferred tools.
    pub deferred: Deferred,
    /// What the tools cost in each request, without toolcrib and with it.
    pub request: RequestCost,
    /// The whole catalog and its profiles, or the one profile that was named.
    pub profiles: Vec<ProfileReport>,
    /// Each tool, the largest first.
    pub tools: Vec<ToolReport>,
    /// Tools that cannot be bound for this provider, by canonical name; they are not counted.
    pub left_out: Vec<String>,
    /// Profiles that bind more than the budget, where one is set.
    pub over_budget: Vec<OverBudget>,
    /// Explanations of the numbers and of their limits.
    pub notes: Vec<&'static str>,
}

/// One profile in each mode.
#[derive(Debug, Serialize)]
pub struct ProfileReport {
    /// Its name; `None` for the whole catalog.
    pub profile: Option<String>,
    /// Number of its tools.
    pub tools: usize,
    /// Number of tools that are bound in full.
    pub full: usize,
    /// Number of tools that are deferred.
    pub deferred: usize,
    /// The modes, from most to least bound.
    pub modes: Vec<ModeReport>,
    /// The mode that `auto` stands for.
    pub auto: AutoMode,
}

/// Reason why there is no report.
#[derive(Debug, thiserror::Error)]
pub enum ReportError {
    /// There is no such profile.
    #[error(transparent)]
    Profile(#[from] UnknownProfile),
    /// A template is broken.
    #[error(transparent)]
    Template(#[from] TemplateError),
}

/// Makes the report. The same input gives the same numbers.
pub fn report(catalog: &Catalog, templates: &Templates, options: Options<'_>) -> Result<Report, ReportError> {
    let named = |name| catalog.profile(name).map_err(ReportError::Profile);
    let mut profiles = vec![named(options.profile)?];
    if options.profile.is_none() {
        let more: Result<Vec<_>, _> = catalog.config.profiles.keys().map(|name| named(Some(name))).collect();
        profiles.extend(more?);
    }
    let request = RequestCost::of(catalog, options.profile, options.payload)?;
    let mut meter = Meter::new(catalog, templates, options);
    let (tools, left_out) = tool_rows(&mut meter, &profiles[0])?;
    let mut reports = Vec::new();
    let mut over_budget = Vec::new();
    for profile in &profiles {
        let deferred = profile.tools.iter().filter(|entry| meter::is_deferred(entry)).count();
        reports.push(ProfileReport {
            profile: profile.name.map(str::to_string),
            tools: profile.tools.len(),
            full: profile.tools.len() - deferred,
            deferred,
            modes: mode_rows(&mut meter, profile)?,
            auto: meter.auto(profile),
        });
        over_budget.extend(estimate::over(&mut meter, profile));
    }
    Ok(Report {
        registry_version: catalog.version.clone(),
        provider: options.payload.provider.as_str(),
        deferred: options.payload.deferred,
        request,
        profiles: reports,
        tools,
        left_out,
        over_budget,
        notes: NOTES.to_vec(),
    })
}

/// Notes under every report.
const NOTES: [&str; 5] = [
    "Counted is the compact JSON of the payload, with o200k. What is billed differs: every provider renders tools in \
     a way of its own before it counts, and Claude and Gemini publish no vocabulary. Between modes of one provider the ratio is what holds.",
    "bound: what is in the context of every request. What a provider's own deferral keeps out of it is sent but not \
     bound. What the model then searches for, reads or loads comes on top of it.",
    "wrapping: what is left of the whole without names, descriptions, schemas and our own functions. prompt: the section that \
     `toolcrib prompt` prints. saving: of bound and prompt together, against the mode `full`.",
    "task: an estimate of all requests of a whole task, each with the host's own context (`payload.host_tokens`), bound \
     and prompt. On `full` a task has 5.5 requests; deferred tools take up to 2.5 more, for searches and docs, whose text \
     stays in the context.",
    "read: the doc, and a call of `read_tool_doc` for it.",
];

/// The same tools with other modes.
fn with_modes<'a>(profile: &Profile<'a>, mode: impl Fn(&ProfileTool<'a>) -> DescriptionMode) -> Profile<'a> {
    let tools = profile.tools.iter().map(|entry| ProfileTool { mode: mode(entry), ..*entry }).collect();
    Profile { tools, ..*profile }
}

// The report for people.

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
                let as_mode = counted.mode;
                let over_limit = counted.limit;
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
    let mut reports = Vec::new();
    let mut left_out = Vec::new();
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
