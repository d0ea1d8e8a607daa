//! `tool_batch`: several calls in one round trip, each with its own answer.

use std::collections::HashMap;

use serde::Deserialize;
use serde_json::{Map, Value, json};
use tokio::task::JoinSet;

use super::answer::{Answer, Batch, Batched, Reply};
use super::call::panicked;
use super::examples::{called, harmless};
use super::function::{Function, ReplyFuture};
use crate::context::{CatalogView, FunctionContext};
use crate::state::WaitBudget;
use crate::tool_error::{ErrorCode, ROOT, Result, ToolError};
use toolcrib_catalog::arguments::{WRAPPERS, value_in_text};
use toolcrib_catalog::results::{Answers, ReferenceError, needed_calls};
use toolcrib_catalog::{Resolved, functions};
use toolcrib_definition::{Effect, quoted};
use toolcrib_front::long_work::apart;

#[derive(Deserialize)]
struct BatchArguments {
    parallel: Option<bool>,
}

/// Answers a call.
pub(super) fn run<'c>(
    function: &'static Function,
    context: &'c FunctionContext,
    input: Value,
) -> ReplyFuture<'c> {
    Box::pin(answer(function, context, input))
}

async fn answer(function: &'static Function, context: &FunctionContext, input: Value) -> Result<Reply> {
    let (arguments, items) = taken(input)?;
    let asked: BatchArguments = function.arguments(context, arguments)?;
    let stages = stages(context, &items, asked.parallel)?;
    let unread = |item: &BatchItem| failed(item.call.as_ref().err().cloned().unwrap_or_else(panicked));
    let mut answers: Vec<Answer> = items.iter().map(unread).collect();
    for stage in stages {
        run_stage(context, &items, stage, &mut answers).await;
    }
    let failed = answers.iter().filter(|answer| !answer.is_ok()).count();
    let results = items.into_iter().zip(answers).enumerate();
    let results = results.map(|(index, (item, answer))| Batched {
        index,
        id: item.id,
        function: item.call.map_or("", |call| call.function.name()),
        // All calls saw the same catalog; the batch gives its version.
        answer: Answer { registry_version: None, ..answer },
    });
    Ok(Reply::Batch(Batch { results: results.collect(), failed }))
}

/// A batch for this caller: help on a tool, and a call of it.
pub(super) fn example(view: &CatalogView) -> Option<Value> {
    let tool = harmless(view)?;
    Some(json!({ "calls": [{ "function": "tool_help", "input": { "path": tool.names.op } }, called(tool)] }))
}

/// The calls in stages, which run one after another, and the calls of one at once. A call waits for those whose results it uses,
/// a write for all before it, and what comes after a write for the write.
fn stages(context: &FunctionContext, items: &[BatchItem], parallel: Option<bool>) -> Result<Vec<Vec<usize>>> {
    let mut stages: Vec<Vec<usize>> = Vec::new();
    let mut stage_of: Vec<usize> = Vec::new();
    let mut after_write = 0;
    for (index, item) in items.iter().enumerate() {
        let Ok(call) = &item.call else {
            stage_of.push(0);
            continue;
        };
        let is_read = call.is_read(context);
        if !is_read && parallel == Some(true) {
            let reason = format!("call {index} is not known to be a read");
            let message = format!("these calls cannot run in parallel: {reason}");
            let next = "leave `parallel` out; the calls are then run in order";
            return Err(ToolError::invalid(message, next).field("/parallel", &reason));
        }
        let needed = needed_calls(&call.input, &ids(&items[..index]));
        let needed = needed.into_iter().map(|call| stage_of[call] + 1).max().unwrap_or(0);
        let stage = if is_read && parallel != Some(false) { needed.max(after_write) } else { stages.len() };
        if !is_read {
            after_write = stage + 1;
        }
        if stage >= stages.len() {
            stages.push(Vec::new());
        }
        stages[stage].push(index);
        stage_of.push(stage);
    }
    Ok(stages)
}

/// The ids of items, for references.
fn ids(items: &[BatchItem]) -> Vec<Option<&str>> {
    items.iter().map(|item| item.id.as_deref()).collect()
}

