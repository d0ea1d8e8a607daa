//! The metadata of an issuer.

use serde_json::json;

use super::State;
use super::http::Reply;

/// Answers `/.well-known/oauth-authorization-server` and `/.well-known/openid-configuration`.
pub(super) fn metadata(state: &State) -> Reply {
    let (url, behaviour) = (&state.url, &state.behaviour);
    let issuer = behaviour.claims_issuer.as_ref().unwrap_or(url);
    let mut metadata = json!({
        "issuer": issuer,
        "authorization_endpoint": format!("{url}/authorize"),
        "token_endpoint": format!("{url}/token"),
        "jwks_uri": format!("{url}/jwks"),
        "introspection_endpoint": format!("{url}/introspect"),
        "revocation_endpoint": format!("{url}/revoke"),
        "response_types_supported": ["code"],
        "token_endpoint_auth_methods_supported": ["none", "client_secret_basic", "client_secret_post"],
        "grant_types_supported": [
            "authorization_code", "refresh_token", "client_credentials",
        ],
        "scopes_supported": ["openid", "profile", "email", "offline_access", "tools:read", "tools:write"],
        "authorization_response_iss_parameter_supported": behaviour.sends_issuer,
        "client_id_metadata_document_supported": behaviour.takes_metadata_documents,
    });
    if behaviour.tells_pkce {
        metadata["code_challenge_methods_supported"] = json!(["S256"]);
    }
    if behaviour.registers_clients {
        metadata["registration_endpoint"] = format!("{url}/register").into();
    }
    Reply::json(200, &metadata)
}
