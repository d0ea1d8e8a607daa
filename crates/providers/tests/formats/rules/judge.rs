//! The judge of one provider, and the checks of form that all judges use.

use std::collections::HashSet;

use serde_json::Value;
use toolcrib_catalog::config;
use toolcrib_providers::{Payload, Provider};

use super::report::Report;
use super::schema::Schema;

/// Rule of names: first character, other characters, and most characters.
#[derive(Clone, Copy)]
pub struct Names {
    /// The first character.
    pub first: fn(char) -> bool,
    /// Every other.
    pub rest: fn(char) -> bool,
    /// Characters.
    pub most: usize,
}

/// `^[a-zA-Z0-9_-]{1,64}$`, the rule of most providers (docs/reference/formats.md, Limits by provider).
pub const PLAIN_NAMES: Names = Names { first: is_plain, rest: is_plain, most: 64 };

fn is_plain(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '-')
}

impl Names {
    /// Whether a provider takes this name.
    pub fn take(self, name: &str) -> bool {
        let mut characters = name.chars();
        characters.next().is_some_and(self.first)
            && characters.all(self.rest)
            && name.chars().count() <= self.most
    }
}

/// One provider's column of the rule table.
pub struct Judge {
    /// The provider.
    pub provider: Provider,
    /// Names.
    pub names: Names,
    /// The most entries in the list of tools.
    pub limit: Option<usize>,
    /// Whether tools can be deferred.
    pub native: bool,
    /// The functions of a body, in order, those in namespaces too.
    pub found: for<'v> fn(&'v Value) -> Vec<Found<'v>>,
    /// Fields, deferral and marks.
    pub shape: fn(&Case<'_>, &mut Report),
    /// Schemas.
    pub schema: fn(&Schema<'_>, &mut Report),
}

/// A payload to be judged.
pub struct Case<'a> {
    /// The options of the payload.
    pub options: config::Payload,
    /// The payload.
    pub payload: &'a Payload<'a>,
}

impl<'a> Case<'a> {
    /// The fragment of the request body.
    pub fn body(&self) -> &'a Value {
        &self.payload.body
    }
}

/// A function as it stands in a body.
pub struct Found<'v> {
    /// Where.
    pub pointer: String,
    /// Its name; may be empty.
    pub name: &'v str,
    /// Its text; may be empty.
    pub description: &'v str,
    /// Its schema, if it has one.
    pub schema: Option<&'v Value>,
    /// Where the schema is.
    pub schema_pointer: String,
    /// Whether it is strict.
    pub strict: bool,
    /// Whether it is deferred.
    pub deferred: bool,
}

impl<'v> Found<'v> {
    /// The function that an object describes, its schema in this field.
    pub fn of(value: &'v Value, pointer: String, schema: &str) -> Self {
        let text = |key: &str| value.get(key).and_then(Value::as_str).unwrap_or_default();
        Found {
            schema_pointer: format!("{pointer}{schema}"),
            pointer,
            name: text("name"),
            description: text("description"),
            schema: value.pointer(schema),
            strict: value.get("strict") == Some(&Value::Bool(true)),
            deferred: value.get("defer_loading") == Some(&Value::Bool(true)),
        }
    }
}

/// The entries at a pointer with their own pointers.
pub fn entries<'v>(body: &'v Value, list: &str) -> Vec<(String, &'v Value)> {
    let listed = body.pointer(list).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    listed.iter().enumerate().map(|(index, entry)| (format!("{list}/{index}"), entry)).collect()
}

/// Functions as OpenAI's chat completions have them.
pub fn chat_functions<'v>(body: &'v Value, list: &str) -> Vec<Found<'v>> {
    let of = |(pointer, entry): (String, &'v Value)| {
        Found::of(entry.get("function").unwrap_or(&Value::Null), format!("{pointer}/function"), "/parameters")
    };
    entries(body, list).into_iter().map(of).collect()
}

/// Every entry is `{"type":"function","function":{...}}` with these fields and no others.
pub fn chat_shape(body: &Value, list: &str, optional: &[&str], report: &mut Report) {
    for (pointer, entry) in entries(body, list) {
        keys(entry, &["type", "function"], &[], &pointer, report);
        report.demand(entry["type"] == "function", "the type is function", &pointer);
        let inner = format!("{pointer}/function");
        keys(&entry["function"], &["name", "description", "parameters"], optional, &inner, report);
        booleans(&entry["function"], &["strict"], &inner, report);
    }
}

/// The fields of an object: all of the first, some of the second, no others.
pub fn keys(value: &Value, required: &[&str], optional: &[&str], pointer: &str, report: &mut Report) {
    let Some(object) = value.as_object() else {
        return report.demand(false, "an object", pointer);
    };
    for key in required.iter().filter(|key| !object.contains_key(**key)) {
        report.demand(false, &format!("has the field {key}"), pointer);
    }
    for key in
        object.keys().filter(|key| !required.contains(&key.as_str()) && !optional.contains(&key.as_str()))
    {
        report.demand(false, &format!("has no field {key}"), pointer);
    }
}

/// Fields that are booleans where they are given.
pub fn booleans(value: &Value, fields: &[&str], pointer: &str, report: &mut Report) {
    for field in fields {
        let fits = value.get(field).is_none_or(Value::is_boolean);
        report.demand(fits, &format!("{field} is a boolean"), pointer);
    }
}

/// A body is this list alone, and is left out when empty, since an empty list is refused.
pub fn only_list(body: &Value, key: &str, report: &mut Report) {
    let is_empty = body.as_object().is_some_and(|body| body.is_empty());
    if !is_empty {
        keys(body, &[key], &[], "", report);
        let listed = body[key].as_array().is_some_and(|list| !list.is_empty());
        report.demand(listed || body[key].is_object(), "a list that is not empty", "");
    }
}

/// Names match the pattern and are unique, and every function says what it is for.
pub fn names(judge: &Judge, found: &[Found<'_>], report: &mut Report) {
    let mut seen = HashSet::new();
    for function in found {
        report.tool = function.name.to_string();
        report.demand(judge.names.take(function.name), "the name matches the pattern", &function.pointer);
        report.demand(seen.insert(function.name), "names are unique", &function.pointer);
        report.demand(!function.description.trim().is_empty(), "a description", &function.pointer);
    }
    report.tool.clear();
}
