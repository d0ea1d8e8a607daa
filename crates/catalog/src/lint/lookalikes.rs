//! Tools that a model cannot tell apart: equal short descriptions, and descriptions in nearly the same words.

use std::collections::BTreeSet;

use hashbrown::HashMap;
use rayon::prelude::*;

use crate::tool::Tool;
use toolcrib_definition::finding::{Code, Finding};
use toolcrib_definition::words;

/// Most names that a message lists.
const LISTED: usize = 3;

/// Reports each tool whose short description an earlier one has.
pub(super) fn equal_shorts(tools: &[&Tool], findings: &mut Vec<Finding>) {
    let mut holders: HashMap<String, Vec<&str>> = HashMap::new();
    for tool in tools {
        let earlier = holders.entry(tool.texts.short.to_lowercase()).or_default();
        if !earlier.is_empty() {
            let names: Vec<String> = earlier.iter().take(LISTED).map(|name| format!("`{name}`")).collect();
            let message = format!("the short description is that of {}", names.join(", "));
            findings.push(tool.finding(Code::ShortEqual, message));
        }
        earlier.push(&tool.names.canonical);
    }
}

/// Jaccard similarity of the word sets from which two tools count as near duplicates.
const MIN_SIMILARITY: f64 = 0.9;
/// Fewest words of a description that is compared: shorter ones are alike by chance.
const MIN_WORDS: usize = 6;
/// Most pairs reported for one tool.
const MAX_PAIRS: usize = 3;

/// Reports each near duplicate of an earlier tool.
///
/// Two sets with a similarity of `MIN_SIMILARITY` must share one of their rarest words: with words ordered from rare
/// to common, one among the first `n - ceil(MIN_SIMILARITY * n) + 1` of each (prefix filtering). So only few pairs
/// are compared, at any size.
pub(super) fn near_duplicates(tools: &[&Tool], findings: &mut Vec<Finding>) {
    let word_sets: Vec<Vec<u32>> = ranked_words(tools);
    let prefix = |set: &[u32]| set.len() - (MIN_SIMILARITY * set.len() as f64).ceil() as usize + 1;
    let ranks = word_sets.iter().filter_map(|set| set.last()).max().map_or(0, |last| *last as usize + 1);
    let mut by_word: Vec<Vec<usize>> = vec![Vec::new(); ranks];
    for (index, set) in word_sets.iter().enumerate().filter(|(_, set)| set.len() >= MIN_WORDS) {
        for &word in &set[..prefix(set)] {
            by_word[word as usize].push(index);
        }
    }
    let twins = |index: usize| -> Vec<usize> {
        let set = &word_sets[index];
        if set.len() < MIN_WORDS {
            return Vec::new();
        }
        let holders = |word: &u32| by_word[*word as usize].iter().copied();
        let earlier = |word| holders(word).take_while(|&other| other < index).take(200);
        let mut candidates: Vec<usize> = set[..prefix(set)].iter().flat_map(earlier).collect();
        candidates.sort_unstable();
        candidates.dedup();
        candidates.into_iter().filter(|&other| are_alike(set, &word_sets[other])).take(MAX_PAIRS).collect()
    };
    let found: Vec<Vec<usize>> = (0..tools.len()).into_par_iter().map(twins).collect();
    for (tool, others) in tools.iter().zip(found).filter(|(_, others)| !others.is_empty()) {
        let names = others.iter().map(|&other| format!("`{}`", tools[other].names.canonical));
        let listed = names.collect::<Vec<_>>().join(", ");
        let message = format!("described in nearly the same words as {listed}");
        findings.push(tool.finding(Code::NearTwin, message));
    }
}

/// The words of each description as numbers, rare words first.
fn ranked_words(tools: &[&Tool]) -> Vec<Vec<u32>> {
    let distinctive = |tool: &&Tool| words(&tool.texts.description).into_iter().collect::<BTreeSet<String>>();
    let words: Vec<BTreeSet<String>> = tools.par_iter().map(distinctive).collect();
    let mut counts: HashMap<&str, u32> = HashMap::new();
    for word in words.iter().flatten() {
        *counts.entry(word).or_default() += 1;
    }
    let mut ranked: Vec<(&str, u32)> = counts.into_iter().collect();
    ranked.sort_unstable_by(|a, b| a.1.cmp(&b.1).then(a.0.cmp(b.0)));
    let ranks: HashMap<&str, u32> =
        ranked.into_iter().zip(0..).map(|((word, _), rank)| (word, rank)).collect();
    let in_ranks = |words: &BTreeSet<String>| {
        let mut set: Vec<u32> = words.iter().filter_map(|word| ranks.get(word.as_str()).copied()).collect();
        set.sort_unstable();
        set
    };
    words.par_iter().map(in_ranks).collect()
}

/// Whether two sets are alike; given up at the first word from which they cannot be.
fn are_alike(a: &[u32], b: &[u32]) -> bool {
    let all = a.len() + b.len();
    let most_apart = (all as f64 * (1.0 - MIN_SIMILARITY) / (1.0 + MIN_SIMILARITY)).ceil() as usize;
    let mut shared = 0;
    let mut in_a = 0;
    let mut in_b = 0;
    while let (Some(one), Some(other)) = (a.get(in_a), b.get(in_b)) {
        shared += usize::from(one == other);
        in_a += usize::from(one <= other);
        in_b += usize::from(other <= one);
        if in_a + in_b - 2 * shared > most_apart {
            return false;
        }
    }
    shared as f64 / (all - shared).max(1) as f64 >= MIN_SIMILARITY
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::{MIN_SIMILARITY, are_alike};

    proptest! {
        #[test]
        fn giving_up_early_changes_no_verdict(words in 1..60_u32, left_out in proptest::collection::btree_set(0..60_u32, 0..4), more in 0..5_u32) {
            let one: BTreeSet<u32> = (0..words).collect();
            let other: BTreeSet<u32> =
                (0..words + more).filter(|word| !left_out.contains(word)).collect();
            let shared = one.intersection(&other).count();
            let similarity = shared as f64 / one.union(&other).count().max(1) as f64;
            let list = |set: &BTreeSet<u32>| set.iter().copied().collect::<Vec<_>>();
            prop_assert_eq!(are_alike(&list(&one), &list(&other)), similarity >= MIN_SIMILARITY);
        }
    }
}
