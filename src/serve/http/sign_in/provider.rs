//! The identity provider at which people sign in: its addresses, and its answers.

use std::time::{Duration, Instant};

use oauth2::{PkceCodeChallenge, PkceCodeVerifier};
use reqwest::Url;
use tokio::sync::Mutex;

use super::attempt::Attempt;
use crate::config::ServeSignIn;
use crate::serve::Authenticator;
use crate::serve::auth::{AuthError, Claims, CodeClient, IdTokenRules, IssuerKeys, IssuerMetadata};

/// Age at which the addresses of the provider are read again.
const MAX_AGE: Duration = Duration::from_secs(600);

/// The identity provider.
#[derive(Debug)]
pub(super) struct Provider {
    issuer: String,
    host: String,
    keys: IssuerKeys,
    client_id: String,
    client_secret: Option<Secret>,
    scopes: String,
    public_url: String,
    known: Mutex<Option<(Instant, IssuerMetadata)>>,
}

/// A secret, which is never printed.
struct Secret(String);

impl std::fmt::Debug for Secret {
    fn fmt(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        to.write_str("...")
    }
}

/// The reason why nobody has signed in. Its words are for the operator.
#[derive(Debug)]
pub(super) enum SignInProblem {
    /// The provider has named another issuer.
    OtherIssuer,
    /// The provider does not answer as it should.
    Provider(String),
    /// The provider refuses the code: it is used, too old, or of another attempt.
    Code,
    /// The ID token is not valid.
    Token(AuthError),
}

impl Provider {
    /// The configured one.
    pub(super) fn new(
        callers: &Authenticator,
        settings: &ServeSignIn,
        secret: Option<String>,
    ) -> Option<Self> {
        let issuer = settings.issuer.clone()?;
        let keys = callers.keys_of(&issuer)?.clone();
        let host = issuer.split_once("://").map_or(issuer.as_str(), |(_, rest)| rest);
        let host = host.split('/').next().unwrap_or_default().to_string();
        let mut scopes = vec!["openid".to_string()];
        scopes.extend(settings.scopes.iter().filter(|scope| *scope != "openid").cloned());
        Some(Self {
            issuer,
            host,
            keys,
            client_id: settings.client_id.clone(),
            client_secret: secret.map(Secret),
            scopes: scopes.join(" "),
            public_url: callers.public_url().to_string(),
            known: Mutex::new(None),
        })
    }

    /// Its name.
    pub(super) fn issuer(&self) -> &str {
        &self.issuer
    }

    /// Its host, which people know.
    pub(super) fn host(&self) -> &str {
        &self.host
    }

    /// The public address of this server, without a slash at its end.
    pub(super) fn public_url(&self) -> &str {
        &self.public_url
    }

    fn redirect_uri(&self) -> String {
        format!("{}/sign-in/callback", self.public_url)
    }

    /// Its addresses. They are read when somebody signs in, and remembered for a while.
    async fn metadata(&self) -> Result<IssuerMetadata, String> {
        let mut known = self.known.lock().await;
        if let Some((since, metadata)) = &*known
            && since.elapsed() < MAX_AGE
        {
            return Ok(metadata.clone());
        }
        let metadata = self.keys.metadata().await?;
        *known = Some((Instant::now(), metadata.clone()));
        Ok(metadata)
    }

    /// The address to which the browser goes with an attempt.
    pub(super) async fn address(&self, attempt: &Attempt) -> Result<String, SignInProblem> {
        let metadata = self.metadata().await.map_err(SignInProblem::Provider)?;
        let endpoint = metadata.authorization_endpoint.and_then(|url| Url::parse(&url).ok());
        let missing = || SignInProblem::Provider("its metadata names no authorization endpoint".into());
        let mut url = endpoint.ok_or_else(missing)?;
        let verifier = PkceCodeVerifier::new(attempt.verifier.clone());
        let challenge = PkceCodeChallenge::from_code_verifier_sha256(&verifier);
        url.query_pairs_mut()
            .append_pair("response_type", "code")
            .append_pair("client_id", &self.client_id)
            .append_pair("redirect_uri", &self.redirect_uri())
            .append_pair("scope", &self.scopes)
            .append_pair("state", &attempt.state)
            .append_pair("nonce", &attempt.nonce)
            .append_pair("code_challenge", challenge.as_str())
            .append_pair("code_challenge_method", challenge.method());
        Ok(url.into())
    }

    /// Checks that the answer comes from this provider, and not from another one (RFC 9207).
    pub(super) async fn check_issuer(&self, named: Option<&str>) -> Result<(), SignInProblem> {
        let metadata = self.metadata().await.map_err(SignInProblem::Provider)?;
        let is_right = match named {
            Some(named) => named == self.issuer,
            None => !metadata.authorization_response_iss_parameter_supported,
        };
        if is_right { Ok(()) } else { Err(SignInProblem::OtherIssuer) }
    }

    /// The claims of the person who has brought this code back.
    pub(super) async fn claims(
        &self,
        callers: &Authenticator,
        code: &str,
        attempt: &Attempt,
    ) -> Result<Claims, SignInProblem> {
        let metadata = self.metadata().await.map_err(SignInProblem::Provider)?;
        let missing = || SignInProblem::Provider("its metadata names no endpoint of tokens".into());
        let token_endpoint = metadata.token_endpoint.ok_or_else(missing)?;
        let methods = &metadata.token_endpoint_auth_methods_supported;
        let takes = |method: &str| methods.iter().any(|known| known == method);
        let in_form = takes("client_secret_post") && !takes("client_secret_basic");
        let client = CodeClient {
            issuer: &self.issuer,
            token_endpoint: &token_endpoint,
            client_id: &self.client_id,
            secret: self.client_secret.as_ref().map(|secret| (secret.0.as_str(), in_form)),
        };
        let token = client.id_token(code, &attempt.verifier, &self.redirect_uri()).await;
        let token = token.map_err(SignInProblem::Provider)?.ok_or(SignInProblem::Code)?;
        let rules = IdTokenRules { issuer: &self.issuer, client_id: &self.client_id, nonce: &attempt.nonce };
        callers.id_token(&token, rules).await.map_err(SignInProblem::Token)
    }

    /// The address at which a person signs out there, and from which the browser comes back. No token is in it.
    pub(super) async fn sign_out_url(&self) -> Option<String> {
        let metadata = self.metadata().await.ok()?;
        let mut url = Url::parse(&metadata.end_session_endpoint?).ok()?;
        url.query_pairs_mut()
            .append_pair("client_id", &self.client_id)
            .append_pair("post_logout_redirect_uri", &format!("{}/sign-in", self.public_url));
        Some(url.into())
    }
}

impl std::fmt::Display for SignInProblem {
    fn fmt(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            SignInProblem::OtherIssuer => to.write_str("the answer names another issuer"),
            SignInProblem::Provider(problem) => to.write_str(problem),
            SignInProblem::Code => to.write_str("the identity provider refuses the code"),
            SignInProblem::Token(problem) => write!(to, "the ID token is refused: {problem}"),
        }
    }
}
