//! Names that stand in a query: whoever writes one wants that tool, whatever else is said.

use super::index::Index;

/// Longer queries are no names.
const MAX_NAME: usize = 200;
/// How many identifiers of a query are looked up.
const MAX_IDENTIFIERS: usize = 200;

impl Index {
    /// The places of the entries that a query names.
    pub fn named_in(&self, query: &str) -> impl Iterator<Item = usize> {
        self.mentioned(query).into_iter().map(|entry| entry as usize)
    }

    /// The entries that a query names, in the order in which it does: it is the name, it says just the words of the name,
    /// or the name stands in it and can be nothing else.
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

    /// The entries that an identifier names: as it stands, or without what clients and paths put around a name, as in
    /// `mcp__server__NAME`, `functions.NAME` and `tools/NAME.md`.
    fn identified(&self, identifier: &str, is_quoted: bool) -> &[u32] {
        let can_be = |name: &str| if is_quoted || is_no_word(name) { self.named(name) } else { &[] };
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
        names.into_iter().find(|found| !found.is_empty()).unwrap_or(&[])
    }
}

/// What stands in a text and may be a name, and whether it is quoted.
fn identifiers(text: &str) -> impl Iterator<Item = (&str, bool)> {
    let belongs = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-' | ':' | '/');
    text.split(move |c: char| !belongs(c)).filter(|run| !run.is_empty()).map(move |run| {
        let start = run.as_ptr() as usize - text.as_ptr() as usize;
        let is_quoted = text[..start].ends_with(['`', '"', '\'', '\u{201c}']);
        (run.trim_matches(|c: char| !c.is_ascii_alphanumeric() && c != '_'), is_quoted)
    })
}

/// Whether something is an identifier and no word of a language.
fn is_no_word(name: &str) -> bool {
    let inner = || name.chars().skip(1);
    inner().any(|c| matches!(c, '_' | '.' | '-' | ':') || c.is_ascii_digit())
        || name.chars().zip(inner()).any(|(one, next)| one.is_lowercase() && next.is_uppercase())
}
