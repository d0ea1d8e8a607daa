//! The part of a body that is in the model's context, and its components.

use std::collections::HashSet;

use serde_json::{Value, json};

use crate::tokens::{Count, Counter};

/// The body without the parts that the provider keeps out of the context until they are searched for. Anthropic shows
/// nothing of a deferred tool, Gemini Interactions its name and short description, and OpenAI the name and
/// description of a namespace (docs/reference/wires.md).
pub(super) fn in_context(mut body: Value) -> Value {
    if let Some(Value::Array(tools)) = body.get_mut("tools") {
        *tools = std::mem::take(tools).into_iter().filter_map(entry_in_context).collect();
    }
    body
}

/// The part of an entry that is in the context, if any.
pub(super) fn entry_in_context(mut entry: Value) -> Option<Value> {
    if let Some(Value::Array(tools)) = entry.get_mut("tools") {
        *tools = std::mem::take(tools).into_iter().filter(|tool| !is_deferred(tool)).collect();
        if let (true, Some(namespace)) = (tools.is_empty(), entry.as_object_mut()) {
            namespace.shift_remove("tools");
        }
        return Some(entry);
    }
    match (is_deferred(&entry), entry.get("short_description")) {
        (false, _) => Some(entry),
        (true, None) => None,
        (true, Some(short)) => Some(json!({"name": entry["name"], "short_description": short})),
    }
}

fn is_deferred(entry: &Value) -> bool {
    entry.get("defer_loading") == Some(&Value::Bool(true))
}

/// Components of a body. Parts are counted one by one; the remainder is the wrapping.
#[derive(Debug, Default)]
pub(super) struct TokenParts {
    pub(super) names: Count,
    pub(super) descriptions: Count,
    pub(super) schemas: Count,
    pub(super) own_functions: Count,
}

impl TokenParts {
    /// The parts of a body in which functions of these names are ours.
    pub(super) fn of(body: &Value, ours: &HashSet<&str>, counter: &mut Counter) -> TokenParts {
        let mut parts = TokenParts::default();
        parts.add(body, ours, counter);
        parts
    }

    fn add(&mut self, value: &Value, ours: &HashSet<&str>, counter: &mut Counter) {
        match value {
            Value::Array(entries) => entries.iter().for_each(|entry| {
                if is_ours(entry, ours) {
                    self.own_functions += counter.count(&entry.to_string());
                } else {
                    self.add(entry, ours, counter);
                }
            }),
            Value::Object(fields) => fields.iter().for_each(|(key, value)| match key.as_str() {
                "name" => self.names += counter.count(unquoted(&value.to_string())),
                "description" | "short_description" => {
                    self.descriptions += counter.count(unquoted(&value.to_string()));
                }
                "parameters" | "parametersJsonSchema" | "input_schema" | "inputSchema" | "outputSchema" => {
                    self.schemas += counter.count(&value.to_string());
                }
                _ => self.add(value, ours, counter),
            }),
            _ => {}
        }
    }

    pub(super) fn sum(&self) -> Count {
        self.names + self.descriptions + self.schemas + self.own_functions
    }
}

/// A function of ours, or the provider's own search that takes the place of one.
fn is_ours(entry: &Value, ours: &HashSet<&str>) -> bool {
    let kind = entry.get("type").and_then(Value::as_str).unwrap_or_default();
    let name =
        [entry, &entry["function"], &entry["toolSpec"]].into_iter().find_map(|entry| entry.get("name"));
    kind.starts_with("tool_search") || name.and_then(Value::as_str).is_some_and(|name| ours.contains(name))
}

fn unquoted(text: &str) -> &str {
    text.strip_prefix('"').and_then(|text| text.strip_suffix('"')).unwrap_or(text)
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

    #[test]
    fn parts_are_what_models_read_and_a_property_called_name_is_schema() {
        let mut counter = Counter::default();
        let schema = json!({"type": "object", "properties": {"name": {"description": "Whose?"}}});
        let body = json!({"tools": [
            {"type": "function", "function": {"name": "greet", "description": "Say \"hello\"", "parameters": schema}},
            {"type": "function", "function": {"name": "read_tool_doc", "description": "Docs"}},
        ]});
        let parts = TokenParts::of(&body, &HashSet::from(["read_tool_doc"]), &mut counter);
        assert_eq!(parts.names, counter.count("greet"));
        assert_eq!(parts.descriptions, counter.count("Say \\\"hello\\\""));
        assert_eq!(parts.schemas, counter.count(&schema.to_string()));
        assert_eq!(parts.own_functions, counter.count(&body["tools"][1].to_string()));
    }
}
