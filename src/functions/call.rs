//! A call of a function: its session, its trace, its valid arguments, and its answer, also after a panic.

use serde_json::Value;

use super::function::{Function, Handler, MaybeAsync};
use super::{Answer, CatalogView, ErrorCode, FunctionContext, Refusal, arguments, trace};
use crate::guard::{MISTAKE, guarded};
use crate::state::WaitBudget;

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
