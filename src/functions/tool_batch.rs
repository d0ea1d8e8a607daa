//! `tool_batch`: several calls in one round trip, each with its own answer.

use std::time::Duration;

use serde::Deserialize;
use serde_json::{Map, Value, json};
use tokio::task::JoinSet;
use tokio::time::{Instant, timeout_at};

use super::arguments::{check, read};
use super::function::ROOT;
use super::{Answer, AnswerFuture, ErrorCode, Function, FunctionContext, Refusal};
use crate::arguments::WRAPPERS;
use crate::catalog::{Resolved, functions};
use crate::config::BATCH_SECONDS;
use crate::exec::backend::McpAnswer;
use crate::exec::{part_of, reached};
use crate::finding::{from_json, pointer_join};
use crate::state::WaitBudget;
use crate::tool::{Effect, quoted};

#[derive(Deserialize)]
struct Arguments {
    parallel: Option<bool>,
}

/// Answers a call.
pub(super) fn run(function: &'static Function, context: FunctionContext, arguments: Value) -> AnswerFuture {
    Box::pin(answer(function, context, arguments))
}

async fn answer(function: &Function, context: FunctionContext, arguments: Value) -> Result<Answer, Refusal> {
    let (arguments, calls) = taken(arguments)?;
    let arguments = match function.definition() {
        Some(definition) => check(definition, context.view.catalog().secrets(), arguments)?,
        None => arguments,
    };
    let asked: Arguments = read(function.name(), arguments)?;
    let seconds = BATCH_SECONDS;
    let until = Instant::now() + Duration::from_secs(seconds);
    let parallel = match (asked.parallel, parallel_obstacle(&context, &calls)) {
        (Some(true), Some(reason)) => return Err(not_parallel(&reason)),
        (Some(wanted), _) => wanted,
        (None, reason) => reason.is_none() && calls.len() > 1,
    };
    let Answered { answers, originals } = match parallel {
        true => run_parallel(&context, &calls, until, seconds).await,
        false => run_sequential(&context, &calls, until, seconds).await,
    };
    let failed = answers.iter().filter(|answer| answer.get("ok") != Some(&Value::Bool(true))).count();
    let numbered = answers.into_iter().zip(&calls).enumerate();
    let results: Vec<Value> =
        numbered.map(|(index, (answer, item))| item.answer_fields(&context, index, answer)).collect();
    let mut fields = Map::new();
    fields.insert("results".into(), results.into());
    fields.insert("failed".into(), failed.into());
    Ok(Answer::new(fields, None).with_originals(originals))
}

/// The answers of the calls, and those of MCP servers as they came.
#[derive(Default)]
struct Answered {
    answers: Vec<Map<String, Value>>,
    originals: Vec<(usize, McpAnswer)>,
}

impl Answered {
    fn keep_original(&mut self, index: usize, answer: &Answer) {
        self.originals.extend(answer.original(0).map(|original| (index, original.clone())));
    }
}

/// The reason why these calls cannot run at once: each has to be a read, and none may wait for another.
fn parallel_obstacle(context: &FunctionContext, calls: &[Item]) -> Option<String> {
    let mut all = calls.iter().enumerate();
    all.find_map(|(index, item)| {
        if item.input.values().any(has_references) {
            return Some(format!("call {index} uses the result of another"));
        }
        (!item.is_read(context)).then(|| format!("call {index} is not known to be a read"))
    })
}

fn not_parallel(reason: &str) -> Refusal {
    let message = format!("these calls cannot run in parallel: {reason}");
    let next = "leave `parallel` out; the calls are then run in order";
    Refusal::new(ErrorCode::ValidationError, message, next).field("/parallel", reason)
}

async fn run_sequential(context: &FunctionContext, calls: &[Item], until: Instant, seconds: u64) -> Answered {
    let mut answered = Answered::default();
    for (index, item) in calls.iter().enumerate() {
        let ids: Vec<Option<&str>> = calls.iter().take(index).map(|item| item.id.as_deref()).collect();
        let answer = match resolved(&item.input, &answered.answers, &ids) {
            Err(refusal) => refused(refusal),
            Ok(_) if item.wrong.is_some() => item.refused(),
            Ok(_) if Instant::now() >= until => refused(out_of_time(seconds, false)),
            Ok(input) => match timeout_at(until, item.call(context, input)).await {
                Ok(answer) => {
                    answered.keep_original(index, &answer);
                    body(answer)
                }
                Err(_) => refused(out_of_time(seconds, true)),
            },
        };
        answered.answers.push(answer);
    }
    answered
}

