//! Resources of live servers, and their templates. A URI that one server has stays unchanged. A URI of several servers,
//! or one that looks like ours, is `toolcrib://servers/SERVER/URI`, which can be read in any case.

use std::collections::HashMap;

use rmcp::model::{
    CacheScope, ClientRequest, ErrorCode, MetaObject, ReadResourceRequest, ReadResourceRequestParams,
    ReadResourceResponse, ReadResourceResult, ServerCapabilities,
};
use rmcp::service::ServiceError;
use serde::Serialize;
use serde_json::{Value, json};

use super::requester::{McpResult, Requester};
use super::resources::unknown;
use super::upstreams::{OUR_SCHEME, QUALIFIED, Upstream, asking, list_all, with_capability};
use toolcrib_front::mcp::{ServerList, Session, asks_for_input, carrying};

fn has_resources(capabilities: &ServerCapabilities) -> bool {
    capabilities.resources.is_some()
}

/// The resources or the templates of all servers, with unambiguous URIs.
pub(super) async fn resources(
    requester: &Requester,
    list: impl AsyncFn(&Session) -> Result<ServerList, ServiceError>,
    uri: &str,
) -> ServerList {
    let upstreams = with_capability(requester, has_resources).await;
    let mut all = list_all(&upstreams, list).await;
    // The server of each URI; `None` where several have it.
    let mut owners: HashMap<String, Option<usize>> = HashMap::new();
    all.items.retain(|(_, item)| item.get(uri).is_some_and(Value::is_string));
    for (place, item) in &all.items {
        let owner = owners.entry(text(item, uri).to_string()).or_insert(Some(*place));
        *owner = owner.filter(|first| first == place);
    }
    all.map(|(place, mut item)| {
        let own = text(&item, uri);
        if own.starts_with(OUR_SCHEME) || owners.get(own) == Some(&None) {
            item[uri] = upstreams[place].qualified(own).into();
        }
        Some(item)
    })
}

fn text<'v>(item: &'v Value, field: &str) -> &'v str {
    item.get(field).and_then(Value::as_str).unwrap_or_default()
}

/// Limits the time for which a list of ours may be cached to that of theirs.
pub(super) fn limit_caching(theirs: &ServerList, ttl_ms: &mut Option<u64>, scope: &mut Option<CacheScope>) {
    *ttl_ms = (*ttl_ms).into_iter().chain(theirs.ttl_ms).min();
    if theirs.is_private {
        *scope = Some(CacheScope::Private);
    }
}

/// The metadata with which a list of ours carries the same list with the items of servers before ours.
pub(super) fn put_before(theirs: ServerList, ours: &impl Serialize, items: &str) -> MetaObject {
    let mut written = json!(ours);
    if let Some(Value::Array(listed)) = written.get_mut(items) {
        listed.splice(..0, theirs.items);
    }
    carrying(written)
}

/// A resource at its server.
#[derive(Clone)]
pub(super) struct Located {
    pub(super) upstream: Upstream,
    /// The URI at the server.
    pub(super) own: String,
    /// Whether clients name the server in the URI.
    is_qualified: bool,
}

impl Located {
    /// The URI of the server as clients know it.
    pub(super) fn shown(&self, own: &str) -> String {
        if self.is_qualified { self.upstream.qualified(own) } else { own.to_string() }
    }
}

/// The servers that may have a resource, the likeliest first: the ones that list it, then the ones with a template for
/// it, then the others.
pub(super) async fn locate(requester: &Requester, uri: &str) -> Vec<Located> {
    let upstreams = with_capability(requester, has_resources).await;
    // Such an address says which server is meant, and no other one is asked for it.
    if uri.starts_with(OUR_SCHEME) {
        let named = uri.strip_prefix(QUALIFIED).and_then(|rest| rest.split_once('/'));
        let located = named.and_then(|(name, own)| {
            let upstream = upstreams.iter().find(|upstream| upstream.name == name)?;
            Some(Located { upstream: upstream.clone(), own: own.to_string(), is_qualified: true })
        });
        return located.into_iter().collect();
    }
    let mut ranked = Vec::new();
    let is_certain = upstreams.len() < 2;
    for upstream in upstreams {
        let rank = if is_certain { 0 } else { rank(&upstream, uri).await };
        ranked.push((rank, Located { upstream, own: uri.to_string(), is_qualified: false }));
    }
    ranked.sort_by_key(|(rank, _)| *rank);
    ranked.into_iter().map(|(_, located)| located).collect()
}

/// The place of a server among the ones that may have a URI; the lowest is the likeliest.
async fn rank(upstream: &Upstream, uri: &str) -> usize {
    let lists = |list: ServerList| list.items.iter().any(|resource| text(resource, "uri") == uri);
    if upstream.session.resources().await.is_ok_and(lists) {
        return 0;
    }
    let fits = |template: &Value| {
        let template = template.get("uriTemplate")?.as_str()?;
        let literal = template.split('{').next().unwrap_or_default();
        (template == uri || uri.starts_with(literal)).then_some(literal.len())
    };
    let templates = upstream.session.resource_templates().await;
    let longest = templates.ok().and_then(|list| list.items.iter().filter_map(fits).max());
    longest.map_or(usize::MAX, |length| usize::MAX - 1 - length)
}

/// Reads a resource at the first server that has it.
pub(super) async fn read(
    requester: &Requester,
    params: ReadResourceRequestParams,
) -> McpResult<ReadResourceResponse> {
    let mut refusal = None;
    for located in locate(requester, &params.uri).await {
        match read_at(&located, params.clone(), requester).await {
            // It may mean that the server has no such resource.
            Err(error) if matches!(error.code, ErrorCode::RESOURCE_NOT_FOUND | ErrorCode::INVALID_PARAMS) => {
                refusal = refusal.or(Some(error));
            }
            answer => return answer,
        }
    }
    Err(refusal.unwrap_or_else(|| unknown(&params.uri, Vec::new())))
}

async fn read_at(
    located: &Located,
    mut params: ReadResourceRequestParams,
    requester: &Requester,
) -> McpResult<ReadResourceResponse> {
    let upstream = &located.upstream;
    params.uri.clone_from(&located.own);
    let request = ClientRequest::ReadResourceRequest(ReadResourceRequest::new(params));
    let mut written = upstream.request(request, requester).await?;
    if asks_for_input(&written) {
        return Ok(asking(written).into());
    }
    let contents = written.get_mut("contents").and_then(Value::as_array_mut);
    for contents in contents.ok_or_else(|| upstream.unexpected())? {
        if let Some(Value::String(uri)) = contents.get_mut("uri") {
            *uri = located.shown(uri);
        }
    }
    let mut result = ReadResourceResult::new(Vec::new());
    result.meta = Some(carrying(written));
    Ok(result.into())
}
