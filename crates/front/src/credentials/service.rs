//! Tokens of services (client credentials), kept until shortly before they expire. Many calls that want one at the same time
//! send one request.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde::Deserialize;
use serde_json::Value;
use tokio::time::timeout;

use super::authorization_server::Authorization;
use super::challenge::{Refused, asked_scopes};
use super::http::{form, send};
use super::issuer_metadata::issuer_metadata;
use super::problem::SignInProblem;
use super::reasons::{SignInError, UNKNOWN_CLIENT, hidden};
use super::token::{SecretToken, is_sendable};
use toolcrib_catalog::config::{Environment, Server, ServerAuth, is_safe_address};
use toolcrib_definition::guard::locked;

/// Longest wait for a token, with discovery.
const MAX_WAIT: Duration = Duration::from_secs(30);
/// Lifetime of a token without `expires_in`, and the longest one that is believed.
const USUAL_LIFETIME: u64 = 300;
const MAX_LIFETIME: u64 = 24 * 3600;
/// Longest time before its end at which a token is replaced, so that it does not expire on its way.
const MARGIN: Duration = Duration::from_secs(30);
/// Most scopes that refusals of a server add to a request.
const MAX_SCOPES: usize = 32;

/// The tokens of services, by everything that they depend on.
#[derive(Debug, Default)]
pub(super) struct Services(Mutex<HashMap<String, Arc<tokio::sync::Mutex<Slot>>>>);

/// A token, its scopes, and the last failure to get one.
#[derive(Debug, Default)]
struct Slot {
    /// The token, and the time at which it is replaced.
    token: Option<(SecretToken, Instant)>,
    /// Scopes that the server has asked for, beside those of the configuration.
    scopes: Vec<String>,
    failed: Option<(Instant, SignInProblem)>,
}

/// A service, as the configuration of a server has it.
#[derive(Clone, Copy)]
pub(super) struct Service<'s> {
    pub(super) environment: &'s Environment,
    pub(super) server: &'s Server,
    pub(super) auth: &'s ServerAuth,
}

/// The answer of a token endpoint.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Answer {
    access_token: String,
    token_type: Option<String>,
    expires_in: Value,
    error: String,
    error_description: String,
}

impl Services {
    /// The token of a service: the one that is known, else a new one.
    pub(super) async fn token(&self, service: Service<'_>) -> Result<SecretToken, SignInProblem> {
        let start = Instant::now();
        let slot = self.slot(service);
        let mut slot = slot.lock().await;
        match slot.fresh() {
            Some(token) => Ok(token),
            None => slot.ask(service, start).await,
        }
    }

    /// A token in place of one that a server has refused, with the scopes that it asks for; `None` where there is no other
    /// one.
    pub(super) async fn replace(
        &self,
        service: Service<'_>,
        refused: Refused<'_>,
    ) -> Result<Option<SecretToken>, SignInProblem> {
        let is_other = |token: &SecretToken| refused.token != Some(token);
        let start = Instant::now();
        let slot = self.slot(service);
        let mut slot = slot.lock().await;
        // Another call has replaced it in the meantime.
        if let Some(token) = slot.fresh().filter(is_other) {
            return Ok(Some(token));
        }
        let known = slot.scopes.len();
        for scope in asked_scopes(refused) {
            let is_asked = slot.scopes.contains(&scope) || service.auth.scopes.contains(&scope);
            if !is_asked && slot.scopes.len() < MAX_SCOPES {
                slot.scopes.push(scope);
            }
        }
        if refused.status == 403 && slot.scopes.len() == known {
            return Ok(None);
        }
        slot.ask(service, start).await.map(|token| Some(token).filter(is_other))
    }

    fn slot(&self, service: Service<'_>) -> Arc<tokio::sync::Mutex<Slot>> {
        let key = serde_json::json!([service.server.url, service.auth]).to_string();
        Arc::clone(locked(&self.0).entry(key).or_default())
    }
}

impl Slot {
    fn fresh(&self) -> Option<SecretToken> {
        self.token.as_ref().filter(|(_, until)| Instant::now() < *until).map(|(token, _)| token.clone())
    }

    /// Asks for a token. A caller that has waited for a request since `start` shares its failure.
    pub async fn ask(&mut self, service: Service<'_>, start: Instant) -> Result<SecretToken, SignInProblem> {
        if let Some((_, problem)) = self.failed.as_ref().filter(|(at, _)| *at >= start) {
            return Err(problem.clone());
        }
        (self.token, self.failed) = (None, None);
        let wait = service.server.timeout().min(MAX_WAIT);
        let late = || SignInProblem::Refused("its authorization server did not answer in time".into());
        let asked = timeout(wait, service.ask(&self.scopes)).await.unwrap_or_else(|_| Err(late()));
        match &asked {
            Ok((token, life)) => self.token = Some((token.clone(), Instant::now() + kept_for(*life))),
            Err(problem) => self.failed = Some((Instant::now(), problem.clone())),
        }
        asked.map(|(token, _)| token)
    }
}

