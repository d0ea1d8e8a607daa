//! Picks the few tools that an input may need, before they are bound. Nothing is run.
//!
//! 1. An [`Input`] is text, or any JSON as text.
//! 2. A [`Filter`] excludes tools.
//! 3. A [`Scorer`] scores the others: [`Keyword`], [`Llm`], or a caller's own. `functions::pick` scores by vectors too, and [`mixed`].
//! 4. [`Scored::picks`] keeps the best. When scoring takes too long, the first tools in their order are taken instead.

mod filter;
mod hybrid;
mod input;
mod keyword;
mod llm;

use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::time::Duration;

use serde_json::Value;

use crate::catalog::Tool;

pub use filter::Filter;
#[cfg(feature = "runtime")]
pub use hybrid::by_meaning;
pub use hybrid::mixed;
pub use input::Input;
pub use keyword::{Keyword, scores};
pub use llm::Llm;

/// Options of a pick.
#[derive(Clone)]
pub struct Options {
    /// Most tools to pick.
    pub max_candidates: usize,
    /// Least score of a picked tool.
    pub min_score: f32,
    /// Whether tools that are marked unsafe count.
    pub allow_unsafe: bool,
    /// Filter of all other tools.
    pub filter: Filter,
    /// The scorer; [`Keyword`] unless another is given.
    pub scorer: Option<Arc<dyn Scorer>>,
    /// Longest time of scoring altogether.
    pub timeout: Option<Duration>,
    /// Whether each tool has the provenance of its score.
    pub debug: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            max_candidates: 3,
            min_score: 0.05,
            allow_unsafe: false,
            filter: Filter::default(),
            scorer: None,
            timeout: None,
            debug: false,
        }
    }
}

/// A scorer of tools.
pub trait Scorer: Send + Sync {
    /// Its name in [`Provenance`].
    fn name(&self) -> &str;

    /// A score for each tool, in their order; or the reason why there are none.
    fn score(&self, input: &Input, tools: &[Arc<Tool>]) -> Result<Vec<Score>, String>;
}

/// A caller's own scorer, one tool at a time.
impl<F: Fn(&Input, &Tool) -> Score + Send + Sync> Scorer for F {
    fn name(&self) -> &str {
        "custom"
    }

    fn score(&self, input: &Input, tools: &[Arc<Tool>]) -> Result<Vec<Score>, String> {
        Ok(tools.iter().map(|tool| self(input, tool)).collect())
    }
}

/// Score of a tool.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Score {
    /// From 0 to 1.
    pub score: f32,
    /// The reason, for people.
    pub reason: Option<String>,
    /// Further data of the scorer, for [`Provenance`].
    pub details: Value,
}

/// A tool that was picked.
#[derive(Clone, Debug)]
pub struct Picked {
    /// The tool.
    pub tool: Arc<Tool>,
    /// Its score, from 0 to 1.
    pub score: f32,
    /// The reason, for people.
    pub reason: Option<String>,
    /// Provenance of the score, with [`Options::debug`].
    pub provenance: Option<Provenance>,
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

/// Picks the tools that an input may need.
pub fn pick(input: &Value, tools: &[Arc<Tool>], options: &Options) -> Picks {
    let input = Input::new(input.clone());
    let counts = |tool: &&Arc<Tool>| options.counts(tool);
    let tools: Vec<Arc<Tool>> = tools.iter().filter(counts).cloned().collect();
    let keyword: Arc<dyn Scorer> = Arc::new(Keyword::default());
    let scorer = options.scorer.as_ref().unwrap_or(&keyword);
    let work = {
        let (scorer, input, tools) = (Arc::clone(scorer), input.clone(), tools.clone());
        move || scorer.score(&input, &tools)
    };
    let scored = match options.timeout {
        None => Scored::from(work()),
        Some(timeout) => in_time(work, timeout),
    };
    scored.picks(&tools, scorer.name(), options, || keyword.score(&input, &tools).unwrap_or_default())
}

/// The end of a scoring.
pub enum Scored {
    /// A score for each tool.
    Done(Vec<Score>),
    /// No scores, for this reason.
    Failed(String),
    /// It took longer than this.
    Late(Duration),
}

impl Scored {
    /// The picked tools. Where scoring failed, `by_words` gives the scores.
    pub fn picks(
        self,
        tools: &[Arc<Tool>],
        scorer: &str,
        options: &Options,
        by_words: impl FnOnce() -> Vec<Score>,
    ) -> Picks {
        let why = match self {
            Scored::Done(scores) if scores.len() == tools.len() => {
                return Picks { candidates: rank(tools, scores, scorer, options), fallback: None };
            }
            Scored::Late(timeout) => return first(tools, timeout, options),
            Scored::Failed(why) => why,
            Scored::Done(_) => "it gave another number of scores than there are tools".into(),
        };
        let fallback = Some(format!("scored by words, since {scorer} failed: {why}"));
        Picks { candidates: rank(tools, by_words(), "keyword", options), fallback }
    }
}

impl From<Result<Vec<Score>, String>> for Scored {
    fn from(scores: Result<Vec<Score>, String>) -> Self {
        scores.map_or_else(Scored::Failed, Scored::Done)
    }
}

/// Scores on a thread, which is abandoned at the timeout.
fn in_time(work: impl FnOnce() -> Result<Vec<Score>, String> + Send + 'static, timeout: Duration) -> Scored {
    let (sender, scores) = sync_channel(1);
    let work = move || _ = sender.send(work());
    if let Err(error) = std::thread::Builder::new().name("pick".into()).spawn(work) {
        return Scored::Failed(error.to_string());
    }
    match scores.recv_timeout(timeout) {
        Ok(scores) => scores.into(),
        Err(RecvTimeoutError::Timeout) => Scored::Late(timeout),
        Err(RecvTimeoutError::Disconnected) => Scored::Failed("the scorer broke".into()),
    }
}

impl Options {
    /// Whether a tool passes the filter.
    pub fn counts(&self, tool: &Tool) -> bool {
        (self.allow_unsafe || tool.definition.safe != Some(false)) && self.filter.passes(tool)
    }
}

/// A score rounded to four digits.
pub fn rounded(score: f32) -> f64 {
    (f64::from(score) * 10_000.0).round() / 10_000.0
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
    let picked = |(tool, Score { score, reason, details }): (&Arc<Tool>, Score)| {
        let provenance = options.debug.then(|| Provenance { scorer: scorer.into(), details });
        Picked { tool: Arc::clone(tool), score, reason, provenance }
    };
    scored.into_iter().map(picked).collect()
}

/// The first tools in their order, as fallback at the timeout.
fn first(tools: &[Arc<Tool>], timeout: Duration, options: &Options) -> Picks {
    let why = format!(
        "scoring took longer than {} ms; these are the first tools in their order",
        timeout.as_millis()
    );
    let picked = |tool: &Arc<Tool>| Picked {
        tool: Arc::clone(tool),
        score: 0.0,
        reason: Some("first in order; not scored".into()),
        provenance: options.debug.then(|| Provenance { scorer: "order".into(), details: Value::Null }),
    };
    let candidates = tools.iter().take(options.max_candidates).map(picked).collect();
    Picks { candidates, fallback: Some(why) }
}

#[cfg(all(test, feature = "runtime"))]
mod tests;
