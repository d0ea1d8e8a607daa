//! A call of a function: its session, its trace, its valid arguments, and its answer, also after a panic.

use std::sync::Arc;

use serde_json::Value;

use super::answer::Answer;
use super::function::Function;
use super::trace::TracedCall;
use crate::caller::Caller;
use crate::context::{CatalogView, FunctionContext};
use crate::state::{InvalidSessionName, Session, WaitBudget};
use crate::tool_error::{ErrorCode, ROOT, ToolError};
use toolcrib_definition::guard::{MISTAKE, guarded};

/// The error of a call that has panicked.
pub(super) fn panicked() -> ToolError {
    ToolError::new(ErrorCode::Internal, MISTAKE, "tell the operator")
}

impl Function {
    /// Answers a call. The arguments come from the caller, are checked here, and may name the session of the call. A
    /// panic is answered as well.
    pub async fn call(&'static self, context: &FunctionContext, mut arguments: Value) -> Answer {
        let version = &context.view.catalog().version;
        let failed = |error: ToolError| Answer::from(Err(error)).with_registry_version(version);
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
        let reply = (self.handler)(self, context, arguments).await.map_err(|error| {
            let named = traced.as_ref().and_then(|traced| traced.named.as_deref());
            let error = self.with_example(error, &context.view);
            let help_path = self.help_path(&context.view, named, &error);
            error.or_help_path(help_path)
        });
        let answer = Answer::from(reply).with_registry_version(&context.view.catalog().version);
        if let Some(traced) = traced {
            traced.record(self.name, context, &answer).await;
        }
        answer
    }

    /// Adds valid arguments for this caller to an error, unless it has an example better than the definition's invented one.
    fn with_example(&self, mut error: ToolError, view: &CatalogView) -> ToolError {
        let invented = self.definition().and_then(|tool| tool.input.call.clone()).map(Value::Object);
        let has_none = error.example.is_none() || error.example == invented;
        // An error in the arguments of another tool is not explained by an example of this function.
        if error.code == ErrorCode::ValidationError && has_none && !error.is_of_tool {
            error.example = self.example.and_then(|example| example(view)).or(invented);
        }
        error
    }

    /// The help path of an error: the op that the call names, else the function for arguments that do not fit it, else
    /// the root.
    fn help_path<'p>(&self, view: &'p CatalogView, named: Option<&str>, error: &ToolError) -> &'p str {
        let index = named.and_then(|name| view.resolve(name.trim()).ok());
        match index.and_then(|index| view.catalog().tools.get(index)) {
            Some(tool) => &tool.names.op,
            None if error.code == ErrorCode::ValidationError && !self.runs_tools() => self.name(),
            None => ROOT,
        }
    }
}

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
