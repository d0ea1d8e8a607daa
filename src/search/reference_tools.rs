//! Reference tools: short descriptions of kinds of tools that exist elsewhere. They show how near a query should come
//! to a tool that serves it. Where a reference tool is near and no tool of the catalog is, the catalog has none that
//! fits.

use std::sync::LazyLock;

use super::leads::Lead;
use super::stemming::stemmed;
use super::text_table::TextTable;
use super::thesaurus::Thesaurus;
use super::topics::{TopicReader, TopicVector, Topics};
use super::weights::Weights;
use super::words::plain;

/// The lines of `words/world.txt`.
static REFERENCE_TOOLS: LazyLock<ReferenceTools> =
    LazyLock::new(|| ReferenceTools::read(include_str!("words/world.txt")));

/// Reference tools by topic.
#[derive(Debug)]
struct ReferenceTools {
    topics: Topics,
    /// Topic vector of each line.
    lines: Vec<TopicVector>,
    /// For each topic the lines that have it, each with its weight.
    by_topic: Vec<Vec<(usize, f32)>>,
}

impl ReferenceTools {
    fn read(text: &str) -> Self {
        let (mut vocabulary, synonyms) = (TextTable::default(), Thesaurus::default());
        let mut number = |word: &String| vocabulary.number(&stemmed(word));
        let lines: Vec<Vec<u32>> =
            text.lines().map(|line| plain(line).iter().map(&mut number).collect()).collect();
        let mut reading = TopicReader::new(&vocabulary, &synonyms, vec![1.0; vocabulary.len()]);
        let lines: Vec<TopicVector> = lines.iter().map(|line| reading.entry(line)).collect();
        let topics = reading.into_topics();
        let mut by_topic = vec![Vec::new(); topics.tells.len()];
        for (place, line) in lines.iter().enumerate() {
            line.iter().for_each(|(topic, weight)| by_topic[*topic as usize].push((place, *weight)));
        }
        Self { topics, lines, by_topic }
    }
}

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
pub(super) fn reference_topics(topics: &Topics) -> Vec<Option<u32>> {
    topics.like(&REFERENCE_TOOLS.topics)
}

/// Similarity of a query with these leads to reference tools, and of these to entries with topics of an index.
pub(super) fn reference_similarity<'e>(
    leads: &[Lead<'_>],
    topics: &[Option<u32>],
    entries: impl Iterator<Item = &'e [(u32, f32)]> + Clone,
) -> ReferenceSimilarity {
    let lines = nearest(leads);
    let mut found = ReferenceSimilarity {
        best: lines.first().map_or(0.0, |line| line.1),
        bridge: 0.0,
        bridge_first: 0.0,
    };
    for (place, (line, near)) in lines.into_iter().enumerate() {
        let most = Weights::with(|about| {
            for &(topic, weight) in &REFERENCE_TOOLS.lines[line] {
                if let Some(own) = topics[topic as usize] {
                    about.raise(own, weight);
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
            for &(line, about) in &REFERENCE_TOOLS.by_topic[topic as usize] {
                sums[line] += weight * about;
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
