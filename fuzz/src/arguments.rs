//! Any JSON as the arguments of a real tool, or as the whole input of `tool_exec`. Accepted arguments fit the schema
//! of the tool, and the corrected call of a refusal is accepted.
//!
//! The first byte chooses: the whole input, the arguments, or the arguments as text; the second chooses the tool.

use std::sync::Arc;

use serde_json::{Value, json};
use toolcrib::arguments::{Reading, coerce_to_schema};
use toolcrib::functions::CatalogView;

const CONFIG: &str = r#"
[exec]
allow = "destructive"
[[overlay]]
match = ["*"]
backend = { type = "static", content = "done" }
"#;
/// Schemas that real tools seldom have.
const ODD: &str = r##"[
  {"name": "odd", "description": "Takes what is odd.", "parameters": {"type": "object", "properties": {
    "n": {"type": ["integer", "null"], "minimum": -5}, "x": {"type": "number", "multipleOf": 0.01},
    "flag": {"type": "boolean"}, "mode": {"enum": ["TO_DO", "In Progress", "done", null, 3]},
    "at": {"type": "string", "format": "date-time"}, "id": {"type": "string", "pattern": "^[a-z]+-[0-9]+$"},
    "tags": {"type": "array", "items": {"type": "string"}, "uniqueItems": true, "maxItems": 3},
    "pair": {"type": "array", "prefixItems": [{"type": "string"}, {"type": "integer"}], "items": false},
    "tree": {"$ref": "#/$defs/node"}, "one": {"oneOf": [{"type": "integer"}, {"type": "object", "required": ["a"]}]},
    "args": {"type": "object"}, "map": {"type": "object", "additionalProperties": {"type": "integer"}}},
    "$defs": {"node": {"type": "object", "properties": {"name": {"type": "string"}, "below": {"type": "array", "items": {"$ref": "#/$defs/node"}}}, "required": ["name"], "additionalProperties": false}},
    "required": ["n"], "additionalProperties": false, "dependentRequired": {"x": ["flag"]}}},
  {"name": "rules", "effect": "destructive", "description": "Takes one of two.", "parameters": {"type": "object", "properties": {
    "kind": {"const": "a"}, "userId": {"type": "string", "minLength": 2}, "user_id": {"type": "string"}, "dry_run": {"type": "boolean"}},
    "anyOf": [{"required": ["userId"]}, {"required": ["user_id"]}], "if": {"required": ["kind"]}, "then": {"required": ["dry_run"]},
    "patternProperties": {"^x-": {"type": "integer"}}, "propertyNames": {"maxLength": 12}, "minProperties": 1}},
  {"name": "open", "description": "Takes anything.", "parameters": {"type": "object"}},
  {"name": "none", "description": "Takes nothing.", "parameters": {"type": "object", "properties": {}, "additionalProperties": false}},
  {"name": "free", "description": "Has no schema.", "allow_no_schema": true, "no_schema_mode": "full"}
]"##;

thread_local! {
    static VIEW: Arc<CatalogView> = {
        let checked = super::open(&[
            ("toolcrib.toml", CONFIG.as_bytes()),
            ("a_odd.json", ODD.as_bytes()),
            ("b_github.json", super::GITHUB.as_bytes()),
            ("c_agent.json", super::AGENT.as_bytes()),
        ]);
        CatalogView::new(&checked.catalog, None, None, super::templates()).expect("a catalog view").into()
    };
}

pub fn check(bytes: &[u8]) {
    let Some((first, rest)) = bytes.split_first() else { return };
    let Some((second, text)) = super::chosen(rest) else { return };
    let given: Option<Value> = serde_json::from_str(text).ok();
    VIEW.with(|view| {
        let tools = &view.catalog().tools;
        let tool = &tools[second % tools.len()];
        let input = match (first % 3, given) {
            (0, Some(input)) => input,
            (1, Some(args)) => {
                if let Ok(Reading { value, .. }) = coerce_to_schema(tool, args.clone()) {
                    assert!(
                        tool.input.parameters.accepts(&value),
                        "{}: {args} was read as {value}",
                        tool.names.canonical
                    );
                }
                json!({ "op": tool.names.op, "args": args, "dry_run": true })
            }
            _ => json!({ "op": tool.names.op, "args": text, "dry_run": true }),
        };
        call(view, &input);
    });
}

fn call(view: &Arc<CatalogView>, input: &Value) {
    let answer = super::exec(view, input);
    let example = &answer["error"]["example"];
    if answer["error"]["code"] == "VALIDATION_ERROR" && example.is_object() {
        let again = super::exec(view, example);
        assert_ne!(again["error"]["code"], "VALIDATION_ERROR", "{input}: {answer}: {again}");
    }
}
