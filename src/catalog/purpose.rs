//! The purpose of a category in one line, from the names of its tools: what they do, and to what.

use indexmap::IndexMap;

use super::{Catalog, Tool};
use crate::tool::grammar::{WordClass, plural, singular};
use crate::tool::{CategoryPath, clean_line, words};

/// Most verbs, and most nouns, of a purpose.
const MAX_WORDS: usize = 4;
/// Most tools whose names are read: the words of more would be the same.
const MAX_TOOLS: usize = 400;

impl Catalog {
    /// The purpose of a category: in its author's words if there are any, else from the names of these tools.
    pub fn purpose(&self, path: &str, tools: &[&Tool]) -> String {
        let is_about = |known: &str| CategoryPath::parse(known).is_some_and(|known| known.as_str() == path);
        let configured = self.config.categories.iter().find(|category| is_about(&category.path));
        let summary = configured.and_then(|category| category.summary.as_deref()).map(clean_line);
        summary.filter(|summary| !summary.is_empty()).unwrap_or_else(|| in_words(path, tools))
    }
}

/// `Create, list, update; comments, reactions`.
fn in_words(path: &str, tools: &[&Tool]) -> String {
    let said: Vec<String> = words(path).iter().map(|word| singular(word)).collect();
    let (mut verbs, mut nouns): (IndexMap<String, usize>, IndexMap<String, usize>) = Default::default();
    for tool in tools.iter().take(MAX_TOOLS) {
        let mut is_lead = true;
        for word in words(&tool.name) {
            match WordClass::of(&word) {
                WordClass::Verb | WordClass::VerbOrNoun if is_lead && !said.contains(&word) => {
                    is_lead = false;
                    *verbs.entry(word).or_default() += 1;
                }
                WordClass::Noun | WordClass::VerbOrNoun
                    if !said.contains(&singular(&word)) && word.len() > 2 =>
                {
                    is_lead = false;
                    *nouns.entry(singular(&word)).or_default() += 1;
                }
                _ => {}
            }
        }
    }
    let nouns = frequent(nouns).into_iter().map(|noun| if said.is_empty() { noun } else { plural(&noun) });
    let parts = [frequent(verbs).join(", "), nouns.collect::<Vec<_>>().join(", ")];
    let parts: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    parts.join("; ")
}

/// The most frequent words, the earlier first where two are equal.
fn frequent(mut counts: IndexMap<String, usize>) -> Vec<String> {
    counts.sort_by(|_, one, _, other| other.cmp(one));
    counts.into_keys().take(MAX_WORDS).collect()
}
