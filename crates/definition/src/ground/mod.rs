//! The ground that every crate stands on: nothing here knows tools.

pub mod clean_text;
mod embedded_files;
pub mod panic_guard;
pub mod private_file;
mod within;

pub use within::is_within;
