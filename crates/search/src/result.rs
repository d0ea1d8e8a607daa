//! A search request, and its result: hits with a verdict.

/// A query with its limits.
#[derive(Clone, Copy)]
pub struct SearchRequest<'q> {
    /// The query, in any words.
    pub query: &'q str,
    /// Filter of entries; `None` searches all entries.
    pub within: Option<&'q dyn Fn(usize) -> bool>,
    /// The most hits, unless the query names more entries: it wants all of these.
    pub limit: usize,
}

/// Hits and verdict.
#[derive(Clone, Debug, PartialEq)]
pub struct SearchResult {
    /// Whether any entry fits. With `no_match` the hits are the nearest entries.
    pub verdict: Verdict,
    /// Hits, best first; ties in the order of entries.
    pub hits: Vec<Hit>,
}

/// Whether any entry fits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The first entry is likely to fit.
    Match,
    /// Entries come near; whether one fits is not sure.
    Unsure,
    /// The language of the query is not known, and no entry has a word of it.
    UnknownLanguage,
    /// No entry comes near.
    NoMatch,
}

impl Verdict {
    /// The verdict where some hits may have been left out: without any, nothing fits.
    pub fn without_hits(self, is_empty: bool) -> Self {
        if is_empty && self != Verdict::UnknownLanguage { Verdict::NoMatch } else { self }
    }

    /// The word in answers: `match`, `unsure` or `no_match`. It is not known whether anything fits a query in an unknown
    /// language.
    pub fn as_str(self) -> &'static str {
        match self {
            Verdict::Match => "match",
            Verdict::Unsure | Verdict::UnknownLanguage => "unsure",
            Verdict::NoMatch => "no_match",
        }
    }
}

/// One entry that may fit.
#[derive(Clone, Debug, PartialEq)]
pub struct Hit {
    /// Its position among the entries.
    pub entry: usize,
    /// Score, comparable within one query only.
    pub score: f32,
    /// Probability that it is right, from 0 to 1; comparable between queries.
    pub confidence: f32,
    /// Reason for the hit, for people.
    pub reason: String,
}
