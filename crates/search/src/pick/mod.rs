//! Picks the few tools that an input may need, before they are bound. Nothing is run.
//!
//! 1. [`input_text()`] is the text of any JSON.
//! 2. [`Options`] exclude tools.
//! 3. The others are scored: by the [`scores`] of a search, [`by_meaning`], by both ([`mixed`]), or [`by_llm`].
//! 4. [`Scored::picks`] keeps the best. When scoring takes too long, the first tools in their order are taken instead.

mod input_text;
mod llm_scores;
mod options;
mod score;
#[cfg(all(test, feature = "runtime"))]
mod tests;

use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;

pub use input_text::input_text;
pub use llm_scores::by_llm;
pub use options::{Filter, Options};
#[cfg(feature = "runtime")]
pub use score::by_meaning;
pub use score::{Score, Scored, mixed, rounded, scores};
use toolcrib_catalog::Tool;

/// A tool that was picked.
#[derive(Clone, Debug)]
pub struct Picked {
    pub tool: Arc<Tool>,
    /// Its score, from 0 to 1.
    pub score: f32,
    /// The reason, for people.
    pub reason: Option<String>,
    /// Provenance of the score, with [`Options::debug`].
    pub provenance: Option<Provenance>,
}

impl Picked {
    fn new(
        tool: &Arc<Tool>,
        Score { score, reason, details }: Score,
        scorer: &str,
        options: &Options,
    ) -> Self {
        let provenance = options.debug.then(|| Provenance { scorer: scorer.into(), details });
        Self { tool: Arc::clone(tool), score, reason, provenance }
    }
}

/// Provenance of a score.
#[derive(Clone, Debug, PartialEq)]
pub struct Provenance {
    /// Name of the scorer.
    pub scorer: String,
    /// Its further data.
    pub details: Value,
}

/// Result of a pick.
#[derive(Clone, Debug, Default)]
pub struct Picks {
    /// The best first; ties in the order of tools. An empty list is a result too.
    pub candidates: Vec<Picked>,
    /// The fallback that was used, and its reason.
    pub fallback: Option<String>,
}

impl Scored {
    /// The picked tools. Where scoring failed, the scores by words count.
    pub fn picks(self, tools: &[Arc<Tool>], scorer: &str, options: &Options, by_words: Vec<Score>) -> Picks {
        let why = match self {
            Scored::Done(scores) if scores.len() == tools.len() => {
                return Picks { candidates: rank(tools, scores, scorer, options), fallback: None };
            }
            Scored::Late(timeout) => return first(tools, timeout, options),
            Scored::Failed(why) => why,
            Scored::Done(_) => "it gave another number of scores than there are tools".into(),
        };
        let fallback = Some(format!("scored by words, since {scorer} failed: {why}"));
        Picks { candidates: rank(tools, by_words, "keyword", options), fallback }
    }
}

/// The best of these; `scores` are in the order of `tools`.
fn rank(tools: &[Arc<Tool>], scores: Vec<Score>, scorer: &str, options: &Options) -> Vec<Picked> {
    let mut scored: Vec<(&Arc<Tool>, Score)> = tools.iter().zip(scores).collect();
    for (_, score) in &mut scored {
        score.score = if score.score.is_finite() { score.score.clamp(0.0, 1.0) } else { 0.0 };
    }
    scored.retain(|(_, score)| score.score >= options.min_score);
    scored.sort_by(|(_, one), (_, other)| other.score.total_cmp(&one.score));
    scored.truncate(options.max_candidates);
    scored.into_iter().map(|(tool, score)| Picked::new(tool, score, scorer, options)).collect()
}

/// The first tools in their order, as fallback at the timeout.
fn first(tools: &[Arc<Tool>], timeout: Duration, options: &Options) -> Picks {
    let why = format!(
        "scoring took longer than {} ms; these are the first tools in their order",
        timeout.as_millis()
    );
    let unscored = Score { reason: Some("first in order; not scored".into()), ..Score::default() };
    let first = tools.iter().take(options.max_candidates);
    let candidates = first.map(|tool| Picked::new(tool, unscored.clone(), "order", options)).collect();
    Picks { candidates, fallback: Some(why) }
}
