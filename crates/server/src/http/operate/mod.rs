//! For the people who run the server: pages of servers, sessions, usage and approvals, and the request to reload.
//!
//! An operator is a caller who sees everything (`roles = ["*"]`), as for `/v1/reload`; one with a tenant in the name sees
//! the callers of that tenant. Everybody else sees their own sessions, usage and approvals. A person who has signed in, and is
//! not the caller, decides about a call.

mod approvals;
mod sessions;
mod visit;

pub(crate) use approvals::{approval, approvals, decision};
pub(crate) use sessions::{export, session, sessions};

use http::StatusCode;
use serde_json::json;

use visit::unreadable;

use super::health::findings_of;
use super::request_context::RequestContext;
use crate::response::{Media, Problem, ProblemCode, Response, no_store};
use crate::site::ServerView;
use toolcrib_gateway::state::now;

/// Days of usage: by default, and at most.
const DAYS: (i64, i64) = (7, 90);

/// `GET /usage.html`: calls and searches, by day and by tool.
pub(super) async fn usage(visit: RequestContext) -> Result<Response, Problem> {
    let days = visit.number("days").unwrap_or(DAYS.0).clamp(1, DAYS.1);
    let since = now() / 86_400_000 - days + 1;
    let sums = visit.state().usage(&visit.chosen(), since).await.map_err(unreadable)?;
    let caller = visit.query("caller");
    visit.page(move |site| site.usage(&sums, days, caller.as_deref())).await
}

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

/// `GET /servers.html`: the live servers, for operators; their definitions and errors may concern hidden tools.
pub(super) async fn servers(visit: RequestContext) -> Result<Response, Problem> {
    visit.check_operator("only an operator sees the servers")?;
    let catalog = visit.catalog.clone();
    visit
        .page(move |site| {
            let connections = catalog.services().backends.connections();
            let servers = connections.map(|connections| connections.servers()).unwrap_or_default();
            let views = servers.into_iter().map(|server| ServerView {
                sign_in: connections.and_then(|all| server.endpoint.sign_in(all.credentials())),
                findings: findings_of(&server, &catalog.snapshot.findings),
                server,
            });
            site.servers(&views.collect::<Vec<_>>())
        })
        .await
}
