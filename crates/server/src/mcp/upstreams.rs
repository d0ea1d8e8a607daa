//! The live servers behind us that a caller sees, and what passes through from them: resources and prompts.
//!
//! A URI that one server has stays unchanged. A URI of several servers, or one that looks like ours, is
//! `toolcrib://servers/SERVER/URI`, which can be read in any case. Prompts have the names that tools would have:
//! `server__prompt` where several servers are behind us.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use rmcp::ErrorData;
use rmcp::model::{
    CacheScope, ClientRequest, CompleteRequest, CompleteRequestParams, CompleteResult, ErrorCode,
    GetPromptRequest, GetPromptRequestParams, GetPromptResponse, ListPromptsResult, Prompt,
    ReadResourceRequest, ReadResourceRequestParams, ReadResourceResponse, Reference, Resource,
    ResourceContents, ResourceTemplate, ServerCapabilities, ServerResult,
};
use rmcp::service::ServiceError;

use super::resources::unknown;
use super::service::Requester;
use super::{FRESH_FOR, McpResult};
use toolcrib_catalog::config::Source;
use toolcrib_definition::finding::nearest;
use toolcrib_definition::{quoted, slug};
use toolcrib_front::mcp::{ServerList, Session};

/// The beginning of a URI with the name of its server.
const QUALIFIED: &str = "toolcrib://servers/";

/// The scheme of our own URIs.
const OUR_SCHEME: &str = "toolcrib://";

/// A connected server.
#[derive(Clone)]
pub(super) struct Upstream {
    /// Its name within our addresses and names; stable as long as the configuration is.
    name: String,
    /// Whether the names of its prompts begin with its name.
    has_prefix: bool,
    pub(super) session: Arc<Session>,
}

impl Upstream {
    /// Sends a request of a client on.
    async fn request(&self, request: ClientRequest, requester: &Requester) -> McpResult<ServerResult> {
        let origin = requester.caller.origin.as_ref();
        let answer = self.session.request_with_input(request, origin, Duration::MAX).await;
        answer.map_err(|error| self.session.request_error(error))
    }

    /// The error for an answer that does not fit its request.
    fn unexpected(&self) -> ErrorData {
        let message =
            format!("the MCP server `{}` answers with something else than was asked for", self.name);
        ErrorData::internal_error(message, None)
    }

    /// A URI with the name of the server.
    fn qualified(&self, uri: &str) -> String {
        format!("{QUALIFIED}{}/{uri}", self.name)
    }
}

/// The server of this name, `mcp:NAME`, if the caller sees it and it can be reached.
pub(super) async fn named(requester: &Requester, called: &str) -> Option<Upstream> {
    let (called, source) = seen(requester).find(|(name, _)| name == called)?;
    open(requester, called, source).await
}

/// The servers with a capability that the caller sees, in the order of the configuration. A server that cannot be
/// reached is left out.
async fn with_capability(requester: &Requester, has: fn(&ServerCapabilities) -> bool) -> Vec<Upstream> {
    let opening = seen(requester).map(|(called, source)| open(requester, called, source));
    let mut found: Vec<Upstream> = join_all(opening).await.into_iter().flatten().collect();
    // The second and later servers of a name are numbered.
    for index in 1..found.len() {
        let (before, rest) = found.split_at_mut(index);
        let count = before.iter().filter(|earlier| earlier.name == rest[0].name).count();
        if count > 0 {
            rest[0].name = format!("{}_{}", rest[0].name, count + 1);
        }
    }
    found.retain(|upstream| has(&upstream.session.capabilities()));
    found
}

/// The servers that the caller may know of: those with a tool that the caller may use, and all of them for a caller who
/// sees everything.
fn seen(requester: &Requester) -> impl Iterator<Item = (String, &Source)> {
    let view = requester.view();
    let sees_all = requester.caller.sees_everything() && requester.catalog.profile_name().is_none();
    view.catalog().config.live_sources().filter(move |(called, _)| {
        let mut tools = view.catalog().tools.iter().enumerate();
        sees_all || tools.any(|(index, tool)| tool.place.file == *called && !view.is_forbidden(index))
    })
}

async fn open(requester: &Requester, called: String, source: &Source) -> Option<Upstream> {
    let config = &requester.view().catalog().config;
    match requester.catalog.services().backends.live_server(&called, config, &requester.caller).await {
        Ok(session) => {
            let name = source.server.clone().or_else(|| session.server_name()).map(|name| slug(&name));
            let name = name.filter(|name| !name.is_empty()).unwrap_or_else(|| slug(&called));
            let has_several = config.live_sources().nth(1).is_some();
            Some(Upstream { name, has_prefix: source.prefix.unwrap_or(has_several), session })
        }
        Err(error) => {
            tracing::warn!(
                server = called,
                problem = error.message,
                "its resources and prompts are left out"
            );
            None
        }
    }
}

