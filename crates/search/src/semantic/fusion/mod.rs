//! Fuses words and meaning into one order.

use std::collections::HashMap;

use super::similarity::Similarities;
use crate::confidence::NAMED;
use crate::result::{Hit, SearchResult, Verdict};

/// Most tools that join the hits by words because they are near in meaning.
pub const POOL: usize = 100;

/// Confidence by meaning from which the verdict is `match`.
const FITS: f32 = 0.5;

/// Fuses both scores: each is scaled to its range for this query, and `weight` is the share of meaning. `words`
/// should hold at least [`POOL`] hits. Named tools stay first. Confidence is the higher of the two, so that meaning
/// only adds to it. The verdict is `match` when words say so, or when a tool is near enough.
pub fn fuse(
    words: SearchResult,
    near: &Similarities,
    weight: f32,
    limit: usize,
    counts: &dyn Fn(usize) -> bool,
    named: &dyn Fn(usize) -> bool,
) -> SearchResult {
    let mut nearest: Vec<usize> = (0..near.cosine.len()).filter(|&place| counts(place)).collect();
    nearest.sort_by(|&one, &other| near.cosine[other].total_cmp(&near.cosine[one]));
    let cosine = |place: Option<&usize>| place.and_then(|&place| near.cosine.get(place)).copied();
    let low = cosine(nearest.last()).unwrap_or_default();
    let range = cosine(nearest.first()).unwrap_or_default() - low;
    let share = |place: usize| match cosine(Some(&place)) {
        Some(cosine) if range > 0.0 => (cosine - low) / range,
        _ => 0.0,
    };
    // The index gives just this confidence to tools that the query names.
    let is_named = |hit: &Hit| hit.confidence == NAMED || named(hit.entry);
    let by_words = words.hits.iter().filter(|hit| !is_named(hit)).map(|hit| hit.score);
    let most = by_words.fold(0.0_f32, f32::max);
    let mut hits: HashMap<usize, Hit> = HashMap::new();
    let mut first: HashMap<usize, usize> = HashMap::new();
    for (rank, hit) in words.hits.into_iter().enumerate() {
        let is_named = is_named(&hit);
        if is_named {
            first.insert(hit.entry, rank);
        }
        let of_words = if is_named { 1.0 } else { (hit.score / most.max(f32::MIN_POSITIVE)).clamp(0.0, 1.0) };
        let score = (1.0 - weight) * of_words + weight * share(hit.entry);
        let by_meaning = near.confidence(hit.entry);
        let reason = if by_meaning > 0.0 {
            format!("{}; {}", hit.reason, reason(near, hit.entry))
        } else {
            hit.reason
        };
        hits.insert(hit.entry, Hit { score, confidence: hit.confidence.max(by_meaning), reason, ..hit });
    }
    for entry in nearest.into_iter().take(POOL.max(limit)) {
        let confidence = near.confidence(entry);
        let score = weight * share(entry);
        if confidence > 0.0 {
            let reason = reason(near, entry);
            hits.entry(entry).or_insert(Hit { entry, score, confidence, reason });
        }
    }
    let mut hits: Vec<Hit> = hits.into_values().collect();
    let rank = |hit: &Hit| first.get(&hit.entry).copied().unwrap_or(usize::MAX);
    hits.sort_by(|one, other| {
        let by_score = || other.score.total_cmp(&one.score).then(one.entry.cmp(&other.entry));
        rank(one).cmp(&rank(other)).then_with(by_score)
    });
    hits.truncate(limit.max(first.len()));
    let is_near = hits.iter().any(|hit| near.confidence(hit.entry) >= FITS);
    let verdict = if is_near { Verdict::Match } else { words.verdict };
    SearchResult { verdict, hits }
}

fn reason(near: &Similarities, place: usize) -> String {
    format!("near in meaning ({:.2})", near.cosine.get(place).copied().unwrap_or_default())
}

#[cfg(test)]
mod tests;
