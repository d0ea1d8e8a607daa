//! The scopes that a server asks for when it refuses a token (step-up).

use rmcp::transport::auth::WWWAuthenticateParams;

use super::Refused;
use crate::config::Server;

/// Longest name of a scope, in bytes.
const MAX_SCOPE: usize = 200;

/// The scopes of a 403 with `insufficient_scope`; empty for every other refusal.
pub(super) fn asked_scopes(server: &Server, refused: Refused<'_>) -> Vec<String> {
    let url = server.url.as_deref().and_then(|url| reqwest::Url::parse(url).ok());
    let Some((challenge, url)) = refused.challenge.filter(|_| refused.status == 403).zip(url) else {
        return Vec::new();
    };
    let challenge = WWWAuthenticateParams::parse(challenge, &url);
    let scopes = challenge.scope.filter(|_| challenge.error.as_deref() == Some("insufficient_scope"));
    let scopes = scopes.unwrap_or_default();
    let is_scope =
        |scope: &&str| scope.len() <= MAX_SCOPE && scope.bytes().all(|byte| byte.is_ascii_graphic());
    scopes.split_whitespace().filter(is_scope).map(str::to_string).collect()
}
