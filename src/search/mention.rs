//! Tool names in a query: a query with the name of a tool wants that tool, whatever else it says.

use super::index::Index;

/// Longest query that can be a name, in bytes.
const MAX_NAME: usize = 200;
/// Most identifiers of a query that are looked up.
const MAX_IDENTIFIERS: usize = 200;

impl Index {
    /// Positions of the entries that a query names.
    pub fn named_in(&self, query: &str) -> impl Iterator<Item = usize> {
        self.mentioned(query).into_iter().map(|entry| entry as usize)
    }

    /// The entries that a query names, in its order. The query is the name, or consists of just the words of the
    /// name, or contains the name where it cannot be an ordinary word.
    pub(super) fn mentioned(&self, query: &str) -> Vec<u32> {
        let mut all = Vec::new();
        if query.len() <= MAX_NAME {
            all.extend(self.named(query.trim()));
            all.extend(self.named_in_words(query));
        }
        for (identifier, is_quoted) in identifiers(query).take(MAX_IDENTIFIERS) {
            all.extend(self.identified(identifier, is_quoted));
        }
        let mut seen = hashbrown::HashSet::new();
        all.retain(|entry| seen.insert(*entry));
        all
    }

    /// The entries that an identifier names: as it stands, or without the prefixes that clients and paths add, as in
    /// `mcp__server__NAME`, `functions.NAME` and `tools/NAME.md`.
    fn identified(&self, identifier: &str, is_quoted: bool) -> Vec<u32> {
        let can_be = |name: &str| match is_quoted || is_no_word(name) {
            true => self.named(name).to_vec(),
            false => Vec::new(),
        };
        if !is_quoted && !is_no_word(identifier) && !identifier.contains(['_', '.', '-', ':', '/']) {
            return Vec::new();
        }
        let found = can_be(identifier);
        if !found.is_empty() {
            return found;
        }
        let bare = identifier.strip_suffix(".md").unwrap_or(identifier);
        let ends =
            |separator: &'static str| bare.match_indices(separator).map(move |(at, _)| at + separator.len());
        let endings = ["/", "__", ".", ":"].into_iter().flat_map(ends).map(|at| &bare[at..]);
        let beginnings = bare.match_indices(['-', ':', '/', '.']).map(|(at, _)| &bare[..at]);
        let names = std::iter::once(bare).chain(endings).chain(beginnings).map(can_be);
        names.into_iter().find(|found| !found.is_empty()).unwrap_or_default()
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
