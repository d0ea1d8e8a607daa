//! The nouns of one tool, free of I/O: definitions as authors write them, schemas kept verbatim,
//! names, effects, and the cleaning of untrusted text.

mod backend;
mod category;
mod definition;
mod effect;
pub mod grammar;
mod name;
mod schema;
mod text;

pub use backend::{ArgumentPlace, Backend, CommandBackend, HttpBackend, Location, Stdin, Style};
pub use backend::{REFERENCE_KEYS, Reference, Step, StepsBackend};
pub use category::CategoryPath;
pub use definition::{
    Definition, DefinitionKind, DescriptionMode, Effect, Example, NoSchemaMode, Policy, WhenForbidden,
};
pub use name::{each_word, hashed_name, is_reserved, is_respelled, safe_names, slug, words};
pub use schema::{Schema, compact};
pub use text::{beginning, clean_line, clean_text, clipped, hidden_characters, is_hidden, quoted};
