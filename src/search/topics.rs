//! Topic vectors: the words of a text with their synonyms and related words, as one vector. Two texts can have
//! similar topics without a word in common.

use std::sync::LazyLock;

use hashbrown::DefaultHashBuilder;
use indexmap::IndexMap;

use super::index::{Term, TextTable};
use super::rank::Weights;
use super::thesaurus::{
    BEGINS, ENGLISH, MAX_PHRASE, STOP, Synonym, Thesaurus, WEAK as WEAK_WORD, is_stop, is_weak,
};
use super::words::{Stem, phrase_of, plain, stemmed};

/// Weight of weak words.
const WEAK: f32 = 0.3;
/// Weight of a word's meanings, relative to the word.
const MEANT: f32 = 0.7;
/// Most topics of an entry that are kept, the strongest ones.
const MAX_TOPICS: usize = 160;

/// The topics of all entries: stems, each with a number and its distinctiveness.
#[derive(Debug, Default)]
pub(super) struct Topics(IndexMap<Box<str>, f32, DefaultHashBuilder>);

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
        Self { topics: Topics::default(), vocabulary, synonyms, rarity, leads }
    }

    /// Topic vector of an entry with these terms, in this order.
    pub(super) fn entry(&mut self, terms: &[Term]) -> TopicVector {
        let mut sums = Weights::default();
        for (place, &term) in terms.iter().enumerate() {
            let leads = self.leads[term as usize].take().unwrap_or_else(|| self.term_topics(term));
            for &(topic, weight) in &leads.topics {
                sums.add(topic, weight);
            }
            if leads.begins {
                for window in (2..=MAX_PHRASE).filter_map(|length| terms.get(place..place + length)) {
                    let stems = window.iter().map(|term| self.vocabulary.text(*term));
                    let key = stems.collect::<Vec<_>>().join(" ");
                    for meaning in means(&key, self.synonyms) {
                        let (topic, tells) = self.topics.number(meaning.stem);
                        sums.add(topic, meaning.weight * MEANT * tells);
                    }
                }
            }
            self.leads[term as usize] = Some(leads);
        }
        topic_vector(sums)
    }

    fn term_topics(&mut self, term: Term) -> TermTopics {
        let stem = self.vocabulary.text(term);
        let mut topics = Vec::new();
        spread(stem, self.synonyms, self.rarity[term as usize], |stem, weight| {
            let (topic, tells) = self.topics.number(stem);
            topics.push((topic, weight * tells));
        });
        TermTopics { topics, begins: ENGLISH.begins(stem) || self.synonyms.begins(stem) }
    }

    pub(super) fn into_topics(self) -> Topics {
        self.topics
    }
}

/// The vector of the strongest of these topics.
fn topic_vector(sums: Weights) -> TopicVector {
    let mut strongest = sums.sorted();
    strongest.retain(|(_, weight)| *weight > 0.0);
    if strongest.len() > MAX_TOPICS {
        strongest.sort_unstable_by(|one, other| other.1.total_cmp(&one.1).then(one.0.cmp(&other.0)));
        strongest.truncate(MAX_TOPICS);
        strongest.sort_unstable_by_key(|(topic, _)| *topic);
    }
    let length = strongest.iter().map(|(_, weight)| weight * weight).sum::<f32>().sqrt();
    strongest.iter_mut().for_each(|(_, weight)| *weight /= length);
    strongest
}

impl Topics {
    /// The number of a topic, which may be new, and its distinctiveness.
    fn number(&mut self, stem: &str) -> (u32, f32) {
        let known = self.get(stem);
        known.unwrap_or_else(|| {
            let tells = ENGLISH.tells(stem);
            (self.0.insert_full(stem.into(), tells).0 as u32, tells)
        })
    }

