//! Scores by words and meaning: 0.4 of the one, 0.6 of the other.

use std::sync::Arc;

use serde_json::json;

use super::{Input, Score, Scorer, rounded};
use crate::catalog::Tool;

/// Weight of words; meaning has the rest.
const WORDS: f32 = 0.4;

/// Mixes two scorers.
pub struct Hybrid {
    /// By words.
    pub words: Arc<dyn Scorer>,
    /// By meaning.
    pub meaning: Arc<dyn Scorer>,
}

impl Scorer for Hybrid {
    fn name(&self) -> &str {
        "hybrid"
    }

    fn score(&self, input: &Input, tools: &[Arc<Tool>]) -> Result<Vec<Score>, String> {
        Ok(mixed(self.words.score(input, tools)?, self.meaning.score(input, tools)?))
    }
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
