//! Schema views: the schema that a provider takes, derived from the canonical schema, which stays as it is.
//!
//! 1. [`refs`] copies it as JSON Schema 2020-12 without hidden characters: all references lead to its own definitions, and
//!    only needed definitions remain.
//! 2. [`property_names`] renames properties whose names are refused, and takes that back in calls.
//! 3. [`strip`] keeps only the structure, where that is requested.
//! 4. [`refs`] replaces references: all of them, or the one at the root, and [`root`] makes the root one object.
//! 5. [`restrict_keywords`] keeps the keywords that the format knows, and puts lost limits in words.
//! 6. [`strict`] makes a strict schema, within the limits of the provider.
//! 7. [`to_objects`] writes bare `true` and `false` as objects: some clients refuse bare ones.

mod property_names;
mod refs;
mod restrict_keywords;
mod root;
mod strict;

use serde_json::{Map, Value, json};

pub(super) use property_names::Renaming;
use refs::Dialect;
pub(super) use strict::StrictBudget;

use toolcrib_definition::schema::walk::{below_mut, draft, each_mut, is_annotation};

/// Rules of a format for schemas (docs/reference/formats.md).
#[derive(Clone, Copy, Debug)]
pub(super) struct SchemaRules {
    /// Whether references are unknown, and are replaced by their targets.
    pub(super) inline: bool,
    /// Rule of the root.
    pub(super) root: Root,
    /// The keywords known below the root, any when empty; other limits go into the description.
    pub(super) keywords: &'static [&'static str],
    /// Rule of the names of properties.
    pub(super) keys: Keys,
    /// Whether an object without properties is refused, so that a tool without arguments has no schema.
    pub(super) omit_empty: bool,
    /// The strict subset of the provider.
    pub(super) strict: Option<Strict>,
}

/// Rule of the root of a schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Root {
    /// An object, with any keyword.
    Object,
    /// An object that has `properties`; no `oneOf`, `anyOf`, `allOf`, `enum`, `const` or `not`.
    Properties,
    /// `type`, `properties` and `required`, and nothing else.
    Bare,
}

/// Rule of the names of properties.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Keys {
    /// Any.
    Any,
    /// `^[a-zA-Z0-9_.-]{1,64}$`.
    Portable,
}

/// A subset of JSON Schema that a provider can enforce.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Strict {
    /// OpenAI's: every property required, optional ones nullable (docs/reference/formats.md, Strict schemas).
    OpenAi,
    /// Anthropic's (docs/reference/formats.md, Anthropic Messages).
    Anthropic,
}

/// A schema for a provider.
#[derive(Debug, Default)]
pub(super) struct ProviderSchema {
    /// The schema; `None` where an empty one is refused.
    pub(super) schema: Option<Value>,
    /// Whether it is strict.
    pub(super) strict: bool,
    /// Reason why it is not strict, when strict was requested.
    pub(super) not_strict: Option<String>,
    /// Constraints of the canonical schema that this one lacks; it never refuses a value that the canonical one
    /// accepts.
    pub(super) loosened: Vec<String>,
}