    fn get(&self, stem: &str) -> Option<(u32, f32)> {
        self.0.get_full(stem).map(|(number, _, tells)| (number as u32, *tells))
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

// Leads of a query: the stems of its words, and what they mean, as topics.

/// A stem that a query leads to: a word of it, or a meaning of a word or of a phrase.
#[derive(Debug)]
pub(super) struct Lead<'q> {
    stem: &'q str,
    /// The place of the word, and its weight.
    word: Option<(usize, f32)>,
    /// Weight of the meaning.
    meaning: Option<f32>,
}

impl<'q> Lead<'q> {
    /// The leads of a query with these stems.
    pub(super) fn of_query(stems: &'q [Stem], synonyms: &'q Thesaurus) -> Vec<Self> {
        let mut leads = Vec::with_capacity(16 * stems.len());
        for (place, stem) in stems.iter().enumerate() {
            if let Some(weight) = own_weight(stem) {
                let word = Some((place, weight));
                leads.push(Self { stem: &stem.text, word, meaning: None });
                leads.extend(stem.meanings(synonyms).map(|meaning| Self::to(meaning, word)));
            }
            if stem.is(BEGINS) || synonyms.begins(&stem.text) {
                for window in (2..=MAX_PHRASE).filter_map(|length| stems.get(place..place + length)) {
                    let key = phrase_of(window);
                    let meanings = ENGLISH.of(&key).chain(synonyms.of(&key));
                    leads.extend(meanings.map(|meaning| Self::to(meaning, None)));
                }
            }
        }
        leads
    }

    fn to(meaning: Synonym<'q>, word: Option<(usize, f32)>) -> Self {
        Self { stem: meaning.stem, word, meaning: Some(meaning.weight) }
    }

    fn weight(&self, rarity: impl Fn(usize) -> f32) -> f32 {
        let own = self.word.map(|(place, weight)| rarity(place) * weight);
        match (own, self.meaning) {
            (Some(own), Some(meaning)) => own * meaning * MEANT,
            (own, meaning) => own.or(meaning.map(|meaning| meaning * MEANT)).unwrap_or_default(),
        }
    }
}

/// Weight of a word; `None` for one that says nothing.
fn own_weight(stem: &Stem) -> Option<f32> {
    let is_empty = stem.is(STOP) || stem.text.bytes().all(|byte| byte.is_ascii_digit());
    (!is_empty).then(|| if stem.is(WEAK_WORD) { WEAK } else { 1.0 })
}

impl Topics {
    /// The topic with each stem of another table, where there is one.
    pub(super) fn like(&self, other: &Self) -> Vec<Option<u32>> {
        other.0.keys().map(|stem| self.get(stem).map(|(topic, _)| topic)).collect()
    }

    /// The topic vector of a query with these leads. Its length is 1 with topics of no entry included. `rarity` is the
    /// distinctiveness of the word at a place, from 0 to 1.
    pub(super) fn weigh(&self, leads: &[Lead<'_>], rarity: impl Fn(usize) -> f32) -> Weights {
        let mut weights = Weights::default();
        let mut elsewhere: Vec<(&str, f32)> = Vec::new();
        for lead in leads {
            let weight = lead.weight(&rarity);
            match self.get(lead.stem) {
                Some((topic, tells)) => weights.add(topic, weight * tells),
                None => elsewhere.push((lead.stem, weight * ENGLISH.tells(lead.stem))),
            }
        }
        // Sorted, since the sum of floats depends on their order.
        elsewhere.sort_by_key(|(stem, _)| *stem);
        let groups = elsewhere.chunk_by(|(one, _), (next, _)| one == next);
        let mut others: Vec<f32> =
            groups.map(|group| group.iter().fold(0.0, |sum, (_, weight)| sum + weight)).collect();
        others.sort_unstable_by(f32::total_cmp);
        weights.normalize(&others);
        weights
    }
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
        let mut by_topic = vec![Vec::new(); topics.0.len()];
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
        let mut about = Weights::default();
        for &(topic, weight) in &REFERENCE_TOOLS.lines[line] {
            if let Some(own) = topics[topic as usize] {
                about.raise(own, weight);
            }
        }
        let most = entries.clone().map(|entry| about.likeness(entry)).fold(0.0, f32::max);
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
    let query = REFERENCE_TOOLS.topics.weigh(leads, |_| 1.0);
    for (topic, weight) in query.sorted().into_iter().filter(|(_, weight)| *weight > 0.0) {
        for &(line, about) in &REFERENCE_TOOLS.by_topic[topic as usize] {
            sums[line] += weight * about;
        }
    }
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
