//! Nothing vanishes: a mistake in a good definition is read as meant, or it is named at its place, so that `check --strict`
//! fails.

mod edit;
mod formats;
mod operations;
mod schemas;
mod tools;

use std::collections::{BTreeMap, BTreeSet};

use rayon::prelude::*;
use serde_json::{Value, json};
use tempfile::TempDir;
use toolcrib_catalog::{Checked, Tool};
use toolcrib_definition::finding::{Finding, Severity};

use crate::fixture;
use formats::{Format, formats, openapi};

/// A mistake in a document.
struct Damaged {
    what: String,
    document: Value,
}

/// What a document says of its tools.
fn meaning(tool: &Tool) -> Value {
    json!([tool.names.canonical, tool.texts.description, of_schema(tool.input.parameters.schema())])
}

/// The parts of a schema that decide over calls, and the descriptions.
fn of_schema(schema: &Value) -> Value {
    let Some(keywords) = schema.as_object() else { return schema.clone() };
    let mut said = serde_json::Map::new();
    for (key, value) in keywords {
        let read = match key.as_str() {
            "type" => {
                let words = value.as_array().cloned().unwrap_or_else(|| vec![value.clone()]);
                let words: BTreeSet<String> =
                    words.iter().map(Value::to_string).filter(|word| word != "\"null\"").collect();
                json!(words)
            }
            "properties" => {
                let properties = value.as_object().into_iter().flatten();
                properties.map(|(name, schema)| (name.clone(), of_schema(schema))).collect()
            }
            "items" | "additionalProperties" => of_schema(value),
            "required" => {
                let names: BTreeSet<String> =
                    value.as_array().into_iter().flatten().map(Value::to_string).collect();
                if names.is_empty() {
                    continue;
                }
                json!(names)
            }
            "enum" => {
                value.as_array().into_iter().flatten().filter(|value| !value.is_null()).cloned().collect()
            }
            "description" | "minLength" | "minimum" | "maximum" | "default" => value.clone(),
            _ => continue,
        };
        said.insert(key.clone(), read);
    }
    if said.contains_key("properties") {
        said.entry("type").or_insert_with(|| json!(["\"object\""]));
    }
    Value::Object(said)
}

/// The text of a document; TOML has no null.
fn written(format: &Format, document: &Value) -> Option<String> {
    if format.file.ends_with("toml") { toml::to_string(document).ok() } else { Some(document.to_string()) }
}

fn strip(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            ["description", "minLength", "minimum", "maximum", "default", "required"].iter().for_each(
                |key| {
                    fields.shift_remove(*key);
                },
            );
            fields.values_mut().for_each(strip);
        }
        Value::Array(items) => items.iter_mut().for_each(strip),
        _ => {}
    }
}

fn open(format: &Format, text: &str) -> (TempDir, Checked) {
    let folder = fixture::folder(&[(format.file, text)]);
    let checked = fixture::open(folder.path());
    (folder, checked)
}

fn meanings(checked: &Checked) -> BTreeMap<&str, Value> {
    checked.catalog.tools.iter().map(|tool| (tool.names.canonical.as_str(), meaning(tool))).collect()
}

/// The reason why a mistake is neither read as meant nor named.
fn silent(format: &Format, good: &Checked, damaged: &Damaged) -> Option<String> {
    let (_folder, checked) = open(format, &written(format, &damaged.document)?);
    // A type in place of a property says nothing else of it.
    let is_short = damaged.what.contains(" in place of ");
    let read = |checked: &Checked| {
        let mut read = json!(meanings(checked));
        if is_short {
            strip(&mut read);
        }
        read
    };
    let is_read = read(good) == read(&checked);
    let known: BTreeSet<(&str, &str)> =
        good.findings.iter().map(|finding| (finding.code.as_str(), finding.message.as_str())).collect();
    let place = edit::difference(&format.document, &damaged.document)?;
    // What lies beside the mistake may contradict it.
    let beside = place.rsplit_once('/').map_or("", |(parent, _)| parent).to_string();
    let is_new = |finding: &&Finding| {
        finding.severity != Severity::Info
            && !known.contains(&(finding.code.as_str(), finding.message.as_str()))
    };
    let named: Vec<&Finding> = checked.findings.iter().filter(is_new).collect();
    let is_there = |finding: &&&Finding| {
        finding.place.as_ref().is_some_and(|at| {
            at.file == format.file
                && at.line.is_some()
                && (place.starts_with(&at.pointer) || at.pointer.starts_with(&beside))
        })
    };
    let lost = good.catalog.tools.len().saturating_sub(checked.catalog.tools.len());
    let errors = named.iter().filter(|finding| finding.severity == Severity::Error).count();
    // The loss of all tools is one error.
    let is_whole = checked.catalog.tools.is_empty() && errors > 0;
    if lost > errors && !is_whole {
        return Some(format!("{lost} tools are lost with {errors} errors"));
    }
    if is_read {
        return None;
    }
    if named.iter().find(is_there).is_some() {
        return None;
    }
    let missing: Vec<String> = meanings(good)
        .iter()
        .filter(|(name, tool)| meanings(&checked).get(*name) != Some(*tool))
        .map(|(name, _)| {
            let now = checked.catalog.tools.iter().find(|tool| tool.names.canonical == *name);
            format!(
                "{name} is {}",
                now.map_or("gone".into(), |tool| tool.input.parameters.schema().to_string())
            )
        })
        .collect();
    let elsewhere: Vec<String> = named
        .iter()
        .map(|finding| {
            format!("{} at {:?}", finding.message, finding.place.as_ref().map(|place| &place.pointer))
        })
        .collect();
    Some(format!("{} ({})", missing.join(", "), elsewhere.join("; ")))
}

