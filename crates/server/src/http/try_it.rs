//! A form of a tool's page that was sent. The call is first a dry run; a call that fits can then be run with the rights of the
//! person who sent it.

use std::sync::Arc;

use axum::body::Body;
use serde_json::{Map, Value, json};

use super::address::decoded_address;
use super::csrf::take_field;
use super::docs::{Pages, find};
use super::request_context::RequestContext;
use crate::response::{Problem, ProblemCode, Response};
use crate::site::Attempt;
use toolcrib_definition::document::from_json;
use toolcrib_gateway::functions::Function;
use toolcrib_gateway::state::random_id;

/// `POST /tools/NAME.html`: answers the form with the same page, which shows the outcome.
pub(super) async fn try_tool(context: RequestContext, body: Body) -> Result<Response, Problem> {
    let RequestContext { shared, catalog, request } = &context;
    let path = request.uri.path().strip_prefix("/tools/").and_then(|path| path.strip_suffix(".html"));
    let path = path.ok_or_else(|| Problem::new(ProblemCode::MethodNotAllowed, "only a page has a form"))?;
    let view = catalog.view();
    let index = find(view, &decoded_address(path)?)?;
    let tool = view.catalog().tools.get(index).cloned();
    let tool = tool.ok_or_else(|| Problem::new(ProblemCode::NotFound, "there is no such tool"))?;
    if view.is_forbidden(index) {
        return Err(Problem::forbidden(&tool.names.safe));
    }
    let mut fields = context.browser().form(&catalog.caller, body).await?;
    let [raw, run, key] = ["json", "run", "key"].map(|name| take_field(&mut fields, name));
    let mut attempt = Attempt { is_dry: run.is_empty(), ..Attempt::default() };
    let arguments = match raw.trim() {
        "" => Ok(Attempt::read(&tool, &fields)),
        raw => from_json(raw).map_err(|error| format!("These arguments are not JSON: {error}.")),
    };
    match arguments {
        Err(problem) => (attempt.raw, attempt.problem) = (raw, Some(problem)),
        Ok(arguments) => {
            let mut call = Map::from_iter([("op".to_string(), tool.names.op.as_str().into())]);
            call.insert("args".into(), arguments.clone());
            call.insert("dry_run".into(), attempt.is_dry.into());
            if !attempt.is_dry && !key.is_empty() {
                call.insert("idempotency_key".into(), key.into());
            }
            let passing = shared.call_limiter.acquire(Function::tool_exec(), &catalog.caller.name)?;
            let answer = passing.call(&catalog.context(), Value::Object(call)).await?;
            attempt.arguments = arguments;
            attempt.answer = Some(json!(answer.body()));
            // A run that is sent twice runs once.
            attempt.key = random_id("try");
        }
    }
    let shared = Arc::clone(shared);
    let caller = Arc::clone(&catalog.caller.name);
    let mut pages = Pages::of(context).await?;
    pages.attempt = attempt;
    shared.slowly(&caller, move || pages.page_of(&tool)).await?
}
