//! Records parts of a schema that a view cannot express. Loosening a part must never make the whole stricter than the
//! canonical schema.

use serde_json::{Map, Value};

use toolcrib_definition::schema::walk::each_mut;

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
pub(super) fn one_to_any(object: &mut Map<String, Value>, loose: &mut Loosened) {
    let Some(branches) = object.shift_remove("oneOf") else { return };
    if object.contains_key("anyOf") {
        loose.record("`oneOf` beside `anyOf`");
    } else {
        object.insert("anyOf".into(), branches);
    }
}