/// All mistakes of a format.
fn damaged(format: &Format) -> Vec<Damaged> {
    let mut all = Vec::new();
    let mut at = |pointer: &str, mistakes: Vec<schemas::Mistake>| {
        for (what, change) in mistakes {
            let mut document = format.document.clone();
            change(document.pointer_mut(pointer).unwrap());
            all.push(Damaged { what, document });
        }
    };
    at(&format.schema, schemas::mistakes());
    let version =
        format.document.get("openapi").or_else(|| format.document.get("swagger")).and_then(Value::as_str);
    if let Some(version) = version {
        at(&format.tool, operations::of_operation(version));
        at("/paths/~1forecast", operations::of_item());
        at("", operations::of_document(version));
        return all;
    }
    let mut keys = format.schema.strip_prefix(&format.tool).unwrap().split('/').skip(1);
    let key = keys.next().unwrap();
    let is_wrapped = keys.next().is_some();
    let is_map = format.document.pointer(format.container).unwrap().is_object();
    if !is_map {
        at(&format.tool, tools::of_tool(key, is_wrapped));
        at(&format!("{}/1", format.container), tools::of_entry());
    }
    if let Some((parent, key)) = format.container.rsplit_once('/') {
        let rename = |word: &'static str| {
            let key = key.to_string();
            let change: Box<dyn Fn(&mut Value)> = Box::new(move |parent| edit::rename(parent, &key, word));
            (format!("{word} for the list of tools"), change)
        };
        at(parent, tools::CONTAINERS.into_iter().filter(|word| *word != key).map(rename).collect());
    }
    all
}

/// Tries every mistake whose number is `first` when counted in steps.
fn check(first: usize, step: usize) {
    let formats: Vec<Format> = formats().into_iter().chain(["3.1.0", "3.0.3", "2.0"].map(openapi)).collect();
    let mut tried = 0;
    let mut wrong: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for format in &formats {
        let (_folder, good) = open(format, &written(format, &format.document).unwrap());
        assert_eq!(good.catalog.tools.len(), 3, "{}: {:#?}", format.name, good.findings);
        let expected = format.document.pointer(&format.schema).unwrap();
        let forecast = good.catalog.tools.iter().find(|tool| tool.names.canonical == "get_forecast").unwrap();
        let all: Vec<Damaged> = damaged(format).into_iter().skip(first).step_by(step).collect();
        assert!(
            forecast.input.parameters.schema().to_string().contains("Latitude"),
            "{}: {expected}",
            format.name
        );
        tried += all.len();
        let found: Vec<(String, String)> = all
            .par_iter()
            .filter_map(|damaged| silent(format, &good, damaged).map(|why| (damaged.what.clone(), why)))
            .collect();
        for (what, why) in found {
            wrong.entry(what).or_default().push(format!("{}: {why}", format.name));
        }
    }
    let count: usize = wrong.values().map(Vec::len).sum();
    let shown: Vec<String> = wrong
        .iter()
        .map(|(what, formats)| format!("{what} [{}]\n    {}", formats.len(), formats.join("\n    ")))
        .collect();
    assert!(wrong.is_empty(), "{count} of {tried} mistakes, {} kinds:\n{}", wrong.len(), shown.join("\n"));
}

#[test]
fn a_mistake_is_read_as_meant_or_named_at_its_place() {
    check(7, 67);
}

#[test]
#[ignore = "slow"]
fn each_mistake_is_read_as_meant_or_named_at_its_place() {
    check(0, 1);
}
