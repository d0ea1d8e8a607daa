//! `pick`: the few tools that an input may need, before they are bound.

use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize, Serializer};
use serde_json::{Value, json};
use strum::{IntoStaticStr, VariantArray};

use super::arguments::Arguments;
use super::search::find;
use crate::context::{FunctionContext, SemanticSearch};
use crate::fields::fields;
use crate::tool_error::{Result, ToolError};
use toolcrib_catalog::Tool;
use toolcrib_definition::Effect;
use toolcrib_search::Verdict;
use toolcrib_search::pick::{
    self, Filter, Options, Picks, Score, Scored, by_llm, by_meaning, input_text, mixed, rounded, scores,
};
use toolcrib_search::semantic::{SemanticStatus, Similarities};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, IntoStaticStr, VariantArray)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
pub enum ScorerKind {
    /// Words.
    #[default]
    Keyword,
    /// Vectors.
    Embedding,
    /// Words and vectors.
    Hybrid,
    /// A chat model.
    Llm,
}

impl ScorerKind {
    /// The word used on the command line and in calls.
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

#[derive(Clone, Debug)]
pub struct PickOutcome {
    /// The tools.
    pub picks: Picks,
    /// Whether any of them fits, as far as the index can tell.
    pub verdict: Verdict,
    /// Whether meaning was used, where it was requested.
    pub semantic: Option<SemanticStatus>,
    /// Number of tools that were left out for being unsafe.
    pub unsafe_tools: usize,
}

/// Arguments of `pick`.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Pick {
    input: Value,
    max_candidates: Option<usize>,
    min_score: Option<f32>,
    allow_unsafe: bool,
    scorer: ScorerKind,
    timeout_ms: Option<u64>,
    role: Option<String>,
    capabilities: Vec<String>,
    max_cost: Option<f64>,
    max_effect: Option<Effect>,
    debug: bool,
}

impl Arguments for Pick {
    type Reply = Picked;

    async fn answer(self, context: &FunctionContext) -> Result<Picked> {
        let Self { role, capabilities, max_cost, max_effect, .. } = self;
        let standard = Options::default();
        let options = Options {
            max_candidates: self.max_candidates.unwrap_or(standard.max_candidates),
            min_score: self.min_score.unwrap_or(standard.min_score),
            allow_unsafe: self.allow_unsafe,
            filter: Filter { role, capabilities, max_cost, max_effect },
            timeout: self.timeout_ms.map(Duration::from_millis),
            debug: self.debug,
        };
        let outcome = context.pick(self.input, self.scorer, &options).await?;
        Ok(Picked { outcome, scorer: self.scorer })
    }
}

/// The picked tools, and the scorer.
#[derive(Clone, Debug)]
pub struct Picked {
    pub(super) outcome: PickOutcome,
    scorer: ScorerKind,
}

impl Picked {
    pub(super) fn ops(&self) -> impl Iterator<Item = &str> {
        self.outcome.picks.candidates.iter().map(|candidate| candidate.tool.names.op.as_str())
    }
}

impl Serialize for Picked {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let PickOutcome { picks, verdict, unsafe_tools, .. } = &self.outcome;
        let fields = fields([
            ("verdict", Some(verdict.as_str().into())),
            ("candidates", Some(picks.candidates.iter().map(described).collect())),
            ("scorer", Some(self.scorer.as_str().into())),
            ("fallback", picks.fallback.as_deref().map(Value::from)),
            ("unsafe_left_out", (*unsafe_tools > 0).then(|| (*unsafe_tools).into())),
            ("next_action", picks.candidates.is_empty().then(|| hint(*unsafe_tools).into())),
        ]);
        fields.serialize(to)
    }
}

/// The next step when nothing was picked.
pub fn hint(unsafe_tools: usize) -> &'static str {
    match unsafe_tools {
        0 => "say the task as an action and its object, lower `min_score`, or go on without tools",
        _ => "say the task as an action and its object, or allow unsafe tools, some of which were left out",
    }
}

fn described(picked: &pick::Picked) -> Value {
    let pick::Picked { tool, score, reason, provenance } = picked;
    let mut described = json!({
        "tool": tool.names.canonical,
        "op": tool.names.op,
        "summary": tool.texts.short,
        "score": rounded(*score),
        "reason": reason,
    });
    if let Some(provenance) = provenance {
        described["provenance"] = json!({ "scorer": provenance.scorer, "details": provenance.details });
    }
    described
}

