//! Order, confidence and verdict of fused hits.

use super::*;

fn hit(entry: usize, score: f32, confidence: f32) -> Hit {
    Hit { entry, score, confidence, reason: "words: x".into() }
}

fn near(cosine: &[f32]) -> Similarities {
    Similarities { cosine: cosine.to_vec(), unrelated: 0.05 }
}

fn order(found: &SearchResult) -> Vec<usize> {
    found.hits.iter().map(|hit| hit.entry).collect()
}

fn everything(_: usize) -> bool {
    true
}

fn nothing(_: usize) -> bool {
    false
}

#[test]
fn meaning_weighs_more_than_words_unless_told_otherwise() {
    let words = SearchResult { verdict: Verdict::Match, hits: vec![hit(0, 8.0, 0.6), hit(1, 4.0, 0.3)] };
    let near = near(&[0.2, 0.5, 0.7, 0.0]);
    let fused = |weight| fuse(words.clone(), &near, weight, 9, &everything, &nothing);
    assert_eq!(order(&fused(0.7)), [2, 1, 0]);
    assert_eq!(order(&fused(0.0))[..2], [0, 1]);
    assert_eq!(order(&fused(1.0)), [2, 1, 0]);
    // The scores of the study: 0.3 of words over their best, 0.7 of cosines over their range.
    assert!((fused(0.7).hits[1].score - (0.3 * 0.5 + 0.7 * 0.5 / 0.7)).abs() < 1e-6);
    assert_eq!(fused(0.7).hits[1].reason, "words: x; near in meaning (0.50)");
}

#[test]
fn what_is_named_stays_first_whatever_is_near() {
    let words = SearchResult { verdict: Verdict::Match, hits: vec![hit(3, 50.0, 1.0), hit(0, 8.0, 0.6)] };
    let fused = fuse(words, &near(&[0.9, 0.8, 0.7, -0.2]), 0.7, 9, &everything, &|place| place == 3);
    assert_eq!(order(&fused), [3, 0, 1, 2]);
    assert_eq!(fused.hits[0].confidence, 1.0);
}

#[test]
fn when_neither_says_anything_nothing_fits() {
    let none = SearchResult { verdict: Verdict::NoMatch, hits: Vec::new() };
    let far = fuse(none.clone(), &near(&[0.05, 0.1, -0.3]), 0.7, 9, &everything, &nothing);
    assert_eq!(far, none);
    // The nearest of many distant tools is listed, but is no match.
    let little = fuse(none.clone(), &near(&[0.3, 0.1, -0.3]), 0.7, 9, &everything, &nothing);
    assert_eq!((little.verdict, order(&little)), (Verdict::NoMatch, vec![0]));
    assert!(little.hits[0].confidence < 0.3);
    let fits = fuse(none.clone(), &near(&[0.6, 0.1, -0.3]), 0.7, 9, &everything, &nothing);
    assert_eq!((fits.verdict, order(&fits)), (Verdict::Match, vec![0]));
    // A model that finds all texts alike carries no information.
    let alike = Similarities { cosine: vec![0.80, 0.79, 0.78], unrelated: 0.77 };
    assert_eq!(fuse(none, &alike, 0.7, 9, &everything, &nothing).verdict, Verdict::NoMatch);
}

#[test]
fn words_alone_still_fit_and_scopes_and_limits_hold() {
    let words = SearchResult { verdict: Verdict::Match, hits: vec![hit(2, 8.0, 0.6)] };
    let far = fuse(words.clone(), &near(&[0.0, 0.0, 0.0]), 0.7, 9, &everything, &nothing);
    assert_eq!((far.verdict, order(&far), far.hits[0].confidence), (Verdict::Match, vec![2], 0.6));
    let within = fuse(words.clone(), &near(&[0.9, 0.6, 0.5]), 0.7, 9, &|place| place > 0, &nothing);
    assert_eq!(order(&within), [1, 2]);
    assert_eq!(order(&fuse(words, &near(&[0.9, 0.6, 0.5]), 0.7, 1, &everything, &nothing)), [0]);
}
