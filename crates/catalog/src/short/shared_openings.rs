//! Openings of descriptions that many tools share: they tell no tool from another, so that no short description is made of them.

use hashbrown::HashMap;
use rayon::prelude::*;

use crate::plain_text::{sentence_end, without_marks};

/// Fewest tools that share an opening.
const MIN_TOOLS: usize = 3;
/// Most words of a label such as `Tool description:`.
const LABEL_WORDS: usize = 4;
/// Most openings that are taken off one description.
const MAX_OPENINGS: usize = 4;

/// The sentences and labels with which at least [`MIN_TOOLS`] descriptions begin, while something follows.
#[derive(Debug, Default)]
pub struct SharedOpenings {
    counts: HashMap<String, usize>,
}

impl SharedOpenings {
    /// Finds the openings that descriptions share, layer by layer.
    pub fn of<'d>(descriptions: impl Iterator<Item = &'d str>) -> Self {
        let mut rests: Vec<&str> = descriptions.collect();
        let mut shared = Self::default();
        for _ in 0..MAX_OPENINGS {
            let opening = |rest: &&str| split(rest).map(|(opening, _)| without_marks(opening));
            let openings: Vec<String> = rests.par_iter().filter_map(opening).collect();
            let mut counts: HashMap<String, usize> = HashMap::new();
            openings.into_iter().for_each(|opening| *counts.entry(opening).or_default() += 1);
            counts.retain(|_, count| *count >= MIN_TOOLS);
            if counts.is_empty() {
                break;
            }
            shared.counts.extend(counts);
            rests = rests.into_par_iter().filter_map(|rest| shared.without_one(rest)).collect();
        }
        shared
    }

    /// The description without the openings that it shares with others.
    pub fn strip<'d>(&self, description: &'d str) -> &'d str {
        let rests = std::iter::successors(Some(description), |rest| self.without_one(rest));
        rests.take(MAX_OPENINGS + 1).last().unwrap_or(description)
    }

    fn without_one<'d>(&self, text: &'d str) -> Option<&'d str> {
        let (opening, rest) = split(text)?;
        self.counts.contains_key(&without_marks(opening)).then_some(rest)
    }
}

/// The label or the first sentence of a text, and the rest, which is not empty.
fn split(text: &str) -> Option<(&str, &str)> {
    let text = text.trim_start();
    let line = text.lines().next()?;
    let label =
        line.find(": ").map(|at| at + 1).filter(|&end| line[..end].split_whitespace().count() <= LABEL_WORDS);
    let end = label.unwrap_or_else(|| sentence_end(line));
    let rest = text[end..].trim_start();
    (!rest.is_empty()).then_some((&text[..end], rest))
}
