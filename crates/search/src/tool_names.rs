//! Tool names in a query: a query with the name of a tool wants that tool, whatever else it says.

use std::collections::BTreeSet;

use hashbrown::HashMap;
use indexmap::IndexSet;

use crate::actions::is_verb;
use crate::index::{Index, IndexEntry};
use crate::meaning::is_word;
use crate::stems::stemmed;
use crate::stop_words::is_stop;
use crate::words::{plain, words};
use toolcrib_catalog::called_names;

/// Longest query that can be a name, in bytes.
const MAX_NAME: usize = 200;
/// Most identifiers of a query that are looked up.
const MAX_IDENTIFIERS: usize = 200;

/// Shortest name that is known without its separators, in bytes.
const MIN_TOGETHER: usize = 8;

/// What separates the words of identifiers.
const SEPARATORS: [char; 6] = ['_', '.', '-', ':', '/', '#'];
/// What a query begins with that lists names.
const SELECTION: &str = "select:";
/// Words of a request that its name leaves out.
const ARTICLES: [&str; 7] = ["a", "an", "the", "this", "that", "my", "our"];

/// The letters and digits of a name: what is left if another program writes it.
pub(super) fn letters(name: &str) -> String {
    let mut text = String::with_capacity(name.len());
    words(name, |word| text.push_str(word));
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
        let is_selection = query.trim_start().starts_with(SELECTION);
        for (identifier, is_quoted) in identifiers(query).take(MAX_IDENTIFIERS) {
            let has_prefix = called_names(identifier).len() > 1;
            let is_meant = is_selection || is_quoted || has_prefix;
            all.extend(self.identified(identifier, is_meant));
        }
        all.into_iter().map(|entry| entry as usize).collect()
    }

    /// The entries with this name, in any letter case and with any separators.
    fn named(&self, name: &str) -> &[u32] {
        let respelled = || self.by_letters.get(&letters(name)).filter(|_| is_respelled(name));
        self.by_name.get(&name.to_lowercase()).or_else(respelled).map_or(&[], Vec::as_slice)
    }

    /// The entries whose name consists of just these words: `create issue` or `create an issue` for `create_issue`.
    fn named_in_words(&self, query: &str) -> &[u32] {
        let bare =
            || plain(query).into_iter().filter(|word| !ARTICLES.contains(&word.as_str())).collect::<String>();
        let known = self.by_letters.get(&letters(query));
        known.or_else(|| self.by_letters.get(&bare())).map_or(&[], Vec::as_slice)
    }

    /// The entries that an identifier names: as it stands, or without the prefixes that clients and paths add, as in
    /// `mcp__server__NAME`, `functions.NAME`, `select:NAME` and `tools/NAME.md`.
    fn identified(&self, identifier: &str, is_meant: bool) -> Vec<u32> {
        let can_be =
            |name: &str| if is_meant || is_no_word(name) { self.named(name).to_vec() } else { Vec::new() };
        if !is_meant && !is_no_word(identifier) {
            return self.written_together(identifier).to_vec();
        }
        let bare = identifier.strip_suffix(".md").unwrap_or(identifier);
        let ends =
            |separator: &'static str| bare.match_indices(separator).map(move |(at, _)| at + separator.len());
        // The longest first: `select:math.sum` wants `math.sum`.
        let places: BTreeSet<usize> = ["/", "__", ".", ":"].into_iter().flat_map(ends).collect();
        let endings = || places.iter().map(|at| &bare[*at..]);
        let beginnings = bare.match_indices(['-', ':', '/', '.']).map(|(at, _)| &bare[..at]);
        let mut names = [identifier, bare].into_iter().chain(endings()).chain(beginnings).map(can_be);
        let misspelled = || [bare].into_iter().chain(endings()).find_map(|name| self.misspelled(name));
        names.find(|found| !found.is_empty()).or_else(misspelled).unwrap_or_default()
    }

    /// The entries whose name a word is, without separators and in one letter case: `LISTFILES`. No ordinary word is a name.
    fn written_together(&self, word: &str) -> &[u32] {
        let word = word.to_lowercase();
        let is_name = word.len() >= MIN_TOGETHER && !is_word(&word);
        self.by_letters.get(&word).filter(|_| is_name).map_or(&[], Vec::as_slice)
    }

    /// The entries with the only name that is as near to an identifier as a slip. What consists of words that are spelled
    /// well is another name: `set_user` is no slip for `get_user`.
    fn misspelled(&self, identifier: &str) -> Option<Vec<u32>> {
        let is_known = |word: &String| is_word(word) || self.term(&stemmed(word)).is_some();
        if !is_no_word(identifier) || plain(identifier).iter().all(is_known) {
            return None;
        }
        self.by_letters.get(self.names.nearest(&letters(identifier))?).cloned()
    }
}

/// Possible names in a text, and whether each is quoted.
fn identifiers(text: &str) -> impl Iterator<Item = (&str, bool)> {
    let belongs = |c: char| c.is_ascii_alphanumeric() || SEPARATORS.contains(&c);
    text.split(move |c: char| !belongs(c)).filter(|run| !run.is_empty()).map(move |run| {
        let start = run.as_ptr() as usize - text.as_ptr() as usize;
        let is_quoted = text[..start].ends_with(['`', '"', '\'', '\u{201c}']);
        (run.trim_matches(|c: char| !c.is_ascii_alphanumeric() && c != '_'), is_quoted)
    })
}

/// Whether a word is an identifier and no word of a language.
fn is_no_word(name: &str) -> bool {
    let inner = || name.chars().skip(1);
    inner().any(|c| SEPARATORS.contains(&c) || c.is_ascii_digit())
        || name.chars().zip(inner()).any(|(one, next)| one.is_lowercase() && next.is_uppercase())
}

/// Whether an identifier with other separators is a name all the same. `sign-up` is a word, and `create-issue` a name.
fn is_respelled(name: &str) -> bool {
    let parts: Vec<&str> = name.split('-').collect();
    let [first, second] = parts[..] else { return true };
    name.contains(['_', '.', ':']) || !is_stop(second) && (is_verb(first) || is_verb(second))
}
