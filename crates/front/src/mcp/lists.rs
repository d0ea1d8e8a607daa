//! The lists of a server, page by page within limits: tools as it wrote them, and its resources and prompts.

use std::collections::HashSet;
use std::mem::take;
use std::time::Duration;

use rmcp::model::{ClientRequest, PaginatedRequestParams, RequestOptionalParam};
use rmcp::service::ServiceError;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::as_written::written;
use super::client::cleaned;
use super::http::{explain, server_problem};
use super::server_problem::ServerProblem;
use super::session::{Session, with_last_words};
use toolcrib_catalog::config::is_safe_address;
use toolcrib_catalog::sources::{Introduction, Listing, ServerInfo};
use toolcrib_definition::guard::locked;
use toolcrib_definition::{clean_text, clipped};

/// Limits of a server's list; above any real one.
const MAX_PAGES: usize = 200;
pub(super) const MAX_TOOLS: usize = 50_000;
pub(super) const MAX_BYTES: usize = 64 << 20;

/// Most characters of its instructions that are kept.
const MAX_INSTRUCTIONS: usize = 2_000;

/// Most bytes of what it says of itself; icons may stand in it.
const MAX_INTRODUCTION: usize = 32 << 10;

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
            let page = match self.page(ClientRequest::ListToolsRequest(page_at(cursor.take()))).await {
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
                    let texts = listed.iter().map(Value::to_string);
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
        let notes = std::mem::take(&mut *locked(&self.notes));
        let count = tools.len();
        let tools = format!("{{\"tools\": [\n{}\n]}}\n", tools.join(",\n"));
        let listing = Listing {
            tools: Some(self.secrets.hide_credentials(tools).into()),
            count,
            introduction: self.introduction(),
            is_older: self.is_older,
            problem: None,
            notes: notes.iter().map(|note| self.secrets.line(note)).collect(),
        };
        Ok((listing, holds))
    }

    /// What the server says of itself, with addresses of the web alone. What is too long to greet each client with is left out.
    fn introduction(&self) -> Option<Introduction> {
        let said = self.peer.peer_info()?;
        let words = said.instructions.as_deref();
        let mut introduction = Introduction {
            server_info: self.cleaned(&said.server_info),
            extensions: self.cleaned(&said.capabilities.extensions),
            instructions: words
                .map(|words| self.secrets.hide(&clipped(&clean_text(words), MAX_INSTRUCTIONS))),
        };
        let info = &mut introduction.server_info;
        info.website_url.take_if(|address| !is_safe_address(address));
        info.icons.retain(|icon| icon["src"].as_str().is_some_and(is_picture));
        if json!(introduction).to_string().len() > MAX_INTRODUCTION {
            let ServerInfo { name, title, version, .. } = take(&mut introduction.server_info);
            introduction.server_info = ServerInfo { name, title, version, ..ServerInfo::default() };
            introduction.extensions.clear();
        }
        Some(introduction)
    }

    /// What the server sent, without secrets and hidden characters; the default where it sent nothing of this shape.
    fn cleaned<T: DeserializeOwned + Default>(&self, sent: &impl Serialize) -> T {
        serde_json::from_value(cleaned(self.secrets.hide_in(json!(sent)))).unwrap_or_default()
    }

    /// One page as the server wrote it.
    async fn page(&self, request: ClientRequest) -> Result<Value, ServiceError> {
        let result = self.peer.send_request(request).await?;
        Ok(written(serde_json::to_value(result).unwrap_or_default()))
    }

    fn note(&self, what: String) {
        locked(&self.notes).push(what);
    }
}

/// Whether this address is a picture of the web, or one that stands in it.
fn is_picture(address: &str) -> bool {
    is_safe_address(address) || address.starts_with("data:image/")
}

/// A request of the page at this cursor.
fn page_at<M: Default>(cursor: Option<String>) -> RequestOptionalParam<M, PaginatedRequestParams> {
    RequestOptionalParam::with_param(PaginatedRequestParams::default().with_cursor(cursor))
}

/// Longest wait for a list of resources or prompts.
const LONGEST_LISTING: Duration = Duration::from_secs(10);

/// Most entries of such a list.
const MAX_LISTED: usize = 10_000;

/// A list of a server, and the milliseconds for which it holds, where the server says so.
pub struct ServerList<T = Value> {
    /// The items of all pages.
    pub items: Vec<T>,
    /// The shortest time for which a client may keep a page, in milliseconds.
    pub ttl_ms: Option<u64>,
    /// Whether a page is for one caller alone.
    pub is_private: bool,
}

impl<T> Default for ServerList<T> {
    fn default() -> Self {
        Self { items: Vec::new(), ttl_ms: None, is_private: false }
    }
}

impl<T> ServerList<T> {
    /// Holds the list no longer than one of its parts.
    pub fn limit_caching(&mut self, ttl_ms: Option<u64>, is_private: bool) {
        self.ttl_ms = self.ttl_ms.into_iter().chain(ttl_ms).min();
        self.is_private |= is_private;
    }

    /// The same list with other items in place of its own.
    pub fn map<U>(self, item: impl FnMut(T) -> Option<U>) -> ServerList<U> {
        let Self { items, ttl_ms, is_private } = self;
        ServerList { items: items.into_iter().filter_map(item).collect(), ttl_ms, is_private }
    }
}

impl Session {
    /// Lists resources.
    pub async fn resources(&self) -> Result<ServerList, ServiceError> {
        self.pages("resources", |cursor| ClientRequest::ListResourcesRequest(page_at(cursor))).await
    }

    /// Lists templates of resources.
    pub async fn resource_templates(&self) -> Result<ServerList, ServiceError> {
        let request = |cursor| ClientRequest::ListResourceTemplatesRequest(page_at(cursor));
        self.pages("resourceTemplates", request).await
    }

    /// Lists prompts.
    pub async fn prompts(&self) -> Result<ServerList, ServiceError> {
        self.pages("prompts", |cursor| ClientRequest::ListPromptsRequest(page_at(cursor))).await
    }

    /// Takes all pages of a list. A server that is silent must not hide the lists of others.
    async fn pages(
        &self,
        items: &str,
        request: impl Fn(Option<String>) -> ClientRequest,
    ) -> Result<ServerList, ServiceError> {
        let mut list = ServerList::default();
        let listing = async {
            let mut cursor = None;
            loop {
                let mut page = self.page(request(cursor.take())).await?;
                let is_private = page.get("cacheScope").is_some_and(|scope| scope == "private");
                list.limit_caching(page.get("ttlMs").and_then(Value::as_u64), is_private);
                let Some(Value::Array(listed)) = page.get_mut(items).map(Value::take) else {
                    return Err(ServiceError::UnexpectedResponse);
                };
                let is_empty = listed.is_empty();
                list.items.extend(listed.into_iter().filter(Value::is_object));
                match page.get("nextCursor").and_then(Value::as_str).filter(|next| !next.is_empty()) {
                    Some(next) if !is_empty && list.items.len() < MAX_LISTED => cursor = Some(next.into()),
                    _ => return Ok(()),
                }
            }
        };
        let listed = tokio::time::timeout(LONGEST_LISTING, listing).await;
        listed.map_err(|_| ServiceError::Timeout { timeout: LONGEST_LISTING })??;
        list.items = list.items.into_iter().map(|item| self.secrets.hide_in(item)).collect();
        Ok(list)
    }
}
