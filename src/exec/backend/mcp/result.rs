//! The answer of a tool on another server: its JSON, else its text, else its content unchanged.

use rmcp::model::{CallToolResult, ContentBlock};
use serde_json::Value;

use crate::exec::backend::{BackendError, BackendErrorKind, BackendResponse, ErrorAnswer};
use crate::sources::mcp::Session;

/// Characters of an error that are repeated: a model reads it.
const MAX_EXCERPT: usize = 2000;

pub(super) fn read(
    answer: CallToolResult,
    server: &str,
    max_bytes: usize,
    session: &Session,
) -> Result<BackendResponse, BackendError> {
    if answer.is_error == Some(true) {
        return Err(error(&answer, server, session));
    }
    let content = match answer.structured_content {
        Some(content) => content,
        None => of_blocks(answer.content),
    };
    let (content, warning) = session.hide_in_result(content);
    let mut response = within(content, max_bytes);
    response.warnings.extend(warning);
    Ok(response)
}

fn of_blocks(blocks: Vec<ContentBlock>) -> Value {
    let is_text = blocks.iter().all(|block| matches!(block, ContentBlock::Text(_)));
    if !is_text {
        return serde_json::to_value(blocks).unwrap_or_default();
    }
    let mut texts = blocks.into_iter().filter_map(|block| match block {
        ContentBlock::Text(text) => Some(text.text),
        _ => None,
    });
    match (texts.next(), texts.next()) {
        (None, _) => Value::Null,
        (Some(only), None) => of_text(only),
        (Some(first), Some(second)) => [first, second].into_iter().chain(texts).map(Value::String).collect(),
    }
}

/// A text, or the JSON object or list that it holds.
fn of_text(text: String) -> Value {
    let may_be_json = text.trim_start().starts_with(['{', '[']);
    let json = may_be_json.then(|| serde_json::from_str(&text).ok()).flatten();
    json.unwrap_or(Value::String(text))
}

/// A value; one that is too large becomes text, which can be cut.
fn within(content: Value, max_bytes: usize) -> BackendResponse {
    let cut = |text: String| {
        let end = text.floor_char_boundary(max_bytes);
        let warnings = vec![format!("the answer was cut: it is longer than {max_bytes} bytes")];
        BackendResponse { content: text[..end].into(), warnings }
    };
    match content {
        Value::String(text) if text.len() > max_bytes => cut(text),
        Value::String(_) | Value::Null | Value::Bool(_) | Value::Number(_) => BackendResponse::new(content),
        content => {
            // The estimate never is too small, so most values are not written out.
            let text = if weight(&content) > max_bytes { content.to_string() } else { String::new() };
            if text.len() > max_bytes { cut(text) } else { BackendResponse::new(content) }
        }
    }
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

fn error(answer: &CallToolResult, server: &str, session: &Session) -> BackendError {
    let texts: Vec<&str> = answer
        .content
        .iter()
        .filter_map(|block| match block {
            ContentBlock::Text(text) => Some(text.text.as_str()),
            _ => None,
        })
        .collect();
    let said = session.hide(&texts.join(" "));
    let message = match said.as_str() {
        "" => format!("the tool of the MCP server `{server}` failed, and does not say why"),
        said => format!("the tool of the MCP server `{server}` failed: {said}"),
    };
    let next = "correct the arguments as the message says, or tell the user";
    let detail = match &answer.structured_content {
        Some(detail) => detail.to_string(),
        None => texts.join("\n"),
    };
    let end = detail.floor_char_boundary(MAX_EXCERPT);
    let error = BackendError::new(BackendErrorKind::Failed, message, next);
    match &detail[..end] {
        "" => error,
        text => error.with_answer(ErrorAnswer::McpResult { body: session.without_secrets(text) }),
    }
}
