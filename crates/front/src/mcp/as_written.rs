//! Messages past the SDK. Its types drop what they do not know, and refuse what does not fit them. On the way in, an answer and a
//! question become ones that it does not know, with their JSON as it was written; on the way out, a result of the SDK carries the
//! one that is written in its place.

use std::borrow::Cow;
use std::collections::BTreeMap;

use rmcp::model::MetaObject;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

/// The key under which a result has the one that was written.
const AS_WRITTEN: &str = "toolcrib/as-written";

/// The beginning of the method of a question that the SDK must not read.
const UNREAD: &str = "toolcrib/unread/";

/// The methods of questions.
const QUESTIONS: [&str; 3] = ["elicitation/create", "sampling/createMessage", "roots/list"];

/// The fields of handshakes, which the SDK has to read.
const OF_HANDSHAKES: [&str; 2] = ["protocolVersion", "supportedVersions"];

/// The key in `_meta` of the end of a subscription, which the SDK has to read, too.
const SUBSCRIPTION: &str = "io.modelcontextprotocol/subscriptionId";

/// Fields of a result that belong to the revision of its client.
const OF_THE_CLIENT: [&str; 2] = ["ttlMs", "cacheScope"];

type Fields<'t> = BTreeMap<Cow<'t, str>, &'t RawValue>;

/// A message past the SDK; `None` for one that it reads itself.
pub fn unread(message: &str) -> Option<String> {
    let fields: Fields<'_> = serde_json::from_str(message).ok()?;
    if let Some(method) = fields.get("method") {
        let method: String = serde_json::from_str(method.get()).ok()?;
        let method = QUESTIONS.contains(&method.as_str()).then(|| json!(format!("{UNREAD}{method}")));
        return Some(with(&fields, "method", &method?.to_string()));
    }
    let result = fields.get("result")?.get();
    if is_for_the_sdk(result) {
        return None;
    }
    Some(with(&fields, "result", &format!("{{\"{AS_WRITTEN}\":{result}}}")))
}

fn is_for_the_sdk(result: &str) -> bool {
    let Ok(fields) = serde_json::from_str::<Fields<'_>>(result) else { return false };
    let is_of_subscription = |meta: &&RawValue| {
        serde_json::from_str::<Fields<'_>>(meta.get()).is_ok_and(|meta| meta.contains_key(SUBSCRIPTION))
    };
    fields.is_empty()
        || OF_HANDSHAKES.iter().any(|key| fields.contains_key(*key))
        || fields.get("_meta").is_some_and(is_of_subscription)
}

/// A message with another value of one field.
fn with(fields: &Fields<'_>, field: &str, value: &str) -> String {
    let shown = |(key, own): (&Cow<'_, str>, &&RawValue)| {
        format!("{}:{}", json!(key), if key == field { value } else { own.get() })
    };
    format!("{{{}}}", fields.iter().map(shown).collect::<Vec<_>>().join(","))
}

/// A result as it was written, of one that the SDK has read.
pub fn written(mut result: Value) -> Value {
    match result.get_mut(AS_WRITTEN) {
        Some(written) => written.take(),
        None => result,
    }
}

/// The method of a question that the SDK has not read.
pub(super) fn method_of_question(method: &str) -> Option<&str> {
    method.strip_prefix(UNREAD).filter(|method| QUESTIONS.contains(method))
}

/// Metadata with which a result of the SDK carries the one that is written in its place.
pub fn carrying(written: Value) -> MetaObject {
    MetaObject(Map::from_iter([(AS_WRITTEN.to_string(), written)]))
}

/// A message to a client as it is written: with the result that it carries, and without a token for progress that nobody reads.
pub fn written_out(mut message: Value) -> Value {
    if let Some(result) = message.get_mut("result") {
        *result = put_back(result.take());
    } else if message.get("id").is_some()
        && let Some(params) = message.get_mut("params").and_then(Value::as_object_mut)
    {
        let meta = params.get_mut("_meta").and_then(Value::as_object_mut);
        meta.into_iter().for_each(|meta| _ = meta.shift_remove("progressToken"));
        if params.get("_meta").is_some_and(|meta| meta == &json!({})) {
            params.shift_remove("_meta");
        }
        if params.is_empty() {
            message.as_object_mut().into_iter().for_each(|fields| _ = fields.shift_remove("params"));
        }
    }
    message
}

/// The result that a result of the SDK carries, with the fields that belong to its client.
fn put_back(mut result: Value) -> Value {
    let meta = result.get_mut("_meta").and_then(Value::as_object_mut);
    let Some(Value::Object(mut written)) = meta.and_then(|meta| meta.shift_remove(AS_WRITTEN)) else {
        return result;
    };
    written.shift_remove("resultType");
    written.extend(result.get_mut("resultType").map(|kind| ("resultType".to_string(), kind.take())));
    for key in OF_THE_CLIENT {
        if let Some(value) = result.get_mut(key) {
            written.entry(key).or_insert_with(|| value.take());
        }
    }
    if let Some(Value::Object(more)) = result.get_mut("_meta").map(Value::take)
        && !more.is_empty()
        && let Some(meta) = written.entry("_meta").or_insert_with(|| json!({})).as_object_mut()
    {
        meta.extend(more);
    }
    Value::Object(written)
}

