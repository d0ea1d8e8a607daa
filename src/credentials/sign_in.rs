//! A sign-in of the operator: begun here, agreed to in a browser, ended with the address that the browser comes back to.

use rmcp::transport::auth::OAuthClientConfig;
use serde_json::Value;

use super::authorization::{Authorization, OWN_TOKEN, reason};
use super::callback::{Arrival, Callback, Outcome, outcome};
use super::problem::{WRONG_CLIENT, is_unknown_client};
use super::token_store::{Place, SignIn, Tokens};
use super::{Credentials, acts_as};
use crate::config::{ActsAs, Server, ServerAuth};
use crate::tool::clean_line;

/// The name under which toolcrib registers itself.
const CLIENT_NAME: &str = "toolcrib";

/// A sign-in that waits for the operator.
pub struct PendingSignIn {
    authorization: Authorization,
    callback: Callback,
    /// The address to open in a browser.
    address: String,
    state: String,
    /// Everything but the tokens.
    begun: SignIn,
    place: Place,
}

/// A sign-in, as people see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SignedIn {
    /// The name of the server in the configuration.
    pub server: String,
    /// The address of the server.
    pub url: String,
    /// The authorization server.
    pub issuer: String,
    /// The scopes that were given.
    pub scopes: Vec<String>,
    /// The second since 1970 at which the token ends, where that is known.
    pub ends_at: Option<u64>,
    /// Whether it is prolonged without the operator.
    pub is_refreshable: bool,
    /// Whether it still counts.
    pub is_active: bool,
}

impl Credentials {
    /// Begins a sign-in to a server.
    pub async fn begin_sign_in(&self, server: (&str, &Server)) -> Result<PendingSignIn, String> {
        let url = server.1.url.clone().ok_or("it is a command; only a server with a `url` has sign-ins")?;
        if acts_as(server.1) != Some(ActsAs::Person) {
            return Err("its configuration says with which token it is called; nobody signs in to it".into());
        }
        if let Some((field, problem)) = server.1.auth_problem() {
            return Err(format!("`auth.{field}`: {problem}"));
        }
        let place = self.person.place(server);
        let place = place.ok_or("there is no folder for sign-ins: set HOME or XDG_STATE_HOME")?;
        let auth = server.1.auth.clone().unwrap_or_default();
        let secret = self.client_secret(&auth)?;
        let before = place.read().ok().flatten();
        let mut authorization = Authorization::discover(&url, &auth).await?;
        authorization.check_pkce()?;
        let before = before.filter(|before| before.issuer == authorization.issuer());
        let scopes = scopes(&authorization, &auth, before.as_ref()).await;
        let callback = Callback::listen(auth.redirect_port).await;
        let callback = callback.map_err(|error| match auth.redirect_port {
            Some(port) => format!("cannot listen on port {port} of this machine (`redirect_port`): {error}"),
            None => format!("cannot listen on this machine: {error}"),
        })?;
        let client = client(&mut authorization, &auth, secret, callback.address(), &scopes).await?;
        let asked: Vec<&str> = scopes.iter().map(String::as_str).collect();
        let address = authorization.manager.get_authorization_url(&asked).await;
        let address = address.map_err(|error| reason(&error, &[]))?;
        let is_web = address.starts_with("https://") || address.starts_with("http://");
        let state = state_of(&address).filter(|_| is_web);
        let state = state.ok_or("the address of its authorization server is none of the web")?;
        let begun = SignIn {
            server: clean_line(server.0),
            url,
            issuer: authorization.issuer(),
            client_id: client.client_id,
            redirect_uri: callback.address().to_string(),
            scopes,
            wanted: Vec::new(),
            received_at: 0,
            expires_in: None,
            tokens: Some(Tokens {
                access: String::new(),
                refresh: None,
                client_secret: client.client_secret,
            }),
        };
        Ok(PendingSignIn { authorization, callback, address, state, begun, place })
    }

    /// All sign-ins, by the names of their servers.
    pub fn sign_ins(&self) -> Vec<SignedIn> {
        self.person.store().map(|store| store.all().iter().map(SignedIn::of).collect()).unwrap_or_default()
    }

    /// The sign-in with which a server is called; the reason why it does not count where its file is damaged.
    pub fn sign_in_to(&self, server: (&str, &Server)) -> Result<Option<SignedIn>, String> {
        let place = self.person.place(server).filter(|_| acts_as(server.1) == Some(ActsAs::Person));
        let found = place.map(|place| place.read()).transpose()?.flatten();
        Ok(found.as_ref().map(SignedIn::of))
    }

    fn client_secret(&self, auth: &ServerAuth) -> Result<Option<String>, String> {
        let filled = auth.client_secret.as_ref().map(|secret| self.environment.filled(secret)).transpose();
        filled.map_err(|name| format!("the environment variable {name} is not set"))
    }
}

impl PendingSignIn {
    /// The address to open in a browser.
    pub fn address(&self) -> &str {
        &self.address
    }

    /// Waits for the browser to come back, and ends the sign-in.
    pub async fn finish(mut self) -> Result<SignedIn, String> {
        while let Some(arrival) = self.callback.arrival().await {
            if let Some(ended) = self.answer(arrival).await {
                return ended;
            }
        }
        Err("the address for the browser is gone".into())
    }

