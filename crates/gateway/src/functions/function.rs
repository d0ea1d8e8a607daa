//! A function of toolcrib: its name, its handler, and the facts that lists, limits and metrics need.
//!
//! [`Function::call`] shows every phase of a call: its session, its valid arguments, its answer, its trace.

use std::borrow::Cow;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Instant;

use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use super::{Answer, CatalogView, ErrorCode, FunctionContext, ToolError, context::read_arguments};
use crate::exec::{BYTES_A_TOKEN, Caller, EffectLimit};
use crate::state::{Event, EventKind, InvalidSessionName, Session, WaitBudget};
use toolcrib_catalog::Tool;
use toolcrib_catalog::config::RequireDoc;
use toolcrib_definition::Effect;
use toolcrib_definition::guard::{MISTAKE, guarded};
use toolcrib_docs::help;

/// A function of toolcrib.
#[derive(Debug)]
pub struct Function {
    name: &'static str,
    handler: Handler,
    lists: &'static [FunctionList],
    runs: Option<EffectLimit>,
    runs_several_tools: bool,
    trace: Option<EventKind>,
    example: Option<Example>,
    takes_idempotency_key: bool,
}

/// Answers a call of a function from its input.
type Handler = for<'c> fn(&'static Function, &'c FunctionContext, Value) -> AnswerFuture<'c>;

/// An answer that is waited for.
pub(super) type AnswerFuture<'c> = Pin<Box<dyn Future<Output = Result<Answer, ToolError>> + Send + 'c>>;

/// The arguments of a function, which answer its call.
pub(super) trait Arguments: DeserializeOwned + Send {
    /// Answers a call.
    fn answer(
        self,
        function: &Function,
        context: &FunctionContext,
    ) -> impl Future<Output = Result<Answer, ToolError>> + Send;
}

/// Answers a call with arguments that fit the definition of the function.
fn answer_with<'c, A: Arguments + 'static>(
    function: &'static Function,
    context: &'c FunctionContext,
    arguments: Value,
) -> AnswerFuture<'c> {
    Box::pin(async move {
        let arguments: A = function.arguments(context, arguments)?;
        arguments.answer(function, context).await
    })
}

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
    /// The functions for tools that are sent with short descriptions.
    Hybrid,
    /// Every function, with `tool_exec` whole.
    All,
    /// Every function, with `tool_exec` split by effect.
    SplitAll,
}

