//! Scores by words: the index's confidence in each tool.

use std::collections::HashMap;
use std::sync::Arc;

use serde_json::json;

use super::{Input, Score, Scorer, rounded};
use crate::catalog::Tool;
use crate::search::{Index, IndexEntry, SearchRequest, SearchResult};

/// Scores by words; the default scorer. Where the same tools are scored again and again, [`Keyword::over`] reads them
/// once.
#[derive(Debug, Default)]
pub struct Keyword {
    index: Option<WordIndex>,
}

/// The words of some tools.
#[derive(Debug)]
struct WordIndex {
    index: Index,
    places: HashMap<String, usize>,
}

impl Keyword {
    /// A scorer with an index of these tools.
    pub fn over(tools: &[Arc<Tool>]) -> Self {
        Self { index: Some(WordIndex::of(tools)) }
    }
}

impl WordIndex {
    fn of(tools: &[Arc<Tool>]) -> Self {
        let entries: Vec<IndexEntry> = tools.iter().map(|tool| IndexEntry::from(&**tool)).collect();
        let places = tools.iter().enumerate().map(|(place, tool)| (tool.name.clone(), place));
        Self { index: Index::new(&entries), places: places.collect() }
    }

    /// Scores of these tools, unless one of them is not in the index.
    fn score(&self, input: &Input, tools: &[Arc<Tool>]) -> Option<Vec<Score>> {
        let places: Option<Vec<usize>> =
            tools.iter().map(|tool| self.places.get(&tool.name).copied()).collect();
        let places = places?;
        let mut counts = vec![false; self.index.len()];
        places.iter().for_each(|&place| counts[place] = true);
        let within = |place: usize| counts[place];
        let request = SearchRequest { query: input.text(), within: Some(&within), limit: self.index.len() };
        let mut scores = scores(&self.index.find(request), self.index.len());
        Some(places.into_iter().map(|place| std::mem::take(&mut scores[place])).collect())
    }
}

impl Scorer for Keyword {
    fn name(&self) -> &str {
        "keyword"
    }

    fn score(&self, input: &Input, tools: &[Arc<Tool>]) -> Result<Vec<Score>, String> {
        let known = self.index.as_ref().and_then(|index| index.score(input, tools));
        Ok(known.or_else(|| WordIndex::of(tools).score(input, tools)).unwrap_or_default())
    }
}

/// The score of each entry: the confidence of its hit, and never more than that of a hit ranked before it.
pub fn scores(found: &SearchResult, entries: usize) -> Vec<Score> {
    let mut scores = vec![Score::default(); entries];
    let mut most = 1.0_f32;
    for (rank, hit) in found.hits.iter().enumerate() {
        most = most.min(hit.confidence.clamp(0.0, 1.0));
        if let Some(score) = scores.get_mut(hit.entry) {
            let details = json!({ "rank": rank + 1, "relevance": rounded(hit.score) });
            *score = Score { score: most, reason: Some(hit.reason.clone()), details };
        }
    }
    scores
}
