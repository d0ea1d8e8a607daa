//! Search by meaning: vectors of tools and of queries, where the configuration names a model for them.
//!
//! 1. [`tool_text()`] is the part of a tool that is turned into a vector.
//! 2. A [`VectorSlot`] holds the vectors of a catalog view. [`background_embedding`] requests them on a thread, and a
//!    [`vector_store`] keeps them by the hash of model and text.
//! 3. [`Semantic::similarities`] computes the similarity of queries and the tools of a slot, in time or not at all.
//! 4. [`fuse`] combines that with the hits by words.

mod background_embedding;
mod fusion;
mod progress;
mod query_vectors;
mod similarity;
mod status;
mod tool_text;
mod vector_store;

use std::fmt;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Weak};
use std::time::Duration;

use tokio::time::timeout;

use crate::model::EmbeddingModel;
use background_embedding::embed_in_background;
pub use fusion::{POOL, fuse};
pub use progress::Progress;
use progress::Shared;
use query_vectors::QueryVectors;
pub use similarity::{Similarities, VectorSlot, Vectors};
pub use status::{SemanticCounters, SemanticStatus, SimilarityError};
use tool_text::cut;
pub use tool_text::{MAX_CHARS, tool_text};

/// Failures in a row after which searches no longer wait for vectors of tools.
const TOO_LATE: u32 = 3;

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
    queries: QueryVectors,
    on: AtomicU64,
    unavailable: AtomicU64,
}

impl fmt::Debug for Semantic {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.debug_struct("Semantic").field("options", &self.options).finish_non_exhaustive()
    }
}

impl Semantic {
    /// Starts with a model.
    pub fn start(model: Arc<dyn EmbeddingModel>, options: Options) -> Self {
        let shared = Arc::new(Shared::new(Arc::clone(&model)));
        let (slots, wanted) = channel();
        let gathering = Arc::clone(&shared);
        let cache = options.cache.clone();
        // Without the thread no slot is ever filled, and answers report that.
        let _ = std::thread::Builder::new()
            .name("vectors".into())
            .spawn(move || embed_in_background(&gathering, cache.as_deref(), &wanted));
        let queries = QueryVectors::new(model, options.timeout);
        Self { options, shared, slots, queries, on: AtomicU64::default(), unavailable: AtomicU64::default() }
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
        SemanticCounters {
            on: self.on.load(Relaxed),
            unavailable: self.unavailable.load(Relaxed),
            embedded: self.shared.embedded.load(Relaxed),
        }
    }

    /// Similarities of each query of a caller to each tool of a slot, or why they are unavailable now, for callers.
    pub async fn similarities(
        &self,
        slot: &Arc<VectorSlot>,
        caller: &str,
        queries: &[&str],
    ) -> Result<Vec<Similarities>, SimilarityError> {
        let near = async {
            self.tools_are_there(slot).await?;
            let queries: Vec<String> = queries.iter().map(|query| cut(query)).collect();
            let units = self.queries.of(caller, &queries).await?;
            let slot = Arc::clone(slot);
            // This takes milliseconds where there are many tools and long vectors: too long for a thread that serves
            // others.
            let compare = move || {
                let vectors = slot.vectors()?;
                queries.iter().map(|query| vectors.similarities(units.get(query)?)).collect::<Option<_>>()
            };
            let near = tokio::task::spawn_blocking(compare).await.unwrap_or_default();
            near.ok_or_else(|| {
                self.queries.forget();
                SimilarityError::OtherLength
            })
        };
        let near = near.await;
        let counter = if near.is_ok() { &self.on } else { &self.unavailable };
        counter.fetch_add(1, Relaxed);
        near
    }

    /// Waits for the vectors of tools, if the options allow it.
    async fn tools_are_there(&self, slot: &Arc<VectorSlot>) -> Result<(), SimilarityError> {
        if slot.vectors().is_none() {
            let mut filled = self.shared.filled.subscribe();
            self.prepare(slot);
            let is_hopeful = || slot.vectors().is_none() && self.shared.progress().failures < TOO_LATE;
            let there = async { while is_hopeful() && filled.changed().await.is_ok() {} };
            let _ = timeout(self.options.max_wait, there).await;
        }
        let missing = || SimilarityError::Incomplete(self.progress().missing(false));
        slot.vectors().map(|_| ()).ok_or_else(missing)
    }
}