impl Function {
    /// A function whose arguments are checked by its definition. It runs no tools, is only in the lists of all functions,
    /// and leaves no trace.
    pub(super) const fn new<A: Arguments + 'static>(name: &'static str) -> Self {
        Self::raw(name, answer_with::<A>)
    }

    /// A function that reads its unchecked input itself.
    pub(super) const fn raw(name: &'static str, handler: Handler) -> Self {
        Self {
            name,
            handler,
            lists: &[FunctionList::All, FunctionList::SplitAll],
            runs: None,
            runs_several_tools: false,
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

    /// Runs tools, within this effect.
    pub(super) const fn runs(mut self, limit: EffectLimit) -> Self {
        self.runs = Some(limit);
        self
    }

    /// Runs several tools in one call.
    pub(super) const fn several(mut self) -> Self {
        self.runs_several_tools = true;
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
        toolcrib_catalog::functions().named(self.name)
    }

    /// The arguments of a call, as their own type.
    pub(super) fn arguments<T: DeserializeOwned>(
        &self,
        context: &FunctionContext,
        given: Value,
    ) -> Result<T, ToolError> {
        read_arguments((self.name, self.definition()), context.view.catalog().secrets(), given)
    }

    /// Whether it is in a list.
    pub fn is_in(&self, list: FunctionList) -> bool {
        self.lists.contains(&list)
    }

    /// Whether one call of it runs several tools.
    pub fn runs_several_tools(&self) -> bool {
        self.runs_several_tools
    }

    /// Whether it runs tools.
    pub fn runs_tools(&self) -> bool {
        self.runs.is_some()
    }

    /// Whether it may run a tool that changes something.
    pub fn may_change(&self) -> bool {
        self.effect_limit() != EffectLimit::ReadsOnly && self.runs_tools()
    }

    /// Whether it is for tools that change something, beside another for reads.
    pub fn only_writes(&self) -> bool {
        self.effect_limit() == EffectLimit::WritesOnly
    }

    /// Effects of the tools that it may run.
    pub(super) fn effect_limit(&self) -> EffectLimit {
        self.runs.unwrap_or_default()
    }

    /// Whether the tool that it runs may have an idempotency key.
    pub fn takes_idempotency_key(&self) -> bool {
        self.takes_idempotency_key
    }
}

// Tools for the example arguments of functions.

/// A call of a tool by `tool_exec`.
pub(super) fn called(tool: &Arc<Tool>) -> Value {
    help::called(tool, &tool.call.clone().unwrap_or_default())
}

/// The tools that a caller can call as they are documented.
pub(super) fn tools(view: &CatalogView) -> impl Iterator<Item = &Arc<Tool>> {
    let tools = view.catalog().tools.iter().enumerate();
    tools.filter(|(index, tool)| tool.call.is_some() && !view.is_forbidden(*index)).map(|(_, tool)| tool)
}

pub(super) fn reads(tool: &&Arc<Tool>) -> bool {
    tool.effect == Effect::Read
}

/// A tool that changes nothing, where there is one.
pub(super) fn harmless(view: &CatalogView) -> Option<&Arc<Tool>> {
    tools(view).find(reads).or_else(|| tools(view).next())
}

// A call of a function: its session, its trace, its valid arguments, and its answer, also after a panic.

/// The help path where no op is known.
pub(super) const ROOT: &str = "root";

/// The error of a call that has panicked.
pub(super) fn panicked() -> ToolError {
    ToolError::new(ErrorCode::Internal, MISTAKE, "tell the operator")
}

impl Function {
    /// Answers a call. The arguments come from the caller, are checked here, and may name the session of the call. A
    /// panic is answered as well.
    pub async fn call(&'static self, context: &FunctionContext, mut arguments: Value) -> Answer {
        let failed =
            |error: ToolError| Answer::from(error).with_registry_version(&context.view.catalog().version);
        let answer = guarded(WaitBudget::current().with(async {
            match session_of(&mut arguments) {
                None => self.traced_call(context, arguments).await,
                Some(Ok(session)) => self.traced_call(&context.in_session(session), arguments).await,
                Some(Err(error)) => failed(error.or_help_path(self.name())),
            }
        }));
        answer.await.unwrap_or_else(|_| failed(panicked().or_help_path(ROOT)))
    }

    async fn traced_call(&'static self, context: &FunctionContext, arguments: Value) -> Answer {
        let traced = self.trace.map(|kind| TracedCall::of(kind, context, &arguments));
        let answer = (self.handler)(self, context, arguments).await.unwrap_or_else(|error| {
            let named = traced.as_ref().and_then(|traced| traced.names.first());
            let error = self.with_example(error, &context.view);
            let help_path = self.help_path(&context.view, named, &error);
            error.or_help_path(help_path).into()
        });
        let answer = answer.with_registry_version(&context.view.catalog().version);
        if let Some(traced) = traced {
            traced.record(self.name, context, &answer).await;
        }
        answer
    }

    /// Adds valid arguments for this caller to an error, unless it has an example better than the definition's invented one.
    fn with_example(&self, mut error: ToolError, view: &CatalogView) -> ToolError {
        let invented = self.definition().and_then(|tool| tool.call.clone()).map(Value::Object);
        let has_none = error.example.is_none() || error.example == invented;
        // An error in the arguments of another tool is not explained by an example of this function.
        let is_ours = !error.field_errors.iter().any(|error| error.pointer.starts_with("/arguments"));
        if error.code == ErrorCode::ValidationError && has_none && is_ours {
            error.example = self.example.and_then(|example| example(view)).or(invented);
        }
        error
    }

    /// The help path of an error: the op that the call names, else the function for arguments that do not fit it, else
    /// the root.
    fn help_path<'p>(&self, view: &'p CatalogView, named: Option<&String>, error: &ToolError) -> &'p str {
        let index = named.and_then(|name| view.resolve(name.trim()).ok());
        match index.and_then(|index| view.catalog().tools.get(index)) {
            Some(tool) => &tool.op,
            None if error.code == ErrorCode::ValidationError && !self.runs_tools() => self.name(),
            None => ROOT,
        }
    }
}

