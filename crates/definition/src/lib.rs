//! The types that describe one tool, without I/O: definitions as authors write them, schemas kept verbatim, names, and
//! findings about them. Below them is the [`ground`] that every crate stands on.

mod backend;
mod category_path;
mod definition;
pub mod document;
mod effect_words;
pub mod finding;
pub mod grammar;
pub mod ground;
pub mod markdown;
pub mod media_type;
mod name;
mod near_names;
mod raw_schema;
pub mod schema;
pub mod secret;
pub mod tokens;

pub use backend::{
    ArgumentPlace, Backend, CommandBackend, HttpBackend, Location, REFERENCE_KEYS, RESERVED_HEADERS,
    Reference, ReferenceError, Stdin, Step, StepsBackend, Style, path_variables,
};
pub use category_path::CategoryPath;
pub use definition::{
    Definition, DefinitionKind, DescriptionMode, Effect, Example, NoSchemaMode, Policy, WhenForbidden,
};
pub use ground::clean_text::{
    beginning, clean_line, clean_text, clipped, hidden_characters, is_hidden, quoted,
};
pub use ground::{panic_guard as guard, private_file};
pub use name::{
    each_word, hashed_name, is_reserved, is_respelled, listed_name, matches_glob, safe_names, slug, words,
};
pub use raw_schema::{Schema, compact};
