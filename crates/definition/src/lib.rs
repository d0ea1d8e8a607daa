//! The types that describe one tool, without I/O: definitions as authors write them, schemas kept verbatim,
//! names, effects, and the cleaning of untrusted text.

mod backend;
mod definition;
pub mod finding;
pub mod grammar;
pub mod guard;
pub mod markup;
mod name;
pub mod private_file;
pub mod schema;
pub mod secret;
pub mod tokens;

pub use backend::{
    ArgumentPlace, Backend, CommandBackend, HttpBackend, Location, REFERENCE_KEYS, Reference, ReferenceError,
    Stdin, Step, StepsBackend, Style, path_variables,
};
pub use definition::{
    CategoryPath, Definition, DefinitionKind, DescriptionMode, Effect, Example, NoSchemaMode, Policy, Schema,
    WhenForbidden, compact,
};
pub use name::{
    beginning, clean_line, clean_text, clipped, each_word, hashed_name, hidden_characters, is_hidden,
    is_reserved, is_respelled, matches_glob, quoted, safe_names, slug, words,
};

/// The named files of a folder of a crate, each as its path and its text. `tests/tidy.rs` checks that the list is complete.
#[macro_export]
macro_rules! embedded_files {
    ($folder:literal: $($file:literal),+ $(,)?) => {
        [$(($file, include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/", $folder, "/", $file)))),+]
    };
}
