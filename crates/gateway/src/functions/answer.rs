//! The answer of a function, and its forms as JSON and as text. [`client_answer`](super::client_answer) has its form for
//! an MCP client, and [`trace`](super::trace) the facts that are recorded.

use std::borrow::Cow;

use bytes::Bytes;
use serde::{Serialize, Serializer};
use serde_json::{Map, Value, json, to_value};
use serde_with::skip_serializing_none;

use super::discovery::{Expanded, Listed};
use super::pick::Picked;
use super::read_tool_doc::Pages;
use super::tool_help::Help;
use super::tool_search::Hits;
use crate::exec::backend::McpAnswer;
use crate::exec::{CallMeta, Envelope, ResultPart};
use crate::tool_error::{ErrorCode, ToolError};
use toolcrib_catalog::arguments::Repair;
use toolcrib_search::semantic::SemanticStatus;

/// The answer to a call of a function: `{"ok": true, ..., "meta": {...}}`, or `{"ok": false, "error": {...}, "meta": {...}}`.
#[derive(Clone, Debug)]
pub struct Answer {
    pub reply: Result<Reply, Box<ToolError>>,
    /// The version of the caller's catalog; `None` within a batch, which has it for all calls.
    pub(super) registry_version: Option<String>,
}

/// What a function answers.
#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
pub enum Reply {
    /// Docs of tools.
    Pages(Pages),
    /// The hits of a search.
    Hits(Hits),
    Help(Help),
    /// Categories and tools.
    Listed(Listed),
    Expanded(Box<Expanded>),
    Picked(Picked),
    /// A part of a long result.
    Part(ResultPart),
    Batch(Batch),
    /// A call of a tool.
    #[serde(skip)]
    Call(Box<Envelope>),
    /// A call of a tool in the words of the discovery protocol.
    #[serde(skip)]
    Discovered(Box<Envelope>),
    /// A function that was called as if it were a tool.
    #[serde(skip)]
    AsTool(Box<FunctionAsTool>),
}

/// The answers of a batch.
#[derive(Clone, Debug, Serialize)]
pub struct Batch {
    pub results: Vec<Batched>,
    /// The number of calls without a result.
    pub failed: usize,
}

/// The answer of one call of a batch.
#[skip_serializing_none]
#[derive(Clone, Debug, Serialize)]
pub struct Batched {
    pub index: usize,
    pub id: Option<String>,
    /// The function; empty where the call does not name one.
    pub function: &'static str,
    #[serde(flatten)]
    pub answer: Answer,
}

/// The answer of a function that was called as if it were a tool.
#[derive(Clone, Debug)]
pub struct FunctionAsTool {
    pub(super) op: &'static str,
    pub(super) answer: Answer,
    pub(super) meta: CallMeta,
}

/// The tool that a function has called. Only the discovery protocol shows repairs apart from warnings.
pub(super) struct CalledTool<'a> {
    pub(super) op: &'a str,
    pub(super) meta: &'a CallMeta,
    pub(super) repaired: &'a [Repair],
}

/// The JSON of an answer.
#[skip_serializing_none]
#[derive(Default, Serialize)]
struct Json<'a> {
    op: Option<&'a str>,
    ok: bool,
    #[serde(flatten)]
    reply: Option<&'a Reply>,
    tool_id: Option<&'a str>,
    result: Option<Cow<'a, Value>>,
    error: Option<Value>,
    repaired: Option<&'a [Repair]>,
    meta: Option<Meta<'a>>,
}

/// The metadata of an answer.
#[skip_serializing_none]
#[derive(Serialize)]
struct Meta<'a> {
    #[serde(flatten)]
    call: Option<&'a CallMeta>,
    registry_version: Option<&'a str>,
    semantic: Option<String>,
}

impl Answer {
    pub(super) fn with_registry_version(self, registry_version: &str) -> Self {
        Self { registry_version: Some(registry_version.to_string()), ..self }
    }

    /// Whether there is a result.
    pub fn is_ok(&self) -> bool {
        self.failure().is_none()
    }

    /// The error code, if there is one.
    pub fn error(&self) -> Option<ErrorCode> {
        self.failure().map(|error| error.code)
    }

    /// The error of the function, or of the tool that it ran.
    pub fn failure(&self) -> Option<&ToolError> {
        match &self.reply {
            Ok(Reply::Call(envelope) | Reply::Discovered(envelope)) => envelope.outcome.as_ref().err(),
            Ok(Reply::AsTool(function)) => function.answer.failure(),
            Ok(_) => None,
            Err(error) => Some(error),
        }
    }

    /// The call of a tool that this answers.
    pub fn envelope(&self) -> Option<&Envelope> {
        match &self.reply {
            Ok(Reply::Call(envelope) | Reply::Discovered(envelope)) => Some(envelope),
            _ => None,
        }
    }

    /// The unchanged answer of the MCP server that ran the call.
    pub fn original(&self) -> Option<&McpAnswer> {
        self.envelope()?.original.as_deref()
    }

