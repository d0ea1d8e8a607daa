//! Tool names in a query: a query with the name of a tool wants that tool, whatever else it says.

use hashbrown::HashMap;
use indexmap::IndexSet;

use crate::index::{Index, IndexEntry};
use crate::words::words;

/// Longest query that can be a name, in bytes.
const MAX_NAME: usize = 200;
/// Most identifiers of a query that are looked up.
const MAX_IDENTIFIERS: usize = 200;

/// Words of a request that its name leaves out.
const ARTICLES: [&str; 7] = ["a", "an", "the", "this", "that", "my", "our"];

pub(super) fn words_of_name(name: &str) -> String {
    let mut text = String::with_capacity(name.len());
    words(name, |word| text.extend([if text.is_empty() { "" } else { " " }, word]));
    text
}

/// The entries with each of these keys of names.
pub(super) fn by_name(entries: &[IndexEntry], key: impl Fn(&str) -> String) -> HashMap<String, Vec<u32>> {
    let mut named = HashMap::<String, Vec<u32>>::new();
    for (entry, place) in entries.iter().zip(0..) {
        for name in entry.exact.iter().map(|name| key(name)).filter(|name| !name.is_empty()) {
            let places = named.entry(name).or_default();
            if places.last() != Some(&place) {
                places.push(place);
            }
        }
    }
    named
}

impl Index {
    /// Positions of the entries that a query names, in its order. The query is the name, or consists of just the words
    /// of the name, or contains the name where it cannot be an ordinary word.
    pub fn named_in(&self, query: &str) -> IndexSet<usize> {
        let mut all = Vec::new();
        if query.len() <= MAX_NAME {
            all.extend(self.named(query.trim()));
            all.extend(self.named_in_words(query));
        }
        for (identifier, is_quoted) in identifiers(query).take(MAX_IDENTIFIERS) {
            all.extend(self.identified(identifier, is_quoted));
        }
        all.into_iter().map(|entry| entry as usize).collect()
    }

    /// The entries with this name, in any letter case.
    fn named(&self, name: &str) -> &[u32] {
        self.by_name.get(&name.to_lowercase()).map_or(&[], Vec::as_slice)
    }

    /// The entries whose name consists of just these words: `create issue` or `create an issue` for `create_issue`.
    fn named_in_words(&self, query: &str) -> &[u32] {
        let said = words_of_name(query);
        let bare = || said.split(' ').filter(|word| !ARTICLES.contains(word)).collect::<Vec<_>>().join(" ");
        self.by_words.get(&said).or_else(|| self.by_words.get(&bare())).map_or(&[], Vec::as_slice)
    }

    /// The entries that an identifier names: as it stands, or without the prefixes that clients and paths add, as in
    /// `mcp__server__NAME`, `functions.NAME` and `tools/NAME.md`.
    fn identified(&self, identifier: &str, is_quoted: bool) -> Vec<u32> {
        let can_be =
            |name: &str| if is_quoted || is_no_word(name) { self.named(name).to_vec() } else { Vec::new() };
        if !is_quoted && !is_no_word(identifier) && !identifier.contains(['_', '.', '-', ':', '/']) {
            return Vec::new();
        }
        let bare = identifier.strip_suffix(".md").unwrap_or(identifier);
        let ends =
            |separator: &'static str| bare.match_indices(separator).map(move |(at, _)| at + separator.len());
        let endings = ["/", "__", ".", ":"].into_iter().flat_map(ends).map(|at| &bare[at..]);
        let beginnings = bare.match_indices(['-', ':', '/', '.']).map(|(at, _)| &bare[..at]);
        let mut names = [identifier, bare].into_iter().chain(endings).chain(beginnings).map(can_be);
        names.find(|found| !found.is_empty()).unwrap_or_default()
    }
}

/// Possible names in a text, and whether each is quoted.
fn identifiers(text: &str) -> impl Iterator<Item = (&str, bool)> {
    let belongs = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-' | ':' | '/');
    text.split(move |c: char| !belongs(c)).filter(|run| !run.is_empty()).map(move |run| {
        let start = run.as_ptr() as usize - text.as_ptr() as usize;
        let is_quoted = text[..start].ends_with(['`', '"', '\'', '\u{201c}']);
        (run.trim_matches(|c: char| !c.is_ascii_alphanumeric() && c != '_'), is_quoted)
    })
}

/// Whether a word is an identifier and no word of a language.
fn is_no_word(name: &str) -> bool {
    let inner = || name.chars().skip(1);
    inner().any(|c| matches!(c, '_' | '.' | '-' | ':') || c.is_ascii_digit())
        || name.chars().zip(inner()).any(|(one, next)| one.is_lowercase() && next.is_uppercase())
}
