//! Counts the tokens of a text, offline: an estimate that needs no vocabulary, and exact counts.

mod byte_pairs;
mod estimate;
mod exact;
mod vocabulary;

pub use estimate::estimate;
pub use exact::{Counter, exact};
