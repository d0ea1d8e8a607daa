//! What a view cannot say. Loosening a part must never make the whole refuse more than the canonical schema does.

use serde_json::{Map, Value};

use super::keyword_table::each_mut;

/// The most losses that are told one by one.
const TOLD: usize = 8;

/// What was loosened, in words; each said once.
#[derive(Debug, Default)]
pub(super) struct Loosened {
    said: Vec<String>,
    times: usize,
}

impl Loosened {
    /// Something was loosened, and people should know.
    pub(super) fn record(&mut self, what: impl Into<String>) {
        self.times += 1;
        let what = what.into();
        if self.said.len() < TOLD && !self.said.contains(&what) {
            self.said.push(what);
        }
    }

    /// Something was loosened that is not worth a word.
    pub(super) fn count(&mut self) {
        self.times += 1;
    }

    /// How often something was loosened so far.
    pub(super) fn times(&self) -> usize {
        self.times
    }

    /// All that was said.
    pub(super) fn into_words(self) -> Vec<String> {
        self.said
    }
}

/// Takes away what would refuse more because a part of it refuses less: `not` a looser schema is stricter.
pub(super) fn guard(object: &mut Map<String, Value>, loose: &mut Loosened) {
    for key in ["not", "if", "then", "else", "unevaluatedProperties", "unevaluatedItems", "maxContains"] {
        if object.shift_remove(key).is_some() {
            loose.record(format!("`{key}`"));
        }
    }
    one_to_any(object, loose);
}

/// What refers to a loosened definition is looser itself, wherever it stands. Tells whether there is a reference.
pub(super) fn guard_references(schema: &mut Value, loose: &mut Loosened) -> bool {
    let Some(object) = schema.as_object_mut().filter(|_| loose.times > 0) else { return false };
    let mut refers = object.contains_key("$ref");
    each_mut(object, &mut |child| refers |= guard_references(child, loose));
    if refers {
        guard(object, loose);
    }
    refers
}

/// `oneOf` says that no second branch may fit, which looser branches do more often.
pub(super) fn one_to_any(object: &mut Map<String, Value>, loose: &mut Loosened) {
    let Some(branches) = object.shift_remove("oneOf") else { return };
    if object.contains_key("anyOf") {
        loose.record("`oneOf` beside `anyOf`");
    } else {
        object.insert("anyOf".into(), branches);
    }
}
