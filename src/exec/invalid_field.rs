//! One argument of a call that does not fit.

use serde::Serialize;
use serde_json::Value;

/// One argument that does not fit.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct InvalidField {
    /// JSON pointer into the arguments; for a missing or unknown property, to that property.
    pub pointer: String,
    /// What is wrong.
    pub message: String,
    /// What was expected.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expected: Option<String>,
    /// What was given, cut where it is long.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub given: Option<Value>,
    /// The nearest valid property or value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nearest: Option<String>,
}
