//! Imported documents as a user sees them.

mod argument;
mod hostile;
mod operation;
mod schema;

use serde_json::{Value, json};

use super::{Imported, import, import_within};
use toolcrib_definition::{Backend, Definition, HttpBackend};

/// Imports a document with one path item and these components.
fn imported(version: &str, path: &str, item: Value, components: Value) -> Imported {
    let paths = json!({ path: item });
    import(
        "api.json",
        &mut json!({ "openapi": version, "info": {}, "paths": paths, "components": components }),
    )
}

/// The one tool of a document with one operation.
fn tool(version: &str, path: &str, item: Value, components: Value) -> Definition {
    only(imported(version, path, item, components))
}

fn only(imported: Imported) -> Definition {
    assert_eq!(imported.operations.len(), 1);
    imported.operations.into_iter().next().unwrap().definition
}

fn parameters(definition: &Definition) -> &Value {
    definition.parameters.as_ref().unwrap().value()
}

fn http(definition: &Definition) -> &HttpBackend {
    match &definition.backend {
        Some(Backend::Http(http)) => http,
        other => panic!("{other:?}"),
    }
}

fn places(definition: &Definition) -> Value {
    serde_json::to_value(&http(definition).arguments).unwrap()
}

/// Code, pointer and tool of each finding.
fn findings(imported: &Imported) -> Vec<(&str, &str, &str)> {
    imported
        .findings
        .iter()
        .map(|finding| {
            let pointer = finding.place.as_ref().map_or("", |place| place.pointer.as_str());
            (finding.code.as_str(), pointer, finding.tool.as_deref().unwrap_or(""))
        })
        .collect()
}

/// Whether every tool compiles and every `$ref` in it is in its own `$defs`.
fn assert_sound(imported: &Imported) {
    for operation in &imported.operations {
        let definition = &operation.definition;
        let result = definition.result_schema.iter().map(|schema| schema.value());
        for schema in [parameters(definition)].into_iter().chain(result) {
            let options = jsonschema::options().with_draft(jsonschema::Draft::Draft202012);
            if let Err(error) = options.build(schema) {
                panic!("{}: {error} in {schema}", definition.name);
            }
        }
    }
}
