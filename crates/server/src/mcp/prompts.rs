//! Prompts of live servers. They have the names that tools would have: `server__prompt` where several servers are behind us.

use std::collections::HashSet;

use rmcp::ErrorData;
use rmcp::model::{
    CacheScope, ClientRequest, GetPromptRequest, GetPromptRequestParams, GetPromptResponse, GetPromptResult,
    ListPromptsResult, ServerCapabilities,
};
use serde_json::{Value, json};

use super::requester::{FRESH_FOR, McpResult, Requester};
use super::upstreams::{Upstream, asking, list_all, with_capability};
use toolcrib_definition::finding::nearest;
use toolcrib_definition::quoted;
use toolcrib_front::mcp::{ServerList, Session, asks_for_input, carrying};

fn has_prompts(capabilities: &ServerCapabilities) -> bool {
    capabilities.prompts.is_some()
}

/// A prompt under our name, with the place of its server and its name there.
struct NamedPrompt {
    place: usize,
    own: String,
    prompt: Value,
}

impl NamedPrompt {
    fn name(&self) -> &str {
        self.prompt["name"].as_str().unwrap_or_default()
    }
}

async fn prompts(upstreams: &[Upstream]) -> ServerList<NamedPrompt> {
    let mut taken = HashSet::new();
    list_all(upstreams, Session::prompts).await.map(|(place, mut prompt)| {
        let Upstream { name, has_prefix, .. } = &upstreams[place];
        let own = prompt.get("name")?.as_str()?.to_string();
        if *has_prefix || taken.contains(&own) {
            prompt["name"] = format!("{name}__{own}").into();
        }
        let named = NamedPrompt { place, own, prompt };
        taken.insert(named.name().to_string()).then_some(named)
    })
}

pub(super) async fn list_prompts(requester: &Requester) -> ListPromptsResult {
    let all = prompts(&with_capability(requester, has_prompts).await).await;
    let scope = if all.is_private { CacheScope::Private } else { requester.scope() };
    let result = ListPromptsResult::default();
    let result = result.with_ttl_ms(all.ttl_ms.unwrap_or(FRESH_FOR)).with_cache_scope(scope);
    let mut written = json!(result);
    written["prompts"] = all.items.into_iter().map(|named| named.prompt).collect();
    ListPromptsResult { meta: Some(carrying(written)), ..result }
}

/// The server of a prompt, and the prompt's name there.
pub(super) async fn find_prompt(requester: &Requester, name: &str) -> McpResult<(Upstream, String)> {
    let upstreams = with_capability(requester, has_prompts).await;
    // The only server reports itself that it has no such prompt.
    if let [only] = upstreams.as_slice()
        && !only.has_prefix
    {
        return Ok((only.clone(), name.to_string()));
    }
    let all = prompts(&upstreams).await.items;
    if let Some(found) = all.iter().find(|named| named.name() == name) {
        return Ok((upstreams[found.place].clone(), found.own.clone()));
    }
    let near = nearest(name, all.iter().map(NamedPrompt::name));
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
    let written = upstream.request(request, requester).await?;
    if asks_for_input(&written) {
        return Ok(asking(written).into());
    }
    if !written.get("messages").is_some_and(Value::is_array) {
        return Err(upstream.unexpected());
    }
    let mut result = GetPromptResult::new(Vec::new());
    result.meta = Some(carrying(written));
    Ok(result.into())
}
