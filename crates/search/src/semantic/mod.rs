//! Search by meaning: vectors of tools and of queries, where the configuration names a model for them.
//!
//! 1. [`tool_text`] is the part of a tool that is turned into a vector.
//! 2. A [`VectorSlot`] holds the vectors of a catalog view. [`background_embedding`] requests them on a thread, and a
//!    [`vector_store`] keeps them by the hash of model and text.
//! 3. [`Semantic::similarities`] computes the similarity of queries and the tools of a slot, in time or not at all.
//! 4. [`fuse`] combines that with the hits by words.

mod background_embedding;
mod query;
mod vector_store;

use std::collections::HashMap;
use std::fmt;
use std::path::PathBuf;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use tokio::sync::watch;

pub use query::SimilarityError;
pub use vector_store::{Similarities, UNRELATED, VectorSlot, Vectors};

use super::confidence::NAMED;
use super::{Hit, SearchResult, Verdict};
use crate::model::EmbeddingModel;
use toolcrib_catalog::Tool;

/// Options of semantic search.
#[derive(Clone, Debug)]
pub struct Options {
    /// Longest wait for the vector of a query.
    pub timeout: Duration,
    /// Longest wait for the vectors of tools. Servers do not wait; a command that runs once does.
    pub max_wait: Duration,
    /// Weight of meaning in the order of hits.
    pub weight: f32,
    /// A folder that keeps vectors of tools.
    pub cache: Option<PathBuf>,
}

impl Default for Options {
    fn default() -> Self {
        Self { timeout: Duration::from_millis(300), max_wait: Duration::ZERO, weight: 0.7, cache: None }
    }
}

/// A running model: it requests vectors of tools on a thread, which ends with it, and answers queries.
pub struct Semantic {
    options: Options,
    shared: Arc<Shared>,
    slots: Sender<Weak<VectorSlot>>,
    queries: query::QueryVectors,
}

/// State shared by the thread and the queries.
struct Shared {
    model: Arc<dyn EmbeddingModel>,
    progress: Mutex<Progress>,
    /// Counts slots that were filled, and failures.
    filled: watch::Sender<u64>,
    embedded: AtomicU64,
}

/// Progress of the vectors of tools.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Progress {
    /// Number of wanted vectors that are there.
    pub embedded: usize,
    /// Number of wanted vectors.
    pub wanted: usize,
    /// Reason why no more arrive, for the operator.
    pub error: Option<String>,
    /// The same reason, for callers.
    pub public_error: Option<String>,
    /// Number of failures in a row.
    pub failures: u32,
    /// Reason why they are not kept in a file.
    pub save_error: Option<String>,
}

/// Number of searches with and without the model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SemanticCounters {
    /// Searches by words and meaning.
    pub on: u64,
    /// Searches by words alone, since the model did not answer in time.
    pub unavailable: u64,
    /// Texts of tools that were sent to the model.
    pub embedded: u64,
}

impl std::fmt::Debug for Semantic {
    fn fmt(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        to.debug_struct("Semantic").field("options", &self.options).finish_non_exhaustive()
    }
}

impl Semantic {
    /// Starts with a model.
    pub fn start(model: Arc<dyn EmbeddingModel>, options: Options) -> Self {
        let (filled, _) = watch::channel(0);
        let progress = Mutex::default();
        let embedded = AtomicU64::default();
        let shared = Arc::new(Shared { model, progress, filled, embedded });
        let (slots, wanted) = channel();
        let gathering = Arc::clone(&shared);
        let cache = options.cache.clone();
        // Without the thread no slot is ever filled, and answers report that.
        let _ = std::thread::Builder::new()
            .name("vectors".into())
            .spawn(move || background_embedding::embed_in_background(&gathering, cache.as_deref(), &wanted));
        Self { options, shared, slots, queries: query::QueryVectors::default() }
    }

    /// Requests these vectors in the background. A dropped slot is no longer wanted.
    pub fn prepare(&self, slot: &Arc<VectorSlot>) {
        if !slot.is_wanted.swap(true, Relaxed) {
            self.shared.progress().wanted += slot.texts.len();
            let _ = self.slots.send(Arc::downgrade(slot));
        }
    }

    /// The weight of meaning in the order of hits.
    pub fn weight(&self) -> f32 {
        self.options.weight
    }

    /// Progress of the vectors of tools.
    pub fn progress(&self) -> Progress {
        self.shared.progress().clone()
    }

    /// Status of the model for searches, with the reason if it does not work, for the operator.
    pub fn status(&self) -> SemanticStatus {
        let progress = self.progress();
        match self.queries.last_failure() {
            _ if progress.embedded < progress.wanted => SemanticStatus::Unavailable(progress.missing(true)),
            Some(trouble) => SemanticStatus::Unavailable(trouble),
            None => SemanticStatus::On,
        }
    }

    /// Number of searches with and without the model.
    pub fn counts(&self) -> SemanticCounters {
        let (on, unavailable) = self.queries.counts();
        SemanticCounters { on, unavailable, embedded: self.shared.embedded.load(Relaxed) }
    }
}

impl Shared {
    fn progress(&self) -> std::sync::MutexGuard<'_, Progress> {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Progress {
    /// The missing vectors and the reason. A caller sees no counts: these include tools that it may not see.
    fn missing(&self, is_operator: bool) -> String {
        let counts = format!(", {} of {} are there", self.embedded, self.wanted);
        let (counts, why) =
            if is_operator { (counts, &self.error) } else { (String::new(), &self.public_error) };
        let why = why.as_ref().map(|why| format!("; {why}")).unwrap_or_default();
        format!("the vectors of tools are on their way{counts}{why}")
    }
}

