//! Our functions: what agents call to learn of tools. Each takes one JSON object and gives one answer, the same through
//! every door (the command line, HTTP, MCP).
//!
//! 1. [`catalog view`] is what one kind of caller may see: a restricted catalog, and its docs.
//! 2. A [`Function`] has a name, a definition (in `catalog/functions/`), and a handler, one file each.
//! 3. [`arguments`] are checked against the definition and read into the handler's own type.
//! 4. [`trace`] writes down what a session has seen, and [`function_counters`] counts.
//! 5. [`answer`] is what comes out: JSON, text where a model reads it, or a [`Refusal`] that says what to do next.

mod answer;
mod arguments;
mod call_context;
mod catalog_view;
mod context;
mod discovery;
mod example;
pub mod function_counters;
pub mod pick;
mod read_result;
mod read_tool_doc;
mod search;
mod tool_batch;
mod tool_exec;
mod tool_help;
mod tool_search;
mod trace;

use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use serde_json::Value;

use crate::catalog::{self, Tool};
use crate::guard::{MISTAKE, guarded};
use crate::state::Patience;

pub use crate::refusal::{ErrorCode, Refusal};
pub use answer::Answer;
pub use catalog_view::{CatalogView, DocPage, IndexPage};
pub use context::{FunctionContext, SemanticSearch, Services};
pub use function_counters::FunctionCounters;
pub use search::{SearchOutcome, SearchQuery};
pub use tool_exec::ToolCall;
pub use trace::Trace;

/// One function of ours.
#[derive(Debug)]
pub struct Function {
    name: &'static str,
    run: Handler,
}

/// How a function answers.
#[derive(Clone, Copy, Debug)]
enum Handler {
    /// From what is in memory.
    Sync(fn(&FunctionContext, Value) -> Result<Answer, Refusal>),
    /// After waiting for somebody else.
    Async(fn(FunctionContext, Value) -> AnswerFuture),
    /// After waiting, from what was given as it is: it reads that itself.
    RawAsync(fn(FunctionContext, Value) -> AnswerFuture),
    /// From what is in memory, but for some calls.
    MaybeAsync(fn(&FunctionContext, Value) -> MaybeAsync),
}

/// An answer, or one that is waited for.
#[expect(clippy::large_enum_variant, reason = "it lives for a moment, and a box would cost every call")]
enum MaybeAsync {
    Ready(Result<Answer, Refusal>),
    Future(AnswerFuture),
}

/// An answer that is waited for.
type AnswerFuture = Pin<Box<dyn Future<Output = Result<Answer, Refusal>> + Send>>;

/// How much later than a tool whoever waits for it gives up.
const CALLER_GRACE: Duration = Duration::from_secs(5);

/// Every function, in the order in which lists show them.
const ALL: [Function; 14] = [
    Function { name: "read_tool_doc", run: Handler::Sync(read_tool_doc::run) },
    Function { name: "tool_search", run: Handler::Async(tool_search::run) },
    Function { name: "tool_help", run: Handler::MaybeAsync(tool_help::run) },
    Function { name: "tool_exec", run: Handler::RawAsync(tool_exec::run) },
    Function { name: "tool_exec_read", run: Handler::RawAsync(tool_exec::run_reads) },
    Function { name: "tool_exec_write", run: Handler::RawAsync(tool_exec::run_changes) },
    Function { name: "tool_batch", run: Handler::RawAsync(tool_batch::run) },
    Function { name: "read_result", run: Handler::Async(read_result::run) },
    Function { name: "list", run: Handler::Async(discovery::list) },
    Function { name: "search_nodes", run: Handler::Async(discovery::search_nodes) },
    Function { name: "search_tool_by_category", run: Handler::Async(discovery::search_tool_by_category) },
    Function { name: "expand_tool", run: Handler::Sync(discovery::expand_tool) },
    Function { name: "call_tool", run: Handler::Async(discovery::call_tool) },
    Function { name: "pick", run: Handler::Async(pick::run) },
];

/// The refusal of a call that has panicked.
fn panicked() -> Refusal {
    Refusal::new(ErrorCode::Internal, MISTAKE, "tell the operator")
}

