//! The modes of a profile, compared; and the cost of each tool: in full, deferred, and as a doc.

use std::collections::HashMap;

use rayon::prelude::*;
use serde::Serialize;
use serde_json::json;

use super::layout::tenth;
use super::meter::{Counted, Meter};
use super::with_modes;
use crate::catalog::Profile;
use crate::config::{Deferred, Mode};
use crate::provider::READ_TOOL_DOC;
use crate::render::{Docs, TemplateError};
use crate::tokens::Count;

/// The cost of a profile in one mode.
#[derive(Debug, Serialize)]
#[non_exhaustive]
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
    pub bound: Count,
    /// Tokens of names.
    pub names: Count,
    /// Tokens of descriptions.
    pub descriptions: Count,
    /// Tokens of schemas.
    pub schemas: Count,
    /// Tokens of our own functions, whole, and of a provider's search.
    pub own_functions: Count,
    /// All other tokens.
    pub wrapping: Count,
    /// Tokens sent: more than bound where the provider defers tools itself.
    pub sent: Count,
    /// Tokens of the section of the system prompt.
    pub prompt: Count,
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
pub(super) fn modes(meter: &mut Meter<'_>, profile: &Profile<'_>) -> Result<Vec<ModeReport>, TemplateError> {
    let full = match meter.bound(profile, Mode::Full) {
        Ok(bound) if bound > 0 => Some(bound + meter.prompt(profile, Mode::Full)?.o200k),
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
    let Counted { mode, bound, sent, parts, .. } = counted;
    let prompt = meter.prompt(profile, mode)?;
    let each = bound + prompt;
    // Counted by themselves, functions can take a token or two more than in one text.
    let own_functions = parts.own_functions.less(parts.sum().less(bound));
    let task = |mode, tokens| meter.task(profile, mode, tokens);
    let tokens = task(mode, each.o200k);
    Ok(Measured {
        bound,
        names: parts.names,
        descriptions: parts.descriptions,
        schemas: parts.schemas,
        own_functions,
        wrapping: bound.less(parts.sum()),
        sent,
        prompt,
        saving_percent: full.map(|full| 100.0 - percent(each.o200k, full)),
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
    pub full: Count,
    /// Tokens deferred with the smallest schema; `None` where it cannot be deferred, since one of our functions has
    /// its name.
    pub stub: Option<Count>,
    /// Tokens deferred with a compact schema; `None` where it cannot be deferred.
    pub compact: Option<Count>,
    /// Its doc.
    pub doc: Count,
    /// Tokens of its doc, and of the call that reads it.
    pub read: Count,
}

/// The cost of each tool of a profile, the largest first, and the names of those that cannot be bound.
pub(super) fn tools(
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
        let of = |entries: &HashMap<String, Count>| entries.get(&tool.name).copied();
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
    reports.sort_by(|a, b| (b.full.o200k, &a.name).cmp(&(a.full.o200k, &b.name)));
    Ok((reports, left_out))
}
