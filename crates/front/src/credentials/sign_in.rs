//! A sign-in of the operator: begun here, agreed to in a browser, and completed with the address that the browser comes back to.

use std::collections::HashSet;
use std::time::Duration;

use http::StatusCode;
use rmcp::transport::auth::{AuthorizationCallback, OAuthClientConfig};
use tokio::sync::watch;
use tokio::time::timeout;

use super::authorization_server::Authorization;
use super::identity::acts_as;
use super::offered::OfferedSignIn;
use super::reasons::{OWN_TOKEN, SignInError, WRONG_CLIENT, reason};
use super::redirect_listener::{RedirectListener, outcome};
use super::sign_in_file::{Place, SignIn, Tokens, all};
use super::token::NO_TOKEN;
use super::tokens::Credentials;
use toolcrib_catalog::config::{ActsAs, Server, ServerAuth, is_safe_address};
use toolcrib_definition::clean_line;

/// Longest wait for a person who was asked through its client.
const PATIENCE: Duration = Duration::from_secs(15 * 60);
/// The name under which toolcrib registers itself.
const CLIENT_NAME: &str = "toolcrib";

/// A sign-in that waits for the operator.
pub struct PendingSignIn {
    authorization: Authorization,
    callback: RedirectListener,
    /// The address to open in a browser.
    address: String,
    state: String,
    /// Everything but the tokens.
    begun: SignIn,
    place: Place,
}

impl Credentials {
    /// Begins a sign-in to a server.
    pub async fn begin_sign_in(&self, server: (&str, &Server)) -> Result<PendingSignIn, SignInError> {
        let url = server.1.url.clone().ok_or("it is a command; only a server with a `url` has sign-ins")?;
        if acts_as(server.1) != Some(ActsAs::Person) {
            return Err("its configuration says with which token it is called; nobody signs in to it".into());
        }
        if let Some((field, problem)) = server.1.auth_problem() {
            return Err(format!("`auth.{field}`: {problem}").into());
        }
        let place = self.person.place(server);
        let place = place.ok_or("there is no folder for sign-ins: set HOME or XDG_STATE_HOME")?;
        let auth = server.1.auth.clone().unwrap_or_default();
        let secret = auth.client_secret.as_ref().map(|secret| self.environment.filled(secret)).transpose();
        let secret = secret.map_err(|missing| missing.to_string())?;
        let before = place.read().ok().flatten();
        let mut authorization = Authorization::discover(&url, &auth).await?;
        authorization.check_pkce()?;
        let before = before.filter(|before| before.issuer == authorization.issuer());
        let scopes = scopes(&authorization, &auth, before.as_ref()).await;
        let asked: Vec<&str> = scopes.iter().map(String::as_str).collect();
        let callback = RedirectListener::listen(auth.redirect_port).await;
        let callback = callback.map_err(|error| match auth.redirect_port {
            Some(port) => format!("cannot listen on port {port} of this machine (`redirect_port`): {error}"),
            None => format!("cannot listen on this machine: {error}"),
        })?;
        let client = client(&mut authorization, &auth, secret, &callback.address, &asked).await?;
        let address = authorization.manager.get_authorization_url(&asked).await;
        let address = address.map_err(|error| reason(&error, &[]))?;
        if !may_be_opened(&address, &url) {
            let message = "the page of its authorization server is not https, and not on the host of the server: what you \
                 enter there could be read on the way";
            return Err(message.into());
        }
        let state = state_of(&address).ok_or("the address of its authorization server has no `state`")?;
        let begun = SignIn {
            server: clean_line(server.0),
            url,
            issuer: authorization.issuer(),
            client_id: client.client_id,
            redirect_uri: callback.address.clone(),
            scopes,
            tokens: Some(Tokens { client_secret: client.client_secret, ..Tokens::default() }),
            ..SignIn::default()
        };
        Ok(PendingSignIn { authorization, callback, address, state, begun, place })
    }

    /// All sign-ins, by the names of their servers.
    pub fn sign_ins(&self) -> Vec<SignIn> {
        self.person.folder.as_deref().map(all).unwrap_or_default()
    }

