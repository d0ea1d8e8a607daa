//! Search: ranks the tools that fit a query, or finds that none does.
//!
//! 1. An [`IndexEntry`] is a tool or a category, as texts with a field each.
//! 2. [`Index`] holds the words of all entries in memory: [`words`] splits texts, [`index`] numbers the words, and each
//!    entry and word has a [`meaning`]. [`actions`] gives the action of an entry, and [`contraries`] the verbs that undo it.
//! 3. A [`SearchRequest`] is read as a [`query`], with its spelling corrected and words of other languages translated
//!    ([`thesaurus`]), and gets a [`SearchResult`]: entries in the order of [`rank`], each with a [`confidence`] and a
//!    reason, and a verdict.

mod actions;
mod confidence;
mod contraries;
mod index;
mod meaning;
pub mod model;
pub mod pick;
mod query;
mod rank;
#[cfg(feature = "runtime")]
pub mod semantic;
#[cfg(test)]
mod tests;
mod thesaurus;
mod words;

pub use confidence::Term;
pub use index::{Field, Index, IndexEntry};
pub use rank::Observation;

/// A query with its limits.
#[derive(Clone, Copy)]
pub struct SearchRequest<'q> {
    /// The query, in any words.
    pub query: &'q str,
    /// Filter of entries; `None` searches all entries.
    pub within: Option<&'q dyn Fn(usize) -> bool>,
    /// The most hits.
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
    /// No entry comes near.
    NoMatch,
}

impl Verdict {
    /// The word in answers: `match`, `unsure` or `no_match`.
    pub fn as_str(self) -> &'static str {
        match self {
            Verdict::Match => "match",
            Verdict::Unsure => "unsure",
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
