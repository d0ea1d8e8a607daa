//! Reads the result of a tool on another server within its limits, and its errors.

use rmcp::model::ErrorData;
use serde_json::{Value, json};

use crate::exec::backend::backend_error::{BackendError, BackendErrorKind};
use crate::exec::backend::mcp_answer::{McpAnswer, value_of};
use crate::exec::backend::request::BackendResponse;
use toolcrib_catalog::results::is_longer_json;
use toolcrib_front::mcp::Session;

/// Bytes of an error that are repeated in an envelope: a model reads it.
const MAX_EXCERPT: usize = 32 << 10;

pub(super) fn read_result(
    mut original: Value,
    server: &str,
    max_bytes: usize,
    session: &Session,
) -> Result<BackendResponse, BackendError> {
    let is_error = original["isError"] == true;
    if let Some(fields) = original.as_object_mut() {
        // Each version of MCP has its own.
        fields.shift_remove("resultType");
    }
    if is_error {
        return Err(error(session.secrets.hide_in(original), server, session, max_bytes));
    }
    let (original, warning) = session.secrets.hide_in_result(original);
    let is_too_long = is_longer_json(&original, max_bytes);
    let content = value_of(&original);
    let response = if is_too_long { within(content, max_bytes) } else { BackendResponse::new(content) };
    let original = (!is_too_long).then_some(McpAnswer::Result(original));
    Ok(BackendResponse { original, ..response.warning(warning) })
}

/// The error of a server that refuses a call.
pub(super) fn refused_result(error: ErrorData, server: &str, session: &Session) -> BackendError {
    let message =
        format!("the MCP server `{server}` refuses the call: {}", session.secrets.line(&error.message));
    let next = "correct the call as the message says, or tell the user";
    let code = error.code.0;
    let data = error.data.map(|data| session.secrets.hide_in(data));
    let original =
        McpAnswer::Error { code, message: session.secrets.hide(&error.message), data: data.clone() };
    let error = BackendError::new(BackendErrorKind::Failed, message, next);
    error.with_answer(json!({ "code": code, "data": data })).with_original(original)
}

/// A value; of a text that is too long the beginning, and in place of anything else its size.
fn within(content: Value, max_bytes: usize) -> BackendResponse {
    match content {
        Value::String(text) if text.len() > max_bytes => {
            let warning = format!("the answer was cut: it is longer than {max_bytes} bytes");
            let begun = text[..text.floor_char_boundary(max_bytes)].into();
            BackendResponse::new(begun).warning(Some(warning))
        }
        content if is_longer_json(&content, max_bytes) => {
            let warning =
                format!("the answer is left out: it is longer than {max_bytes} bytes; ask for less");
            BackendResponse::new(Value::Null).warning(Some(warning))
        }
        content => BackendResponse::new(content),
    }
}

/// The error of a result with `isError`.
pub(super) fn error(original: Value, server: &str, session: &Session, max_bytes: usize) -> BackendError {
    let blocks = original.get("content").and_then(Value::as_array).into_iter().flatten();
    let texts: Vec<&str> =
        blocks.filter(|block| block["type"] == "text").filter_map(|block| block["text"].as_str()).collect();
    let message = match session.secrets.line(&texts.join(" ")).as_str() {
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
        text => error.with_answer(json!({ "body": text })),
    };
    if is_longer_json(&original, max_bytes) {
        error
    } else {
        error.with_original(McpAnswer::Result(original))
    }
}
