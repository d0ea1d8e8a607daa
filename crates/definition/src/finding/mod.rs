//! Findings: mistakes in the user's input, with their places and a help.
//!
//! A finding is never an `Err`: one run gathers many, and bad input never takes good input down with it.
//!
//! A stage reports [`Finding`]s that name a file and a JSON Pointer into it; [`crate::document`] turns pointers into lines
//! and columns, and [`report`] prints findings for people and as JSON.

mod code;
mod report;
mod terminal_text;
mod violation;

use serde::Serialize;

pub use crate::near_names::{SlipPolicy, is_plausible, nearest, normalized};
pub use code::{Code, Severity};
pub use report::{github_report, json_report, sarif_report, short_report, text_report};
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
