//! `/token`: each grant, and the tokens that it gives; and what is asked about tokens afterwards.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Map, Value, json};

use super::State;
use super::clients;
use super::http::{Reply, Request, refused};
use super::keys::random_text;
use super::token;

/// A refresh token, with what its access tokens are for.
#[derive(Clone, Debug)]
pub(super) struct Refresh {
    client: String,
    /// The sign-in that it came from: all of them end when one is used twice.
    family: String,
    scope: String,
    resource: Option<String>,
    subject: Map<String, Value>,
    is_used: bool,
}

/// The purpose of a token.
struct Grant {
    client: String,
    scope: String,
    resource: Option<String>,
    subject: Map<String, Value>,
    /// The sign-in, where a refresh token is given.
    family: Option<String>,
}

/// Answers `POST /token`.
pub(super) fn token(state: &mut State, request: &Request) -> Reply {
    if let Some(elsewhere) = &state.behaviour.redirects_token_to {
        return Reply::redirect_same_method(elsewhere);
    }
    let Some(client) = clients::authenticate(state, request) else { return refused(401, "invalid_client") };
    let granted = match request.field("grant_type").as_deref() {
        Some("authorization_code") => of_code(state, request, client),
        Some("refresh_token") => of_refresh(state, request, client),
        Some("client_credentials") => Ok(of_client(state, request, client)),
        _ => Err("unsupported_grant_type"),
    };
    match granted {
        Ok(grant) => give(state, grant),
        Err(error) => refused(400, error),
    }
}

fn of_code(state: &mut State, request: &Request, client: String) -> Result<Grant, &'static str> {
    let id = request.field("code").ok_or("invalid_request")?;
    let code = state.codes.get_mut(&id).ok_or("invalid_grant")?;
    if std::mem::replace(&mut code.is_used, true) {
        // A code that is used twice ends what the first use gave.
        let family = format!("{client} {id}");
        state.refresh_tokens.retain(|_, refresh| refresh.family != family);
        return Err("invalid_grant");
    }
    let code = code.clone();
    let verifier = request.field("code_verifier").unwrap_or_default();
    let challenge = URL_SAFE_NO_PAD.encode(ring::digest::digest(&ring::digest::SHA256, verifier.as_bytes()));
    let is_same = code.client == client
        && Some(&code.redirect_uri) == request.field("redirect_uri").as_ref()
        && code.challenge == challenge;
    if !is_same {
        return Err("invalid_grant");
    }
    let resource = request.field("resource").or(code.resource);
    let (subject, family) = (state.behaviour.user.clone(), Some(format!("{client} {id}")));
    Ok(Grant { client, scope: code.scope, resource, subject, family })
}

fn of_refresh(state: &mut State, request: &Request, client: String) -> Result<Grant, &'static str> {
    let given = request.field("refresh_token").ok_or("invalid_request")?;
    if state.behaviour.refuses_refresh {
        return Err("invalid_grant");
    }
    let known = state.refresh_tokens.get_mut(&given).ok_or("invalid_grant")?;
    if known.client != client {
        return Err("invalid_grant");
    }
    let is_reused = std::mem::replace(&mut known.is_used, true);
    let refresh = known.clone();
    if is_reused {
        state.refresh_tokens.retain(|_, other| other.family != refresh.family);
        return Err("invalid_grant");
    }
    let Refresh { scope, resource, subject, family, .. } = refresh;
    let resource = request.field("resource").or(resource);
    Ok(Grant { client, scope, resource, subject, family: Some(family) })
}

fn of_client(state: &State, request: &Request, client: String) -> Grant {
    let subject = Map::from_iter([("sub".to_string(), Value::from(client.as_str()))]);
    let most = state.behaviour.gives_scopes.as_ref().map(|scopes| scopes.join(" "));
    let scope = most.or(request.field("scope")).unwrap_or_default();
    let resource = request.field("resource").or(request.field("audience"));
    Grant { client, scope, resource, subject, family: None }
}

fn give(state: &mut State, grant: Grant) -> Reply {
    let Grant { client, scope, resource, subject, family } = grant;
    let seconds = state.behaviour.token_seconds;
    let mut claims = subject.clone();
    claims.insert("client_id".into(), client.as_str().into());
    claims.insert("scope".into(), scope.as_str().into());
    claims.insert("aud".into(), resource.clone().unwrap_or_else(|| state.url.clone()).into());
    let access_token = state.behaviour.token.clone().unwrap_or_else(|| token::issue(state, claims, seconds));
    let mut answer = json!({ "access_token": access_token, "token_type": "Bearer", "expires_in": seconds, "scope": scope });
    if let Some(family) = family.filter(|_| state.behaviour.gives_refresh_tokens) {
        let id = random_text("refresh");
        let subject = subject.clone();
        let refresh = Refresh {
            client: client.clone(),
            family,
            scope: scope.clone(),
            resource,
            subject,
            is_used: false,
        };
        state.refresh_tokens.insert(id.clone(), refresh);
        answer["refresh_token"] = id.into();
    }
    let given = ["access_token", "refresh_token"].into_iter().filter_map(|name| answer[name].as_str());
    state.given.extend(given.map(String::from));
    Reply::json(200, &answer)
}

/// Answers `POST /introspect`.
pub(super) fn introspect(state: &State, request: &Request) -> Reply {
    if clients::authenticate(state, request).is_none() {
        return refused(401, "invalid_client");
    }
    let claims = request.field("token").and_then(|given| token::claims(state, &given));
    let answer = match claims {
        Some(mut claims) => {
            claims.insert("active".into(), true.into());
            Value::Object(claims)
        }
        None => json!({ "active": false }),
    };
    Reply::json(200, &answer)
}

/// Answers `POST /revoke`.
pub(super) fn revoke(state: &mut State, request: &Request) -> Reply {
    let given = request.field("token").unwrap_or_default();
    state.issued.remove(&given);
    state.refresh_tokens.remove(&given);
    Reply::json(200, &json!({}))
}
