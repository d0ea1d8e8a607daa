//! What a text is about: its words and what they mean or need, as one vector. Two texts may be about the same without a
//! word in common.

use hashbrown::HashMap;

use super::thesaurus::{ENGLISH, MAX_PHRASE, Meaning, Thesaurus};
use super::vocabulary::{is_stop, is_weak};

/// What weak words count.
const WEAK: f32 = 0.3;
/// What the meanings of a word count beside the word.
const MEANT: f32 = 0.6;
/// The most topics of an entry that are kept, the strongest ones.
const MAX_TOPICS: usize = 160;

/// The topics that stand in any entry, each with a number and with how much it tells.
#[derive(Debug, Default)]
pub(super) struct Topics {
    numbers: HashMap<Box<str>, u32>,
    tells: Vec<f32>,
}

/// What an entry is about, in the order of topics; its length is 1.
pub(super) type Vector = Box<[(u32, f32)]>;

impl Topics {
    /// What an entry of these stems is about; `rarity` is how much a stem tells, from 0 to 1.
    pub(super) fn entry(&mut self, stems: &[String], synonyms: &Thesaurus, rarity: &dyn Fn(&str) -> f32) -> Vector {
        let mut sums: HashMap<u32, f32> = HashMap::new();
        spread(stems, synonyms, rarity, |stem, weight| {
            let topic = self.number(stem);
            *sums.entry(topic).or_default() += weight * self.tells[topic as usize];
        });
        let mut strongest: Vec<(u32, f32)> = sums.into_iter().filter(|(_, weight)| *weight > 0.0).collect();
        strongest.sort_unstable_by(|one, other| other.1.total_cmp(&one.1).then(one.0.cmp(&other.0)));
        strongest.truncate(MAX_TOPICS);
        strongest.sort_unstable_by_key(|(topic, _)| *topic);
        let length = strongest.iter().map(|(_, weight)| weight * weight).sum::<f32>().sqrt();
        strongest.iter_mut().for_each(|(_, weight)| *weight /= length);
        strongest.into_boxed_slice()
    }

    fn number(&mut self, stem: &str) -> u32 {
        if let Some(&number) = self.numbers.get(stem) {
            return number;
        }
        let number = self.tells.len() as u32;
        self.numbers.insert(stem.into(), number);
        self.tells.push(ENGLISH.tells(stem));
        number
    }

    /// What a query of these stems is about: a weight for each topic that stands in any entry. Its length is 1, what no
    /// entry is about included.
    pub(super) fn query(
        &self,
        stems: &[String],
        synonyms: &Thesaurus,
        rarity: &dyn Fn(&str) -> f32,
        weights: &mut Vec<f32>,
    ) {
        weights.clear();
        weights.resize(self.tells.len(), 0.0);
        let mut elsewhere: HashMap<String, f32> = HashMap::new();
        spread(stems, synonyms, rarity, |stem, weight| match self.numbers.get(stem) {
            Some(&topic) => weights[topic as usize] += weight * self.tells[topic as usize],
            None => *elsewhere.entry_ref(stem).or_default() += weight * ENGLISH.tells(stem),
        });
        let mut others: Vec<f32> = elsewhere.into_values().collect();
        others.sort_unstable_by(f32::total_cmp);
        let length = weights.iter().chain(&others).map(|weight| weight * weight).sum::<f32>().sqrt();
        if length > 0.0 {
            weights.iter_mut().for_each(|weight| *weight /= length);
        }
    }
}

/// How much a query and an entry are about the same, from 0 to 1.
pub(super) fn likeness(query: &[f32], entry: &Vector) -> f32 {
    entry.iter().map(|&(topic, weight)| query.get(topic as usize).copied().unwrap_or(0.0) * weight).sum()
}

/// Each word, and what it means, with what it counts.
fn spread(
    stems: &[String],
    synonyms: &Thesaurus,
    rarity: &dyn Fn(&str) -> f32,
    mut each: impl FnMut(&str, f32),
) {
    let mut key = String::new();
    for (place, stem) in stems.iter().enumerate() {
        if ENGLISH.begins(stem) || synonyms.begins(stem) {
            for length in (2..=MAX_PHRASE).filter(|length| place + length <= stems.len()) {
                key.clear();
                for part in &stems[place..place + length] {
                    if !key.is_empty() {
                        key.push(' ');
                    }
                    key.push_str(part);
                }
                means(&key, synonyms).for_each(|meaning| each(&meaning.stem, meaning.weight * MEANT));
            }
        }
        if is_stop(stem) || stem.bytes().all(|byte| byte.is_ascii_digit()) {
            continue;
        }
        let weight = rarity(stem) * if is_weak(stem) { WEAK } else { 1.0 };
        each(stem, weight);
        means(stem, synonyms).for_each(|meaning| each(&meaning.stem, weight * meaning.weight * MEANT));
    }
}

fn means<'t>(key: &str, synonyms: &'t Thesaurus) -> impl Iterator<Item = &'t Meaning> {
    let ours: &'t [Meaning] = ENGLISH.of(key);
    ours.iter().chain(synonyms.of(key))
}
