//! The index as data for a script, which ranks tools in a page without a server (`search.js`). The data holds what the order
//! of [`super::rank`] and the verdict need; the meanings of words are the same for every index, and stand apart.

use hashbrown::HashSet;
use serde_json::{Value, json};

use super::actions::{self, AFTER_HEAD, Does, MAY, POLITE, QUESTION, REFUSALS, TOLD_AFTER, WANTS};
use super::confidence::{self, Features, SURE_MATCH_LIKELIHOOD, UNSURE};
use super::contraries;
use super::index::{ARTICLES, Index, IndexEntry, SHOWN, Term};
use super::meaning::{self, Meaning};
use super::query::{PEOPLE, Query};
use super::rank;
use super::thesaurus::{self, Translation, is_weak, stop_words};
use super::words::{is_dense, stemmed, words};
use toolcrib_definition::Effect;

/// Parts of one in which weights are written.
const PARTS: f32 = 10_000.0;

impl Index {
    /// The data for the script, of an index of these entries; `base64` writes vectors.
    pub fn script(&self, entries: &[IndexEntry], base64: fn(Vec<u8>) -> String) -> Value {
        let bytes = |meanings: &mut dyn Iterator<Item = &Meaning>| {
            base64(meanings.flat_map(Meaning::in_bytes).collect())
        };
        let mut known = HashSet::new();
        for written in
            entries.iter().flat_map(|entry| &entry.texts).flat_map(|(_, text)| text.split_whitespace())
        {
            words(written, |word| {
                let is_new = word.len() > 1 && word.is_ascii() && !is_dense(word) && !known.contains(word);
                if is_new {
                    known.insert(word.to_string());
                }
            });
        }
        let mut own: Vec<&str> = known.iter().map(String::as_str).chain(actions::verbs()).collect();
        own.sort_unstable();
        own.dedup();
        let own = own.join(" ");
        let synonyms: Vec<Value> = self
            .synonyms
            .all()
            .map(|(key, meanings, said)| {
                let meanings = meanings.iter();
                let meanings =
                    meanings.filter_map(|(stem, weight)| Some(json!([self.term(stem)?, parts(*weight)])));
                json!([key, meanings.collect::<Vec<_>>(), said])
            })
            .collect();
        let (pieces, ..) = meaning::model();
        known.extend(pieces.into_iter().filter(|piece| !piece.starts_with("##")).map(str::to_string));
        let mut list: Vec<String> = known.into_iter().collect();
        list.sort_unstable();
        let of_term = list.iter().filter_map(|word| Some((word, self.term(&stemmed(word))?)));
        let terms: Vec<String> = of_term.map(|(word, term)| format!("{word} {term}")).collect();
        let foreign: Vec<Value> = list
            .iter()
            .filter_map(|word| {
                let meanings = thesaurus::foreign(word);
                let first = meanings.first()?.word;
                let senses = meanings.iter().map(Translation::synonym);
                let senses =
                    senses.filter_map(|meant| Some(json!([self.term(meant.stem)?, parts(meant.weight)])));
                Some(json!([word, first, senses.collect::<Vec<_>>()]))
            })
            .collect();
        let weak: Vec<&String> = list.iter().filter(|word| is_weak(&stemmed(word))).collect();
        let shown: Vec<Vec<Term>> = self
            .entry_terms
            .iter()
            .map(|terms| {
                terms.iter().filter(|(_, fields)| fields & SHOWN != 0).map(|(term, _)| *term).collect()
            })
            .collect();
        let mut shown_terms: Vec<Term> = shown.iter().chain(&self.nouns).flatten().copied().collect();
        shown_terms.sort_unstable();
        shown_terms.dedup();
        let postings = self.postings.iter().map(|postings| {
            postings.iter().flat_map(|(entry, weight)| [*entry as i64, parts(*weight)]).collect::<Vec<_>>()
        });
        let does = self.does.iter().zip(&self.effects).map(|(does, effect)| {
            let Does { first, all, lists } = *does;
            json!([first, all, u8::from(lists), effect.map_or("", Effect::as_str)])
        });
        let mut exact: Vec<(&String, &Vec<u32>)> = self.by_name.iter().chain(&self.by_words).collect();
        exact.sort_unstable();
        exact.dedup();
        let mut groups: Vec<(&String, &u32)> = self.group_names.iter().collect();
        groups.sort_unstable();
        json!({
            "own": own,
            "terms": terms.join(" "),
            "foreign": foreign,
            "weak": weak,
            "stop": stop_words(),
            "synonyms": synonyms,
            "frames": actions::frames(),
            "polite": POLITE,
            "articles": ARTICLES,
            "question": QUESTION,
            "may": MAY,
            "refusals": REFUSALS,
            "toldAfter": TOLD_AFTER,
            "wants": WANTS,
            "contraries": contraries::PAIRS.trim_end(),
            "people": PEOPLE,
            "afterHead": AFTER_HEAD,
            "weights": rank::WEIGHTS,
            "sameThing": rank::SAME_THING,
            "matchWeights": weights(&self.match_terms(&Query::default(), &[Features::default()])),
            "hitWeights": weights(&Features::default().terms(0.0)),
            "sure": [SURE_MATCH_LIKELIHOOD, UNSURE],
            "least": self.min_match_likelihood,
            "maxIdf": self.max_idf,
            "idf": self.idf.iter().map(|idf| parts(*idf)).collect::<Vec<_>>(),
            "postings": postings.collect::<Vec<_>>(),
            "nouns": self.nouns,
            "does": does.collect::<Vec<_>>(),
            "exact": exact,
            "groupNames": groups,
            "groups": self.groups,
            "shown": shown,
            "shownTerms": shown_terms,
            "meanings": bytes(&mut self.meanings.iter()),
            "phrases": self.phrases.iter().map(Vec::len).collect::<Vec<_>>(),
            "phraseMeanings": bytes(&mut self.phrases.iter().flatten()),
            "termMeanings": bytes(&mut shown_terms.iter().map(|term| &self.term_meanings[*term as usize])),
        })
    }
}

/// The meanings of words, the same for every index.
pub fn script_model(base64: fn(Vec<u8>) -> String) -> Value {
    let (pieces, scales, rows) = meaning::model();
    json!({"pieces": pieces.join(" "), "scales": base64(scales), "rows": base64(rows)})
}

fn weights(terms: &[confidence::Term]) -> Vec<f32> {
    terms.iter().map(|term| term.weight).collect()
}

fn parts(weight: f32) -> i64 {
    (weight * PARTS).round() as i64
}
