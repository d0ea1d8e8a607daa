//! Counts the tokens of a text, offline.

mod count;
mod pieces;
mod vocabulary;

pub use count::{Counter, token_count};
