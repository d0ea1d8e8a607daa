//! The modes of a profile, compared.

use serde::Serialize;

use super::layout::tenth;
use super::meter::{Counted, Meter};
use crate::catalog::Profile;
use crate::config::Mode;
use crate::render::TemplateError;
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
    let asked = Mode::ALL.iter().copied().filter(|mode| meter.options.mode.is_none_or(|only| only == *mode));
    asked
        .collect::<Vec<_>>()
        .into_iter()
        .map(|mode| match meter.count(profile, mode) {
            Ok(counted) => {
                let prompt = meter.prompt(profile, counted.mode)?;
                let (as_mode, over_limit) = (counted.mode, counted.limit);
                let tokens = Some(measured(counted, prompt, full, meter, profile));
                Ok(ModeReport { mode, as_mode, over_limit, tokens, problem: None })
            }
            Err(error) => Ok(ModeReport {
                mode,
                as_mode: mode,
                over_limit: None,
                tokens: None,
                problem: Some(error.to_string()),
            }),
        })
        .collect()
}

fn measured(
    counted: Counted,
    prompt: Count,
    full: Option<usize>,
    meter: &Meter<'_>,
    profile: &Profile<'_>,
) -> Measured {
    let Counted { mode, bound, sent, parts, .. } = counted;
    let each = bound + prompt;
    // Counted by themselves, functions can take a token or two more than in one text.
    let own_functions = parts.own_functions.less(parts.sum().less(bound));
    let task = |mode, tokens| meter.task(profile, mode, tokens);
    let tokens = task(mode, each.o200k);
    Measured {
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
    }
}

fn in_tenths<S: serde::Serializer>(percent: &Option<f64>, serializer: S) -> Result<S::Ok, S::Error> {
    percent.map(tenth).serialize(serializer)
}

fn percent(part: usize, whole: usize) -> f64 {
    100.0 * part as f64 / whole as f64
}
