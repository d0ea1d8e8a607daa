//! What a function answers.

use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::provider::call::FieldError;
use crate::search::semantic::State;

/// The answer to a call: `{"ok": true, ..., "meta": {...}}`, or `{"ok": false, "error": {...}, "meta": {...}}`.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    body: Map<String, Value>,
    text: Option<String>,
    error: Option<ErrorCode>,
    semantic: Option<String>,
}

/// What kind of thing went wrong; stable, and documented in `docs/errors.md`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum ErrorCode {
    /// The arguments do not fit the schema of the function.
    ValidationError,
    /// There is no such tool, for this caller.
    NotFound,
    /// Several tools go by this name.
    Ambiguous,
    /// A mistake of ours, or of a template.
    Internal,
}

impl ErrorCode {
    /// Every code.
    pub const ALL: [ErrorCode; 4] =
        [ErrorCode::ValidationError, ErrorCode::NotFound, ErrorCode::Ambiguous, ErrorCode::Internal];

    /// As it is written.
    pub fn as_str(self) -> &'static str {
        match self {
            ErrorCode::ValidationError => "VALIDATION_ERROR",
            ErrorCode::NotFound => "NOT_FOUND",
            ErrorCode::Ambiguous => "AMBIGUOUS",
            ErrorCode::Internal => "INTERNAL",
        }
    }

    /// The HTTP status that goes with it.
    pub fn http_status(self) -> u16 {
        match self {
            ErrorCode::ValidationError => 400,
            ErrorCode::NotFound => 404,
            ErrorCode::Ambiguous => 409,
            ErrorCode::Internal => 500,
        }
    }
}

/// Why a call has no result, and what to do about it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Refusal {
    /// What kind of thing.
    pub code: ErrorCode,
    /// In one line.
    pub message: String,
    /// Each argument that does not fit.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub field_errors: Vec<FieldError>,
    /// Names that may have been meant, best first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub nearest: Vec<String>,
    /// What to do next.
    pub next_action: String,
    /// Arguments that would have been right.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub example: Option<Value>,
}

impl Refusal {
    /// Says what is wrong and what to do next.
    pub fn new(code: ErrorCode, message: impl Into<String>, next_action: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            field_errors: Vec::new(),
            nearest: Vec::new(),
            next_action: next_action.into(),
            example: None,
        }
    }
}

impl Answer {
    /// An answer with these fields. `text` says the same for a model, where JSON is not what it should read.
    pub(super) fn new(fields: Map<String, Value>, text: Option<String>) -> Self {
        let mut body = Map::with_capacity(fields.len() + 2);
        body.insert("ok".into(), true.into());
        body.extend(fields);
        Self { body, text, error: None, semantic: None }
    }

    /// Whether there is a result.
    pub fn is_ok(&self) -> bool {
        self.error.is_none()
    }

    /// What went wrong.
    pub fn error(&self) -> Option<ErrorCode> {
        self.error
    }

    /// The answer as a JSON object.
    pub fn body(&self) -> &Map<String, Value> {
        &self.body
    }

    /// What a model reads: the text where there is one, else the JSON on one line.
    pub fn text(&self) -> String {
        self.text.clone().unwrap_or_else(|| serde_json::to_string(&self.body).unwrap_or_default())
    }

    /// Whether [`Answer::text`] is markdown rather than JSON.
    pub fn is_markdown(&self) -> bool {
        self.text.is_some()
    }

    /// Says in `meta.semantic` whether meaning had a part in the search.
    pub fn searched(mut self, semantic: &State) -> Self {
        self.semantic = Some(semantic.to_string());
        self
    }

    pub(super) fn versioned(mut self, registry_version: &str) -> Self {
        let mut meta = json!({ "registry_version": registry_version });
        if let Some(semantic) = self.semantic.take() {
            meta["semantic"] = semantic.into();
        }
        self.body.insert("meta".into(), meta);
        self
    }
}

impl From<Refusal> for Answer {
    fn from(refusal: Refusal) -> Self {
        let error = serde_json::to_value(&refusal).unwrap_or_default();
        let body =
            [("ok".to_string(), Value::Bool(false)), ("error".to_string(), error)].into_iter().collect();
        Self { body, text: None, error: Some(refusal.code), semantic: None }
    }
}
