//! Gemini, both APIs (docs/reference/formats.md, Gemini).

use serde_json::{Value, json};
use toolcrib_catalog::config::{Mode, SearchBy};
use toolcrib_providers::{Extent, Provider};

use super::judge::{Case, Found, Judge, Names, booleans, entries, keys, only_list};
use super::report::Report;
use super::schema::{self, Schema};

const NAMES: Names = Names {
    first: |c| c.is_ascii_alphabetic() || c == '_',
    rest: |c| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | ':' | '-'),
    most: 64,
};

/// The column "Gemini generateContent".
pub const JUDGE: Judge = Judge {
    provider: Provider::Gemini,
    names: NAMES,
    limit: Some(512),
    native: false,
    found,
    shape,
    schema: schema_rules,
};

/// The column "Gemini Interactions".
pub const INTERACTIONS: Judge = Judge {
    provider: Provider::GeminiInteractions,
    native: true,
    found: found_in_interactions,
    shape: interactions_shape,
    ..JUDGE
};

/// Keywords of `parametersJsonSchema`.
const KEYWORDS: [&str; 21] = [
    "$id", "$defs", "$ref", "$anchor", "type", "format", "title", "description", "enum", "items",
    "prefixItems", "minItems", "maxItems", "minimum", "maximum", "anyOf", "oneOf", "properties",
    "additionalProperties", "required", "propertyOrdering",
];

const DECLARATIONS: &str = "/tools/0/functionDeclarations";

fn found(body: &Value) -> Vec<Found<'_>> {
    let of = |(pointer, entry)| Found::of(entry, pointer, "/parametersJsonSchema");
    entries(body, DECLARATIONS).into_iter().map(of).collect()
}

fn found_in_interactions(body: &Value) -> Vec<Found<'_>> {
    let functions = entries(body, "/tools").into_iter().filter(|(_, entry)| entry["type"] == "function");
    functions.map(|(pointer, entry)| Found::of(entry, pointer, "/parameters")).collect()
}

/// All declarations go in one entry; `defer_loading` is refused here.
fn shape(case: &Case<'_>, report: &mut Report) {
    only_list(case.body(), "tools", report);
    for (pointer, entry) in entries(case.body(), "/tools") {
        report.demand(pointer == "/tools/0", "all declarations in one entry", &pointer);
        keys(entry, &["functionDeclarations"], &[], &pointer, report);
    }
    for (pointer, entry) in entries(case.body(), DECLARATIONS) {
        keys(entry, &["name", "description"], &["parametersJsonSchema"], &pointer, report);
    }
    stubs(case, &found(case.body()), report);
}

fn interactions_shape(case: &Case<'_>, report: &mut Report) {
    only_list(case.body(), "tools", report);
    let all = entries(case.body(), "/tools");
    for (pointer, entry) in &all {
        match entry["type"].as_str() {
            Some("function") => function(entry, pointer, report),
            Some("tool_search") => search(case, entry, pointer, report),
            _ => report.demand(false, "a type that is known", pointer),
        }
    }
    let functions = found_in_interactions(case.body());
    let defers = functions.iter().any(|function| function.deferred);
    let searches = all.iter().filter(|(_, entry)| entry["type"] == "tool_search").count();
    report.demand(searches == usize::from(defers), "one search exactly when something is deferred", "/tools");
    report.demand(
        !defers || case.payload.mode == Mode::Native,
        "nothing is deferred but on native",
        "/tools",
    );
    stubs(case, &functions, report);
}

/// A deferred function has the short description that the model sees of it, and no other has one.
fn function(entry: &Value, pointer: &str, report: &mut Report) {
    keys(
        entry,
        &["type", "name", "description"],
        &["short_description", "parameters", "defer_loading"],
        pointer,
        report,
    );
    booleans(entry, &["defer_loading"], pointer, report);
    let short =
        entry.get("short_description").and_then(Value::as_str).is_some_and(|text| !text.trim().is_empty());
    report.demand(
        short == (entry["defer_loading"] == true),
        "a short description of what is deferred",
        pointer,
    );
}

fn search(case: &Case<'_>, entry: &Value, pointer: &str, report: &mut Report) {
    if case.options.search == SearchBy::Client {
        keys(entry, &["type", "execution", "name", "description", "parameters"], &[], pointer, report);
        report.demand(entry["execution"] == "client", "the client searches", pointer);
    } else {
        report.demand(
            entry == &json!({"type": "tool_search", "execution": "server"}),
            "the provider searches",
            pointer,
        );
    }
}

/// Section 13: without a schema a stub takes no arguments at all.
fn stubs(case: &Case<'_>, found: &[Found<'_>], report: &mut Report) {
    let takes_arguments =
        |schema: &Value| schema["properties"].as_object().is_some_and(|properties| !properties.is_empty());
    for function in case.payload.functions.iter().filter(|function| function.extent == Extent::Stub) {
        let Some(stub) = found.iter().find(|found| found.name == function.name) else { continue };
        if takes_arguments(function.tool.input.parameters.schema()) {
            report.demand(
                stub.schema.is_some_and(takes_arguments),
                "a stub lets arguments through",
                &stub.pointer,
            );
        }
    }
}

fn schema_rules(schema: &Schema<'_>, report: &mut Report) {
    schema::root_is_object(schema, report);
    let properties = schema.root["properties"].as_object();
    report.demand(
        properties.is_some_and(|properties| !properties.is_empty()),
        "properties at the root",
        schema.pointer,
    );
    for key in schema.root.as_object().into_iter().flatten().map(|(key, _)| key) {
        report.demand(
            KEYWORDS.contains(&key.as_str()),
            "keywords that are known only",
            &format!("{}/{key}", schema.pointer),
        );
    }
    schema::keywords_only(schema, &KEYWORDS, report);
    schema::arrays_have_items(schema, report);
    schema::required_is_defined(schema, report);
    schema::references_resolve(schema, report);
    references_stand_alone(schema, report);
    no_empty_properties(schema, report);
    schema::valid_2020_12(schema, report);
}

/// "`$ref` only beside `$…` keys."
fn references_stand_alone(schema: &Schema<'_>, report: &mut Report) {
    for node in schema.nodes().iter().filter(|node| node.value.get("$ref").is_some()) {
        let alone = node.keywords().all(|(key, _)| key.starts_with('$'));
        report.demand(alone, "a reference only beside keys with $", &node.pointer);
    }
}

/// "properties: should be non-empty for OBJECT type", nested too.
fn no_empty_properties(schema: &Schema<'_>, report: &mut Report) {
    for node in schema.nodes() {
        let empty = node.properties().is_some_and(serde_json::Map::is_empty);
        report.demand(!empty, "no empty properties", &node.pointer);
    }
}
