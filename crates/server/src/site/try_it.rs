//! A call that a person tries on the page of a tool: the filled form, and its outcome.

use std::collections::HashMap;

use serde_json::{Value, json};

use super::form;
use super::text::{cut, inline_html, json_text};
use toolcrib_catalog::Tool;
use toolcrib_definition::{Effect, clean_line, clean_text};

/// Most bytes of arguments on the page.
pub(super) const MAX_RAW: usize = 64 << 10;

/// A call that a person tries on the page of a tool.
#[derive(Clone, Debug, Default)]
pub struct Attempt {
    /// The arguments; null before the form was sent.
    pub arguments: Value,
    /// Text that is no JSON, and the problem with it.
    pub raw: String,
    pub problem: Option<String>,
    /// The answer of `tool_exec`.
    pub answer: Option<Value>,
    /// Whether it was a dry run.
    pub is_dry: bool,
    /// The key under which the call runs once.
    pub key: String,
}

impl Attempt {
    /// The arguments in the fields of a sent form.
    pub fn read(tool: &Tool, fields: &[(String, String)]) -> Value {
        form::read(&tool.input.parameters.root(), fields)
    }

    /// The arguments that fill the form: those of the ready-made call before it was sent.
    pub(super) fn filling(&self, tool: &Tool) -> Value {
        match &self.arguments {
            Value::Null => tool.input.call.clone().unwrap_or_default().into(),
            sent => sent.clone(),
        }
    }
}

/// The form of a tool with its arguments and errors, and the outcome of the call.
pub(super) fn try_it(tool: &Tool, csrf: &str, attempt: &Attempt) -> Value {
    let arguments = attempt.filling(tool);
    let answer = attempt.answer.as_ref();
    let is_ok = answer.is_some_and(|answer| answer["ok"] == true);
    let errors = answer.and_then(|answer| answer.pointer("/error/details/field_errors")?.as_array());
    let said = errors
        .into_iter()
        .flatten()
        .filter_map(|error| Some((error["pointer"].as_str()?, clean_line(error["message"].as_str()?))));
    let said: HashMap<&str, String> = said.collect();
    let rows = form::rows(&tool.input.parameters.root(), &arguments, &said);
    let refused = if is_ok { None } else { answer };
    let message = refused.map(|answer| {
        let text = |pointer: &str| answer.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
        let next = text("/error/next_action");
        // Errors that stand at their fields are not repeated.
        if said.is_empty() {
            format!("{}. Next: {next}.", text("/error/message"))
        } else {
            "Some arguments do not fit.".to_string()
        }
    });
    let elsewhere =
        said.iter().filter(|(_, message)| !rows.iter().any(|row| row["error"] == inline_html(message)));
    let mut elsewhere: Vec<String> =
        elsewhere.map(|(at, message)| inline_html(&format!("{at}: {message}"))).collect();
    elsewhere.sort_unstable();
    json!({
        "csrf": csrf,
        "action": format!("{}.html#try", tool.names.safe),
        "rows": rows,
        "json": if attempt.raw.is_empty() { json_text(&arguments) } else { cut(clean_text(&attempt.raw).into(), MAX_RAW) },
        "problem": attempt.problem.as_deref().map(inline_html).or_else(|| message.map(|message| inline_html(&clean_line(&message)))),
        "elsewhere": elsewhere,
        "fits": is_ok && attempt.is_dry,
        "ran": is_ok && !attempt.is_dry,
        "arguments": arguments.to_string(),
        "key": attempt.key,
        "answer": answer.map(json_text),
        // A call that fits, and one with errors at its fields, say enough without the answer.
        "is_open": if is_ok { !attempt.is_dry } else { said.is_empty() },
        "changes": tool.rules.effect != Effect::Read,
    })
}
