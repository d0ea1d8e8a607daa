//! A backend of several steps. Each is a call of another op; values in it come from the call and from earlier results, by
//! pointer.

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Most levels of tools with steps within steps.
pub const MAX_STEP_DEPTH: usize = 4;
/// Keys that mark a reference.
pub const REFERENCE_KEYS: [&str; 3] = ["$arg", "$from", "$text"];
/// Pointer into the answer of a step by default.
const RESULT: &str = "/result";

/// Calls of other ops, one after another.
///
/// In `args` and `result`, `{"$arg": "/id"}` stands for an argument of the call, `{"$from": "doc", "pointer":
/// "/result/id"}` for a part of the answer of the step `doc`, and `{"$text": [...]}` for its parts joined to one text.
/// `default` gives the value where there is none; without it an absent argument is left out.
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
    /// An argument of the call.
    Argument {
        /// Pointer into the arguments.
        pointer: &'v str,
        /// The value where there is none.
        default: Option<&'v Value>,
    },
    /// A part of the answer of an earlier step.
    Answer {
        /// The id of the step.
        step: &'v str,
        /// Pointer into the answer.
        pointer: &'v str,
        /// The value where there is none.
        default: Option<&'v Value>,
    },
    /// Values joined to one text.
    Text(&'v [Value]),
}

impl<'v> Reference<'v> {
    /// The reference that an object is, if it is one. The error says what is wrong with it.
    pub fn of(fields: &'v Map<String, Value>) -> Option<Result<Self, String>> {
        let key = REFERENCE_KEYS.into_iter().find(|key| fields.contains_key(*key))?;
        Some(Self::read(key, fields))
    }

    fn read(key: &str, fields: &'v Map<String, Value>) -> Result<Self, String> {
        let beside: &[&str] = match key {
            "$arg" => &["default"],
            "$from" => &["pointer", "default"],
            _ => &[],
        };
        if let Some(other) = fields.keys().find(|name| *name != key && !beside.contains(&name.as_str())) {
            return Err(format!("`{other}` does not belong beside `{key}`"));
        }
        let text = |name: &str| match fields.get(name) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text.as_str())),
            Some(_) => Err(format!("`{name}` is a text")),
        };
        let pointer = |name: &str| match text(name)? {
            Some(pointer) if !pointer.is_empty() && !pointer.starts_with('/') => {
                Err(format!("`{name}` is a JSON pointer, such as \"/{pointer}\""))
            }
            pointer => Ok(pointer),
        };
        let default = fields.get("default");
        match (key, fields.get(key)) {
            ("$arg", _) => Ok(Self::Argument { pointer: pointer("$arg")?.unwrap_or_default(), default }),
            ("$from", _) => {
                let step = text("$from")?.unwrap_or_default();
                Ok(Self::Answer { step, pointer: pointer("pointer")?.unwrap_or(RESULT), default })
            }
            (_, Some(Value::Array(parts))) => Ok(Self::Text(parts)),
            _ => Err("`$text` is a list of values".into()),
        }
    }
}
