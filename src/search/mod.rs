//! Search: ranks the tools that fit a query, or finds that none does.
//!
//! 1. An [`IndexEntry`] is a tool or a category, as texts with a field each.
//! 2. [`Index`] holds the words of all entries in memory: [`words`] splits texts, [`index`] numbers the words,
//!    [`topics`] computes topic vectors of entries and queries, with the help of a [`thesaurus`].
//! 3. A [`SearchRequest`] is read as a [`query`], with its spelling corrected, and gets a [`SearchResult`]: entries in
//!    the order of [`rank`], each with a [`confidence`] and a reason, and a verdict. The [`clauses`] of a long query are
//!    searched too.

mod clauses;
mod confidence;
mod index;
pub mod pick;
mod query;
mod rank;
#[cfg(feature = "runtime")]
pub mod semantic;
#[cfg(test)]
mod tests;
mod thesaurus;
mod topics;
mod words;

pub use confidence::Term;
pub use index::{Field, Index, IndexEntry};
pub use rank::Observation;

/// A query with its limits.
#[derive(Clone, Copy)]
pub struct SearchRequest<'q> {
    /// The query, in any words.
    pub query: &'q str,
    /// Filter of entries; all count when there is none.
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
    /// An entry fits.
    Match,
    /// No entry fits, as far as words can tell.
    NoMatch,
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
