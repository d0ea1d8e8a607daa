//! Origin of the catalog: the address that its bundles come from, the outcome of asking there, and the nudge to look again.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use arc_swap::ArcSwapOption;

/// Makes the server look at once whether there is another catalog.
pub type Nudge = Arc<dyn Fn() + Send + Sync>;

/// The origin of a catalog.
#[derive(Clone, Default)]
pub struct Origin {
    /// Looks again; none where nothing is followed.
    pub nudge: Option<Nudge>,
    /// Downloads of bundles, where they come from an address.
    pub downloads: Option<Arc<Downloads>>,
}

impl std::fmt::Debug for Origin {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.downloads.fmt(out)
    }
}

/// Downloads of bundles from one address.
#[derive(Debug)]
pub struct Downloads {
    /// The address, without its secrets.
    pub address: String,
    taken: AtomicU64,
    unchanged: AtomicU64,
    failed: AtomicU64,
    problem: ArcSwapOption<String>,
}

/// Outcome of asking for a bundle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Download {
    /// There is another one.
    Taken,
    /// It is the one that is here.
    Unchanged,
}

impl Downloads {
    /// No downloads yet.
    pub fn from(address: String) -> Self {
        let [taken, unchanged, failed] = [const { AtomicU64::new(0) }; 3];
        Self { address, taken, unchanged, failed, problem: ArcSwapOption::empty() }
    }

    /// Counts an outcome, and keeps the problem until a download succeeds.
    pub fn note(&self, outcome: Result<Download, String>) {
        let count = match outcome {
            Ok(Download::Taken) => &self.taken,
            Ok(Download::Unchanged) => &self.unchanged,
            Err(_) => &self.failed,
        };
        count.fetch_add(1, Relaxed);
        self.problem.store(outcome.err().map(Arc::new));
    }

    /// Reason why the last one failed.
    pub fn problem(&self) -> Option<Arc<String>> {
        self.problem.load_full()
    }

    /// Number of downloads by outcome.
    pub fn counts(&self) -> [(&'static str, u64); 3] {
        let counts = [("taken", &self.taken), ("unchanged", &self.unchanged), ("failed", &self.failed)];
        counts.map(|(outcome, count)| (outcome, count.load(Relaxed)))
    }
}
