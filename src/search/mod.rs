//! Search: which tools fit what somebody wants, or that none does.
//!
//! 1. An [`IndexEntry`] is what can be found: a tool or a category, as texts with a field each.
//! 2. [`Index`] holds the words of all entries in memory: [`words`] takes texts apart, [`vocabulary`] numbers them,
//!    [`topics`] says what an entry is about, with the help of a [`thesaurus`].
//! 3. A [`SearchRequest`] is read as a [`query`], mended by [`spelling`], and gets [`SearchResult`]: entries in the order of [`rank`],
//!    each with a [`reason`] and a [`confidence`], and a verdict.

mod candidate;
mod confidence;
mod entry;
mod index;
mod intent;
mod mention;
pub mod pick;
mod query;
mod rank;
mod reason;
mod reference_tools;
mod segment;
pub mod semantic;
mod spelling;
#[cfg(test)]
mod tests;
mod thesaurus;
mod tool;
mod topics;
mod vocabulary;
mod words;

pub use entry::{Field, IndexEntry};
pub use index::Index;

/// Reads the lists of words that searches need, in all languages; the first time that takes a while.
pub fn load() {
    thesaurus::foreign("");
    let entry = IndexEntry { exact: Vec::new(), texts: vec![(Field::Long, "load 一".into())] };
    Index::new(&[entry]).find(SearchRequest { query: "load 一", within: None, limit: 1 });
}

/// What is asked for.
#[derive(Clone, Copy)]
pub struct SearchRequest<'q> {
    /// In anybody's words.
    pub query: &'q str,
    /// Which entries count; all when there is none.
    pub within: Option<&'q dyn Fn(usize) -> bool>,
    /// The most hits.
    pub limit: usize,
}

/// What fits.
#[derive(Clone, Debug, PartialEq)]
pub struct SearchResult {
    /// Whether anything does. Hits may be there all the same: the nearest.
    pub verdict: Verdict,
    /// Best first; ties in the order of entries.
    pub hits: Vec<Hit>,
}

/// Whether anything fits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Something does.
    Match,
    /// Nothing does, as far as words can tell.
    NoMatch,
}

/// One entry that may fit.
#[derive(Clone, Debug, PartialEq)]
pub struct Hit {
    /// Its place among the entries.
    pub entry: usize,
    /// How well it fits, against other hits of the same query.
    pub score: f32,
    /// How likely it is what was wanted, from 0 to 1; the same from query to query.
    pub confidence: f32,
    /// Why it is here, for people.
    pub reason: String,
}
