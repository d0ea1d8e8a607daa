//! Ollama, which drops unknown keywords without a word (docs/reference/formats.md, Ollama).

use toolcrib_providers::Provider;

use super::judge::{Case, Judge, Names, chat_functions, chat_shape, only_list};
use super::report::Report;
use super::schema::{self, Schema};

/// The column "Ollama".
pub const JUDGE: Judge = Judge {
    provider: Provider::Ollama,
    names: Names { first: |c| !c.is_whitespace(), rest: |c| !c.is_whitespace(), most: 64 },
    limit: None,
    native: false,
    found: |body| chat_functions(body, "/tools"),
    shape,
    schema: schema_rules,
};

/// Keywords that Ollama keeps in a property.
const KEYWORDS: [&str; 7] = ["anyOf", "type", "items", "description", "enum", "properties", "required"];

fn shape(case: &Case<'_>, report: &mut Report) {
    only_list(case.body(), "tools", report);
    chat_shape(case.body(), "/tools", &[], report);
}

fn schema_rules(schema: &Schema<'_>, report: &mut Report) {
    schema::root_is_object(schema, report);
    schema::root_has_properties(schema, report);
    schema::root_only(schema, &["type", "items", "properties", "required"], report);
    schema::keywords_only(schema, &KEYWORDS, report);
    schema::no_references(schema, report);
    properties_are_objects(schema, report);
    schema::valid_2020_12(schema, report);
}

/// Properties and branches are read into structs: a boolean in their place cannot be.
fn properties_are_objects(schema: &Schema<'_>, report: &mut Report) {
    for node in schema.nodes() {
        report.demand(node.value.is_object(), "no boolean for a schema", &node.pointer);
    }
}
