//! The authorization server of a protected server: found, and asked to prolong a sign-in.

use std::error::Error;

use rmcp::transport::auth::{
    AuthError, AuthorizationManager, AuthorizationMetadata, CredentialStore, InMemoryCredentialStore,
    OAuthClientConfig, StoredCredentials,
};
use serde_json::{Value, json};

use super::http::first_challenge;
use super::sign_in_file::{SignIn, Tokens};
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
        let challenge = first_challenge(url).await;
        let said = |error: AuthError| match error {
            AuthError::AuthorizationServersUnavailable { .. } => {
                format!("{}; tell its provider, or {OWN_TOKEN}", reason(&error, &[]))
            }
            error => reason(&error, &[]),
        };
        let mut manager = AuthorizationManager::new(url).await.map_err(said)?;
        let found = manager.resolve_metadata_from_challenge(challenge.as_deref()).await.map_err(said)?;
        let (metadata, is_discovered) = (found.metadata, found.source.is_discovered());
        let named = metadata.issuer.as_deref().unwrap_or_default();
        if let Some(expected) = &auth.issuer
            && expected.trim_end_matches('/') != named.trim_end_matches('/')
        {
            let named = clean_line(named);
            return Err(format!("it names the authorization server {named}, and `issuer` is {expected}"));
        }
        manager.set_metadata(metadata.clone());
        let credentials = InMemoryCredentialStore::new();
        manager.set_credential_store(credentials.clone());
        Ok(Self { manager, metadata, is_discovered, credentials })
    }

    /// Whether it says that it takes PKCE; MCP forbids a sign-in at any other one.
    pub(super) fn check_pkce(&self) -> Result<(), String> {
        if !self.is_discovered || self.metadata.code_challenge_methods_supported.is_some() {
            return Ok(());
        }
        Err(format!(
            "its authorization server {} does not say that it takes PKCE: `code_challenge_methods_supported` is missing \
             from its metadata, and MCP forbids to sign in without; ask its provider to add it, or {OWN_TOKEN}",
            clean_line(&self.issuer())
        ))
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
        let secrets = [Some(&tokens.access), tokens.refresh.as_ref(), tokens.client_secret.as_ref()];
        let secrets: Vec<&str> = secrets.into_iter().flatten().map(String::as_str).collect();
        let failed = |error: AuthError| match error {
            AuthError::TokenRefreshRejected(_) | AuthError::AuthorizationRequired => RefreshError::Ended,
            error => RefreshError::Failed(reason(&error, &secrets)),
        };
        let mut client = OAuthClientConfig::new(&sign_in.client_id, &sign_in.redirect_uri);
        client.client_secret = tokens.client_secret.clone();
        self.manager.configure_client(client).map_err(failed)?;
        self.credentials.save(stored(sign_in, &tokens)).await.map_err(failed)?;
        self.manager.refresh_token().await.map_err(failed)?;
        self.sign_in(sign_in).await.map_err(RefreshError::Failed)
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
    hidden(&text, secrets)
}

/// An untrusted text on one line, without these secrets.
pub(super) fn hidden(text: &str, secrets: &[&str]) -> String {
    // A server may answer with anything; encoded forms are searched for in the part that is shown and a little more.
    let start: String = text.chars().take(8 * MAX_REASON).collect();
    let secrets = secrets.iter().filter(|secret| !secret.is_empty());
    let hidden = secrets.fold(start, |text, secret| Echo::of(secret).hidden_in(&text));
    clean_line(&hidden).chars().take(MAX_REASON).collect()
}
