//! Counts calls and tokens by tool and outcome, for metrics, without sessions.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use crate::catalog::{Catalog, Tool};

/// Upper bounds of the histogram of calls of tools, in microseconds.
pub const BOUNDS: [u64; 9] = [250, 1_000, 5_000, 25_000, 100_000, 500_000, 2_500_000, 10_000_000, 60_000_000];

/// Most labels that are counted: a catalog that is edited for years has had more tools.
const ROOM: usize = 20_000;

/// The counts.
#[derive(Debug, Default)]
pub struct FunctionCounters {
    /// Searches with the verdict `no_match`.
    pub abstentions: AtomicU64,
    /// Estimated tokens of answers about tools.
    pub served: AtomicU64,
    /// Estimated tokens of the definitions of all tools in their place.
    pub saved: AtomicU64,
    reads: LabelledCounters,
    executions: LabelledCounters,
    by_bound: [AtomicU64; BOUNDS.len() + 1],
    micros: AtomicU64,
}

/// Counts by label; counting a known label waits for no lock.
#[derive(Debug, Default)]
struct LabelledCounters(RwLock<HashMap<String, Arc<AtomicU64>>>);

impl LabelledCounters {
    fn add(&self, name: &str) {
        if let Some(count) = self.0.read().unwrap_or_else(PoisonError::into_inner).get(name) {
            count.fetch_add(1, Relaxed);
            return;
        }
        let mut known = self.0.write().unwrap_or_else(PoisonError::into_inner);
        if known.len() < ROOM {
            known.entry(name.to_string()).or_default().fetch_add(1, Relaxed);
        }
    }

    fn all(&self) -> Vec<(String, u64)> {
        let known = self.0.read().unwrap_or_else(PoisonError::into_inner);
        let mut all: Vec<_> = known.iter().map(|(name, count)| (name.clone(), count.load(Relaxed))).collect();
        all.sort();
        all
    }
}

/// Label of the reads of a tool. Two tools with different roles may have the same op, and each has its own count.
fn key(tool: &Tool) -> String {
    format!("{} {}", tool.op, tool.allowed_roles().join(" "))
}

impl FunctionCounters {
    /// Counts a read of the doc or help of a tool.
    pub fn read(&self, tool: &Tool) {
        self.reads.add(&key(tool));
    }

    /// Counts a call of a tool, by `ok` or the code of its error.
    pub fn executed(&self, outcome: &str, took: Duration) {
        self.executions.add(outcome);
        let micros = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
        let bound = BOUNDS.iter().position(|&bound| micros <= bound).unwrap_or(BOUNDS.len());
        self.by_bound[bound].fetch_add(1, Relaxed);
        self.micros.fetch_add(micros, Relaxed);
    }

    /// Number of reads of each tool that was read, by op.
    pub fn reads<'c>(&self, catalog: &'c Catalog) -> Vec<(&'c str, u64)> {
        let known: HashMap<String, u64> = self.reads.all().into_iter().collect();
        let count = |tool: &'c Arc<Tool>| Some((tool.op.as_str(), *known.get(&key(tool))?));
        let mut reads: Vec<_> = catalog.tools.iter().filter_map(count).collect();
        reads.sort_unstable();
        reads
    }

    /// Calls of tools by outcome.
    pub fn executions(&self) -> Vec<(String, u64)> {
        self.executions.all()
    }

    /// Number of calls of tools by [`BOUNDS`] of their time and beyond, and the total time in microseconds.
    pub fn latency(&self) -> ([u64; BOUNDS.len() + 1], u64) {
        (std::array::from_fn(|index| self.by_bound[index].load(Relaxed)), self.micros.load(Relaxed))
    }
}
