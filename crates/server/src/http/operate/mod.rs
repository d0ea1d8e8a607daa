//! For the people who run the server: pages of servers, sessions, usage and approvals, and the request to reload.
//!
//! An operator is a caller who sees everything (`roles = ["*"]`), as for `/v1/reload`; one with a tenant in the name sees
//! the callers of that tenant. Everybody else sees their own sessions, usage and approvals. A person who has signed in, and is
//! not the caller, decides about a call.

mod approvals;
mod servers;
mod sessions;
mod timeline;
mod usage;
mod visit;

pub(crate) use approvals::{approval, approvals, decision};
pub(crate) use servers::servers;
pub(crate) use sessions::{export, session, sessions};
pub(crate) use usage::usage;

use http::StatusCode;
use serde_json::json;

use super::request_context::RequestContext;
use crate::response::{Media, Problem, ProblemCode, Response, no_store};

/// `POST /v1/reload`: the server looks at once whether there is another catalog. Answers before that catalog is there;
/// `/readyz` says when it is served.
pub(super) async fn reload(visit: RequestContext) -> Result<Response, Problem> {
    visit.check_operator("only an operator may ask for a reload")?;
    let catalog = visit.catalog;
    if !catalog.live.nudge() {
        return Err(Problem::new(ProblemCode::NotFound, "this server follows no catalog"));
    }
    let body = json!({ "ok": true, "meta": { "registry_version": catalog.snapshot.version } });
    Ok(no_store(StatusCode::ACCEPTED, Media::Json.content_type(), format!("{body}\n")))
}
