//! Values for an argument of a prompt, or for a variable in the template of a resource.

use rmcp::model::{
    ClientRequest, CompleteRequest, CompleteRequestParams, CompleteResult, Reference, ServerResult,
};

use super::prompts::find_prompt;
use super::requester::{McpResult, Requester};
use super::upstream_resources::locate;

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