async fn run_parallel(context: &FunctionContext, calls: &[Item], until: Instant, seconds: u64) -> Answered {
    let mut answered = Answered::default();
    let mut answers: Vec<Option<Map<String, Value>>> = vec![None; calls.len()];
    let mut running = JoinSet::new();
    for (index, item) in calls.iter().enumerate() {
        if item.wrong.is_some() {
            if let Some(place) = answers.get_mut(index) {
                *place = Some(item.refused());
            }
            continue;
        }
        let (context, function) = (context.clone(), item.function.clone());
        let input = item.input.clone();
        let call = async move { (index, call(&context, &function, input).await) };
        running.spawn(WaitBudget::current().with(call));
    }
    while let Ok(Some(done)) = timeout_at(until, running.join_next()).await {
        if let Ok((index, answer)) = done
            && let Some(place) = answers.get_mut(index)
        {
            answered.keep_original(index, &answer);
            *place = Some(body(answer));
        }
    }
    let late = || refused(out_of_time(seconds, true));
    answered.answers = answers.into_iter().map(|answer| answer.unwrap_or_else(late)).collect();
    answered
}

impl Item {
    /// Whether the call changes nothing, as far as is known.
    fn is_read(&self, context: &FunctionContext) -> bool {
        if !Function::named(&self.function).is_some_and(Function::runs_tools) {
            return true;
        }
        let op = self.input.get("op").and_then(Value::as_str).unwrap_or_default().trim();
        match context.view.catalog().resolve(op) {
            Resolved::Tool(tool) => tool.effect == Effect::Read,
            // Nothing is run.
            Resolved::Ambiguous(_) | Resolved::Unknown(_) => !op.is_empty(),
        }
    }

    /// The answer for an item that could not be read.
    fn refused(&self) -> Map<String, Value> {
        self.wrong.clone().map(refused).unwrap_or_default()
    }

    async fn call(&self, context: &FunctionContext, input: Map<String, Value>) -> Answer {
        call(context, &self.function, input).await
    }

    /// The answer of an item, with its id.
    fn answer_fields(&self, context: &FunctionContext, index: usize, answer: Map<String, Value>) -> Value {
        let version = &context.view.catalog().version;
        let mut fields = Map::with_capacity(answer.len() + 3);
        fields.insert("index".into(), index.into());
        if let Some(id) = &self.id {
            fields.insert("id".into(), id.as_str().into());
        }
        fields.insert("function".into(), self.function.as_str().into());
        fields.extend(answer);
        // All calls saw the same catalog; the batch gives its version.
        if let Some(Value::Object(meta)) = fields.get_mut("meta") {
            if meta.get("registry_version").and_then(Value::as_str) == Some(version.as_str()) {
                meta.shift_remove("registry_version");
            }
            if meta.is_empty() {
                fields.shift_remove("meta");
            }
        }
        Value::Object(fields)
    }
}

async fn call(context: &FunctionContext, function: &str, input: Map<String, Value>) -> Answer {
    match Function::named(function) {
        Some(function) => function.call(context, Value::Object(input)).await,
        None => {
            let message = format!("a batch has no function `{function}`");
            let next = "use tool_exec, tool_help, tool_search or read_tool_doc";
            Refusal::new(ErrorCode::NotFound, message, next).or_help_path(ROOT).into()
        }
    }
}

fn body(answer: Answer) -> Map<String, Value> {
    answer.body().clone()
}

/// The answer for a call that the batch itself refuses.
fn refused(refusal: Refusal) -> Map<String, Value> {
    body(refusal.or_help_path(ROOT).into())
}

fn out_of_time(seconds: u64, was_begun: bool) -> Refusal {
    let (message, next) = match was_begun {
        true => (
            "the time of the batch ran out while this call was running; a write goes on all the same",
            "check whether it was done, then send the rest in another batch",
        ),
        false => ("the time of the batch ran out before this call", "send the rest in another batch"),
    };
    let code = if was_begun { ErrorCode::BackendTimeout } else { ErrorCode::NotRun };
    let mut refusal = Refusal::new(code, message, next);
    refusal.hints.insert("batch_seconds".into(), json!(seconds));
    refusal
}

/// Names that models use for the list of calls.
const CALLS: [&str; 3] = ["items", "requests", "operations"];
/// Name that models use for an input, beside those for arguments.
const BODY: &str = "body";
/// Names that models use for the function.
const FUNCTIONS: [&str; 3] = ["name", "tool", "function_name"];
/// Keys that name the function and one field of its input at once: `{"help": PATH}` and `{"exec": OP, "args": {...}}`.
const SHORTHANDS: [(&str, &str, &str); 2] = [("help", "tool_help", "path"), ("exec", "tool_exec", "op")];
/// Longest id, in bytes.
const LONGEST_ID: usize = 64;

