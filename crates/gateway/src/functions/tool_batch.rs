//! `tool_batch`: several calls in one round trip, each with its own answer.

use serde::Deserialize;
use serde_json::{Map, Value, json};
use tokio::task::JoinSet;

use super::answer::{Answer, Batch, Batched, Reply};
use super::call::panicked;
use super::examples::{called, harmless};
use super::function::{Function, ReplyFuture};
use crate::context::{CatalogView, FunctionContext};
use crate::exec::{part_of, reached};
use crate::state::WaitBudget;
use crate::tool_error::{ErrorCode, ROOT, Result, ToolError};
use toolcrib_catalog::arguments::WRAPPERS;
use toolcrib_catalog::{Resolved, functions};
use toolcrib_definition::document::{from_json, pointer_join};
use toolcrib_definition::{Effect, quoted};

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
    let is_parallel = match (asked.parallel, parallel_obstacle(context, &items)) {
        (Some(true), Some(reason)) => {
            let message = format!("these calls cannot run in parallel: {reason}");
            let next = "leave `parallel` out; the calls are then run in order";
            return Err(ToolError::invalid(message, next).field("/parallel", &reason));
        }
        (Some(wanted), _) => wanted,
        (None, reason) => reason.is_none() && items.len() > 1,
    };
    let answers =
        if is_parallel { run_parallel(context, &items).await } else { run_sequential(context, &items).await };
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
    Some(json!({ "calls": [
        { "function": "tool_help", "input": { "path": tool.names.op } },
        { "function": Function::tool_exec().name(), "input": called(tool) },
    ] }))
}

/// The reason why these calls cannot run at once: each has to be a read, and none may wait for another.
fn parallel_obstacle(context: &FunctionContext, items: &[BatchItem]) -> Option<String> {
    items.iter().enumerate().find_map(|(index, item)| {
        let call = item.call.as_ref().ok()?;
        if call.input.values().any(has_references) {
            return Some(format!("call {index} uses the result of another"));
        }
        (!call.is_read(context)).then(|| format!("call {index} is not known to be a read"))
    })
}

async fn run_sequential(context: &FunctionContext, items: &[BatchItem]) -> Vec<Answer> {
    let mut answers = Vec::with_capacity(items.len());
    for item in items {
        let input = item.call.clone().and_then(|call| {
            let input = References { answers: &answers, items }.resolved(&call.input)?;
            Ok((call.function, input))
        });
        answers.push(match input {
            Ok((function, input)) => function.call(context, Value::Object(input)).await,
            Err(error) => failed(error),
        });
    }
    answers
}

async fn run_parallel(context: &FunctionContext, items: &[BatchItem]) -> Vec<Answer> {
    let error = |item: &BatchItem| item.call.as_ref().err().cloned();
    let mut answers: Vec<Answer> =
        items.iter().map(|item| failed(error(item).unwrap_or_else(panicked))).collect();
    let mut running = JoinSet::new();
    let calls = items.iter().enumerate().filter_map(|(index, item)| Some((index, item.call.clone().ok()?)));
    for (index, BatchCall { function, input }) in calls {
        let context = context.clone();
        let call = async move { (index, function.call(&context, Value::Object(input)).await) };
        running.spawn(WaitBudget::current().with(call));
    }
    while let Some(done) = running.join_next().await {
        if let Ok((index, answer)) = done {
            answers[index] = answer;
        }
    }
    answers
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
        _ => Err(invalid("", "a call of a batch is an object with `function` and `input`")),
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
        "send this call again as {\"function\": \"tool_exec\", \"input\": {\"op\": ..., \"args\": {...}}}";
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

/// A value, or the list or object in a text. The error names a repeated key.
fn decoded(value: Value, pointer: &str) -> Result<Value> {
    let text = match value {
        Value::String(text) if text.trim_start().starts_with(['[', '{']) => text,
        value => return Ok(value),
    };
    match from_json(&text) {
        Err(error) if error.is_data() => Err(invalid(pointer, &error.to_string())),
        read => Ok(read.unwrap_or(Value::String(text))),
    }
}

/// Key that marks a reference to the answer of an earlier call.
const FROM: &str = "$from";
/// Pointer into an answer by default.
const RESULT: &str = "/result";
/// Deepest level of an input that is searched for references.
const DEEPEST: usize = 64;

/// Whether an input contains a reference.
fn has_references(value: &Value) -> bool {
    match value {
        Value::Object(fields) => fields.contains_key(FROM) || fields.values().any(has_references),
        Value::Array(items) => items.iter().any(has_references),
        _ => false,
    }
}

/// The answers of the first items, to which later items refer.
struct References<'a> {
    answers: &'a [Answer],
    items: &'a [BatchItem],
}

impl References<'_> {
    /// An input with the values that its references mean.
    fn resolved(&self, input: &Map<String, Value>) -> Result<Map<String, Value>> {
        let field = |(name, value): (&String, &Value)| {
            Ok((name.clone(), self.value(value, &pointer_join("", name), 0)?))
        };
        input.iter().map(field).collect()
    }

    fn value(&self, value: &Value, at: &str, depth: usize) -> Result<Value> {
        if depth > DEEPEST {
            return Err(misfit(at, "this is nested too deeply".into()));
        }
        Ok(match value {
            Value::Object(fields) => match fields.get(FROM) {
                Some(from) => self.fetched(from, fields, at)?,
                None => {
                    let field = |(name, value): (&String, &Value)| {
                        Ok((name.clone(), self.value(value, &pointer_join(at, name), depth + 1)?))
                    };
                    Value::Object(fields.iter().map(field).collect::<Result<_>>()?)
                }
            },
            Value::Array(items) => {
                let item = |(index, value)| self.value(value, &pointer_join(at, index), depth + 1);
                items.iter().enumerate().map(item).collect::<Result<_>>()?
            }
            plain => plain.clone(),
        })
    }

    fn fetched(&self, from: &Value, fields: &Map<String, Value>, at: &str) -> Result<Value> {
        let index = match from {
            Value::String(id) => {
                let earlier = self.items.iter().take(self.answers.len());
                earlier.map(|item| item.id.as_ref()).position(|known| known == Some(id)).or(id.parse().ok())
            }
            number => number.as_u64().and_then(|index| usize::try_from(index).ok()),
        };
        let Some((index, answer)) = index.and_then(|index| Some((index, self.answers.get(index)?))) else {
            let earlier = "`$from` is the index, from 0, or the `id` of an earlier call of the batch";
            return Err(misfit(at, format!("{from} is no earlier call; {earlier}")));
        };
        if !answer.is_ok() {
            let message =
                format!("this call was not run: it uses the result of call {index}, which has no result");
            let next = format!("correct call {index}, then send both again");
            return Err(ToolError::new(ErrorCode::NotRun, message, next));
        }
        let pointer = match fields.get("pointer") {
            None => RESULT,
            Some(Value::String(pointer)) => pointer,
            Some(_) => return Err(misfit(at, "`pointer` is a JSON pointer such as \"/result/id\"".into())),
        };
        let answer = answer.body();
        part_of(&answer, pointer).ok_or_else(|| {
            let there = reached(&answer, pointer);
            misfit(at, format!("the answer of call {index} has nothing at `{}`{there}", quoted(pointer)))
        })
    }
}

fn misfit(at: &str, message: String) -> ToolError {
    let next = "correct `$from` and `pointer`: {\"$from\": 0, \"pointer\": \"/result/id\"} is the `id` in the result of the first call";
    ToolError::invalid(format!("{at}: {message}"), next).field(at, &message)
}