// The trace of a call: the pages that its session has read, and counts. Calls of tools are recorded where they are run.

/// Most ops that one event names.
const FOUND: usize = 50;

/// Takes the session that a call names itself out of its arguments.
fn session_of(arguments: &mut Value) -> Option<Result<Arc<str>, ToolError>> {
    match arguments.as_object_mut()?.shift_remove("session")? {
        Value::Null => None,
        Value::String(id) => Some(Session::named(&id).map_err(bad_session)),
        _ => Some(Err(bad_session(InvalidSessionName))),
    }
}

fn bad_session(bad: InvalidSessionName) -> ToolError {
    let message = format!("`session` does not fit: {bad}");
    ToolError::invalid(message, "send a name of your own for the session, such as `s-42`, or none")
        .field("/session", &bad.to_string())
}

impl FunctionContext {
    /// The same call in another session.
    fn in_session(&self, session: Arc<str>) -> Self {
        let caller = Caller { session: Some(session), names_session: true, ..Caller::clone(&self.caller) };
        Self { caller: Arc::new(caller), ..self.clone() }
    }
}

/// A call of a function about tools, while it is answered.
struct TracedCall {
    kind: EventKind,
    /// The tools that were requested by name.
    names: Vec<String>,
    /// The arguments to record, where there is a session.
    input: Value,
    started: Instant,
}

impl TracedCall {
    /// Records the request.
    fn of(kind: EventKind, context: &FunctionContext, arguments: &Value) -> Self {
        let names = if kind == EventKind::Search { Vec::new() } else { names(arguments) };
        let input = match context.caller.session {
            Some(_) => context.view.catalog().secrets().noted(&Value::Null, &said(arguments)),
            None => Value::Null,
        };
        Self { kind, names, input, started: Instant::now() }
    }

    /// Records the outcome.
    async fn record(self, function: &str, context: &FunctionContext, answer: &Answer) {
        self.count(context, answer);
        let Some(session) = context.caller.session() else { return };
        let event = Event {
            trace_id: context.trace.id().into(),
            caller: session.caller.to_string(),
            session: Some(session.id.to_string()),
            kind: self.kind,
            function: function.into(),
            outcome: answer.error().map_or("ok", ErrorCode::as_str).into(),
            latency_us: i64::try_from(self.started.elapsed().as_micros()).unwrap_or(i64::MAX),
            tokens: (answer.bytes() as u64 / BYTES_A_TOKEN) as i64,
            ..Event::default()
        };
        let state = &context.services.state;
        let body = answer.body();
        if let Some(error) = body.get("error").filter(|_| !answer.is_ok()) {
            let error = error.get("message").and_then(Value::as_str);
            let error = error.map(|error| context.view.catalog().secrets().text(error).into_owned());
            return state.record(Event { input: self.input, error, ..event });
        }
        if self.kind == EventKind::Search {
            let mut found = Vec::new();
            ops(body, &mut found);
            let detail = match (body.get("verdict"), body.get("results").and_then(Value::as_array)) {
                (Some(verdict), _) => json!({ "verdict": verdict }),
                (None, Some(results)) => {
                    let verdicts = results.iter().filter_map(|result| result.get("verdict"));
                    json!({ "verdicts": verdicts.collect::<Vec<_>>() })
                }
                (None, None) => Value::Null,
            };
            return state.record(Event { input: self.input, found, detail, ..event });
        }
        let mut docs = Vec::new();
        docs_in(body, &mut docs);
        if docs.is_empty() {
            return state.record(Event { input: self.input, ..event });
        }
        let keeps = context.view.catalog().config.exec.require_doc != RequireDoc::Never;
        for (place, (op, version, proves)) in docs.into_iter().enumerate() {
            if keeps && (proves || self.kind == EventKind::Expand) {
                // A failure of state shows in its health, and prevents no reading.
                let _ = state.record_doc_read(&session, op, version).await;
            }
            let op = Some(op.to_string());
            let detail = json!({ "doc_version": version });
            // The answer counts once.
            let tokens = if place == 0 { event.tokens } else { 0 };
            state.record(Event { op, detail, tokens, input: self.input.clone(), ..event.clone() });
        }
    }