impl Service<'_> {
    /// Asks for a token with the scopes of the configuration and these; gives it with its lifetime. Redirects are not
    /// followed.
    pub async fn ask(&self, scopes: &[String]) -> Result<(SecretToken, Duration), SignInProblem> {
        let Self { environment, server, auth } = self;
        let id = auth.client_id.as_deref().unwrap_or_default();
        let secret = environment.filled(auth.client_secret.as_deref().unwrap_or_default());
        let secret = secret.map_err(|missing| SignInProblem::Setting(missing.to_string()))?;
        let (url, takes_basic) = self.endpoint().await?;
        let scopes = auth.scopes.iter().chain(scopes).map(String::as_str).collect::<Vec<_>>().join(" ");
        let mut fields = vec![("grant_type", "client_credentials")];
        if !scopes.is_empty() {
            fields.push(("scope", &scopes));
        }
        fields.push(match &auth.audience {
            Some(audience) => ("audience", audience),
            None => {
                ("resource", server.url.as_deref().and_then(|url| url.split('#').next()).unwrap_or_default())
            }
        });
        if !takes_basic {
            fields.extend([("client_id", id), ("client_secret", &*secret)]);
        }
        let mut request = form(&url, &fields)?;
        if takes_basic {
            request = request.basic_auth(encoded(id), Some(encoded(&secret)));
        }
        let sent = send(request).await;
        let (status, body) = sent.map_err(|why| why.about("its authorization server cannot be asked"))?;
        issued(status, serde_json::from_slice(&body).unwrap_or_default(), &secret)
    }

    /// The token endpoint, and whether clients prove themselves there in a header: the configured one, that of the configured
    /// issuer, or that of the authorization server that the server names.
    async fn endpoint(&self) -> Result<(String, bool), SignInProblem> {
        const METHODS: &str = "token_endpoint_auth_methods_supported";
        if let Some(url) = &self.auth.token_url {
            return Ok((url.clone(), true));
        }
        let Some(issuer) = &self.auth.issuer else {
            let url = self.server.url.as_deref().unwrap_or_default();
            let found = Authorization::discover(url, self.auth).await?;
            let metadata = found.metadata;
            if !found.is_discovered || !is_safe_address(&metadata.token_endpoint) {
                let message =
                    "the server names no authorization server that can be used; set `token_url` or `issuer`";
                return Err(SignInProblem::Setting(message.into()));
            }
            let takes_basic = takes_basic(metadata.additional_fields.get(METHODS));
            return Ok((metadata.token_endpoint, takes_basic));
        };
        let found = issuer_metadata(issuer, "token_endpoint").await;
        let (url, metadata) = found.map_err(|problem| match (problem.is_absent, problem.reason) {
            (true, reason) => SignInProblem::Setting(format!(
                "its `issuer` has no metadata: {reason}; correct `issuer`, or set `token_url`"
            )),
            (false, reason) => {
                SignInProblem::Refused(format!("the metadata of its issuer cannot be read at {reason}"))
            }
        })?;
        Ok((url, takes_basic(metadata.get(METHODS))))
    }
}

/// Whether a client may prove itself in a header, as it may wherever nothing else is said.
fn takes_basic(methods: Option<&Value>) -> bool {
    let takes = |method: &str| {
        methods.and_then(Value::as_array).is_none_or(|methods| methods.iter().any(|known| known == method))
    };
    takes("client_secret_basic") || !takes("client_secret_post")
}

/// The token of an answer, with its lifetime.
fn issued(status: u16, answer: Answer, secret: &str) -> Result<(SecretToken, Duration), SignInProblem> {
    let refused = |why: &str| Err(SignInProblem::Refused(why.into()));
    match status {
        200 => {}
        300..400 => {
            return refused("its authorization server redirects, which is not followed; correct its address");
        }
        _ => {
            let words = hidden(&format!("{} {}", answer.error, answer.error_description), &[secret]);
            let words = if words.trim().is_empty() { words } else { format!(": {}", words.trim()) };
            let message = format!("its authorization server answered {status}{words}");
            let is_unknown = answer.error == UNKNOWN_CLIENT;
            return Err(if is_unknown { SignInError::UnknownClient(message) } else { message.into() }.into());
        }
    }
    let kind = answer.token_type.as_deref().unwrap_or("Bearer");
    if !["bearer", "n_a"].iter().any(|known| kind.eq_ignore_ascii_case(known)) {
        return refused("its authorization server gave a token that is no bearer token");
    }
    let token = answer.access_token;
    if !is_sendable(&token) {
        return refused("its authorization server answered without a token");
    }
    let seconds = answer.expires_in.as_u64().or_else(|| answer.expires_in.as_str()?.parse().ok());
    let lifetime = Duration::from_secs(seconds.unwrap_or(USUAL_LIFETIME).min(MAX_LIFETIME));
    Ok((SecretToken::new(&token), lifetime))
}

/// The text in a header of Basic (RFC 6749, section 2.3.1).
fn encoded(text: &str) -> String {
    form_urlencoded::byte_serialize(text.as_bytes()).collect()
}

/// The time for which a token with this lifetime is kept.
fn kept_for(lifetime: Duration) -> Duration {
    lifetime - MARGIN.min(lifetime / 4)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_replaced_shortly_before_it_expires() {
        for (lifetime, kept) in [(3600, 3570), (60, 45), (4, 3), (0, 0)] {
            assert_eq!(kept_for(Duration::from_secs(lifetime)), Duration::from_secs(kept));
        }
    }

    #[test]
    fn a_client_proves_itself_in_the_header_unless_only_the_form_is_taken() {
        let methods = |text: &str| serde_json::from_str::<Value>(text).unwrap();
        assert!(takes_basic(None) && takes_basic(Some(&methods(r#"["private_key_jwt"]"#))));
        assert!(takes_basic(Some(&methods(r#"["client_secret_post", "client_secret_basic"]"#))));
        assert!(!takes_basic(Some(&methods(r#"["client_secret_post"]"#))));
        assert_eq!(encoded("a:b c%"), "a%3Ab+c%25");
    }
}
