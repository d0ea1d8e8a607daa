//! Progress of the vectors of tools, shared by the thread that requests them and the queries.

use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, MutexGuard};

use tokio::sync::watch;

use crate::model::EmbeddingModel;
use toolcrib_definition::guard::locked;

/// State shared by the thread and the queries.
pub(super) struct Shared {
    pub(super) model: Arc<dyn EmbeddingModel>,
    progress: Mutex<Progress>,
    /// Counts slots that were filled, and failures.
    pub(super) filled: watch::Sender<u64>,
    pub(super) embedded: AtomicU64,
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

impl Shared {
    pub(super) fn new(model: Arc<dyn EmbeddingModel>) -> Self {
        let (filled, _) = watch::channel(0);
        Self { model, progress: Mutex::default(), filled, embedded: AtomicU64::default() }
    }

    pub(super) fn progress(&self) -> MutexGuard<'_, Progress> {
        locked(&self.progress)
    }
}

impl Progress {
    /// The missing vectors and the reason. A caller sees no counts: these include tools that it may not see.
    pub(super) fn missing(&self, is_operator: bool) -> String {
        let counts = format!(", {} of {} are there", self.embedded, self.wanted);
        let (counts, why) = if is_operator { (&*counts, &self.error) } else { ("", &self.public_error) };
        let why = why.as_ref().map(|why| format!("; {why}")).unwrap_or_default();
        format!("the vectors of tools are on their way{counts}{why}")
    }
}
