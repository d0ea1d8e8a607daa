//! The purpose of a category in one line: in its author's words, else from the names of its tools, what they do, and to what.

use indexmap::IndexMap;

use crate::catalog::Catalog;
use crate::config::{Category, ShortDescription as Cap};
use crate::short::first_sentence::is_disclaimer;
use crate::short::{capitalised, derive};
use crate::title::{bare, spelled};
use crate::tool::Tool;
use toolcrib_definition::grammar::{WordClass, plural, singular};
use toolcrib_definition::markdown::from_html;
use toolcrib_definition::{CategoryPath, beginning, clean_line, clean_text, words};

/// Most verbs, and most nouns, of a purpose.
const MAX_WORDS: usize = 4;
/// Most characters of a word: a longer one is no word.
const MAX_CHARS: usize = 30;
/// Most tools whose names are read: the words of more would be the same.
const MAX_TOOLS: usize = 400;
/// Most nouns of a purpose, and most characters of a description that are read for them.
const MAX_NOUNS: usize = 3;
const MAX_READ: usize = 300;

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
pub(super) fn purposes_of_sources(described: Vec<Category>) -> impl Iterator<Item = Category> {
    described.into_iter().filter_map(|category| {
        let text = from_html(category.summary.as_deref()?);
        let text = clean_text(&text);
        let summary = derive(&category.path, &text, Cap::default());
        let is_purpose = tells_more(&category.path, &summary) && !is_disclaimer(&summary);
        is_purpose.then_some(Category { summary: Some(summary), ..category })
    })
}

/// Whether a text says more than the title does.
fn tells_more(title: &str, text: &str) -> bool {
    const FILLERS: [&str; 12] = [
        "api", "endpoint", "group", "method", "operation", "reference", "related", "resource", "rest",
        "route", "service", "tool",
    ];
    let title: Vec<String> = words(title).iter().map(|word| singular(word)).collect();
    let tells = |word: &String| {
        let word = singular(word);
        !matches!(WordClass::of(&word), WordClass::Empty | WordClass::Preposition)
            && !FILLERS.contains(&word.as_str())
            && !title.contains(&word)
    };
    words(text).iter().any(tells) && words(text).len() > 1
}

/// `Create, list and update issue comments`.
pub fn in_words(path: &str, tools: &[&Tool]) -> String {
    let title = words(path.rsplit('/').next().unwrap_or(path));
    let titles: Vec<String> = words(path).iter().map(|word| singular(word)).collect();
    let mut verbs = Counts::default();
    let mut nouns = Counts::default();
    let mut is_object = false;
    for tool in tools.iter().take(MAX_TOOLS) {
        let name: Vec<String> = words(&tool.names.canonical)
            .into_iter()
            .filter(|word| word.chars().count() <= MAX_CHARS)
            .collect();
        is_object |= title.iter().all(|word| name.iter().any(|of_name| singular(of_name) == singular(word)));
        let is_verb = |word: &String, leads: bool| match WordClass::of(word) {
            WordClass::Verb => true,
            WordClass::VerbOrNoun => leads && name.len() > 1,
            _ => false,
        };
        let verb = name.first().filter(|word| is_verb(word, true));
        let is_behind = name.first().is_some_and(|first| titles.contains(&singular(first)));
        let verb = verb.or_else(|| name.last().filter(|word| is_verb(word, is_behind)));
        if let Some(verb) = verb.filter(|verb| !titles.contains(&singular(verb))) {
            verbs.add(verb.clone(), verb.clone());
        }
        for word in name.iter().filter(|word| Some(*word) != verb && word.len() > 2) {
            let is_noun = matches!(WordClass::of(word), WordClass::Noun | WordClass::VerbOrNoun);
            if is_noun && !titles.contains(&singular(word)) {
                nouns.add(singular(word), word.clone());
            }
        }
    }
    // The name of a server is no object.
    let is_server = tools.first().and_then(|tool| tool.origin.server.as_deref()).is_some_and(|server| {
        let name = path.rsplit('/').next().unwrap_or(path);
        words(bare(server)) == words(name)
    });
    let objects = if is_object && !is_server {
        let (last, before) = title.split_last().map_or(("", &[][..]), |(last, before)| (last, before));
        let before = before.iter().cloned().chain([in_plural(last, tools)]).map(spelled);
        before.collect::<Vec<_>>().join(" ")
    } else {
        let nouns = nouns.frequent().into_iter().filter(|noun| !noun.contains(|c: char| c.is_ascii_digit()));
        listed(&nouns.take(MAX_NOUNS).map(|noun| spelled(in_plural(&noun, tools))).collect::<Vec<_>>())
    };
    match listed(&verbs.frequent()) {
        _ if objects.is_empty() => String::new(),
        verbs if verbs.is_empty() => format!("Work with {objects}"),
        verbs => capitalised(&format!("{verbs} {objects}")),
    }
}

/// A noun in the plural where a tool has the plural, lists it, or counts the noun: `an invite`.
fn in_plural(noun: &str, tools: &[&Tool]) -> String {
    let many = plural(&singular(noun));
    let counted = [format!("a {noun} "), format!("an {noun} "), format!("a {noun}."), format!("an {noun}.")];
    let says = |tool: &&Tool| {
        let description = beginning(&tool.texts.description, MAX_READ).to_lowercase();
        let name = words(&tool.names.canonical);
        name.contains(&many)
            || (name.iter().any(|word| word == "list") && name.iter().any(|word| word == noun))
            || counted.iter().any(|counted| description.contains(counted))
            || (description.contains(&many) && words(&description).contains(&many))
    };
    if tools.iter().take(MAX_TOOLS).any(says) { many } else { noun.to_string() }
}

/// `a, b and c`.
fn listed(words: &[String]) -> String {
    match words {
        [] => String::new(),
        [only] => only.clone(),
        [before @ .., last] => format!("{} and {last}", before.join(", ")),
    }
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