    /// The sign-in with which a server is called; the reason why it does not count where its file is damaged.
    pub fn sign_in_to(&self, server: (&str, &Server)) -> Result<Option<SignIn>, SignInError> {
        match self.person.place(server) {
            Some(place) if acts_as(server.1) == Some(ActsAs::Person) => place.read(),
            _ => Ok(None),
        }
    }

    /// A sign-in to a server, for a person who opens its address: the one in progress, else a new one.
    pub async fn offer_sign_in(&self, server: (&str, &Server)) -> Result<OfferedSignIn, SignInError> {
        let place = self.person.place(server).ok_or("there is no folder for sign-ins")?;
        let mut offered = self.offered.0.lock().await;
        if let Some(known) = offered.get(&place).filter(|known| known.outcome.borrow().is_none()) {
            return Ok(known.clone());
        }
        let mut pending = self.begin_sign_in(server).await?;
        let (sender, outcome) = watch::channel(None);
        let new = OfferedSignIn { address: pending.address().into(), outcome };
        tokio::spawn(async move {
            let finished = async {
                loop {
                    if let Some(ended) = pending.next().await {
                        return ended.is_ok();
                    }
                }
            };
            sender.send_replace(Some(timeout(PATIENCE, finished).await.unwrap_or_default()));
        });
        offered.insert(place, new.clone());
        Ok(new)
    }

    /// Waits until a sign-in in progress has ended; whether the operator is signed in then.
    pub async fn offered_sign_in_ended(&self, server: (&str, &Server)) -> bool {
        let Some(place) = self.person.place(server) else { return false };
        let known = self.offered.0.lock().await.get(&place).cloned();
        match known {
            Some(known) => known.ended().await,
            None => self.is_signed_in(server),
        }
    }
}

impl PendingSignIn {
    /// The address to open in a browser.
    pub fn address(&self) -> &str {
        &self.address
    }

    /// Ends the sign-in with the address that a browser on another machine came back to; `None` where it is of no sign-in
    /// or of another one.
    pub async fn finish_with(&self, pasted: &str) -> Option<Result<SignIn, SignInError>> {
        let query = pasted.trim().split_once('?').map_or(pasted.trim(), |(_, query)| query);
        let query = query.split('#').next().unwrap_or_default();
        Some(match outcome(query, &self.state)? {
            Err(why) => Err(why.about("the authorization server refused")),
            Ok(code) => self.exchange(query, &code).await,
        })
    }

    /// The next browser that comes back; the outcome where it belongs to this sign-in.
    pub async fn next(&mut self) -> Option<Result<SignIn, SignInError>> {
        let arrival = self.callback.arrivals.recv().await?;
        let Some(ended) = self.finish_with(&format!("?{}", arrival.query)).await else {
            let text = "This address belongs to no sign-in that waits here.";
            arrival.show(StatusCode::BAD_REQUEST, "Not this sign-in", text);
            return None;
        };
        match &ended {
            Ok(signed_in) => {
                let text = format!("You are signed in to {}. This page can be closed.", signed_in.server);
                arrival.show(StatusCode::OK, "Signed in", &text);
            }
            Err(problem) => arrival.show(StatusCode::BAD_REQUEST, "Not signed in", &problem.to_string()),
        }
        self.callback.close().await;
        Some(ended)
    }

    /// Changes the code for tokens, and keeps them.
    async fn exchange(&self, query: &str, code: &str) -> Result<SignIn, SignInError> {
        let secrets: &[&str] = if code.len() >= 4 { &[code] } else { &[] };
        let callback =
            AuthorizationCallback::from_redirect_url(&format!("{}?{query}", self.callback.address));
        let callback = callback.map_err(|error| reason(&error, secrets))?;
        let manager = &self.authorization.manager;
        let issuer = callback.issuer.as_deref();
        let given = manager.exchange_code_for_token_with_issuer(code, &callback.csrf_token, issuer).await;
        given.map_err(|error| match reason(&error, secrets) {
            SignInError::UnknownClient(reason) => {
                let server = &self.begun.server;
                format!("{reason}; {WRONG_CLIENT}: see the `auth` of `{server}` in toolcrib.toml").into()
            }
            other => other,
        })?;
        let sign_in = self.authorization.sign_in(&self.begun).await?;
        sign_in.token().ok_or(NO_TOKEN)?;
        let _lock = self.place.lock().await?;
        self.place.write(&sign_in)?;
        Ok(sign_in)
    }
}

