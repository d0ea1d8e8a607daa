//! Topic vectors: the words of a text with their synonyms and related words, as one vector. Two texts can have
//! similar topics without a word in common.

use std::sync::LazyLock;

use super::index::{Term, TextTable};
use super::leads::Lead;
use super::rank::Weights;
use super::thesaurus::{ENGLISH, MAX_PHRASE, Synonym, Thesaurus, is_stop, is_weak};
use super::words::{plain, stemmed};

/// Weight of weak words.
pub(super) const WEAK: f32 = 0.3;
/// Weight of a word's meanings, relative to the word.
pub(super) const MEANT: f32 = 0.7;
/// Most topics of an entry that are kept, the strongest ones.
const MAX_TOPICS: usize = 160;

/// The topics of all entries, each with a number and its distinctiveness.
#[derive(Debug, Default)]
pub(super) struct Topics {
    pub(super) stems: TextTable,
    pub(super) tells: Vec<f32>,
}

/// Topic vector of an entry: topics with their weights, sorted by topic; its length is 1.
pub(super) type TopicVector = Vec<(u32, f32)>;

/// Computes topic vectors; the topics of each term are looked up once.
pub(super) struct TopicReader<'r> {
    topics: Topics,
    vocabulary: &'r TextTable,
    synonyms: &'r Thesaurus,
    /// Distinctiveness of each term, from 0 to 1.
    rarity: Vec<f32>,
    leads: Vec<Option<TermTopics>>,
    sums: Vec<f32>,
    touched: Vec<u32>,
}

/// Topics of a term.
struct TermTopics {
    topics: Vec<(u32, f32)>,
    /// Whether phrases begin with it.
    begins: bool,
}

impl<'r> TopicReader<'r> {
    pub(super) fn new(vocabulary: &'r TextTable, synonyms: &'r Thesaurus, rarity: Vec<f32>) -> Self {
        let leads = std::iter::repeat_with(|| None).take(vocabulary.len()).collect();
        Self { topics: Topics::default(), vocabulary, synonyms, rarity, leads, sums: vec![], touched: vec![] }
    }

    /// Topic vector of an entry with these terms, in this order.
    pub(super) fn entry(&mut self, terms: &[Term]) -> TopicVector {
        let mut key = String::new();
        for (place, &term) in terms.iter().enumerate() {
            let leads = self.leads[term as usize].take().unwrap_or_else(|| self.term_topics(term));
            for &(topic, weight) in &leads.topics {
                self.add(topic, weight);
            }
            if leads.begins {
                for length in (2..=MAX_PHRASE).filter(|length| place + length <= terms.len()) {
                    key.clear();
                    for &part in &terms[place..place + length] {
                        if !key.is_empty() {
                            key.push(' ');
                        }
                        key.push_str(self.vocabulary.text(part));
                    }
                    for meaning in means(&key, self.synonyms) {
                        let topic = self.topics.number(meaning.stem);
                        self.add(topic, meaning.weight * MEANT * self.topics.tells[topic as usize]);
                    }
                }
            }
            self.leads[term as usize] = Some(leads);
        }
        self.vector()
    }

    fn term_topics(&mut self, term: Term) -> TermTopics {
        let stem = self.vocabulary.text(term);
        let mut topics = Vec::new();
        spread(stem, self.synonyms, self.rarity[term as usize], |stem, weight| {
            let topic = self.topics.number(stem);
            topics.push((topic, weight * self.topics.tells[topic as usize]));
        });
        TermTopics { topics, begins: ENGLISH.begins(stem) || self.synonyms.begins(stem) }
    }

    fn add(&mut self, topic: u32, weight: f32) {
        if self.sums.len() <= topic as usize {
            self.sums.resize(topic as usize + 1, 0.0);
        }
        let sum = &mut self.sums[topic as usize];
        if *sum == 0.0 {
            self.touched.push(topic);
        }
        *sum += weight;
    }

    fn vector(&mut self) -> TopicVector {
        let touched = self.touched.drain(..);
        let sums = touched.map(|topic| (topic, std::mem::take(&mut self.sums[topic as usize])));
        let mut strongest: Vec<(u32, f32)> = sums.filter(|(_, weight)| *weight > 0.0).collect();
        if strongest.len() > MAX_TOPICS {
            strongest.sort_unstable_by(|one, other| other.1.total_cmp(&one.1).then(one.0.cmp(&other.0)));
            strongest.truncate(MAX_TOPICS);
        }
        strongest.sort_unstable_by_key(|(topic, _)| *topic);
        let length = strongest.iter().map(|(_, weight)| weight * weight).sum::<f32>().sqrt();
        strongest.iter_mut().for_each(|(_, weight)| *weight /= length);
        strongest
    }

    pub(super) fn into_topics(self) -> Topics {
        self.topics
    }
}

impl Topics {
    fn number(&mut self, stem: &str) -> u32 {
        let number = self.stems.number(stem);
        if number as usize == self.tells.len() {
            self.tells.push(ENGLISH.tells(stem));
        }
        number
    }
}

/// A word and its meanings, each with its weight.
fn spread(stem: &str, synonyms: &Thesaurus, rarity: f32, mut each: impl FnMut(&str, f32)) {
    if is_stop(stem) || stem.bytes().all(|byte| byte.is_ascii_digit()) {
        return;
    }
    let weight = rarity * if is_weak(stem) { WEAK } else { 1.0 };
    each(stem, weight);
    means(stem, synonyms).for_each(|meaning| each(meaning.stem, weight * meaning.weight * MEANT));
}

fn means<'t>(key: &str, synonyms: &'t Thesaurus) -> impl Iterator<Item = Synonym<'t>> {
    ENGLISH.of(key).chain(synonyms.of(key))
}

// Reference tools: short descriptions of kinds of tools that exist elsewhere. They show how near a query should come
// to a tool that serves it. Where a reference tool is near and no tool of the catalog is, the catalog has none that
// fits.

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