/// One list of these servers, asked at the same time, with the place of the server of each item. A server that does not
/// answer is left out.
async fn list_all<T>(
    upstreams: &[Upstream],
    list: impl AsyncFn(&Session) -> Result<ServerList<T>, ServiceError>,
) -> ServerList<(usize, T)> {
    let mut all = ServerList::default();
    let answers = join_all(upstreams.iter().map(|upstream| list(&upstream.session))).await;
    for (place, answer) in answers.into_iter().enumerate() {
        match answer {
            Ok(list) => {
                all.limit_caching(list.ttl_ms, list.is_private);
                all.items.extend(list.items.into_iter().map(|item| (place, item)));
            }
            Err(error) => {
                let Upstream { name, session, .. } = &upstreams[place];
                let problem = session.request_error(error);
                tracing::warn!(server = name, problem = %problem.message, "a list of it is left out");
            }
        }
    }
    all
}

// Resources and their templates.

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
    if let Some((name, own)) = uri.strip_prefix(QUALIFIED).and_then(|rest| rest.split_once('/'))
        && let Some(upstream) = upstreams.iter().find(|upstream| upstream.name == name)
    {
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

// Prompts.

fn has_prompts(capabilities: &ServerCapabilities) -> bool {
    capabilities.prompts.is_some()
}

/// A prompt under our name, with the place of its server and its name there.
struct NamedPrompt {
    place: usize,
    own: String,
    prompt: Prompt,
}

async fn prompts(upstreams: &[Upstream]) -> ServerList<NamedPrompt> {
    let mut taken = HashSet::new();
    list_all(upstreams, Session::prompts).await.map(|(place, mut prompt)| {
        let Upstream { name, has_prefix, .. } = &upstreams[place];
        let own = prompt.name.clone();
        if *has_prefix || taken.contains(&own) {
            prompt.name = format!("{name}__{own}");
        }
        taken.insert(prompt.name.clone()).then_some(NamedPrompt { place, own, prompt })
    })
}

/// The list of prompts.
pub(super) async fn list_prompts(requester: &Requester) -> ListPromptsResult {
    let all = prompts(&with_capability(requester, has_prompts).await).await;
    let scope = if all.is_private { CacheScope::Private } else { requester.scope() };
    let listed = all.items.into_iter().map(|named| named.prompt).collect();
    let result = ListPromptsResult::with_all_items(listed);
    result.with_ttl_ms(all.ttl_ms.unwrap_or(FRESH_FOR)).with_cache_scope(scope)
}

/// The server of a prompt, and the prompt's name there.
async fn find_prompt(requester: &Requester, name: &str) -> McpResult<(Upstream, String)> {
    let upstreams = with_capability(requester, has_prompts).await;
    // The only server reports itself that it has no such prompt.
    if let [only] = upstreams.as_slice()
        && !only.has_prefix
    {
        return Ok((only.clone(), name.to_string()));
    }
    let all = prompts(&upstreams).await.items;
    if let Some(found) = all.iter().find(|named| named.prompt.name == name) {
        return Ok((upstreams[found.place].clone(), found.own.clone()));
    }
    let near = nearest(name, all.iter().map(|named| named.prompt.name.as_str()));
    let near = if near.is_empty() { String::new() } else { format!("; nearest: {}", near.join(", ")) };
    Err(ErrorData::invalid_params(format!("there is no prompt {}{near}", quoted(name)), None))
}

/// A prompt with its arguments.
pub(super) async fn get_prompt(
    requester: &Requester,
    mut params: GetPromptRequestParams,
) -> McpResult<GetPromptResponse> {
    let (upstream, name) = find_prompt(requester, &params.name).await?;
    params.name = name;
    let request = ClientRequest::GetPromptRequest(GetPromptRequest::new(params));
    match upstream.request(request, requester).await? {
        ServerResult::GetPromptResult(result) => Ok(upstream.session.without_secrets_in(result).into()),
        ServerResult::InputRequiredResult(question) => Ok(question.into()),
        _ => Err(upstream.unexpected()),
    }
}

/// Values for an argument of a prompt, or for a variable in a template.
pub(super) async fn complete(
    requester: &Requester,
    mut params: CompleteRequestParams,
) -> McpResult<CompleteResult> {
    let (upstream, reference) = match &params.r#ref {
        Reference::Prompt(prompt) => {
            let (upstream, name) = find_prompt(requester, &prompt.name).await?;
            (upstream, Reference::for_prompt(name))
        }
        Reference::Resource(template) => match locate(requester, &template.uri).await.into_iter().next() {
            Some(found) => (found.upstream, Reference::for_resource(found.own)),
            None => return Ok(CompleteResult::default()),
        },
        _ => return Ok(CompleteResult::default()),
    };
    params.r#ref = reference;
    let request = ClientRequest::CompleteRequest(CompleteRequest::new(params));
    match upstream.request(request, requester).await? {
        ServerResult::CompleteResult(result) => Ok(upstream.session.without_secrets_in(result)),
        _ => Err(upstream.unexpected()),
    }
}
