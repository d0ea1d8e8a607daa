//! A request of a service for a token (client credentials).

use std::time::Duration;

use oauth2::TokenResponse;
use rmcp::transport::auth::{AuthorizationManager, ClientCredentialsConfig};
use serde_json::Value;
use tokio::time::timeout;

use super::challenge::first_challenge;
use super::token_endpoint::{Client, Reply, TokenEndpoint};
use super::{Credentials, SecretToken, SignInProblem};
use crate::config::{ClientAuthentication, Server, ServerAuth, is_safe_address};
use crate::secret::Echo;
use crate::tool::clean_line;

/// Longest wait for a token, with discovery.
const MAX_WAIT: Duration = Duration::from_secs(30);
/// Lifetime of a token without `expires_in`.
const USUAL_LIFETIME: Duration = Duration::from_secs(300);
/// Longest lifetime that is believed.
const MAX_LIFETIME: Duration = Duration::from_secs(24 * 3600);
/// Longest token, in bytes: a header holds it.
const MAX_TOKEN: usize = 16 * 1024;
/// Most characters of an error of an authorization server.
const MAX_EXCERPT: usize = 200;

/// A request for the token of one server.
#[derive(Clone, Copy)]
pub(super) struct TokenRequest<'r> {
    credentials: &'r Credentials,
    name: &'r str,
    pub(super) server: &'r Server,
    auth: &'r ServerAuth,
}

/// A new token.
pub(super) struct Issued {
    pub(super) token: SecretToken,
    pub(super) lifetime: Duration,
}

impl<'r> TokenRequest<'r> {
    /// The request for a server.
    pub(super) fn new(
        credentials: &'r Credentials,
        (name, server): (&'r str, &'r Server),
    ) -> Result<Self, SignInProblem> {
        let missing = || SignInProblem::Setting("it has no `auth`".into());
        let auth = server.auth.as_ref().ok_or_else(missing)?;
        Ok(Self { credentials, name, server, auth })
    }

    /// A hash of everything that the token depends on.
    pub(super) fn key(&self) -> blake3::Hash {
        let whole = serde_json::json!([self.name, self.server.url, self.auth]);
        blake3::hash(whole.to_string().as_bytes())
    }

    /// Whether the configuration asks for this scope.
    pub(super) fn asks_for(&self, scope: &str) -> bool {
        self.auth.scopes.iter().any(|own| own == scope)
    }

    /// Asks for a token with the scopes of the configuration and these.
    pub(super) async fn send(&self, scopes: &[String]) -> Result<Issued, SignInProblem> {
        let wait = self.server.timeout().min(MAX_WAIT);
        let late = || SignInProblem::Refused("its authorization server did not answer in time".into());
        let scopes: Vec<String> = self.auth.scopes.iter().chain(scopes).cloned().collect();
        let names_issuer = self.auth.token_url.is_some() || self.auth.issuer.is_some();
        let asked = async {
            match names_issuer {
                true => self.ask(&scopes).await,
                false => self.discover_and_ask(scopes).await,
            }
        };
        timeout(wait, asked).await.map_err(|_| late())?
    }

    /// Asks the authorization server of the configuration.
    async fn ask(&self, scopes: &[String]) -> Result<Issued, SignInProblem> {
        let client = self.client()?;
        let endpoint = TokenEndpoint::of(self.auth).await?;
        let mut form = vec![("grant_type", "client_credentials".to_string())];
        let scope = Some(scopes.join(" ")).filter(|scope| !scope.is_empty());
        form.extend(scope.map(|scope| ("scope", scope)));
        form.extend(self.auth.audience.clone().map(|audience| ("audience", audience)));
        form.extend(self.resource().map(|resource| ("resource", resource)));
        self.issued(endpoint.ask(form, &client).await?, &client)
    }

