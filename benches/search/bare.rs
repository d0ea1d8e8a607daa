//! The least that a ranked search costs: BM25 over name and description as one field, and nothing else.

use std::collections::HashMap;

const K1: f32 = 1.2;
const B: f32 = 0.75;

/// Postings of every word, with the length of every text.
pub struct Bare {
    words: HashMap<String, (f32, Vec<(u32, f32)>)>,
    norms: Vec<f32>,
    scores: Vec<f32>,
}

impl Bare {
    pub fn new<'a>(texts: impl Iterator<Item = (&'a str, &'a str)>) -> Self {
        let mut words: HashMap<String, (f32, Vec<(u32, f32)>)> = HashMap::new();
        let mut lengths = Vec::new();
        for (document, (name, description)) in texts.enumerate() {
            let mut counts: HashMap<String, f32> = HashMap::new();
            let mut length = 0.0;
            for word in split(name).chain(split(description)) {
                *counts.entry(word).or_default() += 1.0;
                length += 1.0;
            }
            lengths.push(length);
            for (word, count) in counts {
                words.entry(word).or_default().1.push((document as u32, count));
            }
        }
        let total = lengths.len() as f32;
        let average = lengths.iter().sum::<f32>() / total.max(1.0);
        for (idf, postings) in words.values_mut() {
            let count = postings.len() as f32;
            *idf = (1.0 + (total - count + 0.5) / (count + 0.5)).ln();
        }
        let norms = lengths.iter().map(|length| K1 * (1.0 - B + B * length / average)).collect();
        Self { words, norms, scores: vec![0.0; lengths.len()] }
    }

    /// The first ten documents, best first.
    pub fn find(&mut self, query: &str) -> Vec<(f32, u32)> {
        self.scores.fill(0.0);
        for word in split(query) {
            let Some((idf, postings)) = self.words.get(&word) else { continue };
            for &(document, count) in postings {
                let place = document as usize;
                self.scores[place] += idf * count * (K1 + 1.0) / (count + self.norms[place]);
            }
        }
        let mut best: Vec<(f32, u32)> = Vec::with_capacity(11);
        for (document, &score) in self.scores.iter().enumerate() {
            if score > 0.0 && (best.len() < 10 || best.last().is_some_and(|last| score > last.0)) {
                let place = best.partition_point(|other| other.0 >= score);
                best.insert(place, (score, document as u32));
                best.truncate(10);
            }
        }
        best
    }
}

fn split(text: &str) -> impl Iterator<Item = String> + '_ {
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_lowercase)
}
