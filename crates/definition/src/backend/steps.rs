//! A backend of several steps. Each is a call of another op; values in it come from the call and from earlier results, by
//! pointer.

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Keys that mark a reference.
pub const REFERENCE_KEYS: [&str; 3] = ["$arg", "$from", "$text"];
/// Pointer into the answer of a step by default.
const RESULT: &str = "/result";

/// Calls of other ops, one after another.
///
/// In `args` and `result`, `{"$arg": "/id"}` stands for an argument of the call, `{"$from": "doc", "pointer":
/// "/result/id"}` for a part of the answer of the step `doc`, and `{"$text": [...]}` for its parts joined to one text. An
/// argument that the call does not have is its default, else it is left out.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(extend("required" = ["steps"]))]
pub struct StepsBackend {
    /// The steps, in order.
    #[schemars(length(min = 1, max = 20))]
    pub steps: Vec<Step>,
    /// The result; that of the last step that was run when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result: Option<Value>,
}

/// One step: a call of another op.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(deny_unknown_fields, extend("required" = ["id", "op"]))]
pub struct Step {
    /// The name of the step in `$from`, unique in the tool.
    #[schemars(regex(pattern = r"^[A-Za-z0-9_-]{1,40}$"))]
    pub id: String,
    /// The op, or another name of a tool of the catalog.
    #[schemars(length(min = 1))]
    pub op: String,
    /// Its arguments.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub args: Map<String, Value>,
    /// Conditions: each of these arguments of the call, named by a pointer, has this value, or one of this list. Otherwise
    /// the step is not run.
    #[serde(skip_serializing_if = "IndexMap::is_empty")]
    pub when: IndexMap<String, Value>,
}

/// A value that is known when a step is run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Reference<'v> {
    /// The argument of the call at this pointer.
    Argument(&'v str),
    /// The part of the answer of an earlier step at this pointer.
    Answer(&'v str, &'v str),
    /// Values joined to one text.
    Text(&'v [Value]),
}

/// A mistake in an object that has a key of a reference.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReferenceError {
    /// Another field stands in the object.
    #[error("`{0}` does not belong beside `{1}`")]
    OtherField(String, &'static str),
    /// `$arg` is of another form.
    #[error("`$arg` is a JSON pointer such as \"/id\"")]
    Argument,
    /// `$from` is of another form.
    #[error("`$from` is the `id` of an earlier step")]
    Step,
    /// `pointer` is of another form.
    #[error("`pointer` is a JSON pointer such as \"/result/id\"")]
    Pointer,
    /// `$text` is of another form.
    #[error("`$text` is a list of values")]
    Text,
}

impl<'v> Reference<'v> {
    /// The reference that an object is, if it is one.
    pub fn of(fields: &'v Map<String, Value>) -> Option<Result<Self, ReferenceError>> {
        let key = REFERENCE_KEYS.into_iter().find(|key| fields.contains_key(*key))?;
        let is_known = |name: &String| name == key || (key == "$from" && name == "pointer");
        if let Some(other) = fields.keys().find(|name| !is_known(name)) {
            return Some(Err(ReferenceError::OtherField(other.clone(), key)));
        }
        let is_pointer = |text: &str| text.is_empty() || text.starts_with('/');
        Some(match (key, fields.get(key)?, fields.get("pointer")) {
            ("$arg", Value::String(pointer), None) if is_pointer(pointer) => Ok(Self::Argument(pointer)),
            ("$from", Value::String(step), None) => Ok(Self::Answer(step, RESULT)),
            ("$from", Value::String(step), Some(Value::String(pointer))) if is_pointer(pointer) => {
                Ok(Self::Answer(step, pointer))
            }
            ("$from", Value::String(_), _) => Err(ReferenceError::Pointer),
            ("$from", ..) => Err(ReferenceError::Step),
            ("$text", Value::Array(parts), _) => Ok(Self::Text(parts)),
            ("$text", ..) => Err(ReferenceError::Text),
            _ => Err(ReferenceError::Argument),
        })
    }
}