    /// Asks the authorization server that the server names. Addresses within its metadata do not lead into private networks.
    async fn discover_and_ask(&self, scopes: Vec<String>) -> Result<Issued, SignInProblem> {
        let client = self.client()?;
        let refused = |error: rmcp::transport::auth::AuthError| {
            SignInProblem::of_authorization_server(hidden(&error.to_string(), client.secrets()))
        };
        let url = self.server.url.as_deref().unwrap_or_default();
        let mut manager = AuthorizationManager::new(url).await.map_err(refused)?;
        let challenge = first_challenge(url).await;
        let found = manager.resolve_metadata_from_challenge(challenge.as_deref()).await.map_err(refused)?;
        let mut metadata = found.metadata;
        if !found.source.is_discovered() || !is_safe_address(&metadata.token_endpoint) {
            let message =
                "the server names no authorization server that can be used; set `token_url` or `issuer`";
            return Err(SignInProblem::Setting(message.into()));
        }
        if let Some(chosen) = self.auth.client_authentication {
            let methods = "token_endpoint_auth_methods_supported".to_string();
            metadata.additional_fields.insert(methods, serde_json::json!([chosen]));
        }
        manager.set_metadata(metadata);
        let config = ClientCredentialsConfig::ClientSecret {
            client_id: client.id.clone(),
            client_secret: client.secret.clone().unwrap_or_default(),
            scopes,
            resource: Some(self.resource().unwrap_or_else(|| url.to_string())),
        };
        manager.configure_client_credentials(&config).map_err(refused)?;
        let answer = manager.exchange_client_credentials(&config).await.map_err(refused)?;
        Ok(Issued {
            token: usable(answer.access_token().secret())?,
            lifetime: answer.expires_in().unwrap_or(USUAL_LIFETIME).min(MAX_LIFETIME),
        })
    }

    /// The client of the configuration, with its secret.
    fn client(&self) -> Result<Client, SignInProblem> {
        let id = self.auth.client_id.clone().unwrap_or_default();
        let missing = |name| SignInProblem::Setting(format!("the environment variable {name} is not set"));
        let filled = |text: &String| self.credentials.environment.filled(text).map_err(missing);
        let secret = self.auth.client_secret.as_ref().map(filled).transpose()?;
        Ok(Client { id, secret, authentication: self.auth.client_authentication })
    }

    /// The resource that the token is for: by its setting, else the server, unless an audience says it.
    fn resource(&self) -> Option<String> {
        let of_server = || {
            let url = self.server.url.as_deref().filter(|_| self.auth.audience.is_none())?;
            url.split('#').next().map(str::to_string)
        };
        self.auth.resource.clone().or_else(of_server).filter(|resource| !resource.is_empty())
    }

    /// The token of an answer.
    fn issued(&self, reply: Reply, client: &Client) -> Result<Issued, SignInProblem> {
        let body: Value = serde_json::from_slice(&reply.body).unwrap_or_default();
        if reply.status != 200 {
            let words = ["error", "error_description"].map(|field| body[field].as_str().unwrap_or_default());
            let words = hidden(words.join(" ").trim(), client.secrets());
            let status = reply.status;
            return Err(SignInProblem::of_authorization_server(match words.is_empty() {
                true => format!("its authorization server answered {status}"),
                false => format!("its authorization server answered {status}: {words}"),
            }));
        }
        let kind = body["token_type"].as_str().unwrap_or("Bearer");
        if !["bearer", "n_a"].iter().any(|known| kind.eq_ignore_ascii_case(known)) {
            return Err(SignInProblem::Refused(
                "its authorization server gave a token that is no bearer token".into(),
            ));
        }
        let seconds = body["expires_in"].as_u64();
        let seconds = seconds.or_else(|| body["expires_in"].as_str()?.parse().ok());
        let lifetime = seconds.map_or(USUAL_LIFETIME, Duration::from_secs).min(MAX_LIFETIME);
        Ok(Issued { token: usable(body["access_token"].as_str().unwrap_or_default())?, lifetime })
    }
}

/// A token that a header can hold.
fn usable(token: &str) -> Result<SecretToken, SignInProblem> {
    let is_usable =
        !token.is_empty() && token.len() <= MAX_TOKEN && token.bytes().all(|byte| byte.is_ascii_graphic());
    let unusable = || SignInProblem::Refused("its authorization server answered without a token".into());
    is_usable.then(|| SecretToken::new(token)).ok_or_else(unusable)
}

/// An untrusted text on one line, without these secrets.
fn hidden<'s>(text: &str, secrets: impl Iterator<Item = &'s str>) -> String {
    // A server may answer with anything; encoded forms are searched for in the part that is shown and a little more.
    let start: String = text.chars().take(8 * MAX_EXCERPT).collect();
    let hidden = secrets
        .filter(|secret| !secret.is_empty())
        .fold(start, |text, secret| Echo::of(secret).hidden_in(&text));
    clean_line(&hidden).chars().take(MAX_EXCERPT).collect()
}

impl Client {
    /// The secrets of a request, which no message has.
    fn secrets(&self) -> impl Iterator<Item = &str> {
        self.secret.as_deref().into_iter()
    }

    /// The way in which the client proves itself, as far as the configuration says.
    pub(super) fn authentication_or(&self, preferred: ClientAuthentication) -> ClientAuthentication {
        self.authentication.unwrap_or(preferred)
    }
}
