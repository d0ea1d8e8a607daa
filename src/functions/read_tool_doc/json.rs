//! A section of a doc as JSON: the author's own schemas and texts, cleaned, for programs to read.

use serde_json::{Map, Value, json};

use crate::catalog::{Callable, Tool};
use crate::render::Section;

/// The fields of a section; empty ones are left out.
pub(super) fn section(section: Section, tool: &Tool) -> Map<String, Value> {
    let definition = &tool.definition;
    let fields = match section {
        Section::Summary => json!({
            "safe_name": tool.safe_name,
            "title": definition.title,
            "aliases": tool.aliases,
            "categories": tool.categories,
            "effect": tool.effect,
            "approval": definition.approval.filter(|approval| *approval),
            "deprecated": definition.deprecated.filter(|deprecated| *deprecated),
            "replaced_by": definition.replaced_by,
            "not_callable": match tool.parameters.callable() {
                Callable::No(reason) => Some(reason),
                _ => None,
            },
            "short_description": tool.short,
        }),
        Section::Description => json!({ "description": tool.long }),
        Section::Arguments => json!({
            "parameters_schema": definition.parameters.as_ref().map(|_| tool.parameters.schema()),
            "call": tool.call,
            "fill_in": tool.fill_in,
        }),
        Section::Returns => json!({ "returns": tool.returns, "raises": tool.raises }),
        Section::Examples => json!({ "examples": tool.examples, "example_texts": tool.example_texts }),
        Section::Policy => json!({ "notes": tool.notes, "policy": tool.policy }),
        Section::Schema => json!({
            "parameters_schema": definition.parameters,
            "result_schema": definition.result_schema,
        }),
    };
    let Value::Object(fields) = fields else { return Map::new() };
    let is_something = |value: &Value| match value {
        Value::Null => false,
        Value::Array(items) => !items.is_empty(),
        _ => true,
    };
    fields.into_iter().filter(|(_, value)| is_something(value)).collect()
}