/// Derives a view, a strict one if there is budget for one more. The error says why the tool cannot be bound at all.
pub(super) fn view(
    schema: &Value,
    rules: &SchemaRules,
    compact: bool,
    strict: Option<&mut StrictBudget>,
) -> Result<ProviderSchema, String> {
    let mut loose = Loosened::default();
    let names = property_names::renamed(schema, rules.keys);
    let mut view = to_2020_12(schema, rules.root == Root::Object, &mut loose);
    property_names::rename(&mut view, &names, &mut loose);
    guard_references(&mut view, &mut loose);
    if compact {
        strip(&mut view);
    }
    if rules.inline {
        refs::inline(&mut view, &mut loose);
    } else {
        refs::open_root(&mut view, &mut loose);
    }
    let before = loose.times();
    root::shape(&mut view, rules.root, !compact, &mut loose)?;
    let root_is_looser = loose.times() > before;
    guard_references(&mut view, &mut loose);
    let takes_none = rules.omit_empty && takes_no_arguments(&view);
    if !rules.keywords.is_empty() {
        restrict_keywords::restrict(&mut view, rules.keywords, !compact, &mut loose);
    }
    if view.get("$defs").is_some() {
        // Passes may have left definitions that are not referred to any more.
        refs::prune(&mut view);
    }
    let loosened = loose.into_words();
    if takes_none {
        return Ok(ProviderSchema { loosened, ..ProviderSchema::default() });
    }
    require_properties(&mut view, rules);
    let made = rules.strict.zip(strict).map(|(subset, room)| {
        if root_is_looser {
            Err("the root has more than this provider takes, and a strict root would mean something else"
                .into())
        } else {
            strict::strict(&view, subset, room)
        }
    });
    let (strict, not_strict) = match made {
        Some(Ok(made)) => {
            view = made;
            (true, None)
        }
        Some(Err(reason)) => (false, Some(reason)),
        None => (false, None),
    };
    to_objects(&mut view);
    Ok(ProviderSchema { schema: Some(view), strict, not_strict, loosened })
}

/// A copy of a schema with hidden characters removed from its texts, and without bare `true` and `false`.
pub(super) fn cleaned(schema: &Value) -> Value {
    let mut copy = schema.clone();
    refs::clean_texts(&mut copy);
    to_objects(&mut copy);
    copy
}

/// A copy in 2020-12, with references to its own definitions. `takes_any`: whether any keyword stays, also `x-` ones.
fn to_2020_12(schema: &Value, takes_any: bool, loose: &mut Loosened) -> Value {
    let mut copy = refs::gathered(schema, loose);
    Dialect { draft: draft(schema), takes_any }.convert(&mut copy, loose);
    copy
}

/// Whether a schema allows no meaningful argument.
pub(super) fn takes_no_arguments(schema: &Value) -> bool {
    let is_harmless = |(key, value): (&String, &Value)| match key.as_str() {
        "properties" => *value == json!({}),
        "additionalProperties" => *value == Value::Bool(false),
        "type" | "required" | "$schema" => true,
        key => is_annotation(key),
    };
    schema.as_object().is_some_and(|schema| schema.iter().all(is_harmless))
}

/// Puts all arguments below one, where an object without properties is refused.
pub(super) fn below(key: &str) -> Value {
    json!({ "type": "object", "properties": { key: { "type": "object" } } })
}

/// Gives the root `properties` where they are required; where an empty object is refused, all arguments go below one.
fn require_properties(view: &mut Value, rules: &SchemaRules) {
    if rules.root == Root::Object && !rules.omit_empty {
        return;
    }
    let Some(root) = view.as_object_mut() else { return };
    if rules.omit_empty && root.get("properties").is_none_or(|properties| *properties == json!({})) {
        *view = below("args");
    } else {
        root.entry("properties").or_insert_with(|| json!({}));
    }
}

// Records parts of a schema that a view cannot express. Loosening a part must never make the whole stricter than the
// canonical schema. And small questions and passes that views share.

/// Most losses that are listed one by one.
const TOLD: usize = 8;

/// The loosened parts, in words, each once.
#[derive(Debug, Default)]
struct Loosened {
    said: Vec<String>,
    times: usize,
}

impl Loosened {
    /// Records a loss that people should know.
    fn record(&mut self, what: impl Into<String>) {
        self.times += 1;
        let what = what.into();
        if self.said.len() < TOLD && !self.said.contains(&what) {
            self.said.push(what);
        }
    }

    /// Records a loss that is not worth a message.
    fn count(&mut self) {
        self.times += 1;
    }

    /// Number of losses so far.
    fn times(&self) -> usize {
        self.times
    }

    /// The messages of all losses.
    fn into_words(self) -> Vec<String> {
        self.said
    }
}

