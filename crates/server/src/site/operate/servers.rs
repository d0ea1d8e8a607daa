//! The page of live servers.

use std::time::Duration;

use serde_json::json;

use super::super::context::{Page, Site};
use super::super::text::inline_html;
use super::layout::line;
use toolcrib_definition::finding::Finding;
use toolcrib_front::mcp::{ServerState, Status};
use toolcrib_render::TemplateError;

/// Most findings on the definitions of one server.
const MAX_SERVER_FINDINGS: usize = 50;

/// A live server.
#[derive(Debug)]
pub struct ServerView<'f> {
    pub state: ServerState,
    /// Its sign-in, in words.
    pub sign_in: Option<String>,
    /// What was repaired, renamed or left out in its definitions.
    pub findings: Vec<&'f Finding>,
}

impl Site<'_> {
    /// The live servers.
    pub fn servers(&self, servers: &[ServerView<'_>]) -> Result<Page, TemplateError> {
        let row = |ServerView { state, sign_in, findings }: &ServerView<'_>| {
            let (word, kind, problem) = match &state.status {
                Status::NotStarted => ("not started", "old", None),
                Status::Starting => ("starting", "write", None),
                Status::Ready => ("ready", "read", None),
                Status::Failed(problem) => ("away", "destructive", Some(problem)),
            };
            let last = if problem.is_none() { state.last_problem.as_deref() } else { None };
            let retry = problem.and_then(|problem| problem.retry_after());
            let shown = findings.iter().take(MAX_SERVER_FINDINGS);
            let finding = |finding: &&Finding| json!({ "code": finding.code, "message": inline_html(&line(&finding.message)) });
            json!({
                "name": line(&state.name),
                "status": word,
                "kind": kind,
                "since": ago(state.since),
                "transport": state.transport(),
                "tools": state.tools,
                "asked": state.asked.map(ago),
                "ends": state.ends,
                "problem": problem.map(|problem| inline_html(&line(&problem.reason))),
                "advice": problem.and_then(|problem| problem.advice()).map(|advice| inline_html(&line(&advice))),
                "retry": retry.map(|retry| retry.as_secs() + 1),
                "last_problem": last.map(|problem| inline_html(&line(problem))),
                "sign_in": sign_in.as_deref().map(line),
                "findings": shown.map(finding).collect::<Vec<_>>(),
                "more": findings.len().saturating_sub(MAX_SERVER_FINDINGS),
            })
        };
        let values = json!({ "servers": servers.iter().map(row).collect::<Vec<_>>() });
        self.operate("servers", ("servers", "Servers"), None, values)
    }
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
