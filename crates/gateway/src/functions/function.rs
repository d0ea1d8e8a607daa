//! A function of toolcrib: its name, its handler, and the facts that lists, limits and metrics need.

use std::future::Future;
use std::pin::Pin;

use serde::de::DeserializeOwned;
use serde_json::Value;

use super::answer::Reply;
use super::arguments::{Arguments, read_arguments};
use crate::context::{CatalogView, FunctionContext};
use crate::exec::EffectLimit;
use crate::state::EventKind;
use crate::tool_error::Result;
use toolcrib_catalog::Tool;

/// A function of toolcrib.
#[derive(Debug)]
pub struct Function {
    pub(super) name: &'static str,
    pub(super) handler: Handler,
    lists: &'static [FunctionList],
    runs: Option<EffectLimit>,
    runs_several_tools: bool,
    pub(super) trace: Option<EventKind>,
    pub(super) example: Option<Example>,
    takes_idempotency_key: bool,
}

/// Answers a call of a function from its input.
type Handler = for<'c> fn(&'static Function, &'c FunctionContext, Value) -> ReplyFuture<'c>;

/// A reply that is waited for.
pub(super) type ReplyFuture<'c> = Pin<Box<dyn Future<Output = Result<Reply>> + Send + 'c>>;

/// Answers a call with arguments that fit the definition of the function.
fn reply_to<'c, A: Arguments<Reply: Into<Reply>> + 'static>(
    function: &'static Function,
    context: &'c FunctionContext,
    arguments: Value,
) -> ReplyFuture<'c> {
    Box::pin(async move {
        let arguments: A = function.arguments(context, arguments)?;
        arguments.answer(context).await.map(Into::into)
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
    pub(super) const fn new<A: Arguments<Reply: Into<Reply>> + 'static>(name: &'static str) -> Self {
        Self::raw(name, reply_to::<A>)
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
    ) -> Result<T> {
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
