//! The values of a job, and their names in a template.

use serde_json::Value;

use crate::markdown::without_markers;

/// Names that a workspace template has besides the values of the job.
pub(super) const PLACEHOLDERS: [&str; 6] =
    ["title", "profile", "description", "tool_count", "registry_version", "tools"];

/// Reason why a value of the job cannot have its name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ValueError {
    /// The name is one of toolcrib's own.
    #[error("`{0}` is filled in by toolcrib; give the value another name")]
    Placeholder(String),
    /// No template can name the value.
    #[error("`{0}` is no name for a value: use letters, digits and `_`")]
    Name(String),
    /// In this file, toolcrib's own block could not be found again.
    #[error(
        "a value of the job hides toolcrib's block in {0}, such as by a code fence that it does not close; without it, the block \
         could not be renewed"
    )]
    Block(String),
}

/// A job value for templates, without toolcrib's markers, which no foreign text may contain.
pub(super) fn without_our_markers(value: &Value) -> Value {
    match value {
        Value::String(text) => without_markers(text).into(),
        Value::Array(items) => items.iter().map(without_our_markers).collect(),
        Value::Object(fields) => {
            let field = |(name, value): (&String, &Value)| {
                (without_markers(name).into_owned(), without_our_markers(value))
            };
            Value::Object(fields.iter().map(field).collect())
        }
        other => other.clone(),
    }
}
