//! Scores of tools: by the words of a search, by meaning, and by both.

use std::time::Duration;

use serde_json::{Value, json};

use crate::SearchResult;

/// Weight of words; meaning has the rest.
const WORDS: f32 = 0.4;

/// Score of a tool.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Score {
    /// From 0 to 1.
    pub score: f32,
    /// The reason, for people.
    pub reason: Option<String>,
    /// Further data of the scorer, for `Provenance`.
    pub details: Value,
}

/// The end of a scoring.
#[derive(Clone, Debug)]
pub enum Scored {
    /// A score for each tool.
    Done(Vec<Score>),
    /// No scores, for this reason.
    Failed(String),
    /// It took longer than this.
    Late(Duration),
}

/// A score rounded to four digits.
pub fn rounded(score: f32) -> f64 {
    (f64::from(score) * 10_000.0).round() / 10_000.0
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

/// The scores of both, mixed.
pub fn mixed(words: Vec<Score>, meaning: Vec<Score>) -> Vec<Score> {
    let mix = |(words, meaning): (Score, Score)| {
        let reasons: Vec<String> = [words.reason, meaning.reason].into_iter().flatten().collect();
        Score {
            score: WORDS * words.score + (1.0 - WORDS) * meaning.score,
            reason: (!reasons.is_empty()).then(|| reasons.join("; ")),
            details: json!({ "keyword": rounded(words.score), "embedding": rounded(meaning.score) }),
        }
    };
    words.into_iter().zip(meaning).map(mix).collect()
}

/// The score of each tool by meaning.
#[cfg(feature = "runtime")]
pub fn by_meaning(near: &crate::semantic::Similarities) -> Vec<Score> {
    let score = |(place, cosine): (usize, &f32)| {
        let score = near.normalized(place);
        let reason = (score > 0.0).then(|| format!("near in meaning ({cosine:.2})"));
        let details = json!({ "cosine": rounded(*cosine), "unrelated": rounded(near.unrelated) });
        Score { score, reason, details }
    };
    near.cosine.iter().enumerate().map(score).collect()
}
