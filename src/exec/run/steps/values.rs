//! The values in the arguments of a step: references are replaced by arguments of the call and by parts of earlier answers.

use std::collections::HashMap;

use serde_json::{Map, Value};

use crate::exec::answer_part::{part_of, reached};
use crate::tool::Reference;

/// Deepest level of a value.
const DEEPEST: usize = 64;

/// The outcome of an earlier step, for later ones.
pub(super) enum Earlier {
    /// Its answer.
    Answer(Map<String, Value>),
    /// Its conditions did not hold.
    Skipped,
    /// A dry run did not run it.
    NotRun,
}

/// The values that references stand for.
pub(super) struct Values<'c> {
    pub(super) arguments: &'c Value,
    /// The schema of the arguments, for their defaults.
    pub(super) schema: &'c Value,
    pub(super) earlier: HashMap<&'c str, Earlier>,
}

/// A value that cannot be made, with the reason.
type Unresolved = String;

impl Values<'_> {
    /// Whether each of these arguments has this value, or one of this list.
    pub(super) fn meet<'w>(&self, conditions: impl IntoIterator<Item = (&'w String, &'w Value)>) -> bool {
        conditions.into_iter().all(|(pointer, wanted)| {
            let given = self.argument(pointer).unwrap_or(&Value::Null);
            given == wanted || wanted.as_array().is_some_and(|several| several.contains(given))
        })
    }

    /// The object with its references replaced. Steps that were not run, and are needed, are added to `needed`.
    pub(super) fn fields(
        &self,
        template: &Map<String, Value>,
        needed: &mut Vec<String>,
    ) -> Result<Value, Unresolved> {
        self.all_fields(template, needed, 0)
    }

    /// The value with its references replaced; `None` for a reference to nothing.
    pub(super) fn value(
        &self,
        template: &Value,
        needed: &mut Vec<String>,
        depth: usize,
    ) -> Result<Option<Value>, Unresolved> {
        if depth > DEEPEST {
            return Err("its arguments are nested too deeply".into());
        }
        match template {
            Value::Object(fields) => match Reference::of(fields) {
                None => self.all_fields(fields, needed, depth).map(Some),
                Some(reference) => {
                    let before = needed.len();
                    let value = self.referred(reference?, needed, depth)?;
                    // An unknown value is shown as it is written.
                    Ok(if needed.len() > before { Some(template.clone()) } else { value })
                }
            },
            Value::Array(items) => {
                let mut list = Vec::with_capacity(items.len());
                for item in items {
                    list.extend(self.value(item, needed, depth + 1)?);
                }
                Ok(Some(Value::Array(list)))
            }
            plain => Ok(Some(plain.clone())),
        }
    }

    fn all_fields(
        &self,
        template: &Map<String, Value>,
        needed: &mut Vec<String>,
        depth: usize,
    ) -> Result<Value, Unresolved> {
        let mut fields = Map::with_capacity(template.len());
        for (name, field) in template {
            if let Some(value) = self.value(field, needed, depth + 1)? {
                fields.insert(name.clone(), value);
            }
        }
        Ok(Value::Object(fields))
    }

    /// An argument; the default of its schema where the call does not have it.
    fn argument(&self, pointer: &str) -> Option<&Value> {
        let default = || self.schema.get("properties")?.pointer(pointer)?.get("default");
        let is_field = pointer.rfind('/') == Some(0);
        self.arguments.pointer(pointer).or_else(|| default().filter(|_| is_field))
    }

    fn referred(
        &self,
        reference: Reference<'_>,
        needed: &mut Vec<String>,
        depth: usize,
    ) -> Result<Option<Value>, Unresolved> {
        match reference {
            Reference::Argument { pointer, default } => Ok(self.argument(pointer).or(default).cloned()),
            Reference::Answer { step, pointer, default } => match self.earlier.get(step) {
                Some(Earlier::Answer(answer)) => match part_of(answer, pointer).or(default.cloned()) {
                    None => Err(format!(
                        "the answer of the step `{step}` has nothing at `{pointer}`{}",
                        reached(answer, pointer)
                    )),
                    value => Ok(value),
                },
                Some(Earlier::Skipped) => Ok(default.cloned()),
                Some(Earlier::NotRun) | None => {
                    needed.push(step.to_string());
                    Ok(None)
                }
            },
            Reference::Text(parts) => {
                let mut text = String::new();
                for part in parts {
                    match self.value(part, needed, depth + 1)? {
                        None | Some(Value::Null) => {}
                        Some(Value::String(part)) => text.push_str(&part),
                        Some(Value::Object(_) | Value::Array(_)) if needed.is_empty() => {
                            return Err("a part of `$text` is no text".into());
                        }
                        Some(plain) => text.push_str(&plain.to_string()),
                    }
                }
                Ok(Some(text.into()))
            }
        }
    }
}
