//! Setups of search, and their answers to labelled queries.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;
use strum::{IntoStaticStr, VariantArray};
use tokio::task::JoinSet;

use super::super::catalog::{CatalogArgs, counted};
use super::super::progress::{Bar, Spinner};
use super::super::{CommandError, failed, services};
use crate::functions::pick::ScorerKind;
use crate::functions::{CatalogView, FunctionContext, SearchQuery, SemanticSearch, Services};
use crate::model::ModelUsage;
use crate::report::retrieval::{DEPTH, Labelled, Labels, QueryOutcome, SetupAnswers};
use crate::search::pick::Options;
use crate::search::semantic::SemanticStatus;
use crate::search::{Hit, SearchRequest, SearchResult, Verdict};
use crate::tool::clean_line;

/// Wait before a model that has failed is asked once more.
const PAUSE: Duration = Duration::from_secs(1);

/// A section of the configuration that names a model.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ModelSection {
    Semantic,
    Llm,
}

impl ModelSection {
    /// The lines of an example, indented.
    fn example(self) -> &'static str {
        match self {
            Self::Semantic => {
                "    [search.semantic]\n    url = \"http://127.0.0.1:11434/v1\"\n    model = \"all-minilm\""
            }
            Self::Llm => "    [search.llm]\n    url = \"http://127.0.0.1:11434/v1\"\n    model = \"qwen3\"",
        }
    }

    fn is_configured(self, services: &Services) -> bool {
        match self {
            Self::Semantic => !matches!(services.semantic, SemanticSearch::Off),
            Self::Llm => services.llm.is_some(),
        }
    }

    /// The reason why the configured model cannot be asked.
    fn broken(self, services: &Services) -> Option<&str> {
        match (self, &services.semantic, &services.llm) {
            (Self::Semantic, SemanticSearch::Broken(reason), _) | (Self::Llm, _, Some(Err(reason))) => {
                Some(reason)
            }
            _ => None,
        }
    }
}

/// A way to find tools.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, IntoStaticStr, VariantArray)]
pub(super) enum Setup {
    /// Search by words.
    #[strum(serialize = "words")]
    Words,
    /// Search by vectors.
    #[strum(serialize = "vectors")]
    Vectors,
    /// Search by both.
    #[strum(serialize = "fused")]
    Fused,
    /// The scorer `keyword` of `pick`.
    #[strum(serialize = "pick:keyword")]
    PickKeyword,
    /// The scorer `embedding` of `pick`.
    #[strum(serialize = "pick:embedding")]
    PickEmbedding,
    /// The scorer `hybrid` of `pick`.
    #[strum(serialize = "pick:hybrid")]
    PickHybrid,
    /// The scorer `llm` of `pick`.
    #[strum(serialize = "pick:llm")]
    PickLlm,
    /// Every setup that is configured.
    #[strum(serialize = "all")]
    All,
}