// Status of meaning in an answer.

/// Whether an answer used words and meaning, or words alone.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum SemanticStatus {
    /// No model is configured: words alone.
    #[default]
    Off,
    /// Words and meaning.
    On,
    /// Words alone, since the model gave no answer, with the reason.
    Unavailable(String),
}

impl fmt::Display for SemanticStatus {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SemanticStatus::Off => to.write_str("off"),
            SemanticStatus::On => to.write_str("on"),
            SemanticStatus::Unavailable(reason) => write!(to, "unavailable: {reason}"),
        }
    }
}

// The part of a tool that is turned into a vector: the words of its name, and its description. Parameters are left
// out: many tools share the same ones, and would look alike.

/// Most characters of a text.
pub const MAX_CHARS: usize = 2_000;

/// The text of a tool.
pub fn tool_text(tool: &Tool) -> String {
    let name = words(&tool.definition.name);
    let does = if tool.description.is_empty() { &tool.short } else { &tool.description };
    cut(&format!("{name}: {does}"))
}

/// The beginning of a text, up to the length that is used.
fn cut(text: &str) -> String {
    text.trim().chars().take(MAX_CHARS).collect()
}

/// The words of an identifier: `createPull_request` has three.
fn words(name: &str) -> String {
    let mut words = String::with_capacity(name.len() + 8);
    let mut last = ' ';
    for c in name.chars() {
        let is_gap = !c.is_alphanumeric();
        if (is_gap || (c.is_uppercase() && last.is_lowercase())) && !words.ends_with(' ') {
            words.push(' ');
        }
        if !is_gap {
            words.extend(c.to_lowercase());
        }
        last = c;
    }
    words.trim().into()
}

// Fuses words and meaning into one order.

/// Most tools that join the hits by words because they are near in meaning.
pub const POOL: usize = 100;

/// Confidence by meaning from which the verdict is `match`.
const FITS: f32 = 0.5;

/// Fuses both scores: each is scaled to its range for this query, and `weight` is the share of meaning. `words`
/// should hold at least [`POOL`] hits. Named tools stay first. Confidence is the higher of the two, so that meaning
/// only adds to it. The verdict is `match` when words say so, or when a tool is near enough.
pub fn fuse(
    words: SearchResult,
    near: &Similarities,
    weight: f32,
    limit: usize,
    counts: &dyn Fn(usize) -> bool,
    named: &dyn Fn(usize) -> bool,
) -> SearchResult {
    let mut nearest: Vec<usize> = (0..near.cosine.len()).filter(|&place| counts(place)).collect();
    nearest.sort_by(|&one, &other| near.cosine[other].total_cmp(&near.cosine[one]));
    let cosine = |place: Option<&usize>| place.and_then(|&place| near.cosine.get(place)).copied();
    let low = cosine(nearest.last()).unwrap_or_default();
    let range = cosine(nearest.first()).unwrap_or_default() - low;
    let share = |place: usize| match cosine(Some(&place)) {
        Some(cosine) if range > 0.0 => (cosine - low) / range,
        _ => 0.0,
    };
    // The index gives just this confidence to tools that the query names.
    let is_named = |hit: &Hit| hit.confidence == NAMED || named(hit.entry);
    let by_words = words.hits.iter().filter(|hit| !is_named(hit)).map(|hit| hit.score);
    let most = by_words.fold(0.0_f32, f32::max);
    let mut hits: HashMap<usize, Hit> = HashMap::new();
    let mut first: HashMap<usize, usize> = HashMap::new();
    for (rank, hit) in words.hits.into_iter().enumerate() {
        let is_named = is_named(&hit);
        if is_named {
            first.insert(hit.entry, rank);
        }
        let of_words = if is_named { 1.0 } else { (hit.score / most.max(f32::MIN_POSITIVE)).clamp(0.0, 1.0) };
        let score = (1.0 - weight) * of_words + weight * share(hit.entry);
        let by_meaning = near.confidence(hit.entry);
        let reason = if by_meaning > 0.0 {
            format!("{}; {}", hit.reason, reason(near, hit.entry))
        } else {
            hit.reason
        };
        hits.insert(hit.entry, Hit { score, confidence: hit.confidence.max(by_meaning), reason, ..hit });
    }
    for entry in nearest.into_iter().take(POOL.max(limit)) {
        let confidence = near.confidence(entry);
        let score = weight * share(entry);
        if confidence > 0.0 {
            hits.entry(entry).or_insert_with(|| Hit {
                entry,
                score,
                confidence,
                reason: reason(near, entry),
            });
        }
    }
    let mut hits: Vec<Hit> = hits.into_values().collect();
    let rank = |hit: &Hit| first.get(&hit.entry).copied().unwrap_or(usize::MAX);
    hits.sort_by(|one, other| {
        let by_score = || other.score.total_cmp(&one.score).then(one.entry.cmp(&other.entry));
        rank(one).cmp(&rank(other)).then_with(by_score)
    });
    hits.truncate(limit);
    let is_near = hits.iter().any(|hit| near.confidence(hit.entry) >= FITS);
    let verdict = if is_near { Verdict::Match } else { words.verdict };
    SearchResult { verdict, hits }
}

fn reason(near: &Similarities, place: usize) -> String {
    format!("near in meaning ({:.2})", near.cosine.get(place).copied().unwrap_or_default())
}

#[cfg(test)]
mod tests;
