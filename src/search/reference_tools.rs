//! Reference tools: short descriptions of kinds of tools that exist elsewhere. They show how near a query should come
//! to a tool that serves it. Where a reference tool is near and no tool of the catalog is, the catalog has none that
//! fits.

use std::sync::LazyLock;

use super::columns::{Number, float, integer};
use super::languages;
use super::reference_lines::ReferenceLines;
use super::thesaurus::Thesaurus;
use super::topics::{Topics, likeness};

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

/// Similarity of a query with these stems to reference tools, and of these to entries.
pub(super) fn reference_similarity<'e>(
    stems: &[String],
    synonyms: &Thesaurus,
    topics: &Topics,
    entries: impl Iterator<Item = &'e [[Number; 2]]> + Clone,
) -> ReferenceSimilarity {
    let query = REFERENCE_TOOLS.topics.query(stems, synonyms, |_| 1.0);
    let mut sums = vec![0.0_f32; REFERENCE_TOOLS.lines.len()];
    for (topic, weight) in query.into_iter().enumerate().filter(|(_, weight)| *weight > 0.0) {
        for &[line, about] in REFERENCE_TOOLS.by_topic.row(topic) {
            sums[integer(line) as usize] += weight * float(about);
        }
    }
    let mut lines: Vec<(usize, f32)> = sums.into_iter().enumerate().filter(|(_, sum)| *sum > 0.0).collect();
    lines.sort_unstable_by(|one, other| other.1.total_cmp(&one.1).then(one.0.cmp(&other.0)));
    lines.truncate(NEAREST);
    let mut found = ReferenceSimilarity {
        best: lines.first().map_or(0.0, |line| line.1),
        bridge: 0.0,
        bridge_first: 0.0,
    };
    for (place, (line, near)) in lines.into_iter().enumerate() {
        let about = topics.translated(REFERENCE_TOOLS.lines.row(line), &REFERENCE_TOOLS.topics);
        let most = entries.clone().map(|entry| likeness(&about, entry)).fold(0.0, f32::max);
        found.bridge = found.bridge.max(near / found.best * most);
        if place == 0 {
            found.bridge_first = most;
        }
    }
    found
}