/// Runs the calls of a stage at once.
async fn run_stage(
    context: &FunctionContext,
    items: &[BatchItem],
    stage: Vec<usize>,
    answers: &mut [Answer],
) {
    let mut running = JoinSet::new();
    let is_one = stage.len() == 1;
    for index in stage {
        let Ok(BatchCall { function, input }) = &items[index].call else { continue };
        let input = match used_results(context, &items[..index], answers, input).await {
            Ok(input) => input,
            Err(error) => {
                answers[index] = failed(error);
                continue;
            }
        };
        if is_one {
            answers[index] = function.call(context, input).await;
            continue;
        }
        let function = *function;
        let context = context.clone();
        let call = async move { (index, function.call(&context, input).await) };
        running.spawn(WaitBudget::current().with(call));
    }
    while let Some(done) = running.join_next().await {
        if let Ok((index, answer)) = done {
            answers[index] = answer;
        }
    }
}

/// An input with the parts of earlier answers that it uses.
async fn used_results(
    context: &FunctionContext,
    earlier: &[BatchItem],
    answers: &[Answer],
    input: &Map<String, Value>,
) -> Result<Value> {
    let ids = ids(earlier);
    let mut used = HashMap::new();
    for call in needed_calls(input, &ids) {
        if answers[call].is_ok() {
            used.insert(call, Value::Object(answers[call].whole(context).await?));
        }
    }
    let input = Value::Object(input.clone());
    let answers = Answers { ids: &ids, answer: &|call| used.get(&call) };
    apart(usize::MAX, || answers.resolve(&input)).map_err(|(at, error)| match error {
        ReferenceError::NotRun(call) => {
            let next = format!("correct call {call}, then send both again");
            ToolError::new(ErrorCode::NotRun, error.to_string(), next)
        }
        _ => {
            let message = format!("{at}: {error}");
            ToolError::invalid(message, "correct `$from`, and send this call again")
                .field(&at, &error.to_string())
        }
    })
}

/// The answer for a call that the batch itself refuses.
fn failed(error: ToolError) -> Answer {
    Err(error.or_help_path(ROOT)).into()
}

/// Names that models use for the list of calls.
const CALLS: [&str; 3] = ["items", "requests", "operations"];
/// Name that models use for an input, in addition to those for arguments.
const BODY: &str = "body";
/// Names that models use for the function.
const FUNCTIONS: [&str; 3] = ["name", "tool", "function_name"];
/// Keys that name the function and one field of its input at once: `{"help": PATH}` and `{"exec": OP, "args": {...}}`.
const SHORTHANDS: [(&str, &str, &str); 2] = [("help", "tool_help", "path"), ("exec", "tool_exec", "op")];
/// Longest id, in bytes.
const LONGEST_ID: usize = 64;

/// One item of a batch.
struct BatchItem {
    id: Option<String>,
    /// The call, or the error of an invalid item.
    call: Result<BatchCall>,
}

#[derive(Clone)]
struct BatchCall {
    function: &'static Function,
    input: Map<String, Value>,
}

/// The arguments with their list under the right name, and the calls in it.
fn taken(arguments: Value) -> Result<(Value, Vec<BatchItem>)> {
    let mut fields = match decoded(arguments, "")? {
        Value::Object(fields) => fields,
        Value::Array(calls) => Map::from_iter([("calls".to_string(), Value::Array(calls))]),
        other => return Ok((other, Vec::new())),
    };
    rename(&mut fields, CALLS, "calls");
    let mut items = Vec::new();
    if let Some(place) = fields.get_mut("calls") {
        *place = decoded(place.take(), "/calls")?;
        if let Value::Array(calls) = place {
            items = std::mem::take(calls).into_iter().map(BatchItem::read).collect();
            // The items are checked one by one.
            *calls = vec![json!({ "function": Function::tool_exec().name(), "input": {} }); items.len()];
        }
    }
    Ok((Value::Object(fields), items))
}

/// Gives a field its own name, if no other field has it.
fn rename<'n>(fields: &mut Map<String, Value>, names: impl IntoIterator<Item = &'n str>, own: &str) {
    if !fields.contains_key(own)
        && let Some(value) = names.into_iter().find_map(|name| fields.shift_remove(name))
    {
        fields.insert(own.into(), value);
    }
}

impl BatchItem {
    fn read(given: Value) -> Self {
        let mut id = None;
        let call = fields_of(given).and_then(|mut fields| {
            id = id_of(fields.shift_remove("id"))?;
            BatchCall::read(fields)
        });
        Self { id, call }
    }
}

