//! Documents: JSON, YAML and TOML as values, within limits, and the places of these values in their text.
//!
//! 1. [`open`] and [`Document::read`] read a source; JSON with mistakes is mended as far as it goes.
//! 2. A [`Reader`] makes a value one of our types, field by field, and reports what does not fit.
//! 3. [`locate()`] turns the JSON Pointers of findings into lines and columns, once, when all findings are known.

mod any_value;
mod coerced_value;
mod document_error;
mod foreign_json;
mod json;
mod json_wrappings;
mod line_columns;
mod locate;
mod mended_json;
mod open_file;
mod pointer;
mod pointer_tree;
mod resolve_ref;
mod source;
mod toml;
mod typed;
mod yaml;

pub use coerced_value::{plain_flag, plain_number};
pub use foreign_json::{MAX_OTHERS_VALUES, from_json, from_json_bytes, from_others, has_too_many_values};
pub use json_wrappings::without_comments;
pub(crate) use line_columns::Cursor;
pub use locate::locate;
pub use mended_json::well_formed;
pub use open_file::open;
pub use pointer::{pointer_join, pointer_push, pointer_split, pointer_to, pointer_unescape};
pub use resolve_ref::{SchemaNames, percent_decoded, resolve_local};
pub use source::{Document, Format, MAX_BYTES, Unread};
pub use typed::{Reader, schema_of};
