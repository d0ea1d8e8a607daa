//! The page of all settings, made from the JSON Schema of the configuration.

use std::collections::BTreeSet;

use serde_json::Value;
use snapbox::{Assert, Data};

use crate::fixture;

#[test]
fn the_page_of_the_settings_is_made_from_the_schema() {
    let file = fixture::package().join("schema/toolcrib.schema.json");
    let schema: Value = serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap();
    let mut page =
        Page { schema: &schema, text: include_str!("settings.md").into(), explained: BTreeSet::new() };
    page.table("", &schema);
    let file = fixture::package().join("docs/reference/settings.md");
    Assert::new()
        .action_env(snapbox::assert::DEFAULT_ACTION_ENV)
        .eq(page.text, Data::read_from(&file, None).raw());
}

struct Page<'s> {
    schema: &'s Value,
    text: String,
    /// Parts of the schema whose values the page has explained.
    explained: BTreeSet<&'s str>,
}

/// A table of `toolcrib.toml` with fields of its own.
struct Section<'s> {
    path: String,
    heading: String,
    part: &'s Value,
}

impl<'s> Page<'s> {
    /// Adds the fields of a table, then a section for each table below it.
    fn table(&mut self, path: &str, part: &'s Value) {
        let mut rows = String::new();
        let mut sections = Vec::new();
        for (name, field) in part["properties"].as_object().into_iter().flatten() {
            let below = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
            match self.section(&below, field) {
                Some(section) if !path.is_empty() && self.top_level(section.part).is_some() => {
                    let heading = self.top_level(section.part).unwrap_or_default();
                    rows += &cells(&[&format!("`{name}`"), &format!("as `{heading}`"), "", &about(field)]);
                }
                Some(section) => sections.push(section),
                None => rows += &self.row(name, field),
            }
        }
        if !rows.is_empty() {
            self.text += "\n| field | type | default | meaning |\n| --- | --- | --- | --- |\n";
            self.text += &rows;
        }
        for Section { path, heading, part } in sections {
            self.text += &format!("\n### `{heading}`\n\n{}\n", about(part));
            self.table(&path, part);
        }
    }

    fn row(&mut self, name: &str, field: &Value) -> String {
        let default = match &field["default"] {
            Value::Null | Value::Object(_) => String::new(),
            Value::String(text) if text.is_empty() => String::new(),
            Value::Array(items) if items.is_empty() => String::new(),
            Value::String(text) => format!("`{text}`"),
            value => format!("`{value}`"),
        };
        let mut meaning = about(field);
        if let Some((part, choices)) = self.choices(field)
            && self.explained.insert(part)
        {
            choices.iter().for_each(|(word, about)| meaning += &format!(" `{word}`: {about}"));
        }
        cells(&[&format!("`{name}`"), &self.kind(field), &default, &meaning])
    }

    /// The type of a field, for a reader: its values where they are a few words.
    fn kind(&self, field: &Value) -> String {
        if let Some((_, choices)) = self.choices(field) {
            let words: Vec<String> = choices.iter().map(|(word, _)| format!("`{word}`")).collect();
            return words.join(", ");
        }
        match (field["$ref"].as_str(), field["type"].as_str()) {
            (Some(_), _) => "text or list",
            (None, Some("array")) => "list",
            (None, Some("object")) => "table",
            (None, Some("string")) => "text",
            (None, Some("integer")) => "number",
            (None, Some(kind)) => kind,
            (None, None) => "any",
        }
        .into()
    }

    /// The words that a field, or an item of it, may be, and the part of the schema that lists them.
    fn choices(&self, field: &Value) -> Option<(&'s str, Vec<(&'s str, String)>)> {
        let below = [field, &field["items"], &field["additionalProperties"]];
        let (name, part) = below.into_iter().find_map(|field| self.part(field))?;
        let choices = part["oneOf"].as_array()?.iter();
        let choices = choices.map(|choice| Some((choice["const"].as_str()?, about(choice))));
        Some((name, choices.collect::<Option<_>>()?))
    }

    /// The table with fields of its own that a field is, or that its items or values are.
    fn section(&self, path: &str, field: &Value) -> Option<Section<'s>> {
        let of = |field: &Value, path: String, heading: String| {
            let (_, part) = self.part(field).filter(|(_, part)| part["properties"].is_object())?;
            Some(Section { path, heading, part })
        };
        of(field, path.into(), format!("[{path}]"))
            .or_else(|| of(&field["items"], path.into(), format!("[[{path}]]")))
            .or_else(|| of(&field["additionalProperties"], format!("{path}.NAME"), format!("[{path}.NAME]")))
    }

    /// The heading of a part of the schema that is a table at the top level.
    fn top_level(&self, part: &Value) -> Option<String> {
        let fields = self.schema["properties"].as_object()?;
        let mut sections = fields.iter().filter_map(|(name, field)| self.section(name, field));
        sections.find(|section| std::ptr::eq(section.part, part)).map(|section| section.heading)
    }

    fn part(&self, field: &Value) -> Option<(&'s str, &'s Value)> {
        let name = field["$ref"].as_str()?.strip_prefix("#/$defs/")?;
        self.schema["$defs"].as_object()?.get_key_value(name).map(|(name, part)| (name.as_str(), part))
    }
}

fn about(schema: &Value) -> String {
    schema["description"].as_str().unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" ")
}

fn cells(cells: &[&str]) -> String {
    let escaped = cells.iter().map(|cell| cell.replace('|', "\\|"));
    format!("| {} |\n", escaped.collect::<Vec<_>>().join(" | "))
}
