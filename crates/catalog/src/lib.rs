//! Raw tools in, one checked catalog out; immutable once built. [`mod@open`] shows the steps.
//!
//! 1. [`names`] makes canonical names unique: tools of several servers that share one are qualified.
//! 2. Each tool is assembled by itself, in parallel ([`assemble`]): overlays are applied, programs that the operator does
//!    not trust are removed ([`trust`]), arguments get the operator's values (`schema::set_arguments`), text is cleaned, docstrings
//!    are taken apart ([`docstring`]), missing fields are derived ([`short`], [`policy`], [`names`], [`sample`]), and its
//!    schema is repaired and compiled once ([`schema`]).
//! 3. [`structure`] derives categories and ops where the source names none.
//! 4. [`names`] maps safe names, and settles ops and aliases between tools with the same audience; [`audience`] makes
//!    sure that no name depends on a tool that some of its callers cannot see. [`steps`] settles the effects of tools that
//!    call others.
//! 5. [`lint`] looks at tools and at pairs of them, once all findings are asked for; the configuration sets their
//!    severities ([`findings`]).
//! 6. [`mod@registry`] writes the content down and hashes it: the registry version.
//! 7. A [`catalog`] finds tools by name ([`resolve`]). [`profile`] selects the tools of one kind of agent; [`tree`] is the
//!    tree of their categories, with a [`purpose`] each, and [`redacted`] the form of a tool for callers who may see but not
//!    call it. [`mod@definition`] writes a [`tool`] back as a definition.

pub mod arguments;
mod assemble;
mod audience;
mod catalog;
pub mod config;
mod definition;
mod docstring;
mod findings;
mod function_definitions;
mod lint;
mod names;
mod open;
mod own_functions;
mod own_output;
mod plain_text;
mod policy;
mod profile;
mod purpose;
mod redacted;
mod registry;
mod resolve;
pub mod results;
mod sample;
mod schema;
mod short;
pub mod sources;
mod steps;
mod structure;
mod title;
mod tool;
mod tree;
mod trust;

pub use catalog::Catalog;
pub use findings::Findings;
pub use open::{Checked, open, open_with};
pub use own_functions::functions;
pub use profile::{Profile, ProfileTool, UnknownProfile};
pub use registry::{Record, registry};
pub use resolve::{CalledName, Resolved, UnresolvedName, called_names};
pub use schema::{Callable, Parameters, ToolArgument, contradicts, result_fits};
pub use tool::{Input, Labels, Names, Rules, Texts, Tool, ToolOrigin, WrittenTexts};
pub use tree::{CategoryNode, CategoryTree, by_category};
