//! Requests to servers and their authorization servers: the client, an answer within limits, the metadata of an issuer,
//! and the challenges of a server that refuses a request.

use std::sync::OnceLock;
use std::time::Duration;

use http::StatusCode;
use http::header::{ACCEPT, CONTENT_TYPE, WWW_AUTHENTICATE};
use reqwest::RequestBuilder;
use rmcp::transport::auth::WWWAuthenticateParams;
use serde_json::Value;
use tokio::time::timeout;

use super::{Refused, SignInError};
use toolcrib_catalog::config::is_safe_address;

/// Longest time to connect, and longest wait for the first challenge.
const CONNECTING: Duration = Duration::from_secs(10);
/// Longest answer, in bytes.
const MAX_BYTES: usize = 256 * 1024;
/// Longest name of a scope, in bytes.
const MAX_SCOPE: usize = 200;
/// Most scopes of a challenge, and of all that are noted.
pub(super) const MAX_SCOPES: usize = 50;

/// The client, which follows no redirects; the reason where none can be made.
fn client() -> Result<&'static reqwest::Client, SignInError> {
    static HTTP: OnceLock<Result<reqwest::Client, SignInError>> = OnceLock::new();
    let client = HTTP.get_or_init(|| {
        // The program has one cryptography provider; a second call changes nothing.
        let _ = rustls::crypto::ring::default_provider().install_default();
        reqwest::Client::builder()
            .gzip(false)
            .redirect(reqwest::redirect::Policy::none())
            .connect_timeout(CONNECTING)
            // Requests may come from different runtimes, and a connection belongs to one.
            .pool_max_idle_per_host(0)
            .user_agent(concat!("toolcrib/", env!("CARGO_PKG_VERSION")))
            .build()
            .map_err(|error| error.to_string().into())
    });
    client.as_ref().map_err(Clone::clone)
}

/// A request that posts a form.
pub(super) fn form(url: &str, fields: &[(&str, &str)]) -> Result<RequestBuilder, SignInError> {
    let body = form_urlencoded::Serializer::new(String::new()).extend_pairs(fields).finish();
    Ok(client()?.post(url).header(CONTENT_TYPE, "application/x-www-form-urlencoded").body(body))
}

/// Sends a request, and gives the status and the body of the answer. The error names neither the address nor anything that
/// was sent.
pub(super) async fn send(request: RequestBuilder) -> Result<(u16, Vec<u8>), SignInError> {
    let answer = request.header(ACCEPT, "application/json").send().await;
    let mut answer = answer.map_err(|error| match (error.is_timeout(), error.is_builder()) {
        (true, _) => "there was no answer in time",
        (_, true) => "its address is no address",
        _ => "there was no connection",
    })?;
    let mut body = Vec::new();
    while let Some(piece) = answer.chunk().await.map_err(|_| "the answer broke off")? {
        if body.len() + piece.len() > MAX_BYTES {
            return Err("the answer is too long".into());
        }
        body.extend_from_slice(&piece);
    }
    Ok((answer.status().as_u16(), body))
}

/// The document at an address.
pub async fn document(url: &str) -> Result<Vec<u8>, SignInError> {
    match send(client()?.get(url)).await? {
        (200, body) => Ok(body),
        (status, _) => Err(format!("it answered {status}").into()),
    }
}

/// The reason why the metadata of an issuer cannot be read, with the paths that were asked. Callers see it, and not the host.
pub struct NoMetadata {
    /// Whether nothing is there, so that the address of the issuer is wrong.
    pub(super) is_absent: bool,
    /// Why.
    pub reason: String,
}

/// The metadata of an issuer, and the address that a field of it names, such as `token_endpoint`.
pub async fn issuer_metadata(issuer: &str, field: &str) -> Result<(String, Value), NoMetadata> {
    let mut absent = Vec::new();
    let mut unusable = None;
    for (origin, path) in places(issuer) {
        match document(&format!("{origin}{path}")).await.and_then(|text| named(&text, issuer, field)) {
            Ok(found) => return Ok(found),
            Err(problem) if problem.0 == "it answered 404" => absent.push(path),
            Err(problem) => unusable = unusable.or(Some(format!("{path}: {problem}"))),
        }
    }
    Err(match unusable {
        Some(reason) => NoMetadata { is_absent: false, reason },
        None => {
            NoMetadata { is_absent: true, reason: format!("it answered 404 to {}", absent.join(" and ")) }
        }
    })
}

