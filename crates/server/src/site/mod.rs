//! Web pages for people, from a catalog: the same for a server and for a folder of static files.
//!
//! 1. [`index`] gathers the data that all pages share once per catalog: the tree of categories, paths, the listed
//!    tools.
//! 2. [`pages`] finds what is at a path: the file that makes the values of its template, and
//!    [`frame`] the frame around it; [`text`] turns the safe markdown of [`toolcrib_render`] into safe HTML.
//! 3. [`Site::files`] returns the whole site as a folder of files, with the docs.
//!
//! The size of a page depends on its own content, never on the size of the catalog, since lists are split into pages.

mod argument_table;
mod categories;
mod code_samples;
mod context;
mod findings;
mod form;
mod frame;
mod index;
mod not_found;
mod pages;
mod payloads;
mod profiles;
mod search;
mod text;
mod tool;
mod try_it;

pub use context::{CONTENT_SECURITY_POLICY, Connect, Page, Person, Site};
pub use index::SiteIndex;
pub(crate) use pages::asset_type;
pub(crate) use search::MAX_QUERY;
pub(crate) use text::{cut, inline_html, json_text, short_line};
pub use try_it::Attempt;
