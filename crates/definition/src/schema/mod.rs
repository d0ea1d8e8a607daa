//! JSON Schemas, read.
//!
//! 1. [`walk`] knows the keywords, and visits the subschemas of a schema; [`type_words`] knows the types.
//! 2. A [`Node`] is one place of a schema, read: its keywords as values, and the nodes below it. Its [`limits`] are
//!    numbers, its [`Kind`] is what its values are.
//! 3. [`mod@words`] puts a node in words, for pages, help, the site and payloads; [`mod@named_types`] are the definitions
//!    that have a name there. A [`FileContent`] is a text that stands for bytes.
//! 4. [`applied`] is everything that may apply to a value, also beyond what a node says: where secrets are concerned,
//!    too much is better than too little.

pub(crate) mod applied;
mod file_content;
pub mod limits;
mod named_types;
mod node;
pub mod type_words;
mod value_types;
pub mod walk;
pub mod words;

pub use file_content::FileContent;
pub use named_types::named_types;
pub use node::{Node, Property, TypeNames, last_segment};
pub use value_types::Kind;
