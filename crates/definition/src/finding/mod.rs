//! Findings: mistakes in the user's input, with their places and a help.
//!
//! A finding is never an `Err`: one run gathers many, and bad input never takes good input down with it.
//!
//! 1. [`document`] reads JSON, YAML and TOML into values, within limits.
//! 2. A stage reports [`Finding`]s that name a file and a JSON Pointer into it.
//! 3. [`locate()`] turns pointers into lines and columns, once, when all findings are known.
//! 4. [`report`] prints them for people and as JSON.

mod any_value;
mod code;
mod coerced_value;
mod document;
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
mod report;
mod resolve_ref;
mod terminal_text;
mod toml;
mod typed;
mod violation;
mod yaml;

use serde::Serialize;

pub use crate::near_names::{SlipPolicy, is_plausible, nearest, normalized};
pub use code::{Code, Severity};
pub use coerced_value::{plain_flag, plain_number};
pub use document::{Document, Format, MAX_BYTES, Unread};
pub use foreign_json::{MAX_OTHERS_VALUES, from_json, from_json_bytes, from_others, has_too_many_values};
pub use json_wrappings::without_comments;
pub use locate::locate;
pub use mended_json::well_formed;
pub use open_file::open;
pub use pointer::{pointer_join, pointer_push, pointer_split, pointer_to, pointer_unescape};
pub use report::{github_report, json_report, sarif_report, text_report};
pub use resolve_ref::{SchemaNames, percent_decoded, resolve_local};
pub use typed::{Reader, schema_of};
pub use violation::{SEVERAL_FORMS, Violation, beginning, violations};

/// Place of a finding in the user's files.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct Place {
    /// The file, as the user named it or relative to the catalog's folder.
    pub file: String,
    /// JSON Pointer (RFC 6901) into the file; empty for the whole file.
    pub pointer: String,
    /// Line, from 1, once located.
    pub line: Option<usize>,
    /// Column in characters, from 1, once located.
    pub column: Option<usize>,
}

impl Place {
    /// A place that is still to be located.
    pub fn new(file: impl Into<String>, pointer: impl Into<String>) -> Self {
        Self { file: file.into(), pointer: pointer.into(), line: None, column: None }
    }

    /// The place at a pointer below this one.
    pub fn below(&self, pointer: &str) -> Self {
        Self::new(&self.file, format!("{}{pointer}", self.pointer))
    }
}

/// One mistake in the input, or one fact about it that is worth knowing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// Code of the finding; stable.
    pub code: Code,
    /// Severity, after configuration.
    pub severity: Severity,
    /// The tool concerned, by canonical name.
    pub tool: Option<String>,
    /// The mistake, in one line.
    pub message: String,
    /// Where.
    pub place: Option<Place>,
    /// The next step for the author.
    pub help: Option<String>,
}

impl Finding {
    /// A finding with its code's own severity and next step.
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Self {
            code,
            severity: code.severity(),
            tool: None,
            message: message.into(),
            place: None,
            help: code.help().map(str::to_string),
        }
    }

    /// Names the tool concerned.
    pub fn tool(mut self, name: impl Into<String>) -> Self {
        self.tool = Some(name.into());
        self
    }

    /// Says where.
    pub fn at(mut self, place: Place) -> Self {
        self.place = Some(place);
        self
    }

    /// Sets the next step.
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// The next step on an unknown name: the first of the names near it, or else this.
    pub fn did_you_mean<S: AsRef<str>>(self, near: &[S], otherwise: impl Into<String>) -> Self {
        let did_you_mean = near.first().map(|near| format!("did you mean `{}`?", near.as_ref()));
        self.help(did_you_mean.unwrap_or_else(|| otherwise.into()))
    }
}
