//! Search by meaning: vectors of tools and of queries, where the configuration names a model for them.
//!
//! 1. [`mod@text`] is the part of a tool that is turned into a vector.
//! 2. A [`VectorSlot`] holds the vectors of a catalog view. [`background_embedding`] requests them on a thread, and a
//!    [`vector_store`] keeps them by the hash of model and text.
//! 3. [`Semantic::similarities`] computes the similarity of queries and the tools of a slot, in time or not at all.
//! 4. [`mod@fuse`] combines that with the hits by words.

mod background_embedding;
mod fuse;
mod query;
mod status;
mod text;
mod vector_store;
mod vectors;

use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use tokio::sync::watch;

use crate::model::EmbeddingModel;

pub use fuse::{POOL, fuse};
pub use status::SemanticStatus;
pub use text::text;
pub use vectors::{Similarities, UNRELATED, VectorSlot, Vectors};

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
        let (progress, embedded) = (Mutex::default(), AtomicU64::default());
        let shared = Arc::new(Shared { model, progress, filled, embedded });
        let (slots, wanted) = channel();
        let (gathering, cache) = (Arc::clone(&shared), options.cache.clone());
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
            _ if progress.embedded < progress.wanted => SemanticStatus::Unavailable(progress.missing()),
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
    /// The missing vectors and the reason, for the operator.
    fn missing(&self) -> String {
        let Progress { embedded: there, wanted, .. } = self;
        let why = self.error.as_ref().map(|why| format!("; {why}")).unwrap_or_default();
        format!("the vectors of tools are on their way, {there} of {wanted} are there{why}")
    }

    /// The same for callers, without counts: these include tools that they may not see.
    fn missing_in_brief(&self) -> String {
        let why = self.public_error.as_ref().map(|why| format!("; {why}")).unwrap_or_default();
        format!("the vectors of tools are on their way{why}")
    }
}
