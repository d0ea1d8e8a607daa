//! The end of a sign-in: its tokens are revoked where the authorization server takes that, and removed here.

use std::time::Duration;

use http::header::CONTENT_TYPE;
use rmcp::transport::auth::AuthorizationMetadata;

use super::Credentials;
use super::authorization::Authorization;
use super::token_store::{SignIn, Tokens};
use crate::config::ServerAuth;

/// The media type of a form.
const FORM: &str = "application/x-www-form-urlencoded";
/// Longest time of a request.
const REQUEST_TIME: Duration = Duration::from_secs(10);

/// A sign-in that was ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SignedOut {
    /// The address of the server.
    pub url: String,
    /// The authorization server.
    pub issuer: String,
    /// The reason why its tokens still count there, where they do.
    pub not_revoked: Option<String>,
}

impl Credentials {
    /// Ends all sign-ins to servers of this name, or the one to the server at an address.
    pub async fn sign_out(&self, name: &str, url: Option<&str>) -> Result<Vec<SignedOut>, String> {
        let Some(store) = self.person.store() else { return Ok(Vec::new()) };
        let is_meant = |sign_in: &SignIn| sign_in.server == name && url.is_none_or(|url| url == sign_in.url);
        let mut ended = Vec::new();
        for found in store.all().into_iter().filter(is_meant) {
            let place = store.place((&found.server, &found.url));
            let _lock = place.lock().await?;
            let sign_in = place.read().ok().flatten().unwrap_or(found);
            let not_revoked = revoke(&sign_in).await.err();
            place.remove()?;
            ended.push(SignedOut { url: sign_in.url, issuer: sign_in.issuer, not_revoked });
        }
        Ok(ended)
    }
}

/// Revokes the tokens of a sign-in (RFC 7009): the refresh token, which ends the others too, else the access token.
async fn revoke(sign_in: &SignIn) -> Result<(), String> {
    let Some(tokens) = &sign_in.tokens else { return Ok(()) };
    let authorization = Authorization::discover(&sign_in.url, &ServerAuth::default()).await?;
    if authorization.issuer() != sign_in.issuer {
        return Err("the server names another authorization server now".into());
    }
    let address = revocation_endpoint(&authorization.metadata)?;
    let client = reqwest::Client::builder().redirect(reqwest::redirect::Policy::none()).timeout(REQUEST_TIME);
    let client = client.build().map_err(|error| error.to_string())?;
    let sent = client.post(address).header(CONTENT_TYPE, FORM).body(form(sign_in, tokens)).send().await;
    let answer = sent.map_err(|_| "the authorization server does not answer".to_string())?;
    match answer.status().is_success() {
        true => Ok(()),
        false => Err(format!("the authorization server answered {}", answer.status().as_u16())),
    }
}

fn form(sign_in: &SignIn, tokens: &Tokens) -> String {
    let (hint, token) = match &tokens.refresh {
        Some(refresh) => ("refresh_token", refresh),
        None => ("access_token", &tokens.access),
    };
    let mut form = form_urlencoded::Serializer::new(String::new());
    form.append_pair("token", token).append_pair("token_type_hint", hint);
    form.append_pair("client_id", &sign_in.client_id);
    form.extend_pairs(tokens.client_secret.as_deref().map(|secret| ("client_secret", secret)));
    form.finish()
}

/// The address that revokes tokens, where it is of the same origin as the one that gives them.
fn revocation_endpoint(metadata: &AuthorizationMetadata) -> Result<reqwest::Url, String> {
    let none = "the authorization server does not revoke tokens";
    let named = metadata.additional_fields.get("revocation_endpoint").and_then(|address| address.as_str());
    let address: reqwest::Url = named.ok_or(none)?.parse().map_err(|_| none)?;
    let tokens: reqwest::Url = metadata.token_endpoint.parse().map_err(|_| none)?;
    (address.origin() == tokens.origin()).then_some(address).ok_or_else(|| none.into())
}
