//! Gemini `generateContent`: all declarations in one entry, JSON Schema (formats.md, section 5).

use serde_json::{Map, Value, json};

use super::call::RawCall;
use super::chat;
use super::function::Function;
use super::names::NameRule;
use super::reply::Reply;
use super::view::{Keys, Root, SchemaRules};
use super::wire::{Bound, Cache, Rules, Stub, Wire};

/// The wire.
pub(super) struct Gemini;

/// The keywords that `parametersJsonSchema` takes.
pub(super) const KEYWORDS: &[&str] = &[
    "$id",
    "$defs",
    "$ref",
    "$anchor",
    "type",
    "format",
    "title",
    "description",
    "enum",
    "items",
    "prefixItems",
    "minItems",
    "maxItems",
    "minimum",
    "maximum",
    "anyOf",
    "oneOf",
    "properties",
    "additionalProperties",
    "required",
    "propertyOrdering",
];

const RULES: Rules = Rules {
    names: NameRule::Safe,
    max_entries: Some(512),
    native: false,
    cache: Cache::Never,
    schema: SchemaRules {
        inline: false,
        root: Root::Properties,
        keywords: KEYWORDS,
        words: true,
        keys: Keys::Any,
        omit_empty: true,
        strict: None,
        max_strict: 0,
    },
    stub: Stub::Args,
};

impl Wire for Gemini {
    fn rules(&self) -> &'static Rules {
        &RULES
    }

    fn function(&self, function: &Function<'_>) -> Value {
        let mut fields = Map::new();
        fields.insert("name".into(), function.name.as_str().into());
        fields.insert("description".into(), function.description.as_str().into());
        if let Some(schema) = &function.schema {
            fields.insert("parametersJsonSchema".into(), schema.clone());
        }
        Value::Object(fields)
    }

    fn body(&self, bound: &Bound<'_>) -> Value {
        let declarations: Vec<Value> =
            bound.functions.iter().map(|function| self.function(function)).collect();
        if declarations.is_empty() {
            json!({})
        } else {
            json!({"tools": [{"functionDeclarations": declarations}]})
        }
    }

    fn entries(&self, body: &Value) -> usize {
        body.pointer("/tools/0/functionDeclarations").and_then(Value::as_array).map_or(0, Vec::len)
    }

    fn calls(&self, response: Value) -> Vec<RawCall> {
        chat::calls(response)
    }

    fn replies(&self, replies: &[Reply]) -> Value {
        chat::replies(replies)
    }
}
