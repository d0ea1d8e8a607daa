//! The resources of live servers. A URI that one server has stays as it is. A URI of several servers, or one that looks
//! like ours, is `toolcrib://servers/SERVER/URI`, which can be read in any case.

use std::collections::HashMap;
use std::sync::Arc;

use rmcp::ErrorData;
use rmcp::model::{
    CacheScope, ClientRequest, CompleteRequestParams, CompleteResult, ErrorCode, ListResourceTemplatesResult,
    ListResourcesResult, ReadResourceRequest, ReadResourceRequestParams, ReadResourceResponse, Reference,
    Resource, ResourceContents, ResourceTemplate, ServerCapabilities, ServerResult,
};

use super::upstreams::{self, Upstream};
use super::{prompts, uri};
use crate::exec::Caller;
use crate::serve::RequestCatalog;
use crate::sources::mcp::{RequestOrigin, ServerList};

/// The beginning of a URI with the name of its server.
const QUALIFIED: &str = "toolcrib://servers/";

/// The scheme of our own URIs.
const OUR_SCHEME: &str = "toolcrib://";

pub(super) fn has_resources(capabilities: &ServerCapabilities) -> bool {
    capabilities.resources.is_some()
}

/// The URI with the name of its server.
fn qualified(upstream: &Upstream, uri: &str) -> String {
    format!("{QUALIFIED}{}/{uri}", upstream.name)
}

/// The server and its own URI in a qualified URI.
fn split<'u, 'l>(upstreams: &'l [Upstream], uri: &'u str) -> Option<(&'l Upstream, &'u str)> {
    let (name, own) = uri.strip_prefix(QUALIFIED)?.split_once('/')?;
    Some((upstreams.iter().find(|upstream| upstream.name == name)?, own))
}

/// Whether a URI is for a live server.
pub(super) fn is_upstream(uri: &str) -> bool {
    !uri.starts_with(uri::ROOT) && uri != uri::TEMPLATE
}

/// Makes URIs unambiguous.
fn merged<T>(lists: Vec<(Upstream, ServerList<T>)>, address: fn(&mut T) -> &mut String) -> ServerList<T> {
    let mut merged = ServerList { items: Vec::new(), ttl_ms: None, is_private: false };
    let mut servers: HashMap<String, usize> = HashMap::new();
    let mut entries: Vec<(usize, T)> = Vec::new();
    let mut upstreams = Vec::new();
    for (place, (upstream, list)) in lists.into_iter().enumerate() {
        merged.ttl_ms = merged.ttl_ms.into_iter().chain(list.ttl_ms).min();
        merged.is_private |= list.is_private;
        upstreams.push(upstream);
        for mut item in list.items {
            // The first server of a URI; `usize::MAX` when there are several.
            let first = servers.entry(address(&mut item).clone()).or_insert(place);
            *first = if *first == place { place } else { usize::MAX };
            entries.push((place, item));
        }
    }
    for (place, mut item) in entries {
        let uri = address(&mut item);
        if servers.get(uri) == Some(&usize::MAX) || uri.starts_with(OUR_SCHEME) {
            *uri = qualified(&upstreams[place], uri);
        }
        merged.items.push(item);
    }
    merged
}

/// Adds the resources of live servers before ours.
pub(super) async fn add_to_list(
    catalog: &RequestCatalog,
    caller: &Caller,
    mut ours: ListResourcesResult,
) -> ListResourcesResult {
    let upstreams = upstreams::with_capability(catalog, caller, has_resources).await;
    let lists = upstreams::lists(upstreams, async |session| session.resources().await).await;
    let mut found = merged(lists, |resource| &mut resource.uri);
    found.items.append(&mut ours.resources);
    ours.ttl_ms = ours.ttl_ms.into_iter().chain(found.ttl_ms).min();
    ours.cache_scope = if found.is_private { Some(CacheScope::Private) } else { ours.cache_scope };
    ListResourcesResult { resources: found.items, ..ours }
}