fn fields_of(given: Value) -> Result<Map<String, Value>> {
    match decoded(given, "")? {
        Value::Object(fields) => Ok(fields),
        _ => {
            Err(invalid("", "a call of a batch is an object with `op` and `args`, or `function` and `input`"))
        }
    }
}

fn id_of(given: Option<Value>) -> Result<Option<String>> {
    match given {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(id)) if (1..=LONGEST_ID).contains(&id.chars().count()) => Ok(Some(id)),
        Some(Value::Number(number)) => Ok(Some(number.to_string())),
        Some(_) => Err(invalid("/id", "`id` is a string of 1 to 64 characters")),
    }
}

impl BatchCall {
    fn read(mut fields: Map<String, Value>) -> Result<Self> {
        let function = function(&mut fields)?;
        if !fields.contains_key("op") {
            rename(&mut fields, WRAPPERS.into_iter().chain([BODY]), "input");
        }
        let mut input = match decoded(fields.shift_remove("input").unwrap_or_default(), "/input")? {
            Value::Null => Map::new(),
            Value::Object(input) => input,
            _ => return Err(invalid("/input", "`input` is an object: the input of the function")),
        };
        // Fields next to the input belong to it, and the function refuses unknown ones.
        for (name, value) in fields {
            input.entry(name).or_insert(value);
        }
        Ok(Self { function, input })
    }

    /// Whether the call changes nothing, as far as is known.
    fn is_read(&self, context: &FunctionContext) -> bool {
        if !self.function.runs_tools() {
            return true;
        }
        let op = self.input.get("op").and_then(Value::as_str).unwrap_or_default().trim();
        match context.view.catalog().resolve(op) {
            Resolved::Tool(tool) => tool.rules.effect == Effect::Read,
            // Nothing is run.
            Resolved::Ambiguous(_) | Resolved::Unknown(_) => !op.is_empty(),
        }
    }
}

fn invalid(pointer: &str, message: &str) -> ToolError {
    let next =
        "send this call again as {\"op\": ..., \"args\": {...}}, or as {\"function\": ..., \"input\": {...}}";
    ToolError::invalid(message, next).field(pointer, message)
}

/// The function of an item, in any spelling; `op` alone means `tool_exec`.
fn function(fields: &mut Map<String, Value>) -> Result<&'static Function> {
    if let Some(given) = fields.shift_remove("function") {
        let not_text = "`function` is the name of a function, such as \"tool_exec\"";
        let name = given.as_str().ok_or_else(|| invalid("/function", not_text))?;
        return allowed_function(name).ok_or_else(|| {
            let allowed = allowed().join(", ");
            let message = format!("a batch has no function `{}`; it is one of {allowed}", quoted(name));
            invalid("/function", &message)
        });
    }
    for (key, function, field) in SHORTHANDS {
        if let Some(function) = Function::named(function)
            && let Some(given) = fields.shift_remove(key)
        {
            let field = if given.is_object() { "input" } else { field };
            fields.entry(field).or_insert(given);
            return Ok(function);
        }
    }
    for name in FUNCTIONS {
        if let Some(function) = fields.get(name).and_then(Value::as_str).and_then(allowed_function) {
            fields.shift_remove(name);
            return Ok(function);
        }
    }
    let is_call = ["op", "tool", "operation"].iter().any(|name| fields.contains_key(*name));
    let missing = || invalid("/function", "`function` is missing: which function is to be called?");
    is_call.then(Function::tool_exec).ok_or_else(missing)
}

fn allowed_function(name: &str) -> Option<&'static Function> {
    Function::spelled(name).filter(|function| allowed().contains(&function.name()))
}

/// The names of functions in the definition of a batch.
fn allowed() -> Vec<&'static str> {
    let names = functions().named("tool_batch").and_then(|tool| {
        tool.input.parameters.root().property("calls")?.items()?.property("function")?.values
    });
    names.into_iter().flatten().filter_map(Value::as_str).collect()
}

/// A value, or the list or object in a text.
fn decoded(value: Value, pointer: &str) -> Result<Value> {
    match value {
        Value::String(text) if !text.trim().is_empty() => value_in_text(&text)
            .map_err(|problem| invalid(pointer, &format!("this is text, and its contents {problem}"))),
        value => Ok(value),
    }
}