/// The scopes to ask for: the configured ones, else those that the server names, with those that it has asked for since.
async fn scopes(authorization: &Authorization, auth: &ServerAuth, before: Option<&SignIn>) -> Vec<String> {
    let manager = &authorization.manager;
    let mut scopes = match auth.scopes.as_slice() {
        [] => manager.select_initial_scopes(&[]).await,
        configured => configured.to_vec(),
    };
    if let Some(before) = before.filter(|before| !before.wanted.is_empty()) {
        scopes.extend(before.scopes.iter().chain(&before.wanted).cloned());
    }
    let supported = authorization.metadata.scopes_supported.iter().flatten();
    // Some authorization servers give refresh tokens only with this scope.
    let offline = supported.filter(|scope| *scope == "offline_access");
    if !scopes.is_empty() {
        scopes.extend(offline.cloned());
    }
    let mut seen = HashSet::new();
    scopes.retain(|scope| seen.insert(scope.clone()));
    scopes
}

/// The client of a sign-in: the configured one, else a metadata document, else one that is registered now.
async fn client(
    authorization: &mut Authorization,
    auth: &ServerAuth,
    secret: Option<String>,
    redirect_uri: &str,
    scopes: &[&str],
) -> Result<OAuthClientConfig, SignInError> {
    let facts = &authorization.metadata.additional_fields;
    let takes_documents = facts.get("client_id_metadata_document_supported") == Some(&true.into());
    let document = if takes_documents { auth.client_metadata_url.as_ref() } else { None };
    if let Some(id) = auth.client_id.as_ref().or(document) {
        let mut client = OAuthClientConfig::new(id, redirect_uri);
        client.client_secret = secret;
        let configured = authorization.manager.configure_client(client.clone());
        return configured.map(|()| client).map_err(|error| reason(&error, &[]));
    }
    let registered = authorization.manager.register_client(CLIENT_NAME, redirect_uri, scopes).await;
    let registered = registered.map_err(|error| {
        if !authorization.is_discovered {
            return format!(
                "it names no authorization server, so that nobody can sign in to it; {OWN_TOKEN}"
            );
        }
        let issuer = clean_line(&authorization.issuer());
        let why = reason(&error, &[]);
        let help = "register a client there, and set `client_id` in the `auth` of the server";
        format!("toolcrib cannot register itself at {issuer}: {why}; {help}")
    });
    Ok(registered?)
}

/// Whether a browser may open a page for the sign-in to a server: over https, or over http on the host of a server that uses http
/// itself.
fn may_be_opened(page: &str, server: &str) -> bool {
    let origin = |url: &str| url.parse::<reqwest::Url>().ok().filter(|url| url.scheme() == "http");
    let same_host = || Some(origin(page)?.host_str()? == origin(server)?.host_str()?);
    is_safe_address(page) || same_host().unwrap_or_default()
}

/// The state in the address that begins a sign-in.
fn state_of(address: &str) -> Option<String> {
    let query = address.split_once('?')?.1.split('#').next()?;
    let state = form_urlencoded::parse(query.as_bytes()).find(|(name, _)| name == "state")?;
    Some(state.1.into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_over_http_is_opened_on_the_host_of_the_server_alone() {
        for (page, server, expected) in [
            ("https://login.example/authorize?state=s", "http://10.0.0.5/mcp", true),
            ("http://127.0.0.1:9/authorize", "https://mcp.example/mcp", true),
            ("http://10.0.0.5:8080/authorize", "http://10.0.0.5/mcp", true),
            ("http://login.example/authorize", "http://10.0.0.5/mcp", false),
            ("http://mcp.example/authorize", "https://mcp.example/mcp", false),
            ("https://user@login.example/", "https://mcp.example/mcp", false),
            ("file:///etc/passwd", "https://mcp.example/mcp", false),
            ("javascript:alert(1)", "https://mcp.example/mcp", false),
        ] {
            assert_eq!(may_be_opened(page, server), expected, "{page} for {server}");
        }
    }
}