/// Adds the templates of live servers before ours.
pub(super) async fn add_to_templates(
    catalog: &RequestCatalog,
    caller: &Caller,
    mut ours: ListResourceTemplatesResult,
) -> ListResourceTemplatesResult {
    let upstreams = upstreams::with_capability(catalog, caller, has_resources).await;
    let lists = upstreams::lists(upstreams, async |session| session.resource_templates().await).await;
    let mut found = merged(lists, |template| &mut template.uri_template);
    found.items.append(&mut ours.resource_templates);
    ours.ttl_ms = ours.ttl_ms.into_iter().chain(found.ttl_ms).min();
    ours.cache_scope = if found.is_private { Some(CacheScope::Private) } else { ours.cache_scope };
    ListResourceTemplatesResult { resource_templates: found.items, ..ours }
}

/// A resource at its server.
#[derive(Clone)]
pub(super) struct Located {
    pub(super) upstream: Upstream,
    /// The URI at the server.
    pub(super) own: String,
    /// Whether clients name the server in the URI.
    pub(super) is_qualified: bool,
}

impl Located {
    /// The URI of the server as clients know it.
    pub(super) fn shown(&self, own: &str) -> String {
        if self.is_qualified { qualified(&self.upstream, own) } else { own.to_string() }
    }
}

/// The servers that may have a resource, the likeliest first: the ones that list it, then the ones with a template for
/// it, then the others.
pub(super) async fn locate(catalog: &RequestCatalog, caller: &Caller, uri: &str) -> Vec<Located> {
    let upstreams = upstreams::with_capability(catalog, caller, has_resources).await;
    if let Some((upstream, own)) = split(&upstreams, uri) {
        return vec![Located { upstream: upstream.clone(), own: own.to_string(), is_qualified: true }];
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
    catalog: &RequestCatalog,
    caller: &Caller,
    params: ReadResourceRequestParams,
    origin: &Arc<RequestOrigin>,
) -> Result<ReadResourceResponse, ErrorData> {
    let mut refusal = None;
    for located in locate(catalog, caller, &params.uri).await {
        match read_at(&located, params.clone(), origin).await {
            Err(error) if is_missing(&error) => refusal = refusal.or(Some(error)),
            answer => return answer,
        }
    }
    Err(refusal.unwrap_or_else(|| uri::unknown(&params.uri, Vec::new())))
}

/// Whether an error may mean that the server has no such resource.
fn is_missing(error: &ErrorData) -> bool {
    matches!(error.code, ErrorCode::RESOURCE_NOT_FOUND | ErrorCode::INVALID_PARAMS)
}

async fn read_at(
    located: &Located,
    mut params: ReadResourceRequestParams,
    origin: &Arc<RequestOrigin>,
) -> Result<ReadResourceResponse, ErrorData> {
    let session = &located.upstream.session;
    params.uri.clone_from(&located.own);
    let request = ClientRequest::ReadResourceRequest(ReadResourceRequest::new(params));
    match session.request_with_input(request, Some(origin)).await {
        Ok(ServerResult::ReadResourceResult(mut result)) => {
            for contents in &mut result.contents {
                if let ResourceContents::TextResourceContents { uri, .. }
                | ResourceContents::BlobResourceContents { uri, .. } = contents
                {
                    *uri = located.shown(uri);
                }
            }
            Ok(session.without_secrets_in(result).into())
        }
        Ok(ServerResult::InputRequiredResult(question)) => Ok(question.into()),
        Ok(_) => Err(upstreams::unexpected(&located.upstream)),
        Err(error) => Err(session.request_error(error)),
    }
}

/// Values for a variable in a template.
pub(super) async fn complete(
    catalog: &RequestCatalog,
    caller: &Caller,
    template: &str,
    params: CompleteRequestParams,
    origin: &Arc<RequestOrigin>,
) -> Result<CompleteResult, ErrorData> {
    match locate(catalog, caller, template).await.into_iter().next() {
        Some(at) => prompts::complete_at(&at.upstream, Reference::for_resource(at.own), params, origin).await,
        None => Ok(CompleteResult::default()),
    }
}