/// One call of a batch.
struct Item {
    function: String,
    input: Map<String, Value>,
    id: Option<String>,
    /// The error of an invalid item.
    wrong: Option<Refusal>,
}

/// The arguments with their list under the right name, and the calls in it.
fn taken(arguments: Value) -> Result<(Value, Vec<Item>), Refusal> {
    let mut fields = match decoded(arguments).map_err(|message| refusal("", &message))? {
        Value::Object(fields) => fields,
        Value::Array(calls) => Map::from_iter([("calls".to_string(), Value::Array(calls))]),
        other => return Ok((other, Vec::new())),
    };
    if !fields.contains_key("calls")
        && let Some(name) = CALLS.into_iter().find(|name| fields.contains_key(*name))
        && let Some(calls) = fields.shift_remove(name)
    {
        fields.insert("calls".into(), calls);
    }
    let mut items = Vec::new();
    if let Some(place) = fields.get_mut("calls") {
        *place = decoded(place.take()).map_err(|message| refusal("/calls", &message))?;
        if let Value::Array(calls) = place {
            items = std::mem::take(calls).into_iter().map(Item::read).collect();
            // The items are checked one by one.
            *calls = vec![json!({ "function": Function::tool_exec().name(), "input": {} }); items.len()];
        }
    }
    Ok((Value::Object(fields), items))
}

impl Item {
    fn read(given: Value) -> Self {
        let mut fields = match decoded(given) {
            Ok(Value::Object(fields)) => fields,
            Ok(_) => {
                return Self::wrong("", None, "a call of a batch is an object with `function` and `input`");
            }
            Err(message) => return Self::wrong("", None, &message),
        };
        let id = match fields.shift_remove("id") {
            None | Some(Value::Null) => None,
            Some(Value::String(id)) if (1..=LONGEST_ID).contains(&id.chars().count()) => Some(id),
            Some(Value::Number(number)) => Some(number.to_string()),
            Some(_) => return Self::wrong("/id", None, "`id` is a string of 1 to 64 characters"),
        };
        let function = match function(&mut fields) {
            Ok(function) => function,
            Err(message) => return Self::wrong("/function", id, &message),
        };
        if !fields.contains_key("input")
            && !fields.contains_key("op")
            && let Some(name) = WRAPPERS.into_iter().chain([BODY]).find(|name| fields.contains_key(*name))
            && let Some(input) = fields.shift_remove(name)
        {
            fields.insert("input".into(), input);
        }
        let mut input = match fields.shift_remove("input").map(decoded) {
            None | Some(Ok(Value::Null)) => Map::new(),
            Some(Ok(Value::Object(input))) => input,
            Some(Err(message)) => return Self::wrong("/input", id, &message),
            Some(Ok(_)) => {
                return Self::wrong("/input", id, "`input` is an object: the input of the function");
            }
        };
        // Fields beside the input belong to it, and the function refuses unknown ones.
        for (name, value) in fields {
            input.entry(name).or_insert(value);
        }
        Self { function, input, id, wrong: None }
    }

    fn wrong(pointer: &str, id: Option<String>, message: &str) -> Self {
        let wrong = Some(refusal(pointer, message));
        Self { function: String::new(), input: Map::new(), id, wrong }
    }
}

fn refusal(pointer: &str, message: &str) -> Refusal {
    let next =
        "send this call again as {\"function\": \"tool_exec\", \"input\": {\"op\": ..., \"args\": {...}}}";
    Refusal::new(ErrorCode::ValidationError, message, next).field(pointer, message)
}

/// The function of an item, in any spelling; `op` alone means `tool_exec`.
fn function(fields: &mut Map<String, Value>) -> Result<String, String> {
    if let Some(given) = fields.shift_remove("function") {
        return match given.as_str() {
            Some(name) => known(name).ok_or_else(|| {
                format!("a batch has no function `{}`; it is one of {}", quoted(name), allowed().join(", "))
            }),
            None => Err("`function` is the name of a function, such as \"tool_exec\"".into()),
        };
    }
    for (key, function, field) in SHORTHANDS {
        if let Some(given) = fields.shift_remove(key) {
            let field = if given.is_object() { "input" } else { field };
            fields.entry(field).or_insert(given);
            return Ok(function.into());
        }
    }
    for name in FUNCTIONS {
        if let Some(function) = fields.get(name).and_then(Value::as_str).and_then(known) {
            fields.shift_remove(name);
            return Ok(function);
        }
    }
    match ["op", "tool", "operation"].iter().any(|name| fields.contains_key(*name)) {
        true => Ok(Function::tool_exec().name().into()),
        false => Err("`function` is missing: which function is to be called?".into()),
    }
}

