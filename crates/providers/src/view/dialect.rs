//! Converts a schema of any draft to JSON Schema 2020-12. Unknown keywords and hidden characters in texts are
//! removed.

use std::collections::HashSet;

use jsonschema::Draft;
use serde_json::{Map, Value, json};

use super::loosened::{Loosened, guard};
use super::refs::gathered;
use super::types::{add_null, allows, list_null, names_type};
use toolcrib_definition::schema::type_words::TYPES;
use toolcrib_definition::schema::walk::{
    KeywordKind, draft, each_mut, fits, holds, is_annotation, is_schema,
};
use toolcrib_definition::{clean_text, hidden_characters};

/// A copy in 2020-12, with references to its own definitions. `takes_any`: whether any keyword stays, also `x-` ones.
pub(super) fn to_2020_12(schema: &Value, takes_any: bool, loose: &mut Loosened) -> Value {
    let mut copy = gathered(schema, loose);
    Dialect { draft: draft(schema), takes_any }.convert(&mut copy, loose);
    copy
}

/// Whether a draft knows a keyword; an unknown keyword refuses nothing.
fn knows(draft: Draft, keyword: &str) -> bool {
    let since = match keyword {
        "const" | "contains" | "propertyNames" | "examples" => Draft::Draft6,
        "if" | "then" | "else" => Draft::Draft7,
        "dependentRequired"
        | "dependentSchemas"
        | "unevaluatedProperties"
        | "unevaluatedItems"
        | "minContains"
        | "maxContains" => Draft::Draft201909,
        "prefixItems" => Draft::Draft202012,
        _ => Draft::Draft4,
    };
    draft >= since
}

/// Settings of the conversion.
#[derive(Clone, Copy, Debug)]
struct Dialect {
    /// The draft that the author wrote in.
    draft: Draft,
    /// Whether any keyword stays: MCP gives some `x-` ones a meaning (docs/reference/formats.md, MCP). Otherwise an array gets
    /// `items`: OpenAI refuses one without (docs/reference/formats.md, OpenAI Chat Completions).
    takes_any: bool,
}

impl Dialect {
    /// Converts a schema and everything below it.
    fn convert(self, schema: &mut Value, loose: &mut Loosened) {
        let Value::Object(object) = schema else {
            if !schema.is_boolean() {
                *schema = Value::Bool(true);
            }
            return;
        };
        let before = loose.times();
        if self.draft < Draft::Draft202012 {
            self.modernise(object);
        }
        clean(object);
        let mut all_fit = true;
        let mut has_schemas = false;
        for (key, value) in object.iter() {
            let holds = holds(key);
            all_fit &= fits(holds, key, value);
            has_schemas |= matches!(holds, KeywordKind::Schema | KeywordKind::Named | KeywordKind::List);
        }
        if !all_fit {
            self.correct(object, loose);
        }
        if !self.takes_any && !object.contains_key("items") && is_array(object) {
            object.insert("items".into(), json!({}));
        }
        if has_schemas || !all_fit {
            each_mut(object, &mut |child| self.convert(child, loose));
        }
        if loose.times() > before {
            guard(object, loose);
        }
    }

    /// Keywords that an old draft reads differently.
    fn modernise(self, object: &mut Map<String, Value>) {
        if self.draft <= Draft::Draft7 && object.contains_key("$ref") {
            object.retain(|key, _| matches!(key.as_str(), "$ref" | "$defs") || is_annotation(key));
        }
        object.retain(|key, _| knows(self.draft, key));
        if self.draft <= Draft::Draft7
            && let Some(Value::Object(dependencies)) = object.shift_remove("dependencies")
        {
            let (names, schemas): (Map<_, _>, Map<_, _>) =
                dependencies.into_iter().partition(|(_, needed)| needed.is_array());
            for (keyword, part) in [("dependentRequired", names), ("dependentSchemas", schemas)] {
                if !part.is_empty() {
                    object.insert(keyword.into(), Value::Object(part));
                }
            }
        }
    }

