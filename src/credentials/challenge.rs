//! The challenges of a server: the first one, and the scopes that it asks for when it refuses a token (step-up).

use std::time::Duration;

use http::StatusCode;
use http::header::{ACCEPT, CONTENT_TYPE, WWW_AUTHENTICATE};
use rmcp::transport::auth::WWWAuthenticateParams;
use tokio::time::timeout;

use super::Refused;
use super::http_client::client;

/// Longest wait for the first challenge.
const LONGEST_WAIT: Duration = Duration::from_secs(10);
/// Longest name of a scope, in bytes.
const MAX_SCOPE: usize = 200;
/// Most scopes of a challenge, and of all that are noted.
pub(super) const MAX_SCOPES: usize = 50;

/// The scopes of a 403 with `insufficient_scope`; empty for every other refusal.
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

/// The challenge with which a server refuses a request without a token; `None` where it does not refuse. A server may send it in
/// answer to messages alone.
pub(super) async fn first_challenge(url: &str) -> Option<String> {
    let request = client().ok()?.post(url).body(r#"{"jsonrpc": "2.0", "id": 1, "method": "ping"}"#);
    let request = request.header(CONTENT_TYPE, "application/json");
    let request = request.header(ACCEPT, "application/json, text/event-stream");
    let answer = timeout(LONGEST_WAIT, request.send()).await.ok()?.ok()?;
    let challenges = answer.headers().get_all(WWW_AUTHENTICATE).iter();
    let mut challenges = challenges.filter_map(|challenge| challenge.to_str().ok());
    let is_bearer =
        |challenge: &&str| challenge.get(..6).is_some_and(|scheme| scheme.eq_ignore_ascii_case("bearer"));
    let found = challenges.find(is_bearer).map(str::to_string);
    found.filter(|_| answer.status() == StatusCode::UNAUTHORIZED)
}