impl FunctionContext {
    /// Picks from the tools that the caller may see.
    pub async fn pick(&self, input: Value, scorer: ScorerKind, options: &Options) -> Result<PickOutcome> {
        self.configured(scorer)?;
        self.view.wait_for_indexes().await;
        let all = &self.view.catalog().tools;
        // A tool that the caller may see but not call is no candidate.
        let may_call =
            |options: &Options, place: usize| !self.view.is_forbidden(place) && options.counts(&all[place]);
        let places: Vec<usize> = (0..all.len()).filter(|&place| may_call(options, place)).collect();
        let with_unsafe = Options { allow_unsafe: true, ..options.clone() };
        let unsafe_tools =
            (0..all.len()).filter(|&place| may_call(&with_unsafe, place)).count() - places.len();
        let tools: Vec<Arc<Tool>> = places.iter().map(|&place| Arc::clone(&all[place])).collect();
        let scoring = Scoring { context: self, input: input_text(&input), places: &places, tools: &tools };
        let (words, fits) = scoring.find(options.max_candidates.max(RANKED), None);
        let judged = match (scorer, options.timeout) {
            (ScorerKind::Keyword, _) => {
                Judged { scored: Scored::Done(words.clone()), verdict: fits, semantic: None }
            }
            (_, None) => scoring.by(scorer, &words, fits).await,
            (_, Some(timeout)) => match tokio::time::timeout(timeout, scoring.by(scorer, &words, fits)).await
            {
                Ok(judged) => judged,
                // Without scores it is not known that any tool fits.
                Err(_) => Judged { scored: Scored::Late(timeout), verdict: Verdict::NoMatch, semantic: None },
            },
        };
        let Judged { scored, verdict, semantic } = judged;
        let picks = scored.picks(&tools, scorer.as_str(), options, words);
        let verdict = if picks.candidates.is_empty() { Verdict::NoMatch } else { verdict };
        Ok(PickOutcome { picks, verdict, semantic, unsafe_tools })
    }

    /// Refuses a scorer whose model is not configured.
    fn configured(&self, scorer: ScorerKind) -> Result<()> {
        let missing = match scorer {
            ScorerKind::Keyword => return Ok(()),
            ScorerKind::Embedding | ScorerKind::Hybrid => match self.services.semantic {
                SemanticSearch::Off => "search.semantic",
                SemanticSearch::Broken(_) | SemanticSearch::On(_) => return Ok(()),
            },
            ScorerKind::Llm if self.services.llm.is_none() => "search.llm",
            ScorerKind::Llm => return Ok(()),
        };
        let scorer = scorer.as_str();
        let error = ToolError::invalid(
            format!("the scorer `{scorer}` needs a model, and `{missing}` is not configured"),
            format!("use the scorer `keyword`, or add `[{missing}]` to toolcrib.toml"),
        );
        Err(error.field("/scorer", "there is no model for this scorer"))
    }
}

/// Input and tools of a scoring.
struct Scoring<'p> {
    context: &'p FunctionContext,
    input: String,
    places: &'p [usize],
    tools: &'p [Arc<Tool>],
}

/// Result of a scoring.
struct Judged {
    scored: Scored,
    verdict: Verdict,
    semantic: Option<SemanticStatus>,
}

/// Tools that are ranked by words, where another scorer is used too.
const RANKED: usize = 200;
/// The weight of meaning in `hybrid`.
const MEANING: f32 = 0.6;
/// Least score that a chat model gives to a tool that fits.
const FITS: f32 = 0.5;

impl Scoring<'_> {
    /// Scores by words and, where it is known, by meaning, with the verdict.
    fn find(&self, limit: usize, near: Option<&Similarities>) -> (Vec<Score>, Verdict) {
        let view = &*self.context.view;
        let all = view.catalog().tools.len();
        let mut counts = vec![false; all];
        self.places.iter().for_each(|&place| counts[place] = true);
        let result = find(view, &self.input, Some(&counts), limit, near.map(|near| (near, MEANING)));
        (self.counting(scores(&result, all)), result.verdict)
    }

    /// The scores of the tools that count, out of the scores of all.
    fn counting(&self, mut scores: Vec<Score>) -> Vec<Score> {
        let take = |place: &usize| scores.get_mut(*place).map(std::mem::take).unwrap_or_default();
        self.places.iter().map(take).collect()
    }

    /// Scores by another scorer than words, whose scores and verdict are these.
    async fn by(&self, scorer: ScorerKind, words: &[Score], fits_by_words: Verdict) -> Judged {
        if scorer == ScorerKind::Llm {
            let scored = self.by_llm(words).await;
            let verdict = match &scored {
                Scored::Done(scores) if scores.iter().any(|score| score.score >= FITS) => Verdict::Match,
                Scored::Done(_) => Verdict::NoMatch,
                _ => fits_by_words,
            };
            return Judged { scored, verdict, semantic: None };
        }
        let (near, semantic) = self.context.similarities(&[&self.input]).await;
        let Some([near, ..]) = near.as_deref() else {
            let scored = Scored::Failed(format!("semantic search is {semantic}"));
            return Judged { scored, verdict: fits_by_words, semantic: Some(semantic) };
        };
        let (_, verdict) = self.find(RANKED, Some(near));
        let meaning = self.counting(by_meaning(near));
        let scores = if scorer == ScorerKind::Hybrid { mixed(words.to_vec(), meaning) } else { meaning };
        Judged { scored: Scored::Done(scores), verdict, semantic: Some(semantic) }
    }

    async fn by_llm(&self, words: &[Score]) -> Scored {
        let model = match &self.context.services.llm {
            Some(Ok(model)) => Arc::clone(model),
            Some(Err(_)) => return Scored::Failed("the model cannot be used as it is configured".into()),
            None => return Scored::Failed("there is no model".into()),
        };
        let input = self.input.clone();
        let tools = self.tools.to_vec();
        let words = words.to_vec();
        let asking = tokio::task::spawn_blocking(move || by_llm(&*model, &input, &tools, &words));
        asking.await.unwrap_or_else(|_| Scored::Failed("the model broke".into()))
    }
}
