//! The clients of an issuer, and how they prove who they are.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::State;
use super::http::{Reply, Request, refused};
use super::keys::random_text;

/// A client: public without a secret.
#[derive(Clone, Debug)]
pub(super) struct Client {
    secret: Option<String>,
    redirect_uris: Vec<String>,
}

impl Client {
    /// A client with a secret.
    pub(super) fn known(secret: &str, redirect_uris: &[&str]) -> Self {
        let redirect_uris = redirect_uris.iter().map(ToString::to_string).collect();
        Self { secret: Some(secret.into()), redirect_uris }
    }

    /// Whether it may be sent to this address: an exact match, or any port of a loopback address (RFC 8252).
    pub(super) fn may_return_to(&self, address: &str) -> bool {
        self.redirect_uris
            .iter()
            .any(|known| known == address || without_port(known) == without_port(address))
    }
}

/// A loopback address without its port; every other address as it is.
fn without_port(address: &str) -> String {
    for host in ["http://127.0.0.1", "http://localhost"] {
        if let Some(rest) = address.strip_prefix(host).filter(|rest| rest.starts_with(':')) {
            return format!(
                "{host}{}",
                rest.trim_start_matches(|sign: char| sign == ':' || sign.is_ascii_digit())
            );
        }
    }
    address.to_string()
}

/// The client of this id, also by its metadata document.
pub(super) fn find(state: &State, id: &str) -> Option<Client> {
    if id.starts_with("https://") && state.behaviour.takes_metadata_documents {
        let redirect_uris =
            ["http://127.0.0.1/callback", "http://localhost/callback", "http://127.0.0.1:0/callback"];
        return Some(Client { secret: None, redirect_uris: redirect_uris.map(String::from).to_vec() });
    }
    state.clients.get(id).cloned()
}

/// Answers `POST /register`.
pub(super) fn register(state: &mut State, request: &Request) -> Reply {
    if !state.behaviour.registers_clients {
        return refused(403, "access_denied");
    }
    let asked: Value = serde_json::from_str(&request.body).unwrap_or_default();
    let texts = asked["redirect_uris"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let redirect_uris: Vec<String> = texts.map(String::from).collect();
    let is_public = asked["token_endpoint_auth_method"].as_str().is_none_or(|method| method == "none");
    let secret = (!is_public).then(|| random_text("secret"));
    let id = random_text("client");
    let mut answer = asked.clone();
    answer["client_id"] = id.clone().into();
    answer["redirect_uris"] = json!(redirect_uris);
    if let Some(secret) = &secret {
        answer["client_secret"] = secret.clone().into();
        answer["client_secret_expires_at"] = 0.into();
    }
    state.clients.insert(id, Client { secret, redirect_uris });
    Reply::json(201, &answer)
}

/// The client of a request to `/token` and other endpoints, by Basic or by fields of the form.
pub(super) fn authenticate(state: &State, request: &Request) -> Option<String> {
    let basic =
        request.header("authorization").and_then(|value| value.strip_prefix("Basic ").map(String::from));
    let (id, secret) = match basic {
        Some(encoded) => {
            let text = String::from_utf8(STANDARD.decode(encoded).ok()?).ok()?;
            let (id, secret) = text.split_once(':')?;
            (decoded(id), Some(decoded(secret)))
        }
        None => (request.field("client_id")?, request.field("client_secret")),
    };
    let client = find(state, &id)?;
    (client.secret == secret).then_some(id)
}

fn decoded(text: &str) -> String {
    form_urlencoded::parse(format!("v={text}").as_bytes())
        .next()
        .map(|(_, value)| value.into_owned())
        .unwrap_or_default()
}
