//! Any text as the response of each provider: calls that are valid fit their tools, and every entry can be answered. The
//! first byte chooses the provider.

use serde_json::Value;
use serde_json::value::RawValue;
use toolcrib::catalog::Checked;
use toolcrib::providers::call::Parser;
use toolcrib::providers::{Provider, ToolResult, result_messages};

const TOOLS: &str = r#"[
  {"name": "files.read", "op": "onto.file.read", "aliases": ["cat"], "description": "Read a file.", "parameters": {
    "type": "object", "required": ["path"], "additionalProperties": false, "properties": {
      "path": {"type": "string"}, "limit": {"type": "integer"}, "price": {"type": "number"},
      "tags": {"type": "array", "items": {"type": "string"}}, "where": {"type": "object"}, "$odd name": {"type": "boolean"},
      "any": {"anyOf": [{"type": "array", "items": {"type": "string"}}, {"type": "null"}]},
      "mode": {"enum": ["text", "binary"]}}}},
  {"name": "ping", "description": "Say whether the server is there.", "parameters": {"type": "object", "properties": {}}},
  {"name": "list-items", "description": "List all items.", "parameters": {"type": "object", "properties": {"args": {"type": "object"}, "page": {"type": "integer"}}}},
  {"name": "held", "description": "A tool held to its schema.", "strict": true, "parameters": {"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "string"}}, "required": ["a"]}},
  {"name": "free", "description": "A tool without a schema.", "allow_no_schema": true, "no_schema_mode": "read-only"},
  {"name": "shut", "description": "A tool that nobody can call."}
]"#;

thread_local! {
    static CHECKED: &'static Checked = Box::leak(Box::new(super::open(&[("tools.json", TOOLS.as_bytes())])));
    static PARSERS: Vec<Parser<'static>> = CHECKED
        .with(|checked| Provider::ALL.iter().map(|provider| Parser::new(&checked.catalog, *provider)).collect());
}

pub fn check(bytes: &[u8]) {
    let Some((first, body)) = super::chosen(bytes) else { return };
    let provider = Provider::ALL[first % 11];
    PARSERS.with(|parsers| {
        let parser = &parsers[first % 11];
        let Ok(entries) = parser.parse(body) else { return };
        let mut answers = Vec::new();
        for entry in entries {
            if let Ok(call) = &entry.outcome {
                let arguments = Value::Object(call.arguments().clone());
                assert!(
                    call.tool().input.parameters.accepts(&arguments),
                    "{arguments} does not fit {}",
                    call.name()
                );
                // Numbers may be larger than a value can hold.
                let exact: Box<RawValue> = serde_json::from_str(&call.json()).expect("arguments as JSON");
                assert!(exact.get().starts_with('{'), "{exact}");
            }
            serde_json::to_string(&entry).expect("an entry as JSON");
            answers.push(ToolResult::to(parser, &entry, Some(Value::Null)));
            let anew = parser.rebuild(entry, body);
            answers.push(ToolResult::to(parser, &anew, None));
        }
        result_messages(provider, &answers);
    });
}
