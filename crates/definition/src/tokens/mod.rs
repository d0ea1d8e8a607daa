//! Counts the tokens of a text, offline.

mod byte_pairs;
mod count;
mod vocabulary;

pub use count::{Counter, token_count};
