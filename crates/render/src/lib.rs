//! Renders a catalog as documentation: the index, one page per tool, `registry.json`, a seeded workspace.
//!
//! 1. [`templates`] takes the built-in templates, and the user's templates that replace them.
//! 2. [`doc`] makes the page of one tool: its sections as safe Markdown, and its doc version.
//! 3. [`index`] lays out `README.md`, and category pages where there are many tools.
//! 4. [`documentation`] is the set of these files.
//! 5. [`folder`] writes the files, touches no files of others, and reports differences.
//! 6. [`mod@seed`] puts the documentation into a workspace, with a text that tells an agent about it.
//!
//! Everything but [`folder`] and [`mod@seed`] is pure: the same catalog gives the same bytes.

pub mod arguments;
pub mod doc;
mod documentation;
mod error;
pub mod folder;
pub mod help;
mod index;
mod llms;
pub mod markdown;
mod prompt;
mod seed;
mod skills;
mod templates;

pub use doc::{Around, Doc, Section, schema_file, schema_path};
pub use documentation::Docs;
pub use error::RenderError;
pub use index::segment_title;
pub use llms::llms_txt;
pub use prompt::PromptSection;
pub use seed::{DOCS, Seeded, ValueError, WorkspaceTemplate, seed, seed_drift, seeded_files};
pub use skills::{REFERENCES, SKILL, Skill, overview_skill, page_path, skill_files, skills};
pub use templates::{BuiltIn, EmbeddedFiles, TemplateError, Templates, escaped};