impl Function {
    /// Every function, in the order in which lists show them.
    pub fn all() -> &'static [Function] {
        &ALL
    }

    /// The function of this name.
    pub fn named(name: &str) -> Option<&'static Function> {
        ALL.iter().find(|function| function.name == name)
    }

    /// What it is called.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// Its definition: description, schema of its arguments, example.
    pub fn definition(&self) -> Option<&'static Tool> {
        catalog::functions().named(self.name)
    }

    /// Whether it runs tools.
    pub fn runs_tools(&self) -> bool {
        call_context::RUNS_TOOLS.contains(&self.name)
    }

    /// Whether what it runs may have an idempotency key.
    pub fn takes_idempotency_key(&self) -> bool {
        matches!(self.name, "tool_exec" | "tool_exec_write")
    }

    /// How long it may take by itself: nothing but for those that run tools.
    pub fn timeout(&self, context: &FunctionContext) -> Duration {
        let exec = &context.view.catalog().config.exec;
        let seconds = match self.name {
            "tool_batch" => exec.batch_seconds,
            // One with a key may wait as long for another before it is run.
            name if name.starts_with("tool_exec") => exec.call_seconds.saturating_mul(2),
            "call_tool" => exec.call_seconds,
            _ => return Duration::ZERO,
        };
        Duration::from_secs(seconds) + CALLER_GRACE
    }

    /// Answers a call. `arguments` is what the caller gave, checked here; they may name the session that it belongs to.
    /// Whatever panics on the way is an answer as well.
    pub async fn call(&self, context: &FunctionContext, arguments: Value) -> Answer {
        let answer = guarded(self.in_its_session(context, arguments)).await;
        answer.unwrap_or_else(|_| {
            Answer::from(self.with_help_path(panicked()))
                .with_registry_version(&context.view.catalog().version)
        })
    }

    async fn in_its_session(&self, context: &FunctionContext, mut arguments: Value) -> Answer {
        let patience = Patience::current();
        match trace::named(&mut arguments) {
            None => patience.with(self.traced(context, arguments)).await,
            Some(Ok(session)) => patience.with(self.traced(&context.in_session(session), arguments)).await,
            Some(Err(refusal)) => {
                Answer::from(refusal).with_registry_version(&context.view.catalog().version)
            }
        }
    }

    async fn traced(&self, context: &FunctionContext, arguments: Value) -> Answer {
        let asked = trace::TracedCall::of(self, context, &arguments);
        let answer = self.answer(context, arguments).await;
        if let Some(asked) = asked {
            asked.record(self, context, &answer).await;
        }
        answer
    }

    /// Where to read on after an error: at the op where one is known, else at the beginning.
    fn with_help_path(&self, mut refusal: Refusal) -> Refusal {
        if matches!(self.name, "read_result" | "call_tool" | "tool_batch") {
            refusal.help_path.get_or_insert_with(|| "root".into());
        }
        refusal
    }

    async fn answer(&self, context: &FunctionContext, arguments: Value) -> Answer {
        let checked = match (self.run, self.definition()) {
            (Handler::RawAsync(_), _) | (_, None) => Ok(arguments),
            (_, Some(definition)) => {
                arguments::check(definition, context.view.catalog().secrets(), arguments)
            }
        };
        let answer = match (checked, self.run) {
            (Err(refusal), _) => Err(refusal),
            (Ok(arguments), Handler::Sync(run)) => run(context, arguments),
            (Ok(arguments), Handler::Async(run) | Handler::RawAsync(run)) => {
                run(context.clone(), arguments).await
            }
            (Ok(arguments), Handler::MaybeAsync(run)) => match run(context, arguments) {
                MaybeAsync::Ready(answer) => answer,
                MaybeAsync::Future(answer) => answer.await,
            },
        };
        let answer = answer.map_err(|refusal| arguments::with_example(refusal, self, &context.view));
        let answer = answer.map_err(|refusal| self.with_help_path(refusal));
        answer.unwrap_or_else(Answer::from).with_registry_version(&context.view.catalog().version)
    }
}
