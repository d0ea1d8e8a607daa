//! The answer of a tool on another server: the answer as it came, and the value for an envelope.

use rmcp::model::{CallToolResult, ErrorData};
use serde_json::Value;

use crate::exec::backend::mcp_answer::{McpAnswer, value_of};
use crate::exec::backend::{BackendError, BackendErrorKind, BackendResponse, ErrorAnswer};
use crate::sources::mcp::Session;

/// Bytes of an error that are repeated in an envelope: a model reads it.
const MAX_EXCERPT: usize = 32 << 10;

pub(super) fn read(
    answer: CallToolResult,
    server: &str,
    max_bytes: usize,
    session: &Session,
) -> Result<BackendResponse, BackendError> {
    let is_error = answer.is_error == Some(true);
    let mut original = serde_json::to_value(answer).unwrap_or_default();
    if let Some(fields) = original.as_object_mut() {
        // Each wire has its own.
        fields.shift_remove("resultType");
    }
    if is_error {
        return Err(error(session.hide_in(original), server, session, max_bytes));
    }
    let (original, warning) = session.hide_in_result(original);
    let is_too_long = is_longer(&original, max_bytes);
    let mut response = match value_of(&original) {
        content if is_too_long => within(content, max_bytes),
        content => BackendResponse::new(content),
    };
    response.warnings.extend(warning);
    response.original = (!is_too_long).then_some(McpAnswer::Result(original));
    Ok(response)
}

/// The error of a server that refuses a call.
pub(super) fn refused(error: ErrorData, server: &str, session: &Session) -> BackendError {
    let message = format!("the MCP server `{server}` refuses the call: {}", session.hide(&error.message));
    let next = "correct the call as the message says, or tell the user";
    let (code, data) = (error.code.0, error.data.map(|data| session.hide_in(data)));
    let original =
        McpAnswer::Error { code, message: session.without_secrets(&error.message), data: data.clone() };
    let error = BackendError::new(BackendErrorKind::Failed, message, next);
    error.with_answer(ErrorAnswer::McpError { code, data }).with_original(original)
}

/// A value; of a text that is too long the beginning, and in place of anything else its size.
fn within(content: Value, max_bytes: usize) -> BackendResponse {
    let (content, warning) = match content {
        Value::String(text) if text.len() > max_bytes => {
            let warning = format!("the answer was cut: it is longer than {max_bytes} bytes");
            (text[..text.floor_char_boundary(max_bytes)].into(), Some(warning))
        }
        content if is_longer(&content, max_bytes) => {
            let warning =
                format!("the answer is left out: it is longer than {max_bytes} bytes; ask for less");
            (Value::Null, Some(warning))
        }
        content => (content, None),
    };
    BackendResponse { warnings: warning.into_iter().collect(), ..BackendResponse::new(content) }
}

/// Whether a value is longer than this as JSON. The estimate never is too small, so most values are not written out.
fn is_longer(value: &Value, max_bytes: usize) -> bool {
    weight(value) > max_bytes && value.to_string().len() > max_bytes
}

/// An upper bound of a value's bytes as text.
fn weight(value: &Value) -> usize {
    match value {
        Value::Null | Value::Bool(_) => 5,
        Value::Number(_) => 24,
        Value::String(text) => text.len() * 6 + 2,
        Value::Array(items) => items.iter().map(|item| weight(item) + 1).sum::<usize>() + 2,
        Value::Object(fields) => {
            fields.iter().map(|(name, value)| name.len() * 6 + 4 + weight(value)).sum::<usize>() + 2
        }
    }
}

/// The error of a result with `isError`.
fn error(original: Value, server: &str, session: &Session, max_bytes: usize) -> BackendError {
    let blocks = original.get("content").and_then(Value::as_array).into_iter().flatten();
    let texts: Vec<&str> =
        blocks.filter(|block| block["type"] == "text").filter_map(|block| block["text"].as_str()).collect();
    let message = match session.hide(&texts.join(" ")).as_str() {
        "" => format!("the tool of the MCP server `{server}` failed, and does not say why"),
        said => format!("the tool of the MCP server `{server}` failed: {said}"),
    };
    let next = "correct the arguments as the message says, or tell the user";
    let detail = match original.get("structuredContent") {
        Some(detail) => detail.to_string(),
        None => texts.join("\n"),
    };
    let error = BackendError::new(BackendErrorKind::Failed, message, next);
    let error = match &detail[..detail.floor_char_boundary(MAX_EXCERPT)] {
        "" => error,
        text => error.with_answer(ErrorAnswer::McpResult { body: text.to_string() }),
    };
    if is_longer(&original, max_bytes) { error } else { error.with_original(McpAnswer::Result(original)) }
}
