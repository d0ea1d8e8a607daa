//! The header `Idempotency-Key` of a call (draft-ietf-httpapi-idempotency-key-header).

use http::{HeaderMap, HeaderName};
use serde_json::Value;

use crate::response::{Problem, ProblemCode};
use toolcrib_gateway::functions::Function;

/// The header with the idempotency key of a call.
const KEY: HeaderName = HeaderName::from_static("idempotency-key");

/// A call with the key of its `Idempotency-Key`, unless it says one itself.
pub(super) fn keyed(function: &Function, headers: &HeaderMap, mut call: Value) -> Result<Value, Problem> {
    if let Some(key) = header_key(function, headers)?
        && let Some(fields) = call.as_object_mut()
        && fields.get("idempotency_key").is_none_or(Value::is_null)
    {
        fields.insert("idempotency_key".into(), key.into());
    }
    Ok(call)
}

/// The key that `Idempotency-Key` says (draft-ietf-httpapi-idempotency-key-header). A key that would be overlooked is refused,
/// since the call could run twice.
pub(super) fn header_key<'h>(
    function: &Function,
    headers: &'h HeaderMap,
) -> Result<Option<&'h str>, Problem> {
    let mut keys = headers.get_all(KEY).iter();
    let (Some(key), true) = (keys.next(), function.runs_tools()) else { return Ok(None) };
    let refused =
        |what: &str| Err(Problem::new(ProblemCode::ValidationError, format!("`Idempotency-Key` {what}")));
    if !function.takes_idempotency_key() {
        return refused(
            "is for `tool_exec` and tools by name; here each call has an `idempotency_key` of its own",
        );
    }
    let (Ok(key), None) = (key.to_str(), keys.next()) else {
        return refused("is one text of ASCII characters");
    };
    Ok(Some(key.strip_prefix('"').and_then(|key| key.strip_suffix('"')).unwrap_or(key)))
}