/// The places of the metadata of an issuer, as origin and path: as RFC 8414 has it, then as OpenID Connect has it.
fn places(issuer: &str) -> [(&str, String); 2] {
    let issuer = issuer.trim_end_matches('/');
    let host = issuer.find("://").map_or(0, |at| at + 3);
    let (origin, path) = issuer.split_at(issuer[host..].find('/').map_or(issuer.len(), |at| host + at));
    [
        (origin, format!("/.well-known/oauth-authorization-server{path}")),
        (origin, format!("{path}/.well-known/openid-configuration")),
    ]
}

/// The address in a metadata document. It has to be of this issuer, so that no other one answers for it.
fn named(text: &[u8], issuer: &str, field: &str) -> Result<(String, Value), SignInError> {
    let document: Value = serde_json::from_slice(text).map_err(|_| "it is no JSON")?;
    if document["issuer"].as_str() != Some(issuer) {
        return Err("it is of another issuer".into());
    }
    match document[field].as_str() {
        None => Err(format!("it has no `{field}`").into()),
        Some(url) if !is_safe_address(url) => Err(format!("its `{field}` is not https").into()),
        Some(url) => Ok((url.to_string(), document)),
    }
}

/// The challenge with which a server refuses a request without a token; `None` where it does not refuse. A server may send it in
/// answer to messages alone.
pub(super) async fn first_challenge(url: &str) -> Option<String> {
    let request = client().ok()?.post(url).body(r#"{"jsonrpc": "2.0", "id": 1, "method": "ping"}"#);
    let request = request.header(CONTENT_TYPE, "application/json");
    let request = request.header(ACCEPT, "application/json, text/event-stream");
    let answer = timeout(CONNECTING, request.send()).await.ok()?.ok()?;
    let challenges = answer.headers().get_all(WWW_AUTHENTICATE).iter();
    let mut challenges = challenges.filter_map(|challenge| challenge.to_str().ok());
    let is_bearer =
        |challenge: &&str| challenge.get(..6).is_some_and(|scheme| scheme.eq_ignore_ascii_case("bearer"));
    let found = challenges.find(is_bearer).map(str::to_string);
    found.filter(|_| answer.status() == StatusCode::UNAUTHORIZED)
}

/// The scopes of a 403 with `insufficient_scope` (step-up); empty for every other refusal.
pub(super) fn asked_scopes(refused: Refused<'_>) -> Vec<String> {
    let is_wider = |challenge: &&str| parsed(challenge).is_some_and(|params| params.is_insufficient_scope());
    refused.challenge.filter(|_| refused.status == 403).filter(is_wider).map(scopes_of).unwrap_or_default()
}

/// The scopes that a challenge names.
pub(super) fn scopes_of(challenge: &str) -> Vec<String> {
    let named = parsed(challenge).and_then(|params| params.scope).unwrap_or_default();
    let is_scope =
        |scope: &&str| scope.len() <= MAX_SCOPE && scope.bytes().all(|byte| byte.is_ascii_graphic());
    named.split_whitespace().filter(is_scope).take(MAX_SCOPES).map(str::to_string).collect()
}

fn parsed(challenge: &str) -> Option<WWWAuthenticateParams> {
    Some(WWWAuthenticateParams::parse(challenge, &"http://localhost/".parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metadata_is_at_its_usual_places() {
        let with_path = ["/.well-known/oauth-authorization-server/t", "/t/.well-known/openid-configuration"];
        assert_eq!(places("https://a.example/t/"), with_path.map(|path| ("https://a.example", path.into())));
        assert_eq!(places("https://a.example")[0].1, "/.well-known/oauth-authorization-server");
    }

    #[test]
    fn metadata_is_of_its_issuer_and_names_a_safe_address() {
        let issuer = "https://a.example";
        let named = |text: &str| named(text.as_bytes(), issuer, "jwks_uri");
        let good = r#"{"issuer": "https://a.example", "jwks_uri": "https://b.example/keys"}"#;
        assert_eq!(named(good).unwrap().0, "https://b.example/keys");
        for (bad, why) in [
            (good.replace("a.example", "c.example"), "another issuer"),
            (good.replace("https://b", "http://b"), "not https"),
            (r#"{"issuer": "https://a.example"}"#.into(), "no `jwks_uri`"),
            ("{".into(), "no JSON"),
        ] {
            assert!(named(&bad).unwrap_err().0.contains(why), "{bad}");
        }
    }
}
