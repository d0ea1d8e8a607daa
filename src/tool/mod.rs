//! The nouns of one tool, free of I/O: definitions as authors write them, schemas kept verbatim,
//! names, effects, and the cleaning of untrusted text.

mod backend;
mod category;
mod definition;
pub mod grammar;
mod name;

pub use backend::{
    ArgumentPlace, Backend, CommandBackend, HttpBackend, Location, REFERENCE_KEYS, Reference, ReferenceError,
    Stdin, Step, StepsBackend, Style,
};
pub use category::CategoryPath;
pub use definition::{
    Definition, DefinitionKind, DescriptionMode, Effect, Example, NoSchemaMode, Policy, Schema,
    WhenForbidden, compact,
};
pub use name::{
    beginning, clean_line, clean_text, clipped, each_word, hashed_name, hidden_characters, is_hidden,
    is_reserved, is_respelled, quoted, safe_names, slug, words,
};
