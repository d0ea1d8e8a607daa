//! The part of a request that is in the model's context.

use serde_json::{Value, json};

/// The body without the parts that the provider keeps out of the context until they are searched for. Anthropic shows
/// nothing of a deferred tool, Gemini Interactions its name and short description, and OpenAI the name and
/// description of a namespace (docs/reference/formats.md). A client of MCP passes on the name, the description and the schema.
pub(super) fn in_context(mut body: Value) -> Value {
    if let Some(Value::Array(tools)) = body.get_mut("tools") {
        *tools = std::mem::take(tools).into_iter().filter_map(entry_in_context).collect();
    }
    body
}

/// The part of an entry that is in the context, if any.
pub(super) fn entry_in_context(mut entry: Value) -> Option<Value> {
    if let Some(Value::Object(schema)) = entry.get_mut("inputSchema") {
        schema.shift_remove("$schema");
        let is_passed_on = |key: &str| matches!(key, "name" | "description" | "inputSchema");
        entry.as_object_mut()?.retain(|key, _| is_passed_on(key));
        return Some(entry);
    }
    if let Some(Value::Array(tools)) = entry.get_mut("tools") {
        *tools = std::mem::take(tools).into_iter().filter(|tool| !is_deferred_entry(tool)).collect();
        if let (true, Some(namespace)) = (tools.is_empty(), entry.as_object_mut()) {
            namespace.shift_remove("tools");
        }
        return Some(entry);
    }
    match (is_deferred_entry(&entry), entry.get("short_description")) {
        (false, _) => Some(entry),
        (true, None) => None,
        (true, Some(short)) => Some(json!({"name": entry["name"], "short_description": short})),
    }
}

fn is_deferred_entry(entry: &Value) -> bool {
    entry.get("defer_loading") == Some(&Value::Bool(true))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deferred_definitions_stay_out_of_the_context() {
        let check = |body: Value, expect: Value| assert_eq!(in_context(body), expect);
        let plain = json!({"name": "a", "description": "A", "input_schema": {"type": "object"}});
        let anthropic = json!({"name": "b", "description": "B", "defer_loading": true});
        check(json!({"tools": [plain, anthropic]}), json!({"tools": [plain]}));
        let interactions = json!({"type": "function", "name": "b", "description": "Long.", "short_description": "B",
            "parameters": {}, "defer_loading": true});
        check(json!({"tools": [interactions]}), json!({"tools": [{"name": "b", "short_description": "B"}]}));
        let namespace =
            json!({"type": "namespace", "name": "n", "description": "N: b", "tools": [anthropic]});
        check(
            json!({"tools": [{"type": "tool_search"}, namespace]}),
            json!({"tools": [{"type": "tool_search"}, {"type": "namespace", "name": "n", "description": "N: b"}]}),
        );
    }
}
