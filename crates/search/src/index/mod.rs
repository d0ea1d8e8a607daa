//! The words of all entries, in memory.
//!
//! 1. An [`entry`] is a tool or a category, as texts with a field each; [`tool_entry`] reads a tool.
//! 2. The [`builder`] reads the words of entries: their weights ([`bm25`]), names and [`groups`].
//! 3. The [`inverted`] index has the entries of each term.

mod bm25;
mod builder;
mod entry;
mod groups;
mod inverted;
mod tool_entry;

pub(crate) use entry::SHOWN;
pub use entry::{Field, IndexEntry};
pub use inverted::Index;
pub(crate) use inverted::Term;