#[cfg(test)]
mod tests {
    use rmcp::model::{
        ClientJsonRpcMessage, ClientResult, ServerJsonRpcMessage, ServerRequest, ServerResult,
    };

    use super::*;

    #[test]
    fn what_any_side_answers_is_as_it_was_written() {
        for result in [
            json!({"content": [{"type": "hologram", "own": null}], "isError": "x", "own": {"a": [1e30, 0.1]}}),
            json!({"tools": [], "action": "accept", "messages": [], "model": "m", "role": "user", "roots": []}),
            json!({"resultType": "complete"}),
            json!({"_meta": {"a": "supportedVersions"}}),
            json!([1, null]),
            json!("text"),
        ] {
            let message = json!({"jsonrpc": "2.0", "id": "x", "result": result}).to_string();
            let unread = unread(&message).unwrap();
            let server: ServerJsonRpcMessage = serde_json::from_str(&unread).unwrap();
            let ServerJsonRpcMessage::Response(server) = server else { panic!("{unread}") };
            assert!(matches!(server.result, ServerResult::CustomResult(_)), "{unread}");
            assert_eq!(written(serde_json::to_value(server.result).unwrap()), result);
            let client: ClientJsonRpcMessage = serde_json::from_str(&unread).unwrap();
            let ClientJsonRpcMessage::Response(client) = client else { panic!("{unread}") };
            assert!(matches!(client.result, ClientResult::CustomResult(_)), "{unread}");
        }
    }

    #[test]
    fn the_sdk_reads_its_own_messages() {
        for result in [
            json!({}),
            json!({"protocolVersion": "2025-11-25", "capabilities": {}, "serverInfo": {"name": "", "version": ""}}),
            json!({"supportedVersions": [], "capabilities": {}}),
            json!({"resultType": "complete", "_meta": {"io.modelcontextprotocol/subscriptionId": 1}}),
        ] {
            assert_eq!(unread(&json!({"jsonrpc": "2.0", "id": 1, "result": result}).to_string()), None);
        }
        for method in ["ping", "notifications/message"] {
            assert_eq!(unread(&json!({"jsonrpc": "2.0", "id": 1, "method": method}).to_string()), None);
        }
    }

    #[test]
    fn a_question_keeps_what_the_sdk_does_not_know() {
        let params =
            json!({"message": "?", "requestedSchema": {"properties": {"a": {"enum": [1, 2]}}}, "own": null});
        let message = json!({"jsonrpc": "2.0", "id": 1, "method": "elicitation/create", "params": params});
        let read = serde_json::from_str(&unread(&message.to_string()).unwrap()).unwrap();
        let ServerJsonRpcMessage::Request(request) = read else { panic!("{read:?}") };
        let ServerRequest::CustomRequest(request) = request.request else { panic!("{:?}", request.request) };
        assert_eq!(method_of_question(&request.method), Some("elicitation/create"));
        assert_eq!(request.params, Some(params));
    }

    #[test]
    fn a_carried_result_is_written_for_the_revision_of_its_client() {
        let result = |mut fields: Value| {
            let own =
                json!({"content": [], "own": null, "resultType": "complete", "_meta": {"a": 1}, "ttlMs": 3});
            fields["_meta"] = serde_json::to_value(carrying(own)).unwrap();
            fields["_meta"]["b"] = 2.into();
            written_out(json!({"id": 1, "result": fields}))["result"].take()
        };
        let older = json!({"content": [], "own": null, "_meta": {"a": 1, "b": 2}, "ttlMs": 3});
        assert_eq!(result(json!({"content": [1]})), older);
        let mut newer = older;
        newer["resultType"] = "complete".into();
        newer["cacheScope"] = "private".into();
        let of_the_sdk =
            json!({"content": [1], "resultType": "complete", "ttlMs": 0, "cacheScope": "private"});
        assert_eq!(result(of_the_sdk), newer);
        let plain = json!({"id": 1, "result": {"tools": []}});
        assert_eq!(written_out(plain.clone()), plain);
    }

    #[test]
    fn a_question_has_no_token_for_progress_that_nobody_reads() {
        let question =
            |params: Value| written_out(json!({"id": 1, "method": "roots/list", "params": params}));
        assert_eq!(
            question(json!({"_meta": {"progressToken": 1}})),
            json!({"id": 1, "method": "roots/list"})
        );
        let kept = json!({"a": 1, "_meta": {"b": 2}});
        assert_eq!(question(json!({"a": 1, "_meta": {"b": 2, "progressToken": 1}}))["params"], kept);
    }
}
