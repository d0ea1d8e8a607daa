//! Challenges with which a server refuses a request, and the scopes that it asks for there.

use http::StatusCode;
use http::header::{ACCEPT, CONTENT_TYPE, WWW_AUTHENTICATE};
use rmcp::transport::auth::WWWAuthenticateParams;
use tokio::time::timeout;

use super::http::{CONNECTING, client};
use super::token::SecretToken;

/// Longest name of a scope, in bytes.
const MAX_SCOPE: usize = 200;
/// Most scopes of a challenge, and of all that are noted.
pub(super) const MAX_SCOPES: usize = 50;

/// A token that a server has refused, or a request without one.
#[derive(Clone, Copy, Debug)]
pub struct Refused<'r> {
    /// The token that was sent.
    pub token: Option<&'r SecretToken>,
    /// 401, or 403 with `insufficient_scope`.
    pub status: u16,
    /// The header `WWW-Authenticate`.
    pub challenge: Option<&'r str>,
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
    if answer.status() != StatusCode::UNAUTHORIZED {
        return None;
    }
    challenges.find(is_bearer).map(str::to_string)
}

/// The scopes of a 403 with `insufficient_scope` (step-up); empty for every other refusal.
pub(super) fn asked_scopes(refused: Refused<'_>) -> Vec<String> {
    let is_wider = |challenge: &&str| parsed(challenge).is_some_and(|params| params.is_insufficient_scope());
    let challenge = if refused.status == 403 { refused.challenge } else { None };
    challenge.filter(is_wider).map(scopes_of).unwrap_or_default()
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
