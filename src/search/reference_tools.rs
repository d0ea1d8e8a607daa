//! Reference tools: short descriptions of kinds of tools that exist elsewhere. They show how near a query should come
//! to a tool that serves it. Where a reference tool is near and no tool of the catalog is, the catalog has none that
//! fits.

use std::sync::LazyLock;

use super::columns::{Number, float, integer};
use super::languages;
use super::leads::Lead;
use super::reference_lines::ReferenceLines;
use super::topics::Topics;
use super::weights::Weights;
use super::word_list::NONE;

/// The reference tools, as `build.rs` compiles them.
static REFERENCE_TOOLS: LazyLock<ReferenceLines> =
    LazyLock::new(|| languages::read(include_bytes!(concat!(env!("OUT_DIR"), "/world.columns"))));

/// Nearest reference tools that are considered.
const NEAREST: usize = 3;

/// Similarity of a query to reference tools.
pub(super) struct ReferenceSimilarity {
    /// Similarity to the nearest one, from 0 to 1.
    pub(super) best: f32,
    /// Similarity of entries to the reference tools that are nearest to the query.
    pub(super) bridge: f32,
    pub(super) bridge_first: f32,
}

/// The topics of an index that are topics of reference tools, by the numbers of the latter.
pub(super) fn reference_topics(topics: &Topics) -> Vec<u32> {
    topics.like(&REFERENCE_TOOLS.topics)
}

/// Similarity of a query with these leads to reference tools, and of these to entries with topics of an index.
pub(super) fn reference_similarity<'e>(
    leads: &[Lead<'_>],
    topics: &[u32],
    entries: impl Iterator<Item = &'e [[Number; 2]]> + Clone,
) -> ReferenceSimilarity {
    let lines = nearest(leads);
    let mut found = ReferenceSimilarity {
        best: lines.first().map_or(0.0, |line| line.1),
        bridge: 0.0,
        bridge_first: 0.0,
    };
    for (place, (line, near)) in lines.into_iter().enumerate() {
        let most = Weights::with(|about| {
            for &[topic, weight] in REFERENCE_TOOLS.lines.row(line) {
                if let Some(own) = topics.get(integer(topic) as usize).filter(|own| **own != NONE) {
                    about.raise(*own, float(weight));
                }
            }
            entries.clone().map(|entry| about.likeness(entry)).fold(0.0, f32::max)
        });
        found.bridge = found.bridge.max(near / found.best * most);
        if place == 0 {
            found.bridge_first = most;
        }
    }
    found
}

/// The lines that are nearest to a query, with their similarity.
fn nearest(leads: &[Lead<'_>]) -> Vec<(usize, f32)> {
    let mut sums = vec![0.0_f32; REFERENCE_TOOLS.lines.len()];
    Weights::with(|query| {
        REFERENCE_TOOLS.topics.weigh(leads, |_| 1.0, query);
        for (topic, weight) in query.all().filter(|(_, weight)| *weight > 0.0) {
            for &[line, about] in REFERENCE_TOOLS.by_topic.row(topic as usize) {
                sums[integer(line) as usize] += weight * float(about);
            }
        }
    });
    let mut best: Vec<(usize, f32)> = Vec::with_capacity(NEAREST + 1);
    let mut least = 0.0;
    for (line, &sum) in sums.iter().enumerate() {
        if sum > least {
            best.insert(best.partition_point(|known| known.1 >= sum), (line, sum));
            best.truncate(NEAREST);
            least = best.get(NEAREST - 1).map_or(0.0, |last| last.1);
        }
    }
    best
}
