//! Lists of resources and prompts of a server, with all their pages.

use std::time::Duration;

use rmcp::model::{Prompt, Resource, ResourceTemplate};
use rmcp::service::ServiceError;

use super::session::Session;

/// Longest wait for a list.
const LONGEST_LISTING: Duration = Duration::from_secs(10);

/// Most entries of one list.
const MAX_LISTED: usize = 10_000;

/// A list of a server, and the milliseconds for which it holds, where the server says so.
pub struct ServerList<T> {
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

/// Takes all pages of a list.
macro_rules! list_all {
    ($session:expr, $method:ident, $items:ident) => {{
        let mut list = ServerList::default();
        let listing = async {
            let mut cursor = None;
            loop {
                let params = rmcp::model::PaginatedRequestParams::default().with_cursor(cursor.take());
                let page = $session.peer.$method(Some(params)).await?;
                let is_private = page.cache_scope == Some(rmcp::model::CacheScope::Private);
                list.limit_caching(page.ttl_ms, is_private);
                let is_empty = page.$items.is_empty();
                list.items.extend(page.$items);
                match page.next_cursor.filter(|next| !next.is_empty()) {
                    Some(next) if !is_empty && list.items.len() < MAX_LISTED => cursor = Some(next),
                    _ => return Ok::<_, ServiceError>(()),
                }
            }
        };
        // A server that is silent must not hide the lists of others.
        let listed = tokio::time::timeout(LONGEST_LISTING, listing).await;
        listed.map_err(|_| ServiceError::Timeout { timeout: LONGEST_LISTING })??;
        list.items = $session.without_secrets_in(list.items);
        Ok(list)
    }};
}

impl Session {
    /// Lists resources.
    pub async fn resources(&self) -> Result<ServerList<Resource>, ServiceError> {
        list_all!(self, list_resources, resources)
    }

    /// Lists templates of resources.
    pub async fn resource_templates(&self) -> Result<ServerList<ResourceTemplate>, ServiceError> {
        list_all!(self, list_resource_templates, resource_templates)
    }

    /// Lists prompts.
    pub async fn prompts(&self) -> Result<ServerList<Prompt>, ServiceError> {
        list_all!(self, list_prompts, prompts)
    }
}
