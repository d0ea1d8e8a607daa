//! ID tokens: an identity provider says to this server who a person is (OpenID Connect Core, 3.1.3.7).

use http::StatusCode;
use serde_json::Value;
use subtle::ConstantTimeEq;

use super::fetch::post_named_by;
use super::{AuthError, Authenticator, Claims, JwtProblem, KeysUnavailable, TokenRules, UnverifiedJwt};

/// The claims that tie an ID token to one sign-in.
#[derive(Clone, Copy, Debug)]
pub struct IdTokenRules<'r> {
    /// A configured issuer.
    pub issuer: &'r str,
    /// This server, as a client of it.
    pub client_id: &'r str,
    /// The nonce of this sign-in.
    pub nonce: &'r str,
}

/// A client of an issuer, which redeems codes.
#[derive(Clone, Copy, Debug)]
pub struct CodeClient<'c> {
    /// The issuer.
    pub issuer: &'c str,
    /// Its endpoint of tokens.
    pub token_endpoint: &'c str,
    /// The client.
    pub client_id: &'c str,
    /// Its secret, where it has one, and whether that is sent in the form.
    pub secret: Option<(&'c str, bool)>,
}

impl CodeClient<'_> {
    /// The ID token for a code; `None` where the issuer refuses the code. The error contains nothing that was sent.
    pub async fn id_token(
        &self,
        code: &str,
        verifier: &str,
        redirect_uri: &str,
    ) -> Result<Option<String>, String> {
        let mut fields = vec![
            ("grant_type", "authorization_code"),
            ("code", code),
            ("code_verifier", verifier),
            ("redirect_uri", redirect_uri),
        ];
        let basic = match self.secret {
            Some((secret, false)) => Some((self.client_id, secret)),
            other => {
                fields.push(("client_id", self.client_id));
                fields.extend(other.map(|(secret, _)| ("client_secret", secret)));
                None
            }
        };
        let (status, answer) = post_named_by(self.issuer, self.token_endpoint, &fields, basic).await?;
        if status == StatusCode::BAD_REQUEST {
            return Ok(None);
        }
        if !status.is_success() {
            return Err(format!("its endpoint of tokens answers with status {}", status.as_u16()));
        }
        let answer: Value =
            serde_json::from_slice(&answer).map_err(|_| "the answer is no JSON".to_string())?;
        let token = answer.get("id_token").and_then(Value::as_str);
        token.map(|token| Some(token.to_string())).ok_or_else(|| "the answer has no ID token".to_string())
    }
}

impl Authenticator {
    /// The claims of an ID token, when everything holds: the rules of the issuer's tokens, and those of this sign-in.
    pub async fn id_token(&self, token: &str, rules: IdTokenRules<'_>) -> Result<Claims, AuthError> {
        let mut issuers = self.issuers.iter();
        let known = issuers.find(|known| known.configured.issuer == rules.issuer);
        let known = known.ok_or(AuthError::Invalid(JwtProblem::Issuer))?;
        let of_issuer = TokenRules {
            issuer: &known.configured.issuer,
            algorithms: &known.configured.algorithms,
            clock_skew: known.configured.clock_skew(),
        };
        let token = UnverifiedJwt::read(token).ok_or(AuthError::Invalid(JwtProblem::Malformed))?;
        token.precheck(&of_issuer).map_err(AuthError::Invalid)?;
        let keys = known.keys.for_token(&token).await.map_err(|KeysUnavailable| AuthError::IssuerAway)?;
        let claims = token.verified(&of_issuer, &keys, |audience| audience == rules.client_id);
        let claims = claims.map_err(AuthError::Invalid)?;
        // A token for several clients names the one that asked.
        let is_shared = claims.audiences().nth(1).is_some();
        match claims.text("azp") {
            Some(party) if party != rules.client_id => return Err(AuthError::Invalid(JwtProblem::Audience)),
            None if is_shared => return Err(AuthError::Invalid(JwtProblem::Audience)),
            _ => {}
        }
        let nonce = claims.text("nonce").unwrap_or_default();
        match bool::from(nonce.as_bytes().ct_eq(rules.nonce.as_bytes())) {
            true => Ok(claims),
            false => Err(AuthError::Invalid(JwtProblem::Malformed)),
        }
    }
}
