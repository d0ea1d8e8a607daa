//! The page of all settings, made from the JSON Schemas of the configuration and of definitions.

use serde_json::{Map, Value};
use snapbox::{Assert, Data};

use crate::fixture;

const SCHEMAS: [(&str, &str); 2] = [
    ("schema/toolcrib.schema.json", "Settings of `toolcrib.toml`"),
    ("schema/definition.schema.json", "Fields of a definition"),
];

#[test]
fn the_page_of_the_settings_is_made_from_the_schemas() {
    let mut page = String::from(
        "# Settings and fields\n\nEvery field of `toolcrib.toml` and of a native definition, as editors know them by the schemas. \
         [Configuration](../configuration.md) and [definitions](../definitions.md) explain them with examples; the \
         [glossary](../glossary.md) has the words.\n\nThis page is made from the schemas: \
         `SNAPSHOTS=overwrite cargo test --test it settings::`.\n",
    );
    for (file, title) in SCHEMAS {
        let text = std::fs::read_to_string(fixture::package().join(file)).unwrap();
        let schema: Value = serde_json::from_str(&text).unwrap();
        page += &format!("\n## {title}\n");
        fields(&mut page, &schema);
        for (name, part) in schema["$defs"].as_object().into_iter().flatten() {
            if part["properties"].is_object() || !words(part).is_empty() {
                page += &format!(
                    "\n### `{name}` of {}\n\n{}\n",
                    title.split(' ').next_back().unwrap(),
                    about(part)
                );
                fields(&mut page, part);
                values(&mut page, part);
            }
        }
    }
    let file = fixture::package().join("docs/reference/settings.md");
    Assert::new()
        .action_env(snapbox::assert::DEFAULT_ACTION_ENV)
        .eq(page, Data::read_from(&file, None).raw());
}

/// The table of the fields of an object.
fn fields(page: &mut String, schema: &Value) {
    let none = Map::new();
    let fields = schema["properties"].as_object().unwrap_or(&none);
    if fields.is_empty() {
        return;
    }
    *page += "\n| field | kind | default | |\n| --- | --- | --- | --- |\n";
    for (name, field) in fields {
        let default = match field.get("default") {
            None | Some(Value::Null | Value::Object(_)) => String::new(),
            Some(Value::String(text)) if text.is_empty() => String::new(),
            Some(Value::Array(items)) if items.is_empty() => String::new(),
            Some(value) => format!("`{value}`"),
        };
        *page += &cells(&[&format!("`{name}`"), &kind(field), &default, &about(field)]);
    }
}

/// The table of the words that a field may be.
fn values(page: &mut String, schema: &Value) {
    let words = words(schema);
    if words.is_empty() {
        return;
    }
    *page += "\n| value | |\n| --- | --- |\n";
    words.iter().for_each(|(word, about)| *page += &cells(&[&format!("`{word}`"), about]));
}

fn words(schema: &Value) -> Vec<(&str, String)> {
    let choices = schema["oneOf"].as_array().into_iter().flatten();
    let constant = choices.filter_map(|choice| Some((choice["const"].as_str()?, about(choice))));
    let listed = schema["enum"].as_array().into_iter().flatten().filter_map(Value::as_str);
    constant.chain(listed.map(|word| (word, String::new()))).collect()
}

/// The kind of a value: a type, or the name of a part of the schema.
fn kind(schema: &Value) -> String {
    let part = schema["$ref"].as_str().and_then(|part| part.rsplit('/').next());
    match (part, schema["type"].as_str()) {
        (Some(part), _) => format!("`{part}`"),
        (None, Some("array")) => format!("list of {}", kind(&schema["items"])),
        (None, Some("object")) if schema["additionalProperties"].is_object() => {
            format!("table of {}", kind(&schema["additionalProperties"]))
        }
        (None, Some("object")) => "table".into(),
        (None, Some(name)) => name.into(),
        (None, None) => {
            let choices = schema["anyOf"].as_array().or(schema["oneOf"].as_array());
            let kinds = choices.into_iter().flatten().filter(|choice| choice["type"] != "null").map(kind);
            let kinds: Vec<String> = kinds.collect();
            if kinds.is_empty() { "any".into() } else { kinds.join(" or ") }
        }
    }
}

fn about(schema: &Value) -> String {
    schema["description"].as_str().unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" ")
}

fn cells(cells: &[&str]) -> String {
    let escaped = cells.iter().map(|cell| cell.replace('|', "\\|"));
    format!("| {} |\n", escaped.collect::<Vec<_>>().join(" | "))
}
