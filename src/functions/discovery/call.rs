//! `call_tool`: a call that is checked against the canonical schema, and run where something here can run it.

use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::{read, tool};
use crate::catalog::{Callable, Tool};
use crate::finding::Violation;
use crate::functions::{Answer, Context, ErrorCode, Refusal, arguments};
use crate::provider::call::{Repair, fitted};
use crate::tool::{Backend, Effect, NoSchemaMode};

#[derive(Deserialize)]
struct Arguments {
    tool_id: String,
    #[serde(default)]
    arguments: Map<String, Value>,
}

/// A call that fits the schema of its tool.
struct Checked<'t> {
    tool: &'t Tool,
    arguments: Value,
    repaired: Vec<Repair>,
}

/// Answers a call.
pub(in crate::functions) fn run(context: &Context, arguments: Value) -> Result<Answer, Refusal> {
    let asked: Arguments = read("call_tool", arguments)?;
    let (_, tool) = tool::named(&context.edition, &asked.tool_id)?;
    let call = checked(tool, asked.arguments)?;
    let result = execute(&call)?;
    let mut fields = Map::new();
    fields.insert("tool_id".into(), tool.op.as_str().into());
    fields.insert("result".into(), result);
    if !call.repaired.is_empty() {
        fields.insert("repaired".into(), serde_json::to_value(&call.repaired).unwrap_or_default());
    }
    Ok(Answer::new(fields, None))
}

/// What the canonical schema says of a call, once what is plainly meant otherwise is read as that.
fn checked(tool: &Tool, arguments: Map<String, Value>) -> Result<Checked<'_>, Refusal> {
    let arguments = Value::Object(arguments);
    match tool.parameters.callable() {
        Callable::Checked => match fitted(tool, arguments) {
            Ok((arguments, repaired)) => Ok(Checked { tool, arguments, repaired }),
            Err(violations) => Err(unfit(tool, violations)),
        },
        Callable::Unchecked(_) => Ok(Checked { tool, arguments, repaired: Vec::new() }),
        Callable::No(reason) => Err(Refusal::new(
            ErrorCode::NoBackend,
            format!("`{}` cannot be called: {reason}", tool.op),
            "choose another tool, or say that this one is broken",
        )),
    }
}

/// What is wrong with the arguments, in the terms of this function's own arguments.
fn unfit(tool: &Tool, mut violations: Vec<Violation>) -> Refusal {
    violations.iter_mut().for_each(|violation| violation.pointer.insert_str(0, "/arguments"));
    let next = "correct the arguments; `example` fits, and expand_tool gives the whole schema";
    let mut refusal = arguments::unfit(tool, &tool.op, violations, next);
    refusal.example = refusal.example.map(|example| json!({ "tool_id": tool.op, "arguments": example }));
    refusal
}

/// Runs a call. Whatever runs tools has its place here.
fn execute(call: &Checked<'_>) -> Result<Value, Refusal> {
    if let Some(reason) = withheld(call.tool) {
        return Err(left_to_caller(call, reason));
    }
    match &call.tool.definition.backend {
        Some(Backend::Static { content }) => Ok(content.clone()),
        Some(_) => Err(left_to_caller(call, "this server does not run tools of its kind")),
        None => Err(left_to_caller(call, "nothing says what runs it")),
    }
}

/// Why a tool may not be run without asking somebody.
fn withheld(tool: &Tool) -> Option<&'static str> {
    let needs_approval = "a person must approve each call of it";
    match tool.parameters.callable() {
        _ if tool.definition.approval == Some(true) => Some(needs_approval),
        Callable::Unchecked(NoSchemaMode::HumanApproval) => Some(needs_approval),
        Callable::Unchecked(NoSchemaMode::ReadOnly) if tool.effect != Effect::Read => {
            Some("without a schema, only calls that change nothing are run")
        }
        _ => None,
    }
}

/// The call is right; whoever asked has to run it.
fn left_to_caller(call: &Checked<'_>, reason: &str) -> Refusal {
    let tool = call.tool;
    let mut refusal = Refusal::new(
        ErrorCode::NoBackend,
        format!("the call is valid, but `{}` cannot be run here: {reason}", tool.op),
        "run `call` yourself if you have this tool, by its name; sending it here again changes nothing",
    );
    refusal.call = Some(json!({ "tool": tool.name, "arguments": call.arguments }));
    refusal
}
