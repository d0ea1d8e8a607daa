//! `POST /v1/reload`: the request for another catalog.

use http::StatusCode;
use serde_json::json;

use super::request_context::RequestContext;
use crate::response::{Media, Problem, ProblemCode, Response, no_store};

/// `POST /v1/reload`: the server looks at once whether there is another catalog. For callers who see everything. Answers before the new catalog is there; `/readyz` says when it is served.
pub(super) async fn reload(context: RequestContext) -> Result<Response, Problem> {
    let RequestContext { catalog, caller, .. } = context;
    if !caller.sees_everything() {
        let problem = Problem::new(ProblemCode::NotAuthorized, "only an operator may ask for a reload");
        return Err(problem.next("use a token with `roles = [\"*\"]`"));
    }
    if !catalog.live.nudge() {
        return Err(Problem::new(ProblemCode::NotFound, "this server follows no catalog"));
    }
    let body = json!({ "ok": true, "meta": { "registry_version": catalog.snapshot().version } });
    Ok(no_store(StatusCode::ACCEPTED, Media::Json.content_type(), format!("{body}\n")))
}
