//! Sign-ins that the operator ends: the tokens are revoked, and their file is removed.

use std::time::Duration;

use rmcp::transport::auth::AuthorizationMetadata;

use super::authorization_server::Authorization;
use super::http::{form, send};
use super::reasons::SignInError;
use super::sign_in_file::{Place, SignIn, all};
use super::tokens::Credentials;
use toolcrib_catalog::config::ServerAuth;

/// Longest time of a request that revokes tokens.
const REVOKING: Duration = Duration::from_secs(10);

/// A sign-in that was ended.
pub struct SignedOut {
    /// The authorization server.
    pub issuer: String,
    /// The reason why its tokens still count there, where they do.
    pub not_revoked: Option<String>,
}

impl Credentials {
    /// Ends all sign-ins to servers of this name, or the one to the server at an address.
    pub async fn sign_out(&self, name: &str, url: Option<&str>) -> Result<Vec<SignedOut>, SignInError> {
        let Some(folder) = &self.person.folder else { return Ok(Vec::new()) };
        let is_meant = |sign_in: &SignIn| sign_in.server == name && url.is_none_or(|url| url == sign_in.url);
        let mut ended = Vec::new();
        for found in all(folder).into_iter().filter(is_meant) {
            let place = Place::new(folder, (&found.server, &found.url));
            let _lock = place.lock().await?;
            let sign_in = place.read().ok().flatten().unwrap_or(found);
            let not_revoked = revoke(&sign_in).await.err().map(|error| error.to_string());
            place.remove()?;
            ended.push(SignedOut { issuer: sign_in.issuer, not_revoked });
        }
        Ok(ended)
    }
}

/// Revokes the tokens of a sign-in (RFC 7009): the refresh token, which ends the others too, else the access token.
async fn revoke(sign_in: &SignIn) -> Result<(), SignInError> {
    let Some(tokens) = &sign_in.tokens else { return Ok(()) };
    let authorization = Authorization::discover(&sign_in.url, &ServerAuth::default()).await?;
    if authorization.issuer() != sign_in.issuer {
        return Err("the server names another authorization server now".into());
    }
    let address = revocation_endpoint(&authorization.metadata);
    let address = address.ok_or("the authorization server does not revoke tokens")?;
    let (hint, token) = match &tokens.refresh {
        Some(refresh) => ("refresh_token", refresh),
        None => ("access_token", &tokens.access),
    };
    let mut fields =
        vec![("token", token.as_str()), ("token_type_hint", hint), ("client_id", &sign_in.client_id)];
    fields.extend(tokens.client_secret.as_deref().map(|secret| ("client_secret", secret)));
    match send(form(address.as_str(), &fields)?.timeout(REVOKING)).await {
        Ok((200..300, _)) => Ok(()),
        Ok((status, _)) => Err(format!("the authorization server answered {status}").into()),
        Err(_) => Err("the authorization server does not answer".into()),
    }
}

/// The address that revokes tokens, where it is of the same origin as the one that gives them.
fn revocation_endpoint(metadata: &AuthorizationMetadata) -> Option<reqwest::Url> {
    let address = metadata.additional_fields.get("revocation_endpoint")?.as_str()?;
    let address: reqwest::Url = address.parse().ok()?;
    let tokens: reqwest::Url = metadata.token_endpoint.parse().ok()?;
    (address.origin() == tokens.origin()).then_some(address)
}