impl Setup {
    /// Its name.
    pub(super) fn as_str(self) -> &'static str {
        self.into()
    }

    /// The section that names its model, if it needs one.
    fn model(self) -> Option<ModelSection> {
        match self {
            Setup::Vectors | Setup::Fused | Setup::PickEmbedding | Setup::PickHybrid => {
                Some(ModelSection::Semantic)
            }
            Setup::PickLlm => Some(ModelSection::Llm),
            Setup::Words | Setup::PickKeyword | Setup::All => None,
        }
    }

    fn is_configured(self, services: &Services) -> bool {
        self != Setup::All && self.model().is_none_or(|model| model.is_configured(services))
    }

    /// Refuses a setup whose model is not configured, or cannot be asked.
    fn check(self, services: &Services) -> Result<(), CommandError> {
        let Some(model) = self.model() else { return Ok(()) };
        let name = self.as_str();
        if !model.is_configured(services) {
            let example = model.example();
            return Err(CommandError::Usage(format!(
                "the setup `{name}` needs a model, and none is configured for it\n  help: add to toolcrib.toml, with an address and a model of your own:\n{example}"
            )));
        }
        match model.broken(services) {
            Some(reason) => Err(CommandError::Usage(format!("the setup `{name}` cannot run: {reason}"))),
            None => Ok(()),
        }
    }

    /// The answer to a query, and the reason why its model gave none. A failed model is asked once more.
    async fn answer(self, context: &FunctionContext, query: &str) -> (SearchResult, Option<String>) {
        match self.answer_once(context, query).await {
            (_, Some(_)) => {
                tokio::time::sleep(PAUSE).await;
                self.answer_once(context, query).await
            }
            answered => answered,
        }
    }

    async fn answer_once(self, context: &FunctionContext, query: &str) -> (SearchResult, Option<String>) {
        let nothing = SearchResult { verdict: Verdict::NoMatch, hits: Vec::new() };
        let failure = |status: SemanticStatus| {
            // The full reason is for the operator, who reads it here.
            let full = context.services.semantic.status();
            Some(if full == SemanticStatus::On { status } else { full }.to_string())
        };
        let scorer = match self {
            Setup::Words | Setup::All => {
                let request = SearchRequest { query, within: None, limit: DEPTH };
                return (context.view.search().find(request), None);
            }
            Setup::Vectors => {
                return match context.search_by_meaning(query, DEPTH).await {
                    Ok(found) => (found, None),
                    Err(status) => (nothing, failure(status)),
                };
            }
            Setup::Fused => {
                let searched = context.search(&[SearchQuery { query, within: None, limit: DEPTH }]).await;
                let failure = match searched.semantic {
                    SemanticStatus::On => None,
                    status => failure(status),
                };
                return (searched.found.into_iter().next().unwrap_or(nothing), failure);
            }
            Setup::PickKeyword => ScorerKind::Keyword,
            Setup::PickEmbedding => ScorerKind::Embedding,
            Setup::PickHybrid => ScorerKind::Hybrid,
            Setup::PickLlm => ScorerKind::Llm,
        };
        // Labels name the tools that serve a query, also unsafe ones.
        let options = Options { max_candidates: DEPTH, allow_unsafe: true, ..Options::default() };
        let picked = match context.pick(query.into(), scorer, &options).await {
            Ok(picked) => picked,
            Err(refusal) => return (nothing, Some(refusal.message)),
        };
        let catalog = context.view.catalog();
        let hits = picked.picks.candidates.into_iter().filter_map(|picked| {
            let entry = catalog.position(&picked.tool.name)?;
            let reason = picked.reason.unwrap_or_default();
            Some(Hit { entry, score: picked.score, confidence: picked.score, reason })
        });
        (SearchResult { verdict: picked.verdict, hits: hits.collect() }, picked.picks.fallback)
    }
}

/// Answers of setups, and the calls that they took.
pub(super) struct Asked {
    pub(super) setups: Vec<SetupAnswers>,
    /// The models that were asked, with their calls.
    pub(super) models: Vec<ModelCalls>,
    /// For each setup whose model gave no answer, a reason.
    pub(super) failures: BTreeMap<&'static str, String>,
}

/// Calls of a model.
#[derive(Debug, Serialize)]
pub(super) struct ModelCalls {
    /// The model, or its folder.
    pub(super) model: String,
    #[serde(flatten)]
    pub(super) usage: ModelUsage,
}

impl ModelCalls {
    /// In words.
    pub(super) fn text(&self) -> String {
        let Self { model, usage: ModelUsage { calls, failed, input_tokens, output_tokens } } = self;
        let mut text = format!("{}: {}", clean_line(model), counted(*calls as usize, "call"));
        if *failed > 0 {
            let _ = write!(text, ", of which {failed} failed");
        }
        if input_tokens + output_tokens > 0 {
            let _ = write!(text, "; {input_tokens} tokens read, {output_tokens} written");
        }
        text
    }
}

/// Asks every query of these labels with every wanted setup, a few queries at once.
pub(super) fn ask(
    args: &CatalogArgs,
    view: CatalogView,
    wanted: &[Setup],
    labels: &[Labels],
    at_once: usize,
) -> Result<Asked, CommandError> {
    let services = services::for_measuring(args, view.catalog());
    let setups = runnable(wanted, &services)?;
    let context = FunctionContext { services: Arc::new(services), ..FunctionContext::of(Arc::new(view)) };
    let runtime = tokio::runtime::Runtime::new().map_err(failed)?;
    let (setups, failures) = runtime.block_on(ask_all(&context, &setups, labels, at_once))?;
    Ok(Asked { setups, models: models(&context), failures })
}

