//! A tool as an entry: its author's texts, its parameters, and the actions that it selects by an argument.

use std::slice;

use indexmap::IndexSet;
use serde_json::Value;

use super::{Field, IndexEntry};
use toolcrib_catalog::Tool;

/// Deepest level of parameters, and most parameters of a tool, that are read.
const MAX_DEPTH: usize = 3;
const MAX_PARAMETERS: usize = 200;
/// Most values of an enumeration that are read.
const MAX_VALUES: usize = 40;

/// Names of arguments that select an action, and most values of one.
const SELECTORS: [&str; 7] = ["method", "action", "operation", "command", "op", "mode", "subcommand"];
const MAX_ACTIONS: usize = 40;

impl From<&Tool> for IndexEntry {
    fn from(tool: &Tool) -> Self {
        let definition = &tool.definition;
        let names = [&tool.name, &tool.safe_name, &tool.op].into_iter().chain(&tool.aliases);
        let names: IndexSet<&String> = names.collect();
        let mut texts = vec![(Field::Name, definition.name.clone()), (Field::Alias, tool.op.clone())];
        let aliases = tool.aliases.iter().chain(&definition.title);
        texts.extend(aliases.map(|alias| (Field::Alias, alias.clone())));
        texts.push((Field::Short, tool.short.clone()));
        texts.push((Field::Long, tool.description.clone()));
        texts.extend(tool.returns.iter().map(|returns| (Field::Long, returns.clone())));
        texts.extend(definition.tags.iter().map(|tag| (Field::Label, tag.clone())));
        texts.extend(tool.categories.iter().map(|path| (Field::Label, path.to_string())));
        texts.extend(tool.server.iter().map(|server| (Field::Label, server.clone())));
        let examples =
            tool.notes.iter().chain(tool.examples.iter().filter_map(|example| example.title.as_ref()));
        texts.extend(examples.map(|example| (Field::Example, example.clone())));
        let mut left = MAX_PARAMETERS;
        parameters(tool.parameters.schema(), 0, &mut left, &mut texts);
        Self {
            exact: names.into_iter().cloned().collect(),
            texts,
            effect: Some(tool.effect),
            server: tool.server.clone(),
            categories: tool.categories.iter().map(ToString::to_string).collect(),
            actions: actions(tool.parameters.schema()),
        }
    }
}

/// The values of arguments that select an action.
fn actions(schema: &Value) -> Vec<String> {
    let properties = schema.get("properties").and_then(Value::as_object).into_iter().flatten();
    let selectors = properties.filter(|(name, _)| SELECTORS.contains(&name.to_lowercase().as_str()));
    let values = selectors.filter_map(|(_, property)| property.get("enum")?.as_array()).flatten();
    values.filter_map(Value::as_str).take(MAX_ACTIONS).map(str::to_string).collect()
}

/// Reads the properties of a schema, and those below them.
fn parameters(schema: &Value, depth: usize, left: &mut usize, texts: &mut Vec<(Field, String)>) {
    let properties = schema.get("properties").and_then(Value::as_object);
    for (name, property) in properties.into_iter().flatten() {
        if *left == 0 || depth > MAX_DEPTH {
            return;
        }
        *left -= 1;
        texts.push((Field::Parameter, name.clone()));
        let text = property.get("description").and_then(Value::as_str);
        texts.extend(text.map(|text| (Field::ParameterText, text.to_string())));
        let values = property.get("enum").and_then(Value::as_array).into_iter().flatten();
        let values = values.filter_map(Value::as_str).take(MAX_VALUES);
        texts.extend(values.map(|value| (Field::ParameterText, value.to_string())));
        parameters(property, depth + 1, left, texts);
    }
    for below in ["items", "anyOf", "oneOf", "allOf"] {
        let below = schema.get(below);
        let schemas = below.map(|one| one.as_array().map_or(slice::from_ref(one), Vec::as_slice));
        schemas.into_iter().flatten().for_each(|one| parameters(one, depth + 1, left, texts));
    }
}
