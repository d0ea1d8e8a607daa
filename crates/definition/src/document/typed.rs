//! Reads a value as one of our types, field by field: a wrong field is reported with its place and left out, and the
//! others are kept.

use std::marker::PhantomData;

use jsonschema::Validator;
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use schemars::transform::{Transform, transform_subschemas};
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::coerced_value::{plain_flag, plain_number};
use super::pointer::pointer_split;
use crate::finding::{Code, Finding, Place, Violation, violations};

/// Most mistakes of one value that are reported and left out: each of them validates the value again.
const MAX_REPAIRS: usize = 200;

/// Reads values as `T`; compiled once, used for many.
pub struct Reader<T> {
    schema: Value,
    validator: Option<Validator>,
    target: PhantomData<fn() -> T>,
}

impl<T: DeserializeOwned + JsonSchema> Reader<T> {
    /// Compiles the schema of `T`.
    pub fn compile() -> Self {
        let schema = schema_of::<T>();
        let validator = jsonschema::options().offline().build(&schema).ok();
        Self { schema, validator, target: PhantomData }
    }

    /// The value as `T`, or `None` when no part of it is usable; findings are placed below `place`.
    pub fn read(&self, mut value: Value, place: &Place, findings: &mut Vec<Finding>) -> Option<T> {
        // A null field counts as absent.
        if let Value::Object(fields) = &mut value {
            fields.retain(|_, field| !field.is_null());
        }
        if let Some(validator) = self.validator.as_ref().filter(|validator| !validator.is_valid(&value)) {
            for _ in 0..MAX_REPAIRS {
                // One mistake at a time, since removing a value can resolve other violations.
                let Some(violation) = violations(validator, &self.schema, &value).into_iter().next() else {
                    break;
                };
                if let Some(read) = meant(validator, &self.schema, &mut value, &violation) {
                    findings.push(repaired(&violation, &read, place));
                    continue;
                }
                findings.push(finding(&violation, place));
                if !leave_out(&mut value, &violation) {
                    break;
                }
            }
        }
        let invalid = |error: serde_json::Error| Finding::new(Code::DefinitionInvalid, error.to_string());
        T::deserialize(value).map_err(|error| findings.push(invalid(error).at(place.clone()))).ok()
    }
}

/// The JSON Schema of one of our formats, as shipped for editors: optional fields are absent, never null.
pub fn schema_of<T: JsonSchema>() -> Value {
    SchemaSettings::draft2020_12()
        .with_transform(WithoutNull)
        .into_generator()
        .into_root_schema_for::<T>()
        .to_value()
}

#[derive(Clone)]
struct WithoutNull;

impl Transform for WithoutNull {
    fn transform(&mut self, schema: &mut schemars::Schema) {
        transform_subschemas(self, schema);
        let Some(object) = schema.as_object_mut() else { return };
        if let Some(Value::Array(types)) = object.get_mut("type") {
            types.retain(|word| word != "null");
            if let [only] = types.as_slice() {
                let only = only.clone();
                object.insert("type".into(), only);
            }
        }
        if object.get("default").is_some_and(Value::is_null) {
            object.remove("default");
        }
        let Some(Value::Array(branches)) = object.get_mut("anyOf") else { return };
        branches.retain(|branch| branch.get("type").is_none_or(|word| word != "null"));
        if let [Value::Object(only)] = branches.as_slice() {
            let only = only.clone();
            object.remove("anyOf");
            object.extend(only);
        }
    }
}

fn finding(violation: &Violation, place: &Place) -> Finding {
    // Without these fields a tool cannot be called.
    let is_needed = |field: &&str| violation.pointer.starts_with(*field);
    let code = if violation.unknown {
        Code::FieldUnknown
    } else if ["/parameters", "/backend"].iter().any(is_needed) {
        Code::DefinitionInvalid
    } else {
        Code::FieldInvalid
    };
    let finding = Finding::new(code, violation.message.clone()).at(place.below(&violation.pointer));
    match &violation.nearest {
        None if !violation.unknown => finding,
        near => finding
            .did_you_mean(near.as_slice(), "remove it, or see the format reference for the fields there are"),
    }
}

/// Puts the one value that a value of the wrong kind can mean into its place: `true` for `"true"`, `["a"]` for `"a"`,
/// `read` for `READ`. Nothing where no such value fits, or more than one does.
fn meant(validator: &Validator, schema: &Value, value: &mut Value, violation: &Violation) -> Option<Value> {
    let written = value.pointer(&violation.pointer)?.clone();
    if violation.unknown || written.is_object() || written.is_array() {
        return None;
    }
    let lower = written.as_str().map(|text| Value::from(text.trim().to_lowercase()));
    let read = [plain_flag(&written).map(Value::Bool), plain_number(&written).map(Value::Number), lower];
    let several = Some(Value::from(vec![written.clone()]));
    let mut fitting =
        read.into_iter().chain([several]).flatten().filter(|read| *read != written).filter(|read| {
            if let Some(place) = value.pointer_mut(&violation.pointer) {
                *place = read.clone();
            }
            !violations(validator, schema, value)
                .iter()
                .any(|left| left.pointer.starts_with(&violation.pointer))
        });
    let first = fitting.next();
    let only = if fitting.next().is_none() { first } else { None };
    drop(fitting);
    if let Some(place) = value.pointer_mut(&violation.pointer) {
        *place = only.clone().unwrap_or(written);
    }
    only
}

fn repaired(violation: &Violation, read: &Value, place: &Place) -> Finding {
    let message = format!("{}; it was read as {read}", violation.message);
    let finding = Finding::new(Code::FieldRepaired, message).at(place.below(&violation.pointer));
    finding.help(format!("write {read}"))
}

/// Removes the value of a violation, or the object itself where it lacks a property. False when nothing can be
/// removed. Steps are removed as a whole: without one of them, or its condition, a tool would do something else.
fn leave_out(value: &mut Value, violation: &Violation) -> bool {
    const STEPS: &str = "/backend/steps";
    let whole = violation.pointer.find(STEPS).map(|at| at + STEPS.len() - "/steps".len());
    let mut pointer = &violation.pointer[..whole.unwrap_or(violation.pointer.len())];
    while let Some((parent, last)) = pointer_split(pointer) {
        let removed = match value.pointer_mut(parent) {
            Some(Value::Object(fields)) => fields.shift_remove(&*last),
            Some(Value::Array(items)) => match last.parse::<usize>() {
                Ok(index) if index < items.len() => Some(items.remove(index)),
                _ => None,
            },
            _ => None,
        };
        if removed.is_some() {
            return true;
        }
        pointer = parent;
    }
    false
}