    /// The answer as a JSON object.
    pub fn body(&self) -> Map<String, Value> {
        match to_value(self) {
            Ok(Value::Object(fields)) => fields,
            _ => Map::new(),
        }
    }

    /// The answer as JSON on one line.
    pub fn json(&self) -> Bytes {
        serde_json::to_vec(self).unwrap_or_default().into()
    }

    /// The answer as Markdown, where that is a better form for a model than JSON.
    pub fn markdown(&self) -> Option<String> {
        match self.reply.as_ref().ok()? {
            Reply::Pages(pages) => Some(pages.markdown()),
            Reply::Hits(hits) => hits.text(),
            _ => None,
        }
    }

    /// The text for a model: Markdown, else JSON on one line.
    pub fn text(&self) -> String {
        self.markdown().unwrap_or_else(|| String::from_utf8_lossy(&self.json()).into_owned())
    }

    /// The tool that was called, with notes on its call.
    pub(super) fn called_tool(&self) -> Option<CalledTool<'_>> {
        Some(match self.reply.as_ref().ok()? {
            Reply::Call(envelope) => CalledTool { op: &envelope.op, meta: &envelope.meta, repaired: &[] },
            Reply::Discovered(envelope) => {
                CalledTool { op: &envelope.op, meta: &envelope.meta, repaired: &envelope.repaired }
            }
            Reply::AsTool(function) => CalledTool { op: function.op, meta: &function.meta, repaired: &[] },
            _ => return None,
        })
    }

    /// The metadata as JSON.
    pub(super) fn meta(&self) -> Map<String, Value> {
        match json!(self.meta_of(self.called_tool().as_ref())) {
            Value::Object(fields) => fields,
            _ => Map::new(),
        }
    }

    fn as_json(&self) -> Json<'_> {
        let called = self.called_tool();
        let op = called.as_ref().map(|called| called.op);
        let fields = Json { ok: self.is_ok(), meta: self.meta_of(called.as_ref()), ..Json::default() };
        match &self.reply {
            Ok(Reply::Call(envelope)) => match &envelope.outcome {
                Ok(result) => Json { op, result: Some(Cow::Borrowed(result)), ..fields },
                Err(error) => Json { op, error: Some(error.in_envelope(&envelope.op)), ..fields },
            },
            Ok(Reply::AsTool(function)) => match &function.answer.reply {
                Ok(reply) => {
                    Json { op, result: Some(Cow::Owned(to_value(reply).unwrap_or_default())), ..fields }
                }
                Err(error) => Json { op, error: Some(error.in_envelope(function.op)), ..fields },
            },
            Ok(Reply::Discovered(envelope)) => {
                let repaired = Some(envelope.repaired.as_slice()).filter(|repaired| !repaired.is_empty());
                let result = envelope.outcome.as_ref().ok().map(Cow::Borrowed);
                Json { tool_id: op, result, repaired, ..fields }
            }
            Ok(reply) => Json { reply: Some(reply), ..fields },
            Err(error) => Json { error: Some(json!(error)), ..fields },
        }
    }

    /// The metadata; `None` if there is no field for it.
    fn meta_of<'a>(&'a self, called: Option<&CalledTool<'a>>) -> Option<Meta<'a>> {
        let call = called.map(|called| called.meta);
        let registry_version = self.registry_version.as_deref();
        let semantic = self.reply.as_ref().ok().and_then(Reply::semantic).map(ToString::to_string);
        let has_any = call.is_some() || registry_version.is_some() || semantic.is_some();
        has_any.then_some(Meta { call, registry_version, semantic })
    }
}

impl Serialize for Answer {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        self.as_json().serialize(to)
    }
}

impl Reply {
    /// Whether a search used meaning.
    fn semantic(&self) -> Option<&SemanticStatus> {
        match self {
            Reply::Hits(hits) => Some(&hits.semantic),
            Reply::Listed(listed) => listed.semantic.as_ref(),
            Reply::Picked(picked) => picked.outcome.semantic.as_ref(),
            Reply::AsTool(function) => function.answer.reply.as_ref().ok()?.semantic(),
            _ => None,
        }
    }
}

impl From<Result<Reply, ToolError>> for Answer {
    fn from(reply: Result<Reply, ToolError>) -> Self {
        Self { reply: reply.map_err(Box::new), registry_version: None }
    }
}

/// Makes a reply of the answer of each function.
macro_rules! replies {
    ($($variant:ident($reply:ty),)*) => {
        $(impl From<$reply> for Reply {
            fn from(reply: $reply) -> Self {
                Reply::$variant(reply)
            }
        })*
    };
}

replies! {
    Pages(Pages),
    Hits(Hits),
    Help(Help),
    Listed(Listed),
    Expanded(Box<Expanded>),
    Picked(Picked),
    Part(ResultPart),
}

impl From<Envelope> for Reply {
    fn from(envelope: Envelope) -> Self {
        Reply::Call(Box::new(envelope))
    }
}
