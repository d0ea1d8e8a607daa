//! Reference tools: short descriptions of kinds of tools that exist elsewhere. They show how near a query should come
//! to a tool that serves it. Where a reference tool is near and no tool of the catalog is, the catalog has none that
//! fits.

use std::sync::LazyLock;

use super::languages::stem;
use super::thesaurus::Thesaurus;
use super::topics::{TopicReader, TopicVector, Topics, likeness};
use super::vocabulary::Vocabulary;
use super::words::plain;

/// Reference tools by topic: each line with that topic, and its weight.
struct ReferenceTools {
    topics: Topics,
    lines: Vec<TopicVector>,
    by_topic: Vec<Vec<(u32, f32)>>,
}

static REFERENCE_TOOLS: LazyLock<ReferenceTools> = LazyLock::new(|| {
    let (mut vocabulary, synonyms) = (Vocabulary::default(), Thesaurus::default());
    let number = |word: &String, vocabulary: &mut Vocabulary| vocabulary.number(&stem(word));
    let lines: Vec<Vec<u32>> = include_str!("words/world.txt")
        .lines()
        .map(|line| plain(line).iter().map(|word| number(word, &mut vocabulary)).collect())
        .collect();
    let mut reading = TopicReader::new(&vocabulary, &synonyms, vec![1.0; vocabulary.len()]);
    let about: Vec<TopicVector> = lines.iter().map(|line| reading.entry(line)).collect();
    let topics = reading.into_topics();
    let mut by_topic = vec![Vec::new(); topics.len()];
    for (line, about) in about.iter().enumerate() {
        about.iter().for_each(|&(topic, weight)| by_topic[topic as usize].push((line as u32, weight)));
    }
    ReferenceTools { topics, lines: about, by_topic }
});

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
    entries: impl Iterator<Item = &'e TopicVector> + Clone,
) -> ReferenceSimilarity {
    let query = REFERENCE_TOOLS.topics.query(stems, synonyms, |_| 1.0);
    let mut sums = vec![0.0_f32; REFERENCE_TOOLS.lines.len()];
    for (topic, weight) in query.into_iter().enumerate().filter(|(_, weight)| *weight > 0.0) {
        REFERENCE_TOOLS.by_topic[topic]
            .iter()
            .for_each(|&(line, about)| sums[line as usize] += weight * about);
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
        let about = topics.translated(&REFERENCE_TOOLS.lines[line], &REFERENCE_TOOLS.topics);
        let most = entries.clone().map(|entry| likeness(&about, entry)).fold(0.0, f32::max);
        found.bridge = found.bridge.max(near / found.best * most);
        if place == 0 {
            found.bridge_first = most;
        }
    }
    found
}
