//! The prompts of live servers, under the names that tools would have: `server__prompt` where several servers are
//! behind us.

use std::collections::HashSet;
use std::sync::Arc;

use rmcp::ErrorData;
use rmcp::model::{
    CacheScope, ClientRequest, CompleteRequest, CompleteRequestParams, CompleteResult, GetPromptRequest,
    GetPromptRequestParams, GetPromptResponse, ListPromptsResult, Prompt, ServerCapabilities, ServerResult,
};

use super::FRESH_FOR;
use super::upstreams::{self, Upstream};
use crate::exec::Caller;
use crate::finding::nearest;
use crate::serve::RequestCatalog;
use crate::sources::mcp::{RequestOrigin, ServerList};
use crate::tool::quoted;

fn has_prompts(capabilities: &ServerCapabilities) -> bool {
    capabilities.prompts.is_some()
}

/// A prompt of a server under our name.
struct Named {
    name: String,
    prompt: Prompt,
    upstream: Upstream,
}

/// All prompts of all servers, with the milliseconds for which the list holds.
async fn all(upstreams: Vec<Upstream>) -> ServerList<Named> {
    let mut all = ServerList { items: Vec::new(), ttl_ms: None, is_private: false };
    let mut taken = HashSet::new();
    for (upstream, list) in upstreams::lists(upstreams, async |session| session.prompts().await).await {
        all.ttl_ms = all.ttl_ms.into_iter().chain(list.ttl_ms).min();
        all.is_private |= list.is_private;
        for prompt in list.items {
            let qualified = format!("{}__{}", upstream.name, prompt.name);
            let is_free = !upstream.has_prefix && !taken.contains(&prompt.name);
            let name = if is_free { prompt.name.clone() } else { qualified };
            if taken.insert(name.clone()) {
                all.items.push(Named { name, prompt, upstream: upstream.clone() });
            }
        }
    }
    all
}

/// The list of prompts.
pub(super) async fn list(
    catalog: &RequestCatalog,
    caller: &Caller,
    scope: CacheScope,
) -> Result<ListPromptsResult, ErrorData> {
    let all = all(upstreams::with_capability(catalog, caller, has_prompts).await).await;
    let prompts = all.items.into_iter().map(|named| {
        let mut prompt = named.prompt;
        prompt.name = named.name;
        prompt
    });
    let scope = if all.is_private { CacheScope::Private } else { scope };
    let result = ListPromptsResult::with_all_items(prompts.collect());
    Ok(result.with_ttl_ms(all.ttl_ms.unwrap_or(FRESH_FOR)).with_cache_scope(scope))
}

/// The server of a prompt, and the prompt's name there.
async fn find(
    catalog: &RequestCatalog,
    caller: &Caller,
    name: &str,
) -> Result<(Upstream, String), ErrorData> {
    let upstreams = upstreams::with_capability(catalog, caller, has_prompts).await;
    // The only server says itself that it has no such prompt.
    if let Some(only) = upstreams::only(&upstreams).filter(|only| !only.has_prefix) {
        return Ok((only.clone(), name.to_string()));
    }
    let all = all(upstreams).await.items;
    if let Some(found) = all.iter().find(|named| named.name == name) {
        return Ok((found.upstream.clone(), found.prompt.name.clone()));
    }
    let near = nearest(name, all.iter().map(|named| named.name.as_str()));
    let near = if near.is_empty() { String::new() } else { format!("; nearest: {}", near.join(", ")) };
    Err(ErrorData::invalid_params(format!("there is no prompt {}{near}", quoted(name)), None))
}

/// A prompt with its arguments.
pub(super) async fn get(
    catalog: &RequestCatalog,
    caller: &Caller,
    mut params: GetPromptRequestParams,
    origin: &Arc<RequestOrigin>,
) -> Result<GetPromptResponse, ErrorData> {
    let (upstream, name) = find(catalog, caller, &params.name).await?;
    params.name = name;
    let request = ClientRequest::GetPromptRequest(GetPromptRequest::new(params));
    match upstream.session.request_with_input(request, Some(origin)).await {
        Ok(ServerResult::GetPromptResult(result)) => Ok(upstream.session.without_secrets_in(result).into()),
        Ok(ServerResult::InputRequiredResult(question)) => Ok(question.into()),
        Ok(_) => Err(upstreams::unexpected(&upstream)),
        Err(error) => Err(upstream.session.request_error(error)),
    }
}

/// Values for an argument of a prompt.
pub(super) async fn complete(
    catalog: &RequestCatalog,
    caller: &Caller,
    name: &str,
    params: CompleteRequestParams,
    origin: &Arc<RequestOrigin>,
) -> Result<CompleteResult, ErrorData> {
    let (upstream, name) = find(catalog, caller, name).await?;
    complete_at(&upstream, rmcp::model::Reference::for_prompt(name), params, origin).await
}

/// Values for an argument, from the server that has what it belongs to.
pub(super) async fn complete_at(
    upstream: &Upstream,
    reference: rmcp::model::Reference,
    mut params: CompleteRequestParams,
    origin: &Arc<RequestOrigin>,
) -> Result<CompleteResult, ErrorData> {
    params.r#ref = reference;
    let request = ClientRequest::CompleteRequest(CompleteRequest::new(params));
    match upstream.session.request(request, Some(origin)).await {
        Ok(ServerResult::CompleteResult(result)) => Ok(upstream.session.without_secrets_in(result)),
        Ok(_) => Err(upstreams::unexpected(upstream)),
        Err(error) => Err(upstream.session.request_error(error)),
    }
}
