//! Topic vectors: the words of a text with their synonyms and related words, as one vector. Two texts can have
//! similar topics without a word in common.

use super::index::Term;
use super::languages::{ENGLISH, is_stop, is_weak};
use super::text_table::TextTable;
use super::thesaurus::{MAX_PHRASE, Synonym, Thesaurus};

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
