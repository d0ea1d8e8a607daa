//! The nouns of one tool, free of I/O: definitions as authors write them, schemas kept verbatim,
//! names, effects, and the cleaning of untrusted text.

mod backend;
mod category;
mod definition;
pub mod grammar;
mod name;

pub use backend::{ArgumentPlace, Backend, CommandBackend, HttpBackend, Location, Stdin, Style};
pub use backend::{REFERENCE_KEYS, Reference, Step, StepsBackend};
pub use category::CategoryPath;
pub use definition::{
    Definition, DefinitionKind, DescriptionMode, Effect, Example, NoSchemaMode, Policy, WhenForbidden,
};
pub use definition::{Schema, compact};
pub use name::{beginning, clean_line, clean_text, clipped, hidden_characters, is_hidden, quoted};
pub use name::{each_word, hashed_name, is_reserved, is_respelled, safe_names, slug, words};
