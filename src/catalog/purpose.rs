//! The purpose of a category in one line, from the names of its tools: what they do, and to what.

use indexmap::IndexMap;

use super::short::{self, Cap};
use super::{Catalog, Tool};
use crate::config::Category;
use crate::tool::grammar::{WordClass, singular};
use crate::tool::{CategoryPath, clean_line, clean_text, words};

/// Most verbs, and most nouns, of a purpose.
const MAX_WORDS: usize = 4;
/// Most characters of a word: a longer one is no word.
const MAX_CHARS: usize = 30;
/// Most tools whose names are read: the words of more would be the same.
const MAX_TOOLS: usize = 400;

impl Catalog {
    /// The `[[category]]` entry of a path.
    pub(super) fn configured_category(&self, path: &str) -> Option<&Category> {
        let is_about = |known: &str| CategoryPath::parse(known).is_some_and(|known| known.as_str() == path);
        self.config.categories.iter().find(|category| is_about(&category.path))
    }

    /// The purpose of a category: in its author's words if there are any, else from the names of these tools.
    pub fn purpose(&self, path: &str, tools: &[&Tool]) -> String {
        let summary =
            self.configured_category(path).and_then(|category| category.summary.as_deref()).map(clean_line);
        summary.filter(|summary| !summary.is_empty()).unwrap_or_else(|| in_words(path, tools))
    }
}

/// The descriptions of sources that tell more than the title does, each as one short line.
pub(super) fn of_sources(described: Vec<Category>) -> impl Iterator<Item = Category> {
    described.into_iter().filter_map(|category| {
        let text = clean_text(category.summary.as_deref()?);
        let summary = short::derive(&category.path, &text, Cap::default());
        tells_more(&category.path, &summary).then_some(Category { summary: Some(summary), ..category })
    })
}

/// Whether two words of a text are neither in the title nor in what any description of a category says.
fn tells_more(title: &str, text: &str) -> bool {
    const FILLERS: [&str; 22] = [
        "api", "access", "all", "allow", "endpoint", "group", "interact", "interface", "manage",
        "management", "operation", "perform", "provide", "related", "request", "resource", "rest", "service",
        "set", "tool", "use", "used",
    ];
    let title: Vec<String> = words(title).iter().map(|word| singular(word)).collect();
    let tells = |word: &String| {
        let word = singular(word);
        WordClass::of(&word) != WordClass::Empty
            && !FILLERS.contains(&word.as_str())
            && !title.contains(&word)
    };
    words(text).iter().filter(|word| word.len() > 2).filter(|word| tells(word)).nth(1).is_some()
}

/// `create, list, update; comments, reactions`.
fn in_words(path: &str, tools: &[&Tool]) -> String {
    let title: Vec<String> = words(path).iter().map(|word| singular(word)).collect();
    let (mut verbs, mut nouns) = (Counts::default(), Counts::default());
    for tool in tools.iter().take(MAX_TOOLS) {
        let mut is_lead = true;
        for word in words(&tool.name).into_iter().filter(|word| word.chars().count() <= MAX_CHARS) {
            let class = WordClass::of(&word);
            let is_verb = class == WordClass::Verb || (class == WordClass::VerbOrNoun && is_lead);
            if title.contains(&singular(&word)) || class == WordClass::Empty {
                continue;
            }
            if is_verb && is_lead {
                verbs.add(word.clone(), word);
            } else if matches!(class, WordClass::Noun | WordClass::VerbOrNoun) && word.len() > 2 {
                nouns.add(singular(&word), word);
            }
            is_lead = false;
        }
    }
    let parts = [verbs.frequent().join(", "), nouns.frequent().join(", ")];
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("; ")
}

/// Number of times that each word was counted, with the form in which it came first.
#[derive(Default)]
struct Counts(IndexMap<String, (usize, String)>);

impl Counts {
    fn add(&mut self, word: String, form: String) {
        self.0.entry(word).or_insert((0, form)).0 += 1;
    }

    /// The most frequent words, the earlier first where two are equal.
    fn frequent(mut self) -> Vec<String> {
        self.0.sort_by(|_, one, _, other| other.0.cmp(&one.0));
        self.0.into_values().take(MAX_WORDS).map(|(_, form)| form).collect()
    }
}