/// The wanted setups, each once; all of them can run.
fn runnable(wanted: &[Setup], services: &Services) -> Result<Vec<Setup>, CommandError> {
    let mut setups: Vec<Setup> = Vec::new();
    for &setup in wanted {
        let configured = Setup::VARIANTS.iter().copied().filter(|setup| setup.is_configured(services));
        let named = if setup == Setup::All { configured.collect() } else { vec![setup] };
        for setup in named {
            setup.check(services)?;
            if !setups.contains(&setup) {
                setups.push(setup);
            }
        }
    }
    Ok(setups)
}

/// The answers of all setups, and for each setup whose model failed, a reason.
async fn ask_all(
    context: &FunctionContext,
    setups: &[Setup],
    labels: &[Labels],
    at_once: usize,
) -> Result<(Vec<SetupAnswers>, BTreeMap<&'static str, String>), CommandError> {
    let nothing = |labels: &Labels| vec![QueryOutcome::default(); labels.queries.len()];
    let unasked = |&setup: &Setup| SetupAnswers {
        setup: setup.as_str().into(),
        answers: labels.iter().map(nothing).collect(),
        unanswered: 0,
    };
    let mut answers: Vec<SetupAnswers> = setups.iter().map(unasked).collect();
    let mut failures = BTreeMap::new();
    let mut record = |(file, query, given): (usize, usize, Vec<Answered>)| {
        for ((setup, into), (outcome, failure)) in setups.iter().zip(&mut answers).zip(given) {
            into.answers[file][query] = outcome;
            into.unanswered += usize::from(failure.is_some());
            failure.map(|failure| failures.entry(setup.as_str()).or_insert(failure));
        }
        failures.len()
    };
    let setups: Arc<[Setup]> = setups.into();
    let mut queries = labels.iter().enumerate().flat_map(|(file, labels)| {
        let (context, setups) = (context.clone(), Arc::clone(&setups));
        labels.queries.iter().enumerate().map(move |(query, labelled)| {
            let (context, setups, labelled) = (context.clone(), Arc::clone(&setups), labelled.clone());
            async move { (file, query, ask_one(&context, &setups, &labelled).await) }
        })
    });
    // The first query shows whether the models answer, before all others are sent to them.
    let waiting = Spinner::start("waiting for models");
    let first = match queries.next() {
        Some(first) => record(first.await),
        None => 0,
    };
    waiting.finish();
    if first == 0 {
        let bar = Bar::new("asking", labels.iter().map(|labels| labels.queries.len() as u64).sum());
        let mut running = JoinSet::new();
        loop {
            while running.len() < at_once
                && let Some(query) = queries.next()
            {
                running.spawn(query);
            }
            let Some(answered) = running.join_next().await else { break };
            record(answered.map_err(failed)?);
            bar.add(1);
        }
        bar.finish();
        return Ok((answers, failures));
    }
    let reasons = failures.iter().map(|(setup, reason)| {
        format!("the setup `{}` has no answer from its model, and nothing was measured: {reason}", setup)
    });
    Err(failed(reasons.collect::<Vec<String>>().join("\n")))
}

/// The outcome of a query, and the reason why a model gave no answer.
type Answered = (QueryOutcome, Option<String>);

async fn ask_one(context: &FunctionContext, setups: &[Setup], labelled: &Labelled) -> Vec<Answered> {
    let mut answers = Vec::with_capacity(setups.len());
    for setup in setups {
        let (found, failure) = setup.answer(context, &labelled.query).await;
        answers.push((QueryOutcome::new(&labelled.gold, found), failure));
    }
    answers
}

/// The models that were called, with their calls.
fn models(context: &FunctionContext) -> Vec<ModelCalls> {
    let search = &context.view.catalog().config.search;
    let embedding = match &context.services.semantic {
        SemanticSearch::On(semantic) => Some(semantic.usage()),
        _ => None,
    };
    let llm = context.services.llm.as_ref().and_then(|llm| llm.as_ref().ok()).map(|llm| llm.usage());
    let embedding_model = search.semantic.as_ref().and_then(|configured| configured.model.clone());
    let models = [(embedding_model, embedding), (search.llm.as_ref().map(|llm| llm.model.clone()), llm)];
    let asked = |(model, usage): (Option<String>, Option<ModelUsage>)| {
        let usage = usage.filter(|usage| usage.calls > 0)?;
        Some(ModelCalls { model: model?, usage })
    };
    models.into_iter().filter_map(asked).collect()
}
