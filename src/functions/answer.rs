//! What a function answers.

use std::sync::OnceLock;

use bytes::Bytes;
use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::provider::call::FieldError;
use crate::search::semantic::State;

/// The answer to a call: `{"ok": true, ..., "meta": {...}}`, or `{"ok": false, "error": {...}, "meta": {...}}`.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    body: Body,
    text: Option<String>,
    error: Option<ErrorCode>,
    semantic: Option<String>,
}

#[derive(Clone, Debug, PartialEq)]
enum Body {
    /// Made for this call.
    Own(Map<String, Value>),
    /// JSON that was made before, whole; read only by who wants its fields.
    Kept(Bytes, OnceLock<Map<String, Value>>),
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
    /// No tool has what was asked for, in this category.
    NoMatchInCategory,
    /// There is no such category.
    UnknownPath,
    /// The discovery protocol's word for [`ErrorCode::NotFound`].
    ToolNotFound,
    /// The tool is there, and not for this caller.
    NotAuthorized,
    /// The catalog has changed since the cursor was given.
    CursorExpired,
    /// The call is right, and nothing here can run it.
    NoBackend,
    /// A mistake of ours, or of a template.
    Internal,
}

impl ErrorCode {
    /// Every code.
    pub const ALL: [ErrorCode; 10] = [
        ErrorCode::ValidationError,
        ErrorCode::NotFound,
        ErrorCode::Ambiguous,
        ErrorCode::NoMatchInCategory,
        ErrorCode::UnknownPath,
        ErrorCode::ToolNotFound,
        ErrorCode::NotAuthorized,
        ErrorCode::CursorExpired,
        ErrorCode::NoBackend,
        ErrorCode::Internal,
    ];

    /// As it is written.
    pub fn as_str(self) -> &'static str {
        match self {
            ErrorCode::ValidationError => "VALIDATION_ERROR",
            ErrorCode::NotFound => "NOT_FOUND",
            ErrorCode::Ambiguous => "AMBIGUOUS",
            ErrorCode::NoMatchInCategory => "NO_MATCH_IN_CATEGORY",
            ErrorCode::UnknownPath => "UNKNOWN_PATH",
            ErrorCode::ToolNotFound => "TOOL_NOT_FOUND",
            ErrorCode::NotAuthorized => "NOT_AUTHORIZED",
            ErrorCode::CursorExpired => "CURSOR_EXPIRED",
            ErrorCode::NoBackend => "NO_BACKEND",
            ErrorCode::Internal => "INTERNAL",
        }
    }

    /// The HTTP status that goes with it.
    pub fn http_status(self) -> u16 {
        match self {
            ErrorCode::ValidationError => 400,
            ErrorCode::NotAuthorized => 403,
            ErrorCode::NotFound
            | ErrorCode::NoMatchInCategory
            | ErrorCode::UnknownPath
            | ErrorCode::ToolNotFound => 404,
            ErrorCode::Ambiguous => 409,
            ErrorCode::CursorExpired => 410,
            ErrorCode::Internal => 500,
            ErrorCode::NoBackend => 501,
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
    /// Where to look instead: categories, tools.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub hints: Map<String, Value>,
    /// What to do next.
    pub next_action: String,
    /// Arguments that would have been right.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub example: Option<Value>,
    /// The call as it was checked, for somebody who can run it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub call: Option<Value>,
}

impl Refusal {
    /// Says what is wrong and what to do next.
    pub fn new(code: ErrorCode, message: impl Into<String>, next_action: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            field_errors: Vec::new(),
            nearest: Vec::new(),
            hints: Map::new(),
            next_action: next_action.into(),
            example: None,
            call: None,
        }
    }

    /// With what is wrong with an argument.
    pub(super) fn field(mut self, pointer: &str, message: &str) -> Self {
        self.field_errors.push(FieldError {
            pointer: pointer.into(),
            message: message.into(),
            nearest: None,
        });
        self
    }

    /// With something to look at instead, unless there is nothing.
    pub(super) fn hint(mut self, what: &str, list: Vec<Value>) -> Self {
        if !list.is_empty() {
            self.hints.insert(what.into(), list.into());
        }
        self
    }
}

impl Answer {
    /// An answer with these fields. `text` says the same for a model, where JSON is not what it should read.
    pub(super) fn new(fields: Map<String, Value>, text: Option<String>) -> Self {
        let mut body = Map::with_capacity(fields.len() + 2);
        body.insert("ok".into(), true.into());
        body.extend(fields);
        Self { body: Body::Own(body), text, error: None, semantic: None }
    }

    /// An answer that was made before: one JSON object with `ok` and `meta`.
    pub(super) fn kept(json: Bytes) -> Self {
        Self { body: Body::Kept(json, OnceLock::new()), text: None, error: None, semantic: None }
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
        match &self.body {
            Body::Own(fields) => fields,
            Body::Kept(json, read) => read.get_or_init(|| serde_json::from_slice(json).unwrap_or_default()),
        }
    }

    /// The answer as JSON on one line.
    pub fn json(&self) -> Bytes {
        match &self.body {
            Body::Own(fields) => serde_json::to_vec(fields).unwrap_or_default().into(),
            Body::Kept(json, _) => json.clone(),
        }
    }

    /// What a model reads: the text where there is one, else the JSON on one line.
    pub fn text(&self) -> String {
        self.text.clone().unwrap_or_else(|| String::from_utf8_lossy(&self.json()).into_owned())
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
        if let Body::Own(fields) = &mut self.body {
            fields.insert("meta".into(), meta);
        }
        self
    }
}

impl From<Refusal> for Answer {
    fn from(refusal: Refusal) -> Self {
        let error = serde_json::to_value(&refusal).unwrap_or_default();
        let body =
            [("ok".to_string(), Value::Bool(false)), ("error".to_string(), error)].into_iter().collect();
        Self { body: Body::Own(body), text: None, error: Some(refusal.code), semantic: None }
    }
}
