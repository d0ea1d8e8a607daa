//! Scores by meaning, and by words and meaning: 0.4 of the one, 0.6 of the other.

use serde_json::json;

use super::{Score, rounded};

/// Weight of words; meaning has the rest.
const WORDS: f32 = 0.4;

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
pub fn by_meaning(near: &crate::search::semantic::Similarities) -> Vec<Score> {
    let score = |(place, cosine): (usize, &f32)| {
        let score = near.normalized(place);
        let reason = (score > 0.0).then(|| format!("near in meaning ({cosine:.2})"));
        let details = json!({ "cosine": rounded(*cosine), "unrelated": rounded(near.unrelated) });
        Score { score, reason, details }
    };
    near.cosine.iter().enumerate().map(score).collect()
}
