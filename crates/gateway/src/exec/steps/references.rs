//! The values that references in the arguments of a step stand for: arguments of the call, and answers of earlier steps.

use std::collections::HashMap;

use serde_json::{Map, Value};

use crate::exec::pointer_references::{part_of, reached};
use toolcrib_definition::Reference;
use toolcrib_definition::document::pointer_unescape;
use toolcrib_definition::schema::Node;

/// Deepest level of a value.
const DEEPEST: usize = 64;

/// A value that cannot be made.
pub(super) enum Unresolved {
    /// It needs the answer of this step, which a dry run did not run.
    NotRun(String),
    /// It does not fit, for this reason.
    Unfit(String),
}

/// The values that references stand for.
pub(super) struct Values<'c> {
    pub(super) arguments: &'c Value,
    /// The schema of the arguments, for their defaults.
    pub(super) schema: &'c Value,
    /// The answers of earlier steps; `None` for a step whose conditions did not hold.
    pub(super) earlier: HashMap<&'c str, Option<Map<String, Value>>>,
}

impl Values<'_> {
    /// Whether each of these arguments has this value, or one of this list.
    pub(super) fn meet<'w>(&self, conditions: impl IntoIterator<Item = (&'w String, &'w Value)>) -> bool {
        conditions.into_iter().all(|(pointer, wanted)| {
            let given = self.argument(pointer).unwrap_or(&Value::Null);
            given == wanted || wanted.as_array().is_some_and(|several| several.contains(given))
        })
    }

    /// The fields with their references replaced. A reference to nothing leaves its field out.
    pub(super) fn fields(&self, fields: &Map<String, Value>, depth: usize) -> Result<Value, Unresolved> {
        let mut replaced = Map::with_capacity(fields.len());
        for (name, field) in fields {
            if let Some(value) = self.value(field, depth + 1)? {
                replaced.insert(name.clone(), value);
            }
        }
        Ok(Value::Object(replaced))
    }

    /// The value with its references replaced; `None` for a reference to nothing.
    pub(super) fn value(&self, value: &Value, depth: usize) -> Result<Option<Value>, Unresolved> {
        Ok(Some(match value {
            _ if depth > DEEPEST => return Err(Unresolved::Unfit("they are nested too deeply".into())),
            Value::Object(fields) => match Reference::of(fields) {
                Some(reference) => {
                    return self
                        .referred(reference.map_err(|error| Unresolved::Unfit(error.to_string()))?, depth);
                }
                None => self.fields(fields, depth)?,
            },
            Value::Array(items) => {
                let item = |item| self.value(item, depth + 1).transpose();
                Value::Array(items.iter().filter_map(item).collect::<Result<_, _>>()?)
            }
            plain => plain.clone(),
        }))
    }

    /// An argument; the default of its schema where the call does not have it.
    fn argument(&self, pointer: &str) -> Option<&Value> {
        let name = pointer.strip_prefix('/').filter(|name| !name.contains('/'));
        let default = || Node::root(self.schema).property(&pointer_unescape(name?))?.default;
        self.arguments.pointer(pointer).or_else(default)
    }

    fn referred(&self, reference: Reference<'_>, depth: usize) -> Result<Option<Value>, Unresolved> {
        let (step, pointer) = match reference {
            Reference::Argument(pointer) => return Ok(self.argument(pointer).cloned()),
            Reference::Text(parts) => return self.text(parts, depth).map(|text| Some(text.into())),
            Reference::Answer(step, pointer) => (step, pointer),
        };
        match self.earlier.get(step) {
            Some(Some(answer)) => part_of(answer, pointer).map(Some).ok_or_else(|| {
                let there = reached(answer, pointer);
                Unresolved::Unfit(format!(
                    "the answer of the step `{step}` has nothing at `{pointer}`{there}"
                ))
            }),
            Some(None) => Ok(None),
            None => Err(Unresolved::NotRun(step.to_string())),
        }
    }

    fn text(&self, parts: &[Value], depth: usize) -> Result<String, Unresolved> {
        let mut text = String::new();
        for part in parts {
            match self.value(part, depth + 1)? {
                None | Some(Value::Null) => {}
                Some(Value::String(part)) => text.push_str(&part),
                Some(Value::Object(_) | Value::Array(_)) => {
                    return Err(Unresolved::Unfit("a part of `$text` is no text".into()));
                }
                Some(plain) => text.push_str(&plain.to_string()),
            }
        }
        Ok(text)
    }
}