/// Removes keywords that get stricter when a part of them gets looser: `not` of a looser schema is stricter.
fn guard(object: &mut Map<String, Value>, loose: &mut Loosened) {
    for key in ["not", "if", "then", "else", "unevaluatedProperties", "unevaluatedItems", "maxContains"] {
        if object.shift_remove(key).is_some() {
            loose.record(format!("`{key}`"));
        }
    }
    one_to_any(object, loose);
}

/// Treats every reference to a loosened definition as loosened. Returns whether there is a reference.
fn guard_references(schema: &mut Value, loose: &mut Loosened) -> bool {
    if loose.times == 0 {
        return false;
    }
    let Some(object) = schema.as_object_mut() else { return false };
    let mut refers = object.contains_key("$ref");
    each_mut(object, &mut |child| refers |= guard_references(child, loose));
    if refers {
        guard(object, loose);
    }
    refers
}

/// `oneOf` refuses a value that fits a second branch, and looser branches fit more often.
fn one_to_any(object: &mut Map<String, Value>, loose: &mut Loosened) {
    let Some(branches) = object.shift_remove("oneOf") else { return };
    if object.contains_key("anyOf") {
        loose.record("`oneOf` beside `anyOf`");
    } else {
        object.insert("anyOf".into(), branches);
    }
}

/// Takes the definitions out of a root.
fn take_defs(root: &mut Map<String, Value>) -> Map<String, Value> {
    match root.shift_remove("$defs") {
        Some(Value::Object(defs)) => defs,
        _ => Map::new(),
    }
}

/// Allows null beside the types and values of a schema.
fn add_null(object: &mut Map<String, Value>) {
    match object.get_mut("type") {
        Some(Value::Array(words)) => words.push("null".into()),
        Some(word) => *word = Value::Array(vec![word.take(), "null".into()]),
        None => {}
    }
}

/// Lists null beside the values of an enumeration.
fn list_null(object: &mut Map<String, Value>) {
    if let Some(Value::Array(values)) = object.get_mut("enum")
        && !values.contains(&Value::Null)
    {
        values.push(Value::Null);
    }
}

/// Whether the `type` of a schema allows values of this type.
fn allows(object: &Map<String, Value>, word: &str) -> bool {
    object.get("type").is_none_or(|written| names_type(written, word))
}

/// Whether a `type` names this word.
fn names_type(written: &Value, word: &str) -> bool {
    match written {
        Value::Array(words) => words.iter().any(|one| one == word),
        one => one == word,
    }
}

/// Number of values within a value, and its depth.
fn measure(value: &Value) -> (usize, usize) {
    let inside = |parts: &mut dyn Iterator<Item = &Value>| {
        parts
            .map(measure)
            .fold((1, 0), |(nodes, deepest), (more, depth)| (nodes + more, deepest.max(depth + 1)))
    };
    match value {
        Value::Object(object) => inside(&mut object.values()),
        Value::Array(list) => inside(&mut list.iter()),
        _ => (1, 0),
    }
}

/// Keywords at which every client knows a bare flag; strict mode demands it.
const FLAGS: [&str; 3] = ["additionalProperties", "unevaluatedProperties", "unevaluatedItems"];

/// Replaces `true` by `{}` and `false` by `{"not": {}}`, everywhere but at [`FLAGS`].
fn to_objects(schema: &mut Value) {
    match schema {
        Value::Bool(true) => *schema = json!({}),
        Value::Bool(false) => *schema = json!({ "not": {} }),
        Value::Object(object) => {
            for (keyword, value) in object.iter_mut() {
                if !(value.is_boolean() && FLAGS.contains(&keyword.as_str())) {
                    below_mut(keyword, value, &mut to_objects);
                }
            }
        }
        _ => {}
    }
}

/// Compact schemas: structure and requirements stay. Removes the keywords that only describe values. A property may be named `description`; it stays.
fn strip(schema: &mut Value) {
    let Some(object) = schema.as_object_mut() else { return };
    object.retain(|key, _| !is_annotation(key));
    each_mut(object, &mut strip);
}

#[cfg(test)]
mod tests;
