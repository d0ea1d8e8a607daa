//! Help on ops, groups and entities: short and full, made for models (HELP-1..3).

use serde_json::{Map, Value};

use crate::catalog::Tool;

/// How much is said.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Format {
    /// What is needed for a call.
    #[default]
    Short,
    /// All there is.
    Full,
}

/// What is wanted of help.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// How much.
    pub format: Format,
    /// With examples.
    pub examples: bool,
    /// With JSON schemas.
    pub schemas: bool,
}

/// Help on one tool: `summary, usage, args, notes, policy, examples, call`.
pub fn of_tool(tool: &Tool, _: Wanted) -> Map<String, Value> {
    let call = tool.call.clone().map_or(Value::Null, Value::Object);
    Map::from_iter([("summary".into(), tool.short.as_str().into()), ("call".into(), call)])
}
