//! The modes of a profile, compared.

use serde::Serialize;

use super::meter::{Counted, Meter, TokenParts};
use super::text::tenth;
use toolcrib_catalog::Profile;
use toolcrib_catalog::config::Mode;
use toolcrib_render::TemplateError;

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
