//! The answer of a function.

use std::sync::OnceLock;

use bytes::Bytes;
use serde_json::{Map, Value, json};

use crate::exec::backend::McpAnswer;
use crate::tool_error::{ErrorCode, ToolError};
use toolcrib_search::semantic::SemanticStatus;

/// The answer to a call: `{"ok": true, ..., "meta": {...}}`, or `{"ok": false, "error": {...}, "meta": {...}}`.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    pub(super) body: Body,
    pub(super) text: Option<String>,
    pub(super) error: Option<ErrorCode>,
    pub(super) failure: Option<Box<ToolError>>,
    pub(super) semantic: Option<String>,
    /// The unchanged answers of MCP servers, each with the index of its call in a batch.
    pub(super) originals: Vec<(usize, McpAnswer)>,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Body {
    /// Made for this call.
    Fields(Map<String, Value>),
    /// JSON that was made before, whole; parsed only for a reader of its fields.
    Json(Bytes, OnceLock<Map<String, Value>>),
}

impl Answer {
    /// An answer with these fields. `text` says the same for a model, where JSON is not the best form.
    pub(super) fn new(fields: Map<String, Value>, text: Option<String>) -> Self {
        let mut body = Map::with_capacity(fields.len() + 2);
        body.insert("ok".into(), true.into());
        body.extend(fields);
        Self { text, ..Self::of(Body::Fields(body), None) }
    }

    /// An answer that was made before: one JSON object with `ok` and `meta`.
    pub(super) fn from_json(json: Bytes) -> Self {
        Self::of(Body::Json(json, OnceLock::new()), None)
    }

    /// An answer with its own envelope, `ok` and `meta` included, and the answer of the MCP server that ran the call.
    pub(super) fn enveloped(
        fields: Map<String, Value>,
        error: Option<ErrorCode>,
        original: Option<Box<McpAnswer>>,
    ) -> Self {
        let originals = original.into_iter().map(|original| (0, *original)).collect();
        Self { originals, ..Self::of(Body::Fields(fields), error) }
    }

    fn of(body: Body, error: Option<ErrorCode>) -> Self {
        Self { body, text: None, error, failure: None, semantic: None, originals: Vec::new() }
    }

    /// The unchanged answers of MCP servers, each with the index of its call in a batch.
    pub fn originals(&self) -> &[(usize, McpAnswer)] {
        &self.originals
    }

    /// The unchanged answer of the MCP server that ran the call at this index.
    pub fn original(&self, index: usize) -> Option<&McpAnswer> {
        self.originals.iter().find(|(of, _)| *of == index).map(|(_, original)| original)
    }

    /// Whether there is a result.
    pub fn is_ok(&self) -> bool {
        self.error.is_none()
    }

    /// The error code, if there is one.
    pub fn error(&self) -> Option<ErrorCode> {
        self.error
    }

    /// Seconds after which a call that came too soon may be sent again.
    pub fn retry_after(&self) -> Option<u64> {
        self.error.filter(|code| *code == ErrorCode::RateLimited)?;
        let error = self.body().get("error")?;
        let facts = error.get("details").or_else(|| error.get("hints"))?;
        facts.get("retry_after")?.as_u64()
    }

    /// The answer as a JSON object.
    pub fn body(&self) -> &Map<String, Value> {
        match &self.body {
            Body::Fields(fields) => fields,
            Body::Json(json, read) => read.get_or_init(|| serde_json::from_slice(json).unwrap_or_default()),
        }
    }

    /// The fields of the answer without `ok` and `meta`; else the error.
    pub(crate) fn into_result(self) -> Result<Map<String, Value>, ToolError> {
        if let Some(error) = self.failure {
            return Err(*error);
        }
        let mut fields = match self.body {
            Body::Fields(fields) => fields,
            Body::Json(..) => self.body().clone(),
        };
        fields.shift_remove("ok");
        fields.shift_remove("meta");
        Ok(fields)
    }

    /// The answer as JSON on one line.
    pub fn json(&self) -> Bytes {
        match &self.body {
            Body::Fields(fields) => serde_json::to_vec(fields).unwrap_or_default().into(),
            Body::Json(json, _) => json.clone(),
        }
    }

    /// The text for a model: the text where there is one, else the JSON on one line.
    pub fn text(&self) -> String {
        let json = || String::from_utf8_lossy(&self.json()).into_owned();
        self.text.clone().unwrap_or_else(json)
    }

    /// Bytes of the text for a model.
    pub(super) fn bytes(&self) -> usize {
        self.text.as_ref().map_or_else(|| self.json().len(), String::len)
    }

    /// The verdict, where the answer is that of a search.
    pub(super) fn verdict(&self) -> Option<&str> {
        match &self.body {
            Body::Fields(fields) => fields.get("verdict")?.as_str(),
            Body::Json(..) => None,
        }
    }

    /// Whether [`Answer::text`] is markdown rather than JSON.
    pub fn is_markdown(&self) -> bool {
        self.text.is_some()
    }

    /// Adds to `meta.semantic` whether the search used meaning.
    pub fn with_semantic_status(mut self, semantic: &SemanticStatus) -> Self {
        self.semantic = Some(semantic.to_string());
        self
    }

    pub(super) fn with_registry_version(mut self, registry_version: &str) -> Self {
        let semantic = self.semantic.take();
        if let Body::Fields(fields) = &mut self.body {
            let mut meta = json!({ "registry_version": registry_version });
            if let Some(semantic) = semantic {
                meta["semantic"] = semantic.into();
            }
            match (fields.get_mut("meta"), meta) {
                (Some(Value::Object(told)), Value::Object(meta)) => told.extend(meta),
                (_, meta) => {
                    fields.insert("meta".into(), meta);
                }
            }
        }
        self
    }
}

impl From<ToolError> for Answer {
    fn from(error: ToolError) -> Self {
        let body = Map::from_iter([
            ("ok".to_string(), Value::Bool(false)),
            ("error".to_string(), serde_json::to_value(&error).unwrap_or_default()),
        ]);
        let code = Some(error.code);
        Self { failure: Some(Box::new(error)), ..Self::of(Body::Fields(body), code) }
    }
}