    /// Ends the sign-in with the address that a browser on another machine came back to; `None` where it is of no sign-in
    /// or of another one.
    pub async fn finish_with(&self, pasted: &str) -> Option<Result<SignedIn, String>> {
        let query = pasted.trim().split_once('?').map_or(pasted.trim(), |(_, query)| query);
        let query = query.split('#').next().unwrap_or_default();
        match outcome(query, &self.state) {
            Outcome::Foreign => None,
            Outcome::Refused(why) => Some(Err(format!("the authorization server refused: {why}"))),
            Outcome::Code => Some(self.exchange(query).await),
        }
    }

    /// The next browser that comes back; the outcome where it belongs to this sign-in.
    pub async fn next(&mut self) -> Option<Result<SignedIn, String>> {
        let arrival = self.callback.arrival().await?;
        self.answer(arrival).await
    }

    async fn answer(&self, arrival: Arrival) -> Option<Result<SignedIn, String>> {
        let Some(ended) = self.finish_with(&format!("?{}", arrival.query)).await else {
            let text = "This address belongs to no sign-in that waits here.";
            arrival.show("400 Bad Request", "Not this sign-in", text).await;
            return None;
        };
        match &ended {
            Ok(signed_in) => {
                let text = format!("You are signed in to {}. This page can be closed.", signed_in.server);
                arrival.show("200 OK", "Signed in", &text).await;
            }
            Err(problem) => arrival.show("400 Bad Request", "Not signed in", problem).await,
        }
        Some(ended)
    }

    /// The reason why a code gave no tokens, with the way out where the configured client is wrong.
    fn why(&self, reason: String) -> String {
        match is_unknown_client(&reason) {
            true => format!(
                "{reason}; {WRONG_CLIENT}: see the `auth` of `{}` in toolcrib.toml",
                self.begun.server
            ),
            false => reason,
        }
    }

    /// Changes the code for tokens, and keeps them.
    async fn exchange(&self, query: &str) -> Result<SignedIn, String> {
        let address = format!("{}?{query}", self.callback.address());
        let code: Vec<String> = form_urlencoded::parse(query.as_bytes())
            .filter(|(name, _)| name == "code")
            .map(|(_, code)| code.into_owned())
            .collect();
        let callback = rmcp::transport::auth::AuthorizationCallback::from_redirect_url(&address);
        let secrets: Vec<&str> = code.iter().map(String::as_str).filter(|code| code.len() >= 4).collect();
        let callback = callback.map_err(|error| reason(&error, &secrets))?;
        let (code, state, issuer) = (&callback.code, &callback.csrf_token, callback.issuer.as_deref());
        let manager = &self.authorization.manager;
        let given = manager.exchange_code_for_token_with_issuer(code, state, issuer).await;
        given.map_err(|error| self.why(reason(&error, &secrets)))?;
        let sign_in = self.authorization.sign_in(&self.begun).await?;
        let _lock = self.place.lock().await?;
        self.place.write(&sign_in)?;
        Ok(SignedIn::of(&sign_in))
    }
}

impl SignedIn {
    fn of(sign_in: &SignIn) -> Self {
        Self {
            server: sign_in.server.clone(),
            url: sign_in.url.clone(),
            issuer: sign_in.issuer.clone(),
            scopes: sign_in.scopes.clone(),
            ends_at: sign_in.ends_at(),
            is_refreshable: sign_in.is_refreshable(),
            is_active: sign_in.is_active(),
        }
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
    let mut seen = std::collections::HashSet::new();
    scopes.retain(|scope| seen.insert(scope.clone()));
    scopes
}

/// The client of a sign-in: the configured one, else a metadata document, else one that is registered now.
async fn client(
    authorization: &mut Authorization,
    auth: &ServerAuth,
    secret: Option<String>,
    redirect_uri: &str,
    scopes: &[String],
) -> Result<OAuthClientConfig, String> {
    let takes_documents =
        authorization.metadata.additional_fields.get("client_id_metadata_document_supported");
    let document = auth.client_metadata_url.as_ref().filter(|_| takes_documents == Some(&Value::Bool(true)));
    if let Some(id) = auth.client_id.as_ref().or(document) {
        let mut client = OAuthClientConfig::new(id, redirect_uri);
        client.client_secret = secret;
        let configured = authorization.manager.configure_client(client.clone());
        return configured.map(|()| client).map_err(|error| reason(&error, &[]));
    }
    let asked: Vec<&str> = scopes.iter().map(String::as_str).collect();
    let registered = authorization.manager.register_client(CLIENT_NAME, redirect_uri, &asked).await;
    registered.map_err(|error| match authorization.is_discovered {
        true => format!(
            "toolcrib cannot register itself at {}: {}; register a client there, and set `client_id` in the `auth` of \
             the server",
            clean_line(&authorization.issuer()),
            reason(&error, &[])
        ),
        false => format!("it names no authorization server, so that nobody can sign in to it; {OWN_TOKEN}"),
    })
}

/// The state in the address that begins a sign-in.
fn state_of(address: &str) -> Option<String> {
    let query = address.split_once('?')?.1.split('#').next()?;
    let state = form_urlencoded::parse(query.as_bytes()).find(|(name, _)| name == "state")?;
    Some(state.1.into_owned())
}
