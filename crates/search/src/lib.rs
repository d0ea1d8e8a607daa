//! Search: ranks the tools that fit a query, or finds that none does.
//!
//! 1. An [`IndexEntry`] is a tool or a category, as texts with a field each.
//! 2. [`Index`] holds the words of all entries in memory: [`words`] splits texts, [`index`] numbers the words, and each
//!    entry and word has a [`meaning`]. [`actions`] gives the action of an entry, and [`contraries`] the verbs that undo it.
//! 3. A [`SearchRequest`] is read as a [`query`], with its [`spelling`] corrected, its [`synonyms`], and [`translations`]
//!    from other languages. Entries whose [`tool_names`] are in the query come first.
//! 4. The [`candidate`] entries are put in order by [`rank`] and [`nearness`], each with a [`confidence`] and a [`reason`]; with the
//!    verdict, they are the [`SearchResult`].

mod actions;
mod candidate;
mod confidence;
mod contraries;
mod index;
mod meaning;
pub mod model;
mod nearness;
pub mod pick;
mod query;
mod rank;
mod reason;
mod result;
#[cfg(feature = "runtime")]
pub mod semantic;
mod spelling;
mod stems;
mod stop_words;
mod synonyms;
#[cfg(test)]
mod tests;
mod tool_names;
mod translations;
mod words;

pub use confidence::Term;
pub use index::{Field, Index, IndexEntry};
pub use rank::Observation;
pub use result::{Hit, SearchRequest, SearchResult, Verdict};
