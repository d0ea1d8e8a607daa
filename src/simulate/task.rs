//! Tasks: what somebody wants, and the calls that solve it.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::SimulationError;
use crate::tool::quoted;

/// A task. In a file, each is one line of JSON.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Task {
    /// The wish of somebody, in words.
    pub task: String,
    /// The calls that solve it, in order.
    pub calls: Vec<TaskCall>,
}

/// A call of a task.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct TaskCall {
    /// A name of the tool.
    pub name: String,
    /// Its arguments.
    #[serde(default)]
    pub arguments: Map<String, Value>,
    /// Its recorded result.
    #[serde(default)]
    pub result: Option<Value>,
}

/// Reads a file of tasks, one JSON object a line. `shown` is its name in errors.
pub fn read(text: &str, shown: &str) -> Result<Vec<Task>, SimulationError> {
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    let tasks: Result<Vec<Task>, SimulationError> = lines
        .map(|(index, line)| {
            serde_json::from_str(line).map_err(|error| {
                let form = r#"{"task": "...", "calls": [{"name": "...", "arguments": {...}}]}"#;
                let place = format!("{shown}:{}", index + 1);
                SimulationError::Tasks(format!(
                    "{place}: not a task: {}; a task is {form}",
                    quoted(&error.to_string())
                ))
            })
        })
        .collect();
    match tasks {
        Ok(tasks) if tasks.is_empty() => Err(SimulationError::Tasks(format!("{shown} has no tasks"))),
        tasks => tasks,
    }
}
