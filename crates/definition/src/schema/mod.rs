//! JSON Schemas, read.
//!
//! 1. [`walk`] knows the keywords, and visits the subschemas of a schema; [`type_words`] knows the types.
//! 2. A [`SchemaView`] is one place of a schema as readers take it: its `$ref`, its `allOf` and its one alternative beside
//!    null read as one.
//! 3. [`mod@words`] puts a view in words, for pages, help, the site and payloads.

pub mod type_words;
mod value_types;
mod view;
pub mod walk;
pub mod words;

pub use value_types::Kind;
pub use view::{Property, SchemaView, last_segment};
