//! The authorization server of a protected server: found, and asked to prolong a sign-in.

use std::error::Error;

use rmcp::transport::auth::{
    AuthError, AuthorizationManager, AuthorizationMetadata, CredentialStore, InMemoryCredentialStore,
    OAuthClientConfig, StoredCredentials,
};
use serde_json::{Value, json};

use super::challenge::first_challenge;
use super::token_store::{SignIn, Tokens};
use crate::config::ServerAuth;
use crate::secret::Echo;
use crate::tool::clean_line;

/// The way out where nobody can sign in.
pub(super) const OWN_TOKEN: &str = "give it a token with `headers = { Authorization = \"Bearer ${NAME}\" }`";
/// Most characters of a reason.
const MAX_REASON: usize = 300;

/// An authorization server, with the credentials of one sign-in.
pub(super) struct Authorization {
    pub(super) manager: AuthorizationManager,
    pub(super) metadata: AuthorizationMetadata,
    /// Whether the server names this authorization server, or nothing was found and the usual addresses are tried.
    pub(super) is_discovered: bool,
    credentials: InMemoryCredentialStore,
}

/// Reason why a refresh gave no token.
pub(super) enum RefreshError {
    /// The sign-in has ended.
    Ended,
    /// It may work later.
    Failed(String),
}

impl Authorization {
    /// Finds the authorization server of a server. Addresses in its metadata do not reach private networks, unless the
    /// server itself is there.
    pub(super) async fn discover(url: &str, auth: &ServerAuth) -> Result<Self, String> {
        // The program has one cryptography provider; a second call changes nothing.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let said = |error: AuthError| match error {
            AuthError::AuthorizationServersUnavailable { .. } => {
                format!("{}; tell its provider, or {OWN_TOKEN}", reason(&error, &[]))
            }
            error => reason(&error, &[]),
        };
        let mut manager = AuthorizationManager::new(url).await.map_err(said)?;
        let challenge = first_challenge(url).await;
        let found = manager.resolve_metadata_from_challenge(challenge.as_deref()).await.map_err(said)?;
        let (metadata, is_discovered) = (found.metadata, found.source.is_discovered());
        check_issuer(&metadata, auth)?;
        manager.set_metadata(metadata.clone());
        let credentials = InMemoryCredentialStore::new();
        manager.set_credential_store(credentials.clone());
        Ok(Self { manager, metadata, is_discovered, credentials })
    }

    /// Whether it says that it takes PKCE; MCP forbids a sign-in at any other one.
    pub(super) fn check_pkce(&self) -> Result<(), String> {
        let is_silent = self.is_discovered && self.metadata.code_challenge_methods_supported.is_none();
        let message = || {
            format!(
                "its authorization server {} does not say that it takes PKCE: `code_challenge_methods_supported` is missing \
                 from its metadata, and MCP forbids to sign in without; ask its provider to add it, or {OWN_TOKEN}",
                clean_line(&self.issuer())
            )
        };
        if is_silent { Err(message()) } else { Ok(()) }
    }

    /// The name of the authorization server; its address where it has none.
    pub(super) fn issuer(&self) -> String {
        self.metadata.issuer.clone().unwrap_or_else(|| self.metadata.authorization_endpoint.clone())
    }

    /// Asks for a new token with the refresh token of a sign-in, which goes to its own issuer alone.
    pub(super) async fn refresh(mut self, sign_in: &SignIn) -> Result<SignIn, RefreshError> {
        let tokens = sign_in.tokens.clone().ok_or(RefreshError::Ended)?;
        if self.issuer() != sign_in.issuer {
            return Err(RefreshError::Ended);
        }
        let secrets: Vec<&str> = [Some(tokens.access.as_str()), tokens.refresh.as_deref()]
            .into_iter()
            .chain([tokens.client_secret.as_deref()])
            .flatten()
            .collect();
        let failed = |error: AuthError| match error {
            AuthError::TokenRefreshRejected(_) | AuthError::AuthorizationRequired => RefreshError::Ended,
            error => RefreshError::Failed(reason(&error, &secrets)),
        };
        let mut client = OAuthClientConfig::new(&sign_in.client_id, &sign_in.redirect_uri);
        client.client_secret = tokens.client_secret.clone();
        self.manager.configure_client(client).map_err(failed)?;
        self.credentials.save(stored(sign_in, &tokens)).await.map_err(failed)?;
        self.manager.refresh_token().await.map_err(failed)?;
        let refreshed = self.sign_in(sign_in).await.map_err(RefreshError::Failed)?;
        Ok(refreshed)
    }

    /// The sign-in with the tokens that were just given; everything else is that of `before`.
    pub(super) async fn sign_in(&self, before: &SignIn) -> Result<SignIn, String> {
        let stored = self.credentials.load().await.map_err(|error| reason(&error, &[]))?;
        let stored = stored.ok_or("the authorization server gave no token")?;
        let response = serde_json::to_value(&stored.token_response).unwrap_or_default();
        let text = |name: &str| response.get(name).and_then(Value::as_str).map(str::to_string);
        let access = text("access_token").ok_or("the authorization server gave no token")?;
        let client_secret = before.tokens.as_ref().and_then(|tokens| tokens.client_secret.clone());
        Ok(SignIn {
            scopes: stored.granted_scopes,
            received_at: stored.token_received_at.unwrap_or_default(),
            expires_in: response.get("expires_in").and_then(Value::as_u64),
            tokens: Some(Tokens { access, refresh: text("refresh_token"), client_secret }),
            ..before.clone()
        })
    }
}

/// The authorization server is the configured one, where there is one.
fn check_issuer(metadata: &AuthorizationMetadata, auth: &ServerAuth) -> Result<(), String> {
    let found = metadata.issuer.as_deref().unwrap_or_default();
    match auth.issuer.as_deref() {
        Some(expected) if expected.trim_end_matches('/') != found.trim_end_matches('/') => Err(format!(
            "it names the authorization server {}, and `issuer` is {expected}",
            clean_line(found)
        )),
        _ => Ok(()),
    }
}

fn stored(sign_in: &SignIn, tokens: &Tokens) -> StoredCredentials {
    let response = json!({
        "access_token": tokens.access, "refresh_token": tokens.refresh, "token_type": "bearer",
        "expires_in": sign_in.expires_in,
    });
    let response = serde_json::from_value(response).ok();
    let (id, scopes) = (sign_in.client_id.clone(), sign_in.scopes.clone());
    StoredCredentials::new(id, response, scopes, Some(sign_in.received_at))
        .with_issuer(Some(sign_in.issuer.clone()))
}

/// The reason of an error on one line, without these secrets.
pub(super) fn reason(error: &AuthError, secrets: &[&str]) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(inner) = source {
        let said = inner.to_string();
        if !text.contains(&said) {
            text = format!("{text}: {said}");
        }
        source = inner.source();
    }
    let hidden = secrets.iter().fold(text, |text, secret| Echo::of(secret).hidden_in(&text));
    clean_line(&hidden).chars().take(MAX_REASON).collect()
}
