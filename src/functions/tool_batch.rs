//! `tool_batch`: several calls in one round trip, each with its own answer.

mod items;
mod references;

use std::time::Duration;

use serde::Deserialize;
use serde_json::{Map, Value, json};
use tokio::task::JoinSet;
use tokio::time::{Instant, timeout_at};

use self::items::Item;
use self::references::{has_references, resolved};
use super::arguments::{check, read};
use super::call::ROOT;
use super::{Answer, AnswerFuture, ErrorCode, Function, FunctionContext, Refusal};
use crate::catalog::Resolved;
use crate::config::BATCH_SECONDS;
use crate::exec::backend::McpAnswer;
use crate::state::WaitBudget;
use crate::tool::Effect;

#[derive(Deserialize)]
struct Arguments {
    parallel: Option<bool>,
}

/// Answers a call.
pub(super) fn run(function: &'static Function, context: FunctionContext, arguments: Value) -> AnswerFuture {
    Box::pin(answer(function, context, arguments))
}

async fn answer(function: &Function, context: FunctionContext, arguments: Value) -> Result<Answer, Refusal> {
    let (arguments, calls) = items::taken(arguments)?;
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
