//! Leads of a query: the stems of its words, and what they mean, as topics.

use super::index::Index;
use super::rank::Weights;
use super::thesaurus::{self, BEGINS, ENGLISH, MAX_PHRASE, STOP, Synonym, Thesaurus};
use super::topics::{MEANT, Topics, WEAK};
use super::words::{Stem, phrase_of};

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
    (!is_empty).then(|| if stem.is(thesaurus::WEAK) { WEAK } else { 1.0 })
}

impl Topics {
    /// The topic with each stem of another table, where there is one.
    pub(super) fn like(&self, other: &Self) -> Vec<Option<u32>> {
        let stems = (0..other.tells.len() as u32).map(|topic| other.stems.text(topic));
        stems.map(|stem| self.stems.get(stem)).collect()
    }

    /// Adds the topic vector of a query with these leads to weights that are all 0. Its length is 1 with topics of no entry
    /// included. `rarity` is the distinctiveness of the word at a place, from 0 to 1.
    pub(super) fn weigh(&self, leads: &[Lead<'_>], rarity: impl Fn(usize) -> f32, weights: &mut Weights) {
        let mut elsewhere: Vec<(&str, f32)> = Vec::new();
        for lead in leads {
            let weight = lead.weight(&rarity);
            match self.stems.get(lead.stem) {
                Some(topic) => weights.add(topic, weight * self.tells[topic as usize]),
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
    }
}

// Tool names in a query: a query with the name of a tool wants that tool, whatever else it says.

/// Longest query that can be a name, in bytes.
const MAX_NAME: usize = 200;
/// Most identifiers of a query that are looked up.
const MAX_IDENTIFIERS: usize = 200;

impl Index {
    /// Positions of the entries that a query names.
    pub fn named_in(&self, query: &str) -> impl Iterator<Item = usize> {
        self.mentioned(query).into_iter().map(|entry| entry as usize)
    }

    /// The entries that a query names, in its order. The query is the name, or consists of just the words of the
    /// name, or contains the name where it cannot be an ordinary word.
    pub(super) fn mentioned(&self, query: &str) -> Vec<u32> {
        let mut all = Vec::new();
        if query.len() <= MAX_NAME {
            all.extend(self.named(query.trim()));
            all.extend(self.named_in_words(query));
        }
        for (identifier, is_quoted) in identifiers(query).take(MAX_IDENTIFIERS) {
            all.extend(self.identified(identifier, is_quoted));
        }
        let mut seen = hashbrown::HashSet::new();
        all.retain(|entry| seen.insert(*entry));
        all
    }

    /// The entries that an identifier names: as it stands, or without the prefixes that clients and paths add, as in
    /// `mcp__server__NAME`, `functions.NAME` and `tools/NAME.md`.
    fn identified(&self, identifier: &str, is_quoted: bool) -> Vec<u32> {
        let can_be = |name: &str| match is_quoted || is_no_word(name) {
            true => self.named(name).to_vec(),
            false => Vec::new(),
        };
        if !is_quoted && !is_no_word(identifier) && !identifier.contains(['_', '.', '-', ':', '/']) {
            return Vec::new();
        }
        let found = can_be(identifier);
        if !found.is_empty() {
            return found;
        }
        let bare = identifier.strip_suffix(".md").unwrap_or(identifier);
        let ends =
            |separator: &'static str| bare.match_indices(separator).map(move |(at, _)| at + separator.len());
        let endings = ["/", "__", ".", ":"].into_iter().flat_map(ends).map(|at| &bare[at..]);
        let beginnings = bare.match_indices(['-', ':', '/', '.']).map(|(at, _)| &bare[..at]);
        let names = std::iter::once(bare).chain(endings).chain(beginnings).map(can_be);
        names.into_iter().find(|found| !found.is_empty()).unwrap_or_default()
    }
}

/// Possible names in a text, and whether each is quoted.
fn identifiers(text: &str) -> impl Iterator<Item = (&str, bool)> {
    let belongs = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-' | ':' | '/');
    text.split(move |c: char| !belongs(c)).filter(|run| !run.is_empty()).map(move |run| {
        let start = run.as_ptr() as usize - text.as_ptr() as usize;
        let is_quoted = text[..start].ends_with(['`', '"', '\'', '\u{201c}']);
        (run.trim_matches(|c: char| !c.is_ascii_alphanumeric() && c != '_'), is_quoted)
    })
}

/// Whether a word is an identifier and no word of a language.
fn is_no_word(name: &str) -> bool {
    let inner = || name.chars().skip(1);
    inner().any(|c| matches!(c, '_' | '.' | '-' | ':') || c.is_ascii_digit())
        || name.chars().zip(inner()).any(|(one, next)| one.is_lowercase() && next.is_uppercase())
}
