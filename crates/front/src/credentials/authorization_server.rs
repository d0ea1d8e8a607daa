//! The authorization server of a protected server: found, and asked to refresh a sign-in.

use rmcp::transport::auth::{
    AuthError, AuthorizationManager, AuthorizationMetadata, CredentialStore, InMemoryCredentialStore,
    OAuthClientConfig, StoredCredentials,
};
use serde_json::{Value, json};

use super::challenge::first_challenge;
use super::reasons::{OWN_TOKEN, SignInError, reason};
use super::sign_in_file::{SignIn, Tokens};
use super::token::is_sendable;
use toolcrib_catalog::config::ServerAuth;
use toolcrib_definition::clean_line;

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
    Failed(SignInError),
}

impl Authorization {
    /// Finds the authorization server of a server. Addresses in its metadata do not reach private networks, unless the
    /// server itself is there.
    pub(super) async fn discover(url: &str, auth: &ServerAuth) -> Result<Self, SignInError> {
        let challenge = first_challenge(url).await;
        let said = |error: AuthError| match error {
            AuthError::AuthorizationServersUnavailable { .. } => {
                format!("{}; tell its provider, or {OWN_TOKEN}", reason(&error, &[])).into()
            }
            error => reason(&error, &[]),
        };
        let mut manager = AuthorizationManager::new(url).await.map_err(said)?;
        let found = manager.resolve_metadata_from_challenge(challenge.as_deref()).await.map_err(said)?;
        let metadata = found.metadata;
        let is_discovered = found.source.is_discovered();
        let named = metadata.issuer.as_deref().unwrap_or_default();
        if let Some(expected) = &auth.issuer
            && expected.trim_end_matches('/') != named.trim_end_matches('/')
        {
            let named = clean_line(named);
            let problem = format!("it names the authorization server {named}, and `issuer` is {expected}");
            return Err(problem.into());
        }
        manager.set_metadata(metadata.clone());
        let credentials = InMemoryCredentialStore::new();
        manager.set_credential_store(credentials.clone());
        Ok(Self { manager, metadata, is_discovered, credentials })
    }

    /// Whether it says that it takes PKCE; MCP forbids a sign-in at any other one.
    pub(super) fn check_pkce(&self) -> Result<(), SignInError> {
        if !self.is_discovered || self.metadata.code_challenge_methods_supported.is_some() {
            return Ok(());
        }
        Err(format!(
            "its authorization server {} does not say that it takes PKCE: `code_challenge_methods_supported` is missing \
             from its metadata, and MCP forbids to sign in without; ask its provider to add it, or {OWN_TOKEN}",
            clean_line(&self.issuer())
        )
        .into())
    }

    /// The name of the authorization server; its address where it has none.
    pub(super) fn issuer(&self) -> String {
        self.metadata.issuer.clone().unwrap_or_else(|| self.metadata.authorization_endpoint.clone())
    }

    /// Asks for a new token with the refresh token of a sign-in, which goes to its own issuer alone.
    pub(super) async fn refresh(mut self, used: &SignIn, auth: &ServerAuth) -> Result<SignIn, RefreshError> {
        let tokens = used.tokens.clone().ok_or(RefreshError::Ended)?;
        if self.issuer() != used.issuer {
            // Also where the metadata is missing for a moment, so the sign-in stays.
            let problem = format!("the server does not name {} now, where the sign-in is from", used.issuer);
            return Err(RefreshError::Failed(clean_line(&problem).into()));
        }
        let secrets = [Some(&tokens.access), tokens.refresh.as_ref(), tokens.client_secret.as_ref()];
        let secrets: Vec<&str> = secrets.into_iter().flatten().map(String::as_str).collect();
        let failed = |error: AuthError| match error {
            AuthError::TokenRefreshRejected(_) | AuthError::AuthorizationRequired => RefreshError::Ended,
            error => match reason(&error, &secrets) {
                // It has forgotten the client that registered itself; the next sign-in registers another one.
                SignInError::UnknownClient(_) if auth.client_id.is_none() => RefreshError::Ended,
                reason => RefreshError::Failed(reason),
            },
        };
        let mut client = OAuthClientConfig::new(&used.client_id, &used.redirect_uri);
        client.client_secret = tokens.client_secret.clone();
        self.manager.configure_client(client).map_err(failed)?;
        self.credentials.save(stored(used, &tokens)).await.map_err(failed)?;
        self.manager.refresh_token().await.map_err(failed)?;
        self.sign_in(used).await.map_err(RefreshError::Failed)
    }

    /// The sign-in with the tokens that were just given; everything else is that of `before`. A token that no header can hold is
    /// left out.
    pub(super) async fn sign_in(&self, before: &SignIn) -> Result<SignIn, SignInError> {
        let stored = self.credentials.load().await.map_err(|error| reason(&error, &[]))?;
        let stored = stored.ok_or("the authorization server gave no token")?;
        let response = serde_json::to_value(&stored.token_response).unwrap_or_default();
        let text = |name: &str| response.get(name).and_then(Value::as_str).map(str::to_string);
        // The refresh token beside an unusable token counts: the one before may be used up.
        let access = text("access_token").filter(|token| is_sendable(token)).unwrap_or_default();
        let refresh =
            text("refresh_token").filter(|token| !token.is_empty() && !token.contains(char::is_control));
        let before_tokens = before.tokens.clone();
        let refresh = refresh.or(before_tokens.as_ref().and_then(|tokens| tokens.refresh.clone()));
        let client_secret = before_tokens.and_then(|tokens| tokens.client_secret);
        Ok(SignIn {
            scopes: stored.granted_scopes,
            received_at: stored.token_received_at.unwrap_or_default(),
            expires_in: response.get("expires_in").and_then(Value::as_u64),
            tokens: Some(Tokens { access, refresh, client_secret }),
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
    let id = sign_in.client_id.clone();
    let scopes = sign_in.scopes.clone();
    StoredCredentials::new(id, response, scopes, Some(sign_in.received_at))
        .with_issuer(Some(sign_in.issuer.clone()))
}
