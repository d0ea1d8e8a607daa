//! `/healthz` and `/readyz`: whether the process is alive, and whether it has a catalog to serve.

use std::sync::atomic::Ordering;

use http::StatusCode;
use serde_json::{Value, json};

use super::request_context::OpenRequest;
use crate::RequestCatalog;
use crate::response::{Media, Problem, ProblemCode, Response, no_store, preferred};
use toolcrib_catalog::Findings;
use toolcrib_catalog::config::live_name;
use toolcrib_definition::finding::{Finding, Severity};
use toolcrib_front::address::AddressState;
use toolcrib_front::mcp::{LiveServer, Status};
use toolcrib_gateway::functions::CatalogView;
use toolcrib_gateway::state::Health;

/// `GET /healthz`: the process is alive.
pub(super) async fn alive() -> Response {
    no_store(StatusCode::OK, Media::Text.content_type(), "ok\n")
}

/// `GET /readyz`: there is a catalog to serve, and the server is not about to stop. In words or, as JSON or with `?verbose`, in detail.
pub(super) async fn ready(OpenRequest { shared, mut request }: OpenRequest) -> Result<Response, Problem> {
    if shared.is_stopping.load(Ordering::Relaxed) {
        return Err(Problem::new(ProblemCode::NotReady, "the server is about to stop"));
    }
    let is_ready = |view: &CatalogView| !view.catalog().tools.is_empty();
    let verbose =
        request.uri.query().is_some_and(|query| query.split('&').any(|word| word.starts_with("verbose")));
    let media = preferred(&request.headers, &[Media::Text, Media::Json]).unwrap_or(Media::Text);
    if !verbose && media == Media::Text {
        return if is_ready(shared.live.current().unrestricted_view()) {
            Ok(no_store(StatusCode::OK, Media::Text.content_type(), "ready\n"))
        } else {
            Err(Problem::new(ProblemCode::NotReady, "the catalog has no tools"))
        };
    }
    // Findings of the catalog are for callers who may read them.
    let catalog = shared.admit(&mut request).await?;
    let is_ready = is_ready(catalog.unrestricted_view());
    let status = if is_ready { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
    let detail = detail(&catalog, is_ready);
    Ok(no_store(status, Media::Json.content_type(), format!("{detail:#}\n")))
}

fn detail(catalog: &RequestCatalog, is_ready: bool) -> Value {
    let snapshot = &catalog.snapshot;
    let view = catalog.view();
    let mut detail = json!({
        "ready": is_ready,
        "registry_version": view.version(),
        "tools": view.catalog().tools.len(),
        "search": if view.is_indexed() { "ready" } else { "being made" },
        "state": state(&catalog.services().state.health()),
    });
    // Findings of the catalog, and the address of the model, may concern tools that this caller may not see.
    if catalog.caller.sees_everything() {
        detail["complete"] = snapshot.complete.into();
        let addresses: Vec<_> = catalog.addresses().collect();
        detail["current"] = catalog.is_current().into();
        if !addresses.is_empty() {
            let entry = |(state, version): &(AddressState, Option<&str>)| json!({ "address": state.address, "registry_version": version, "problem": state.problem });
            detail["addresses"] = addresses.iter().map(entry).collect();
        }
        let count = |severity| snapshot.findings.count(severity);
        detail["findings"] =
            json!({ "errors": count(Severity::Error), "warnings": count(Severity::Warning) });
        detail["semantic"] = catalog.services().semantic.status().to_string().into();
        let connections = catalog.services().backends.connections();
        let servers = connections.map(|connections| connections.servers()).unwrap_or_default();
        if !servers.is_empty() {
            detail["servers"] = servers.iter().map(|live| server(live, &snapshot.findings)).collect();
        }
        if let Some(problem) = catalog.services().state.health().problem {
            detail["state_problem"] = problem.into();
        }
        if let Some(stale) = catalog.live.stale() {
            detail["trouble"] = json!({ "findings": &*stale, "count": stale.len() });
        }
    }
    detail
}

/// Most findings on the definitions of one server.
const MAX_FINDINGS: usize = 20;

/// The state of a live server.
fn server(server: &LiveServer, findings: &Findings) -> Value {
    let LiveServer { endpoint, state: known } = server;
    let status = match &known.status {
        Status::NotStarted => "not started",
        Status::Starting(_) => "starting",
        Status::Ready(_) => "ready",
        Status::Failed(_) | Status::Ended(..) => "failed",
    };
    let mut state = json!({
        "name": endpoint.name,
        "status": status,
        "since_seconds": known.since.elapsed().as_secs(),
        "transport": endpoint.transport(),
        "tools": known.tools(),
    });
    let of_server = findings_of(server, findings);
    if !of_server.is_empty() {
        let shown = of_server.iter().take(MAX_FINDINGS);
        state["definitions"] =
            shown.map(|finding| json!({ "code": finding.code, "message": finding.message })).collect();
        state["definitions_count"] = of_server.len().into();
    }
    if let Status::Failed(away) = &known.status {
        state["reason"] = away.problem.to_string().into();
        state["next_action"] = away.problem.advice().into();
        state["retry_after_seconds"] = away.retry_after().map(|left| left.as_secs() + 1).into();
    }
    state
}

/// What was repaired, renamed or left out in the definitions of a server.
pub(super) fn findings_of<'f>(server: &LiveServer, findings: &'f Findings) -> Vec<&'f Finding> {
    let file = live_name(&server.endpoint.name);
    let is_of = |finding: &&Finding| finding.place.as_ref().is_some_and(|place| place.file == file);
    findings.definitions().filter(is_of).collect()
}

/// Whether traces can be written.
fn state(health: &Health) -> &'static str {
    match (&health.problem, health.is_volatile) {
        (Some(_), _) => "cannot be written",
        (None, true) => "in memory",
        (None, false) => "on",
    }
}