    fn count(&self, context: &FunctionContext, answer: &Answer) {
        let counts = &context.services.counts;
        let served = answer.bytes() as u64 / BYTES_A_TOKEN;
        counts.add("toolcrib_tokens_served_total", "", served);
        if self.kind == EventKind::Search {
            let is_none = answer.error() == Some(ErrorCode::NoMatchInCategory)
                || answer.verdict().is_some_and(|verdict| verdict == "no_match");
            counts.add("toolcrib_search_abstentions_total", "", is_none.into());
        }
    }
}

/// The tools that are requested by name.
fn names(arguments: &Value) -> Vec<String> {
    let text = |name: &str| arguments.get(name).and_then(Value::as_str);
    let list = |name: &str| arguments.get(name).and_then(Value::as_array);
    let alone = ["name", "path", "tool_id"].into_iter().filter_map(text);
    let several = ["names", "paths"].into_iter().filter_map(list).flatten().filter_map(Value::as_str);
    alone.chain(several).take(FOUND).map(ToString::to_string).collect()
}

/// The only argument, or all of them.
fn said(arguments: &Value) -> Cow<'_, Value> {
    let only = arguments.as_object().filter(|fields| fields.len() == 1);
    let only = only
        .and_then(|fields| ["query", "name", "path", "tool_id"].iter().find_map(|name| fields.get(*name)));
    only.map_or(Cow::Borrowed(arguments), Cow::Borrowed)
}

/// Fields of an answer that do not count as found.
const ASIDE: [&str; 8] =
    ["meta", "hints", "nearest", "categories", "help", "args_schema", "result_schema", "example"];

fn inside(fields: &Map<String, Value>) -> impl Iterator<Item = &Map<String, Value>> {
    let inner = fields.iter().filter(|(name, _)| !ASIDE.contains(&name.as_str())).map(|(_, value)| value);
    inner.flat_map(|value| {
        let items = value.as_array().into_iter().flatten();
        items.chain(Some(value)).filter_map(Value::as_object)
    })
}

fn op(fields: &Map<String, Value>) -> Option<&str> {
    fields.get("op").or_else(|| fields.get("tool_id"))?.as_str()
}

/// The ops that a search has found, best first.
fn ops(fields: &Map<String, Value>, found: &mut Vec<String>) {
    if let Some(op) = op(fields).filter(|op| found.len() < FOUND && !found.iter().any(|known| known == op)) {
        found.push(op.to_string());
    }
    inside(fields).for_each(|inner| ops(inner, found));
}

/// The docs in an answer: op, version, and whether it carries the receipt.
fn docs_in<'b>(fields: &'b Map<String, Value>, docs: &mut Vec<(&'b str, &'b str, bool)>) {
    if let (Some(op), Some(version)) = (op(fields), fields.get("doc_version").and_then(Value::as_str)) {
        docs.push((op, version, fields.contains_key("receipt")));
        return;
    }
    inside(fields).for_each(|inner| docs_in(inner, docs));
}
