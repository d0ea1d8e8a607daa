//! Schema views: the schema that a provider takes, derived from the canonical schema, which stays as it is.
//!
//! 1. [`dialect`] copies it as JSON Schema 2020-12 without hidden characters: all references lead to its own definitions
//!    ([`refs`]), and only needed definitions remain.
//! 2. [`property_names`] renames properties whose names are refused, and takes that back in calls.
//! 3. [`strip`] keeps only the structure, where that is requested.
//! 4. [`refs`] replaces references: all of them, or the one at the root, and [`root`] makes the root one object.
//! 5. [`restrict_keywords`] keeps the keywords that the format knows, and puts lost limits in words.
//! 6. [`strict`] makes a strict schema, within the limits of the provider.
//! 7. [`to_objects`] writes bare `true` and `false` as objects: some clients refuse bare ones.
//!
//! What a step cannot express, [`loosened`] records.

mod defs;
mod dialect;
mod loosened;
mod merge;
mod property_names;
mod refs;
mod restrict_keywords;
mod root;
mod rules;
mod strict;
mod types;
mod unfit;

use serde_json::{Value, json};

use defs::prune;
use dialect::{clean_texts, to_2020_12};
use loosened::{Loosened, guard_references};
use toolcrib_definition::schema::walk::{below_mut, each_mut, is_annotation};

pub(super) use property_names::Renaming;
pub(super) use rules::{Keys, Root, SchemaRules, Strict};
pub(super) use strict::StrictBudget;
pub(super) use unfit::Unfit;

#[derive(Debug, Default)]
pub(super) struct ProviderSchema {
    /// The schema; `None` where an empty one is refused.
    pub(super) schema: Option<Value>,
    /// Whether it is strict.
    pub(super) strict: bool,
    /// Reason why it is not strict, when strict was requested.
    pub(super) not_strict: Option<Unfit>,
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
) -> Result<ProviderSchema, Unfit> {
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
        prune(&mut view);
    }
    let loosened = loose.into_words();
    if takes_none {
        return Ok(ProviderSchema { loosened, ..ProviderSchema::default() });
    }
    require_properties(&mut view, rules);
    let made = rules.strict.zip(strict).map(|(subset, room)| {
        if root_is_looser { Err(Unfit::LooserRoot) } else { strict::strict(&view, subset, room) }
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
    clean_texts(&mut copy);
    to_objects(&mut copy);
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