fn known(name: &str) -> Option<String> {
    let name = Function::spelled(name)?.name();
    allowed().into_iter().find(|allowed| allowed == name)
}

/// The functions in our definition.
fn allowed() -> Vec<String> {
    let names = functions().named("tool_batch").and_then(|tool| {
        let names = "/properties/calls/items/properties/function/enum";
        tool.parameters.schema().pointer(names)?.as_array().cloned()
    });
    names.unwrap_or_default().iter().filter_map(|name| name.as_str().map(str::to_string)).collect()
}

/// A value, or the list or object in a text. The error names a repeated key.
fn decoded(value: Value) -> Result<Value, String> {
    match value {
        Value::String(text) if text.trim_start().starts_with(['[', '{']) => match from_json(&text) {
            Err(error) if error.is_data() => Err(error.to_string()),
            read => Ok(read.unwrap_or(Value::String(text))),
        },
        value => Ok(value),
    }
}

/// Key that marks such a value.
const FROM: &str = "$from";
/// Pointer into an answer by default.
const RESULT: &str = "/result";
/// Deepest level of an input that is searched for references.
const DEEPEST: usize = 64;

/// Whether an input contains such a value.
fn has_references(value: &Value) -> bool {
    match value {
        Value::Object(fields) => fields.contains_key(FROM) || fields.values().any(has_references),
        Value::Array(items) => items.iter().any(has_references),
        _ => false,
    }
}

/// An input with such values filled in; `ids` are the ids of the calls with these answers.
fn resolved(
    input: &Map<String, Value>,
    answers: &[Map<String, Value>],
    ids: &[Option<&str>],
) -> Result<Map<String, Value>, Refusal> {
    let of = References { answers, ids };
    input
        .iter()
        .map(|(name, value)| Ok((name.clone(), of.value(value, &pointer_join("", name), 0)?)))
        .collect()
}

struct References<'a> {
    answers: &'a [Map<String, Value>],
    ids: &'a [Option<&'a str>],
}

impl References<'_> {
    fn value(&self, value: &Value, at: &str, depth: usize) -> Result<Value, Refusal> {
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
                    Value::Object(fields.iter().map(field).collect::<Result<_, Refusal>>()?)
                }
            },
            Value::Array(items) => {
                let item = |(index, value)| self.value(value, &pointer_join(at, index), depth + 1);
                items.iter().enumerate().map(item).collect::<Result<_, Refusal>>()?
            }
            plain => plain.clone(),
        })
    }

    fn fetched(&self, from: &Value, fields: &Map<String, Value>, at: &str) -> Result<Value, Refusal> {
        let index = match from {
            Value::String(id) => {
                self.ids.iter().position(|known| known == &Some(id.as_str())).or(id.parse().ok())
            }
            number => number.as_u64().and_then(|index| usize::try_from(index).ok()),
        };
        let Some((index, answer)) = index.and_then(|index| Some((index, self.answers.get(index)?))) else {
            let earlier = "`$from` is the index, from 0, or the `id` of an earlier call of the batch";
            return Err(misfit(at, format!("{from} is no earlier call; {earlier}")));
        };
        if answer.get("ok") != Some(&Value::Bool(true)) {
            let message =
                format!("this call was not run: it uses the result of call {index}, which has no result");
            let next = format!("correct call {index}, then send both again");
            return Err(Refusal::new(ErrorCode::NotRun, message, next));
        }
        let pointer = match fields.get("pointer") {
            None => RESULT,
            Some(Value::String(pointer)) => pointer,
            Some(_) => return Err(misfit(at, "`pointer` is a JSON pointer such as \"/result/id\"".into())),
        };
        part_of(answer, pointer).ok_or_else(|| {
            let message =
                format!("the answer of call {index} has nothing at `{pointer}`{}", reached(answer, pointer));
            misfit(at, message)
        })
    }
}

fn misfit(at: &str, message: String) -> Refusal {
    let next = "correct `$from` and `pointer`: {\"$from\": 0, \"pointer\": \"/result/id\"} is the `id` in the result of the first call";
    let refusal = Refusal::new(ErrorCode::ValidationError, format!("{at}: {message}"), next);
    refusal.field(at, &message)
}
