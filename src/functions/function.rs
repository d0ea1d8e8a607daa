//! A function of toolcrib: its name, its handler, and the facts that doors, lists and limits need.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};

use super::{Answer, CatalogView, ErrorCode, FunctionContext, Refusal, arguments, trace};
use crate::catalog::Tool;
use crate::config::{BATCH_SECONDS, Exec};
use crate::exec::EffectLimit;
use crate::guard::{MISTAKE, guarded};
use crate::state::{EventKind, WaitBudget};
use crate::tool::Effect;
use crate::{catalog, help};

/// A function of toolcrib.
#[derive(Debug)]
pub struct Function {
    name: &'static str,
    pub(super) handler: Handler,
    lists: &'static [FunctionList],
    runs: Option<EffectLimit>,
    time: TimeLimit,
    pub(super) trace: Option<EventKind>,
    example: Option<Example>,
    takes_idempotency_key: bool,
}

/// Handler of a function, by the way it answers.
#[derive(Clone, Copy, Debug)]
pub(super) enum Handler {
    /// Answers after waiting for another program.
    Async(fn(&'static Function, FunctionContext, Value) -> AnswerFuture),
    /// Answers after waiting, and reads unchecked arguments itself.
    RawAsync(fn(&'static Function, FunctionContext, Value) -> AnswerFuture),
    /// Answers from memory, but for some calls.
    MaybeAsync(fn(&Function, &FunctionContext, Value) -> MaybeAsync),
}

/// An answer, or one that is waited for.
#[expect(clippy::large_enum_variant, reason = "it lives for a moment, and a box would cost every call")]
pub(super) enum MaybeAsync {
    Ready(Result<Answer, Refusal>),
    Future(AnswerFuture),
}

/// An answer that is waited for.
pub(super) type AnswerFuture = Pin<Box<dyn Future<Output = Result<Answer, Refusal>> + Send>>;

/// Valid arguments for one kind of caller.
type Example = fn(&CatalogView) -> Option<Value>;

/// A list of functions for clients.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FunctionList {
    /// The gateway, which is the default (RULE-2: at most four).
    Gateway,
    /// The gateway for clients that ask a person depending on the effect of a function. A batch may have any effect.
    SplitGateway,
    /// The discovery protocol.
    Discovery,
    /// The functions for tools that are bound with short descriptions.
    Hybrid,
    /// Every function, with `tool_exec` whole.
    All,
    /// Every function, with `tool_exec` split by effect.
    SplitAll,
}

/// The time that a function may take by itself.
#[derive(Clone, Copy, Debug)]
pub(super) enum TimeLimit {
    /// No time of its own: the door's limit holds.
    Door,
    /// The time of this number of calls of tools.
    Calls(u64),
    /// The time of a batch.
    Batch,
}

/// Seconds that a caller outwaits its tool: the tool's own timeout answers first.
const CALLER_GRACE: Duration = Duration::from_secs(5);

impl Function {
    /// A function that runs no tools, is in no list but that of all, and leaves no trace.
    pub(super) const fn new(name: &'static str, handler: Handler) -> Self {
        Self {
            name,
            handler,
            lists: &[FunctionList::All, FunctionList::SplitAll],
            runs: None,
            time: TimeLimit::Door,
            trace: None,
            example: None,
            takes_idempotency_key: false,
        }
    }

    /// The lists that it is in.
    pub(super) const fn listed(mut self, lists: &'static [FunctionList]) -> Self {
        self.lists = lists;
        self
    }

    /// Runs tools, within this effect and this time.
    pub(super) const fn runs(mut self, limit: EffectLimit, time: TimeLimit) -> Self {
        self.runs = Some(limit);
        self.time = time;
        self
    }

    /// Takes an idempotency key for the tool that it runs.
    pub(super) const fn idempotent(mut self) -> Self {
        self.takes_idempotency_key = true;
        self
    }

    /// Leaves events of this kind in the trace of a session. Calls of tools are recorded by `exec`.
    pub(super) const fn traced(mut self, kind: EventKind) -> Self {
        self.trace = Some(kind);
        self
    }

    /// Has example arguments that are valid for a caller, since its definition can only invent them.
    pub(super) const fn example(mut self, example: Example) -> Self {
        self.example = Some(example);
        self
    }

    /// Its name.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// Its definition: description, schema of its arguments, example.
    pub fn definition(&self) -> Option<&'static Tool> {
        catalog::functions().named(self.name)
    }

    /// Whether it is in a list.
    pub fn is_in(&self, list: FunctionList) -> bool {
        self.lists.contains(&list)
    }

    /// Whether one call of it runs several tools.
    pub fn runs_several_tools(&self) -> bool {
        matches!(self.time, TimeLimit::Batch)
    }

    /// Whether it runs tools.
    pub fn runs_tools(&self) -> bool {
        self.runs.is_some()
    }

    /// Whether its answers are docs, which clients may keep and ask for again by their tag.
    pub fn gives_docs(&self) -> bool {
        matches!(self.trace, Some(EventKind::Read | EventKind::Expand))
    }

    /// Whether it may run a tool that changes something.
    pub fn may_change(&self) -> bool {
        self.effect_limit() != EffectLimit::ReadsOnly && self.runs_tools()
    }

    /// Effects of the tools that it may run.
    pub(super) fn effect_limit(&self) -> EffectLimit {
        self.runs.unwrap_or_default()
    }

    /// Whether the tool that it runs may have an idempotency key.
    pub fn takes_idempotency_key(&self) -> bool {
        self.takes_idempotency_key
    }

    /// The time that it may take by itself: zero unless it runs tools.
    pub fn timeout(&self, exec: &Exec) -> Duration {
        let seconds = match self.time {
            TimeLimit::Door => return Duration::ZERO,
            TimeLimit::Calls(calls) => exec.call_seconds.saturating_mul(calls),
            TimeLimit::Batch => BATCH_SECONDS,
        };
        Duration::from_secs(seconds) + CALLER_GRACE
    }

    /// Valid arguments for this caller.
    pub(super) fn example_for(&self, view: &CatalogView) -> Option<Value> {
        self.example.and_then(|example| example(view))
    }
}

/// A doc to read.
pub(super) fn doc(view: &CatalogView) -> Option<Value> {
    Some(json!({ "names": [harmless(view)?.name] }))
}

/// An op to ask about.
pub(super) fn help(view: &CatalogView) -> Option<Value> {
    Some(json!({ "path": harmless(view)?.op, "format": "short" }))
}

/// A call of a tool.
pub(super) fn call(view: &CatalogView) -> Option<Value> {
    harmless(view).map(called)
}

/// A call of a tool that changes nothing.
pub(super) fn read(view: &CatalogView) -> Option<Value> {
    tools(view).find(reads).map(called)
}

/// A call of a tool that changes something.
pub(super) fn write(view: &CatalogView) -> Option<Value> {
    tools(view).find(|tool| !reads(tool)).map(called)
}

/// A batch: help on a tool, and a call of it.
pub(super) fn batch(view: &CatalogView) -> Option<Value> {
    let tool = harmless(view)?;
    Some(json!({ "calls": [
        { "function": "tool_help", "input": { "path": tool.op } },
        { "function": Function::tool_exec().name(), "input": called(tool) },
    ] }))
}

/// A tool to expand.
pub(super) fn expand(view: &CatalogView) -> Option<Value> {
    Some(json!({ "tool_id": harmless(view)?.op }))
}

/// A call in the words of the discovery protocol.
pub(super) fn call_tool(view: &CatalogView) -> Option<Value> {
    let tool = harmless(view)?;
    Some(json!({ "tool_id": tool.op, "arguments": tool.call }))
}

fn called(tool: &Arc<Tool>) -> Value {
    help::called(tool, &tool.call.clone().unwrap_or_default())
}

fn tools(view: &CatalogView) -> impl Iterator<Item = &Arc<Tool>> {
    let tools = view.catalog().tools.iter().enumerate();
    tools.filter(|(index, tool)| tool.call.is_some() && !view.is_forbidden(*index)).map(|(_, tool)| tool)
}

fn reads(tool: &&Arc<Tool>) -> bool {
    tool.effect == Effect::Read
}

/// A tool that changes nothing, where there is one.
fn harmless(view: &CatalogView) -> Option<&Arc<Tool>> {
    tools(view).find(reads).or_else(|| tools(view).next())
}

// A call of a function: its session, its trace, its valid arguments, and its answer, also after a panic.

/// The help path where no op is known.
pub(super) const ROOT: &str = "root";

/// The refusal of a call that has panicked.
pub(super) fn panicked() -> Refusal {
    Refusal::new(ErrorCode::Internal, MISTAKE, "tell the operator")
}

impl Function {
    /// Answers a call. The arguments come from the caller, are checked here, and may name the session of the call. A
    /// panic is answered as well.
    pub async fn call(&'static self, context: &FunctionContext, arguments: Value) -> Answer {
        let answer = guarded(self.in_its_session(context, arguments)).await;
        answer.unwrap_or_else(|_| {
            Answer::from(panicked().or_help_path(ROOT)).with_registry_version(&context.view.catalog().version)
        })
    }

    async fn in_its_session(&'static self, context: &FunctionContext, mut arguments: Value) -> Answer {
        let budget = WaitBudget::current();
        match trace::named(&mut arguments) {
            None => budget.with(self.traced_call(context, arguments)).await,
            Some(Ok(session)) => budget.with(self.traced_call(&context.in_session(session), arguments)).await,
            Some(Err(refusal)) => {
                let refusal = refusal.or_help_path(self.name());
                Answer::from(refusal).with_registry_version(&context.view.catalog().version)
            }
        }
    }

    async fn traced_call(&'static self, context: &FunctionContext, arguments: Value) -> Answer {
        let asked = trace::TracedCall::of(self, context, &arguments);
        let named = asked.as_ref().and_then(trace::TracedCall::first_name);
        let answer = self.answer(context, arguments, named).await;
        if let Some(asked) = asked {
            asked.record(self, context, &answer).await;
        }
        answer
    }

    /// The help path of a refusal: the op that the call names, else the function for arguments that do not fit it, else
    /// the root.
    fn help_path<'p>(&self, view: &'p CatalogView, named: Option<&str>, refusal: &Refusal) -> &'p str {
        let index = named.and_then(|name| view.resolve(name.trim()).ok());
        match index.and_then(|index| view.catalog().tools.get(index)) {
            Some(tool) => &tool.op,
            None if refusal.code == ErrorCode::ValidationError && !self.runs_tools() => self.name(),
            None => ROOT,
        }
    }

    async fn answer(
        &'static self,
        context: &FunctionContext,
        arguments: Value,
        named: Option<&str>,
    ) -> Answer {
        let checked = match (self.handler, self.definition()) {
            (Handler::RawAsync(_), _) | (_, None) => Ok(arguments),
            (_, Some(definition)) => {
                arguments::check(definition, context.view.catalog().secrets(), arguments)
            }
        };
        let answer = match (checked, self.handler) {
            (Err(refusal), _) => Err(refusal),
            (Ok(arguments), Handler::Async(run) | Handler::RawAsync(run)) => {
                run(self, context.clone(), arguments).await
            }
            (Ok(arguments), Handler::MaybeAsync(run)) => match run(self, context, arguments) {
                MaybeAsync::Ready(answer) => answer,
                MaybeAsync::Future(answer) => answer.await,
            },
        };
        let answer = answer.map_err(|refusal| arguments::with_example(refusal, self, &context.view));
        let answer = answer.map_err(|refusal| {
            let help_path = self.help_path(&context.view, named, &refusal);
            refusal.or_help_path(help_path)
        });
        answer.unwrap_or_else(Answer::from).with_registry_version(&context.view.catalog().version)
    }
}
