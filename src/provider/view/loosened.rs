//! Records parts of a schema that a view cannot express. Loosening a part must never make the whole stricter than the
//! canonical schema. And small questions and passes that views share.

use serde_json::{Map, Value, json};

use crate::finding::keyword::{below_mut, each_mut, is_annotation};

/// Most losses that are listed one by one.
const TOLD: usize = 8;

/// The loosened parts, in words, each once.
#[derive(Debug, Default)]
pub(super) struct Loosened {
    said: Vec<String>,
    times: usize,
}

impl Loosened {
    /// Records a loss that people should know.
    pub(super) fn record(&mut self, what: impl Into<String>) {
        self.times += 1;
        let what = what.into();
        if self.said.len() < TOLD && !self.said.contains(&what) {
            self.said.push(what);
        }
    }

    /// Records a loss that is not worth a message.
    pub(super) fn count(&mut self) {
        self.times += 1;
    }

    /// Number of losses so far.
    pub(super) fn times(&self) -> usize {
        self.times
    }

    /// The messages of all losses.
    pub(super) fn into_words(self) -> Vec<String> {
        self.said
    }
}

/// Removes keywords that get stricter when a part of them gets looser: `not` of a looser schema is stricter.
pub(super) fn guard(object: &mut Map<String, Value>, loose: &mut Loosened) {
    for key in ["not", "if", "then", "else", "unevaluatedProperties", "unevaluatedItems", "maxContains"] {
        if object.shift_remove(key).is_some() {
            loose.record(format!("`{key}`"));
        }
    }
    one_to_any(object, loose);
}

/// Treats every reference to a loosened definition as loosened. Returns whether there is a reference.
pub(super) fn guard_references(schema: &mut Value, loose: &mut Loosened) -> bool {
    let Some(object) = schema.as_object_mut().filter(|_| loose.times > 0) else { return false };
    let mut refers = object.contains_key("$ref");
    each_mut(object, &mut |child| refers |= guard_references(child, loose));
    if refers {
        guard(object, loose);
    }
    refers
}

/// `oneOf` refuses a value that fits a second branch, and looser branches fit more often.
pub(super) fn one_to_any(object: &mut Map<String, Value>, loose: &mut Loosened) {
    let Some(branches) = object.shift_remove("oneOf") else { return };
    if object.contains_key("anyOf") {
        loose.record("`oneOf` beside `anyOf`");
    } else {
        object.insert("anyOf".into(), branches);
    }
}

/// Takes the definitions out of a root.
pub(super) fn take_defs(root: &mut Map<String, Value>) -> Map<String, Value> {
    match root.shift_remove("$defs") {
        Some(Value::Object(defs)) => defs,
        _ => Map::new(),
    }
}

/// Allows null beside the types and values of a schema.
pub(super) fn add_null(object: &mut Map<String, Value>) {
    match object.get_mut("type") {
        Some(Value::Array(words)) => words.push("null".into()),
        Some(word) => *word = Value::Array(vec![word.take(), "null".into()]),
        None => {}
    }
}

/// Lists null beside the values of an enumeration.
pub(super) fn list_null(object: &mut Map<String, Value>) {
    if let Some(Value::Array(values)) = object.get_mut("enum")
        && !values.contains(&Value::Null)
    {
        values.push(Value::Null);
    }
}

/// Whether the `type` of a schema allows values of this type.
pub(super) fn allows(object: &Map<String, Value>, word: &str) -> bool {
    object.get("type").is_none_or(|written| names_type(written, word))
}

/// Whether a `type` names this word.
pub(super) fn names_type(written: &Value, word: &str) -> bool {
    match written {
        Value::Array(words) => words.iter().any(|one| one == word),
        one => one == word,
    }
}

/// Number of values within a value, and its depth.
pub(super) fn measure(value: &Value) -> (usize, usize) {
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
pub(super) fn to_objects(schema: &mut Value) {
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
pub(super) fn strip(schema: &mut Value) {
    let Some(object) = schema.as_object_mut() else { return };
    object.retain(|key, _| !is_annotation(key));
    each_mut(object, &mut strip);
}
