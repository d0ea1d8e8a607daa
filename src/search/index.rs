//! The words of all entries, in memory.

use std::collections::HashMap;

use super::{Entry, Found, Hit, Request, Verdict};

/// The words of all entries.
#[derive(Debug)]
pub struct Index {
    exact: HashMap<String, Vec<usize>>,
    words: Vec<HashMap<String, f32>>,
}

impl Index {
    /// An index of these.
    pub fn new(entries: &[Entry]) -> Self {
        let mut exact: HashMap<String, Vec<usize>> = HashMap::new();
        let mut words = Vec::new();
        for (place, entry) in entries.iter().enumerate() {
            for name in &entry.exact {
                exact.entry(name.to_lowercase()).or_default().push(place);
            }
            let mut count = HashMap::new();
            for (_, text) in &entry.texts {
                for word in split(text) {
                    *count.entry(word).or_insert(0.0) += 1.0;
                }
            }
            words.push(count);
        }
        Self { exact, words }
    }

    /// How many entries there are.
    pub fn len(&self) -> usize {
        self.words.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// What fits a request.
    pub fn find(&self, request: Request<'_>) -> Found {
        let asked = split(request.query);
        let named = self.exact.get(request.query.trim().to_lowercase().as_str());
        let mut hits: Vec<Hit> = Vec::new();
        for (entry, words) in self.words.iter().enumerate() {
            if request.within.is_some_and(|within| !within(entry)) {
                continue;
            }
            let is_named = named.is_some_and(|named| named.contains(&entry));
            let matched: Vec<&str> =
                asked.iter().filter(|word| words.contains_key(*word)).map(String::as_str).collect();
            let score = matched.len() as f32 / asked.len().max(1) as f32;
            if is_named || score > 0.0 {
                let reason = format!("words: {}", matched.join(", "));
                let score = if is_named { 2.0 } else { score };
                hits.push(Hit { entry, score, confidence: score.min(1.0), reason });
            }
        }
        hits.sort_by(|one, other| other.score.total_cmp(&one.score).then(one.entry.cmp(&other.entry)));
        hits.truncate(request.limit);
        let fits = hits.first().is_some_and(|hit| hit.confidence > 0.3);
        Found { verdict: if fits { Verdict::Match } else { Verdict::NoMatch }, hits }
    }
}

fn split(text: &str) -> Vec<String> {
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_lowercase).collect()
}
