//! `/authorize`: the person agrees at once, and the browser is sent back with a code.

use super::State;
use super::clients;
use super::http::{Reply, Request, refused};
use super::keys::random_text;

/// A code, with what it was asked for.
#[derive(Clone, Debug)]
pub(super) struct Code {
    pub(super) client: String,
    pub(super) redirect_uri: String,
    pub(super) challenge: String,
    pub(super) scope: String,
    pub(super) resource: Option<String>,
    pub(super) is_used: bool,
}

/// Answers `GET /authorize`.
pub(super) fn authorize(state: &mut State, request: &Request) -> Reply {
    let field = |name: &str| request.query_field(name);
    let (Some(client), Some(redirect_uri)) = (field("client_id"), field("redirect_uri")) else {
        return refused(400, "invalid_request");
    };
    let Some(known) = clients::find(state, &client) else { return refused(400, "unauthorized_client") };
    if !known.may_return_to(&redirect_uri) {
        return refused(400, "invalid_redirect_uri");
    }
    let behaviour = state.behaviour.clone();
    let mut back = vec![("state", field("state").unwrap_or_default())];
    if behaviour.sends_issuer {
        back.push(("iss", behaviour.claims_issuer.clone().unwrap_or_else(|| state.url.clone())));
    }
    let is_proven = field("code_challenge_method").as_deref() == Some("S256");
    let error = match field("code_challenge").filter(|_| is_proven) {
        None => Some("invalid_request"),
        Some(_) if field("response_type").as_deref() != Some("code") => Some("unsupported_response_type"),
        Some(_) if !behaviour.agrees => Some("access_denied"),
        Some(_) => None,
    };
    match error {
        Some(error) => back.push(("error", error.into())),
        None => {
            let asked = field("scope").unwrap_or_default();
            let given = |scope: &&str| {
                behaviour.gives_scopes.as_ref().is_none_or(|most| most.iter().any(|one| one == scope))
            };
            let scope: Vec<&str> = asked.split_whitespace().filter(given).collect();
            let code = Code {
                client,
                redirect_uri: redirect_uri.clone(),
                challenge: field("code_challenge").unwrap_or_default(),
                scope: scope.join(" "),
                resource: field("resource"),
                is_used: false,
            };
            let id = random_text("code");
            state.codes.insert(id.clone(), code);
            state.given.push(id.clone());
            back.insert(0, ("code", id));
        }
    }
    let query = form_urlencoded::Serializer::new(String::new()).extend_pairs(back).finish();
    let sign = if redirect_uri.contains('?') { '&' } else { '?' };
    Reply::redirect(&format!("{redirect_uri}{sign}{query}"))
}
