//! Values for an argument of a prompt, or for a variable in the template of a resource: of our docs, or of live servers.

use rmcp::model::{
    ClientRequest, CompleteRequest, CompleteRequestParams, CompleteResult, CompletionInfo, Reference,
};
use serde_json::Value;

use super::prompts::find_prompt;
use super::requester::{McpResult, Requester};
use super::resources::TEMPLATE;
use super::upstream_resources::locate;
use toolcrib_front::mcp::carrying;
use toolcrib_gateway::functions::CatalogView;

/// Names that begin with what was typed, then names that contain it.
pub(super) fn of_docs(view: &CatalogView, request: &CompleteRequestParams) -> CompleteResult {
    let is_name = matches!(&request.r#ref, Reference::Resource(resource) if resource.uri == TEMPLATE)
        && request.argument.name == "name";
    let typed = request.argument.value.to_lowercase();
    let mut found: Vec<(bool, &str)> = Vec::new();
    if is_name {
        let names = view.catalog().tools.iter().map(|tool| tool.names.safe.as_str());
        let places = names.filter_map(|name| Some((name.to_lowercase().find(&typed)? > 0, name)));
        found.extend(places);
        found.sort_unstable();
    }
    let total = found.len();
    let shown: Vec<String> =
        found.into_iter().take(CompletionInfo::MAX_VALUES).map(|(_, name)| name.to_string()).collect();
    let has_more = shown.len() < total;
    let info = CompletionInfo::with_pagination(shown, u32::try_from(total).ok(), has_more);
    CompleteResult::new(info.unwrap_or_default())
}

/// The values that a live server has.
pub(super) async fn of_servers(
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
    let written = upstream.request(request, requester).await?;
    if !written.get("completion").is_some_and(Value::is_object) {
        return Err(upstream.unexpected());
    }
    let mut result = CompleteResult::default();
    result.meta = Some(carrying(written));
    Ok(result)
}
