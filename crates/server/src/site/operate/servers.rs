//! The page of live servers.

use std::time::Duration;

use serde_json::json;

use super::super::context::{Page, Site};
use super::super::text::inline_html;
use super::layout::line;
use toolcrib_definition::finding::Finding;
use toolcrib_front::mcp::{LiveServer, Status};
use toolcrib_render::TemplateError;

/// Most findings on the definitions of one server.
const MAX_SERVER_FINDINGS: usize = 50;

/// A live server.
pub struct ServerView<'f> {
    pub server: LiveServer,
    /// Its sign-in, in words.
    pub sign_in: Option<String>,
    /// What was repaired, renamed or left out in its definitions.
    pub findings: Vec<&'f Finding>,
}

impl Site<'_> {
    /// The live servers.
    pub fn servers(&self, servers: &[ServerView<'_>]) -> Result<Page, TemplateError> {
        let row = |ServerView { server, sign_in, findings }: &ServerView<'_>| {
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
            let shown_line = |text: &str| inline_html(&line(text));
            let shown = findings.iter().take(MAX_SERVER_FINDINGS);
            let finding =
                |finding: &&Finding| json!({ "code": finding.code, "message": shown_line(&finding.message) });
            json!({
                "name": line(&endpoint.name),
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
