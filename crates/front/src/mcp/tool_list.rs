//! The list of tools of a server, page by page within limits.

use std::collections::HashSet;
use std::time::Duration;

use rmcp::model::{ClientRequest, ListToolsRequest, PaginatedRequestParams, RequestOptionalParam};
use rmcp::service::ServiceError;
use serde_json::Value;

use super::http::{explain, server_problem};
use super::message::AS_WRITTEN;
use super::server_problem::ServerProblem;
use super::session::{Session, with_last_words};
use toolcrib_catalog::sources::listings::Listing;
use toolcrib_definition::guard::locked;

/// Limits of a server's list; above any real one.
const MAX_PAGES: usize = 200;
pub(super) const MAX_TOOLS: usize = 50_000;
pub(super) const MAX_BYTES: usize = 64 << 20;

impl Session {
    /// All tools, page by page, and the time for which the list holds. A page that cannot be read costs itself and the pages after it.
    pub(super) async fn list(&self) -> Result<(Listing, Option<Duration>), ServerProblem> {
        let mut tools = Vec::new();
        let mut bytes = 0;
        let mut cursor = None;
        let mut cursors = HashSet::new();
        let mut holds = None;
        locked(&self.notes).clear();
        loop {
            let number = cursors.len() + 1;
            let page = match self.page(cursor.take()).await {
                Ok(page) => page,
                Err(error) if cursors.is_empty() || self.is_closed() => {
                    let problem = server_problem(&error, self.signing.as_deref());
                    return Err(with_last_words(problem, self.stderr.as_ref(), &self.secrets).await);
                }
                Err(error) => {
                    self.note(format!("page {number} cannot be read: {}", explain(&error)));
                    break;
                }
            };
            match page.get("tools").and_then(Value::as_array) {
                Some(listed) => {
                    let texts = listed.iter().filter(|tool| **tool != AS_WRITTEN).map(Value::to_string);
                    tools.extend(texts.inspect(|text| bytes += text.len()));
                }
                None if cursors.is_empty() => return Err("its answer is no list of tools".into()),
                None => self.note(format!("page {number} is no list of tools")),
            }
            if tools.len() > MAX_TOOLS || bytes > MAX_BYTES {
                return Err(format!("it lists more than {MAX_TOOLS} tools or {} MiB", MAX_BYTES >> 20).into());
            }
            let ttl = page.get("ttlMs").and_then(Value::as_u64).map(Duration::from_millis);
            holds = holds.into_iter().chain(ttl).min();
            self.note(match page.get("nextCursor") {
                None | Some(Value::Null) => break,
                Some(Value::String(next)) if next.is_empty() => break,
                Some(Value::String(_)) if cursors.len() == MAX_PAGES => {
                    return Err("its list has no end".into());
                }
                Some(Value::String(next)) if cursors.insert(next.clone()) => {
                    cursor = Some(next.clone());
                    continue;
                }
                Some(Value::String(_)) => format!("page {number} has the cursor of an earlier page"),
                Some(next) => format!("the cursor after page {number} is {next}, and no text"),
            });
            break;
        }
        let info = self.peer.peer_info();
        let named = info.as_ref().and_then(|info| info.server_info.as_ref());
        let notes = std::mem::take(&mut *locked(&self.notes));
        let listing = Listing {
            tools: Some(format!("{{\"tools\": [\n{}\n]}}\n", tools.join(",\n")).into()),
            count: tools.len(),
            server: named.map(|named| named.name.clone()),
            title: named.and_then(|named| named.title.clone()),
            is_older: self.is_older,
            problem: None,
            notes: notes.iter().map(|note| self.secrets.line(note)).collect(),
        };
        Ok((listing, holds))
    }

    /// One page as the server wrote it; `sources` judges each definition later.
    async fn page(&self, cursor: Option<String>) -> Result<Value, ServiceError> {
        let params = PaginatedRequestParams::default().with_cursor(cursor);
        let request: ListToolsRequest = RequestOptionalParam::with_param(params);
        let result = self.peer.send_request(ClientRequest::ListToolsRequest(request)).await?;
        Ok(serde_json::to_value(result).unwrap_or_default())
    }

    fn note(&self, what: String) {
        locked(&self.notes).push(what);
    }
}