    fn correct(self, object: &mut Map<String, Value>, loose: &mut Loosened) {
        nullable(object, loose);
        limits(object);
        tuple(object);
        for (key, value) in object.iter_mut() {
            repair(holds(key), value);
        }
        object.retain(|key, value| {
            let holds = holds(key);
            fits(holds, key, value)
                || holds == KeywordKind::Unknown && self.takes_any && key.starts_with("x-")
        });
    }
}

/// Removes hidden characters from the texts of a schema, and changes nothing else.
pub(super) fn clean_texts(schema: &mut Value) {
    let Some(object) = schema.as_object_mut() else { return };
    clean(object);
    each_mut(object, &mut clean_texts);
}

/// Texts are untrusted: no hidden character in them reaches a model. Values stay as they are, since the canonical
/// schema compares with them.
fn clean(object: &mut Map<String, Value>) {
    object.shift_remove("$comment");
    for keyword in ["description", "title"] {
        if let Some(Value::String(text)) = object.get_mut(keyword)
            && !hidden_characters(text).is_empty()
        {
            *text = clean_text(text).into_owned();
        }
    }
}

fn is_array(object: &Map<String, Value>) -> bool {
    object.get("type").is_some_and(|written| names_type(written, "array"))
}

/// In OpenAPI 3.0 a flag says that a value may be null.
fn nullable(object: &mut Map<String, Value>, loose: &mut Loosened) {
    if object.shift_remove("nullable") != Some(Value::Bool(true)) {
        return;
    }
    loose.count();
    let nothing = json!({ "type": "null" });
    if object.contains_key("type") {
        if !allows(object, "null") {
            add_null(object);
            list_null(object);
        }
    } else if let Some(Value::Array(branches)) = object.get_mut("anyOf") {
        branches.push(nothing);
    } else if ["$ref", "allOf", "oneOf", "enum", "const"].iter().any(|key| object.contains_key(*key)) {
        let (said, rest): (Map<_, _>, Map<_, _>) =
            std::mem::take(object).into_iter().partition(|(key, _)| is_annotation(key) || key == "$defs");
        *object = said;
        object.insert("anyOf".into(), json!([rest, nothing]));
    }
}

/// Draft 4 has flags beside a limit.
fn limits(object: &mut Map<String, Value>) {
    for (flag, limit) in [("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum")] {
        if object.get(flag) == Some(&Value::Bool(true))
            && let Some(bound) = object.shift_remove(limit)
        {
            object.insert(flag.into(), bound);
        }
    }
}

/// A list in `items` is `prefixItems` since 2020-12.
fn tuple(object: &mut Map<String, Value>) {
    let rest = object.shift_remove("additionalItems");
    if !object.get("items").is_some_and(Value::is_array) {
        return;
    }
    if let Some(items) = object.shift_remove("items") {
        object.insert("prefixItems".into(), items);
    }
    if let Some(rest) = rest {
        object.insert("items".into(), rest);
    }
}

/// Keeps the usable part of a value that does not fit its keyword.
fn repair(holds: KeywordKind, value: &mut Value) {
    match (holds, value) {
        (KeywordKind::Named, Value::Object(named)) => named.values_mut().for_each(any_unless_schema),
        (KeywordKind::List, Value::Array(list)) => list.iter_mut().for_each(any_unless_schema),
        (KeywordKind::Names, value @ Value::Array(_)) => only_names(value),
        (KeywordKind::NameLists, Value::Object(named)) => named.values_mut().for_each(only_names),
        (KeywordKind::Type, Value::Array(words)) => {
            let is_word = |word: &Value| word.as_str().is_some_and(|word| TYPES.contains(&word));
            if words.iter().all(is_word) {
                let mut seen = Vec::new();
                words.retain(|word| {
                    !seen.contains(word) && {
                        seen.push(word.clone());
                        seen.len() <= TYPES.len()
                    }
                });
            }
        }
        _ => {}
    }
}

fn any_unless_schema(value: &mut Value) {
    if !is_schema(value) {
        *value = Value::Bool(true);
    }
}

fn only_names(value: &mut Value) {
    let Value::Array(names) = value else { return };
    let mut seen = HashSet::new();
    names.retain(|name| name.as_str().is_some_and(|name| seen.insert(name.to_string())));
}
