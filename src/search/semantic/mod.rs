//! Search by meaning: vectors of tools and of queries, where the configuration names a model for them.
//!
//! 1. [`text`] is what of a tool is turned into a vector.
//! 2. A [`VectorSlot`] holds the vectors of a catalog view. They are [`gathered`](gather) on a thread of their own, and kept by the
//!    hash of model and text in a [`vector_store`].
//! 3. [`Semantic::near`] tells how near queries are to the tools of a slot, in time or not at all.
//! 4. [`fuse`] puts that beside what was found by words.

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
pub use vectors::{Similarities, UNRELATED, VectorSlot, Vectors, cosine};

/// How a model is used.
#[derive(Clone, Debug)]
pub struct Options {
    /// How long a search waits for the vector of its query.
    pub timeout: Duration,
    /// How long a search waits for the vectors of tools. Servers do not wait; a program that runs once does.
    pub max_wait: Duration,
    /// The share of meaning in the order of results.
    pub weight: f32,
    /// A folder that keeps vectors of tools.
    pub cache: Option<PathBuf>,
}

impl Default for Options {
    fn default() -> Self {
        Self { timeout: Duration::from_millis(300), max_wait: Duration::ZERO, weight: 0.7, cache: None }
    }
}

/// A model at work: it gathers vectors of tools on a thread, which ends with it, and answers queries.
pub struct Semantic {
    options: Options,
    shared: Arc<Shared>,
    slots: Sender<Weak<VectorSlot>>,
    queries: query::QueryVectors,
}

/// What the thread and the queries share.
struct Shared {
    model: Arc<dyn EmbeddingModel>,
    progress: Mutex<Progress>,
    /// Counts slots that were filled, and failures.
    filled: watch::Sender<u64>,
    embedded: AtomicU64,
}

/// How far the vectors of tools are.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Progress {
    /// How many are there, of those that are wanted.
    pub embedded: usize,
    /// How many are wanted.
    pub wanted: usize,
    /// Why no more arrive, for the operator.
    pub error: Option<String>,
    /// The same, for callers.
    pub public_error: Option<String>,
    /// How often in a row none came.
    pub failures: u32,
    /// Why they are not kept in a file.
    pub save_error: Option<String>,
}

/// How often a model had a part in a search.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SemanticCounters {
    /// Searches by words and meaning.
    pub on: u64,
    /// Searches by words alone, since the model had nothing to give in time.
    pub unavailable: u64,
    /// Texts of tools that the model was asked for.
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
        // Without the thread no slot is ever filled, and answers say so.
        let _ = std::thread::Builder::new()
            .name("vectors".into())
            .spawn(move || background_embedding::embed_in_background(&gathering, cache.as_deref(), &wanted));
        Self { options, shared, slots, queries: query::QueryVectors::default() }
    }

    /// Sees to it that these vectors are there in a while. Whoever drops the slot wants them no more.
    pub fn prepare(&self, slot: &Arc<VectorSlot>) {
        if !slot.is_wanted.swap(true, Relaxed) {
            self.shared.progress().wanted += slot.texts.len();
            let _ = self.slots.send(Arc::downgrade(slot));
        }
    }

    /// The share of meaning in the order of results.
    pub fn weight(&self) -> f32 {
        self.options.weight
    }

    /// How far the vectors of tools are.
    pub fn progress(&self) -> Progress {
        self.shared.progress().clone()
    }

    /// Whether searches find it at work, and why not, for the operator.
    pub fn status(&self) -> SemanticStatus {
        let progress = self.progress();
        match self.queries.trouble() {
            _ if progress.embedded < progress.wanted => SemanticStatus::Unavailable(progress.missing()),
            Some(trouble) => SemanticStatus::Unavailable(trouble),
            None => SemanticStatus::On,
        }
    }

    /// How often it had a part.
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
    /// Says what is missing, and why, for the operator.
    fn missing(&self) -> String {
        let Progress { embedded: there, wanted, .. } = self;
        let why = self.error.as_ref().map(|why| format!("; {why}")).unwrap_or_default();
        format!("the vectors of tools are on their way, {there} of {wanted} are there{why}")
    }

    /// The same for callers: counts are of all tools, also of those that they may not see.
    fn missing_in_brief(&self) -> String {
        let why = self.public_error.as_ref().map(|why| format!("; {why}")).unwrap_or_default();
        format!("the vectors of tools are on their way{why}")
    }
}
