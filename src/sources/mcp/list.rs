//! The list of a server's tools, page by page, within limits.

use std::collections::HashSet;
use std::sync::PoisonError;
use std::time::Duration;

use rmcp::model::{ClientRequest, ListToolsRequest, PaginatedRequestParams, RequestOptionalParam};
use serde_json::Value;

use super::problem::Problem;
use super::session::{Session, with_last_stderr};
use crate::sources::listings::Listing;

/// Limits of a server's list; above any real one.
const MAX_PAGES: usize = 500;
pub(super) const MAX_TOOLS: usize = 50_000;
pub(super) const MAX_BYTES: usize = 64 << 20;

/// A server's list, and the time for which it holds.
pub(super) struct FreshListing {
    pub(super) listing: Listing,
    pub(super) fresh_for: Option<Duration>,
}

impl Session {
    /// All tools, page by page.
    pub(super) async fn list(&self) -> Result<FreshListing, Problem> {
        let mut tools = Vec::new();
        let mut bytes = 0;
        let mut cursor = None;
        let mut cursors = HashSet::new();
        let mut holds = None;
        loop {
            let page = self.page(cursor.take()).await?;
            if let Some(problem) = self.twice.lock().unwrap_or_else(PoisonError::into_inner).take() {
                return Err(format!("in its answer {problem}").into());
            }
            let listed =
                page.get("tools").and_then(Value::as_array).ok_or("its answer is no list of tools")?;
            for tool in listed {
                let text = tool.to_string();
                bytes += text.len();
                tools.push(text);
            }
            if tools.len() > MAX_TOOLS || bytes > MAX_BYTES {
                return Err(format!("it lists more than {MAX_TOOLS} tools or {} MiB", MAX_BYTES >> 20).into());
            }
            let ttl = page.get("ttlMs").and_then(Value::as_u64).map(Duration::from_millis);
            holds = holds.into_iter().chain(ttl).min();
            match page.get("nextCursor").and_then(Value::as_str).filter(|cursor| !cursor.is_empty()) {
                None => break,
                Some(next) if cursors.len() == MAX_PAGES || !cursors.insert(next.to_string()) => {
                    return Err("its list has no end".into());
                }
                Some(next) => cursor = Some(next.to_string()),
            }
        }
        let info = self.peer().peer_info();
        let named = info.as_ref().and_then(|info| info.server_info.as_ref());
        let server = named.map(|named| named.name.clone());
        let title = named.and_then(|named| named.title.clone());
        let is_older = self.is_older;
        let text = format!("{{\"tools\": [\n{}\n]}}\n", tools.join(",\n"));
        Ok(FreshListing {
            listing: Listing {
                tools: Some(text.into()),
                count: tools.len(),
                server,
                title,
                is_older,
                problem: None,
            },
            fresh_for: holds,
        })
    }

    /// One page as the server wrote it; `sources` reports invalid tools later.
    async fn page(&self, cursor: Option<String>) -> Result<Value, Problem> {
        let params = PaginatedRequestParams::default().with_cursor(cursor);
        let request: ListToolsRequest = RequestOptionalParam::with_param(params);
        match self.peer().send_request(ClientRequest::ListToolsRequest(request)).await {
            Ok(result) => serde_json::to_value(result).map_err(|error| error.to_string().into()),
            Err(error) => Err(with_last_stderr(
                Problem::of(&error, self.signing.as_deref()),
                self.stderr.as_ref(),
                &self.secrets,
            )
            .await),
        }
    }
}
