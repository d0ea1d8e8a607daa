//! Writes untrusted text as Markdown. Whatever the text contains, it stays text, and cannot leave its place.
//!
//! [`inline()`] and [`name`] write one line, [`mod@code`] code, and [`mod@prose`] a block of several lines. [`links`] knows links,
//! and [`markers`] the comments that only toolcrib writes.

mod code;
mod inline;
mod links;
mod markers;
mod plain;
pub mod prose;
#[cfg(test)]
mod tests;

pub(crate) use code::{code, fence};
pub use inline::{inline, name};
pub(crate) use markers::without_markers;
pub use prose::prose;
