//! The page of live servers.

use std::time::Duration;

use serde_json::{Value, json};

use super::super::health::findings_of;
use super::super::request_context::RequestContext;
use crate::response::{Problem, Response};
use crate::site::{inline_html, short_line};
use toolcrib_definition::finding::Finding;
use toolcrib_front::mcp::{LiveServer, Status};

/// Most findings on the definitions of one server.
const MAX_SERVER_FINDINGS: usize = 50;

/// `GET /servers.html`: the live servers, for operators; their definitions and errors may concern hidden tools.
pub(crate) async fn servers(visit: RequestContext) -> Result<Response, Problem> {
    visit.check_operator("only an operator sees the servers")?;
    let catalog = visit.catalog.clone();
    visit
        .page(move |site| {
            let connections = catalog.services().backends.connections();
            let servers = connections.map(|connections| connections.servers()).unwrap_or_default();
            let rows = servers.iter().map(|server| {
                let sign_in = connections.and_then(|all| server.endpoint.sign_in(all.credentials()));
                row(server, sign_in.as_deref(), &findings_of(server, &catalog.snapshot.findings))
            });
            site.operate(
                "servers",
                ("servers", "Servers"),
                None,
                json!({ "servers": rows.collect::<Vec<_>>() }),
            )
        })
        .await
}

/// A live server, its sign-in in words, and what was repaired, renamed or left out in its definitions.
fn row(server: &LiveServer, sign_in: Option<&str>, findings: &[&Finding]) -> Value {
    let LiveServer { endpoint, state } = server;
    let (word, kind, away) = match &state.status {
        Status::NotStarted => ("not started", "old", None),
        Status::Starting(_) => ("starting", "write", None),
        Status::Ready(_) => ("ready", "read", None),
        Status::Failed(away) => ("away", "destructive", Some(away)),
        Status::Ended(..) => ("away", "destructive", None),
    };
    let last = if away.is_none() { state.last_problem.as_ref() } else { None };
    let problem = away.map(|away| &away.problem);
    let shown_line = |text: &str| inline_html(&short_line(text));
    let shown = findings.iter().take(MAX_SERVER_FINDINGS);
    let finding =
        |finding: &&Finding| json!({ "code": finding.code, "message": shown_line(&finding.message) });
    json!({
        "name": short_line(&endpoint.name),
        "status": word,
        "kind": kind,
        "since": ago(state.since.elapsed()),
        "transport": endpoint.transport(),
        "tools": state.tools(),
        "asked": state.asked.map(|asked| ago(asked.elapsed())),
        "ends": state.ends,
        "problem": problem.map(|problem| shown_line(&problem.to_string())),
        "advice": problem.and_then(|problem| problem.advice()).map(|advice| shown_line(&advice)),
        "retry": away.and_then(|away| away.retry_after()).map(|retry| retry.as_secs() + 1),
        "last_problem": last.map(|problem| shown_line(&problem.with_advice())),
        "sign_in": sign_in.map(short_line),
        "findings": shown.map(finding).collect::<Vec<_>>(),
        "more": findings.len().saturating_sub(MAX_SERVER_FINDINGS),
    })
}

/// A time before now, in words.
fn ago(span: Duration) -> String {
    let seconds = span.as_secs();
    match seconds {
        0..120 => format!("{seconds} s ago"),
        120..7_200 => format!("{} min ago", seconds / 60),
        7_200..172_800 => format!("{} h ago", seconds / 3_600),
        _ => format!("{} days ago", seconds / 86_400),
    }
}
