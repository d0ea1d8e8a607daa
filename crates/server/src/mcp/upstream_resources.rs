//! Resources of live servers, and their templates. A URI that one server has stays unchanged. A URI of several servers,
//! or one that looks like ours, is `toolcrib://servers/SERVER/URI`, which can be read in any case.

use std::collections::HashMap;

use rmcp::model::{
    CacheScope, ClientRequest, ErrorCode, ReadResourceRequest, ReadResourceRequestParams,
    ReadResourceResponse, Resource, ResourceContents, ResourceTemplate, ServerCapabilities, ServerResult,
};
use rmcp::service::ServiceError;

use super::requester::{McpResult, Requester};
use super::resources::unknown;
use super::upstreams::{OUR_SCHEME, QUALIFIED, Upstream, list_all, with_capability};
use toolcrib_front::mcp::{ServerList, Session};

fn has_resources(capabilities: &ServerCapabilities) -> bool {
    capabilities.resources.is_some()
}

/// The resources or the templates of all servers, with unambiguous URIs.
pub(super) async fn resources<T>(
    requester: &Requester,
    list: impl AsyncFn(&Session) -> Result<ServerList<T>, ServiceError>,
    uri: fn(&mut T) -> &mut String,
) -> ServerList<T> {
    let upstreams = with_capability(requester, has_resources).await;
    let mut all = list_all(&upstreams, list).await;
    // The server of each URI; `None` where several have it.
    let mut owners: HashMap<String, Option<usize>> = HashMap::new();
    for (place, item) in &mut all.items {
        let owner = owners.entry(uri(item).clone()).or_insert(Some(*place));
        *owner = owner.filter(|first| first == place);
    }
    all.map(|(place, mut item)| {
        let uri = uri(&mut item);
        if uri.starts_with(OUR_SCHEME) || owners.get(uri) == Some(&None) {
            *uri = upstreams[place].qualified(uri);
        }
        Some(item)
    })
}

/// Puts the items of servers before ours, which may then be cached no longer than theirs.
pub(super) fn put_before<T>(
    theirs: ServerList<T>,
    ours: &mut Vec<T>,
    ttl_ms: &mut Option<u64>,
    scope: &mut Option<CacheScope>,
) {
    ours.splice(..0, theirs.items);
    *ttl_ms = (*ttl_ms).into_iter().chain(theirs.ttl_ms).min();
    if theirs.is_private {
        *scope = Some(CacheScope::Private);
    }
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
    let lists = |list: ServerList<Resource>| list.items.iter().any(|resource| resource.uri == uri);
    if upstream.session.resources().await.is_ok_and(lists) {
        return 0;
    }
    let fits = |template: &ResourceTemplate| {
        let literal = template.uri_template.split('{').next().unwrap_or_default();
        (template.uri_template == uri || uri.starts_with(literal)).then_some(literal.len())
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
    match upstream.request(request, requester).await? {
        ServerResult::ReadResourceResult(mut result) => {
            for contents in &mut result.contents {
                if let ResourceContents::TextResourceContents { uri, .. }
                | ResourceContents::BlobResourceContents { uri, .. } = contents
                {
                    *uri = located.shown(uri);
                }
            }
            Ok(upstream.session.without_secrets_in(result).into())
        }
        ServerResult::InputRequiredResult(question) => Ok(question.into()),
        _ => Err(upstream.unexpected()),
    }
}
