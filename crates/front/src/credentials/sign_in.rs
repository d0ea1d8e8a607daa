//! A sign-in of the operator: begun here, agreed to in a browser, completed with the address that the browser comes back to,
//! and ended. A client may offer it to its person; it goes on then while calls wait or give up.

use std::collections::{HashMap, HashSet};
use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use std::{fmt, io};

use http::StatusCode;
use rmcp::transport::auth::{AuthorizationCallback, AuthorizationMetadata, OAuthClientConfig};
use serde::{Deserialize, Serialize};
use tokio::sync::{Mutex, watch};
use tokio::time::{Instant, sleep, timeout};

use super::http::{form, send};
use super::person::{Arrival, Callback, outcome};
use super::service::{Authorization, OWN_TOKEN, reason};
use super::{Credentials, NO_TOKEN, SecretToken, SignInError, WRONG_CLIENT, acts_as, is_unknown_client};
use toolcrib_catalog::config::{ActsAs, Server, ServerAuth, is_safe_address};
use toolcrib_definition::{clean_line, private_file};

/// Longest wait for a person who was asked through its client.
const PATIENCE: Duration = Duration::from_secs(15 * 60);
/// Longest time of a request that revokes tokens.
const REVOKING: Duration = Duration::from_secs(10);
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

/// A sign-in that was ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SignedOut {
    /// The authorization server.
    pub issuer: String,
    /// The reason why its tokens still count there, where they do.
    pub not_revoked: Option<String>,
}

/// The sign-ins in progress, one for each server.
#[derive(Debug, Default)]
pub(super) struct Offered(Mutex<HashMap<Place, OfferedSignIn>>);

/// A sign-in in progress.
#[derive(Clone)]
pub struct OfferedSignIn {
    address: Arc<str>,
    /// Whether the person has signed in, once it is known.
    outcome: watch::Receiver<Option<bool>>,
}

impl fmt::Debug for OfferedSignIn {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str("OfferedSignIn")
    }
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
        let callback = Callback::listen(auth.redirect_port).await;
        let callback = callback.map_err(|error| match auth.redirect_port {
            Some(port) => format!("cannot listen on port {port} of this machine (`redirect_port`): {error}"),
            None => format!("cannot listen on this machine: {error}"),
        })?;
        let client = client(&mut authorization, &auth, secret, &callback.address, &scopes).await?;
        let asked: Vec<&str> = scopes.iter().map(String::as_str).collect();
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
    pub fn sign_ins(&self) -> Vec<SignIn> {
        self.person.folder.as_deref().map(all).unwrap_or_default()
    }

    /// The sign-in with which a server is called; the reason why it does not count where its file is damaged.
    pub fn sign_in_to(&self, server: (&str, &Server)) -> Result<Option<SignIn>, SignInError> {
        let place = self.person.place(server).filter(|_| acts_as(server.1) == Some(ActsAs::Person));
        Ok(place.map(|place| place.read()).transpose()?.flatten())
    }

    /// Ends all sign-ins to servers of this name, or the one to the server at an address.
    pub async fn sign_out(&self, name: &str, url: Option<&str>) -> Result<Vec<SignedOut>, SignInError> {
        let Some(folder) = &self.person.folder else { return Ok(Vec::new()) };
        let is_meant = |sign_in: &SignIn| sign_in.server == name && url.is_none_or(|url| url == sign_in.url);
        let mut ended = Vec::new();
        for found in all(folder).into_iter().filter(is_meant) {
            let place = Place::new(folder, (&found.server, &found.url));
            let _lock = place.lock().await?;
            let sign_in = place.read().ok().flatten().unwrap_or(found);
            let not_revoked = revoke(&sign_in).await.err().map(|error| error.0);
            place.remove()?;
            ended.push(SignedOut { issuer: sign_in.issuer, not_revoked });
        }
        Ok(ended)
    }

    /// A sign-in to a server, for a person who opens its address: the one in progress, else a new one.
    pub async fn offer_sign_in(&self, server: (&str, &Server)) -> Result<OfferedSignIn, SignInError> {
        let place = self.person.place(server).ok_or("there is no folder for sign-ins")?;
        let mut offered = self.offered.0.lock().await;
        if let Some(known) = offered.get(&place).filter(|known| known.outcome.borrow().is_none()) {
            return Ok(known.clone());
        }
        let pending = self.begin_sign_in(server).await?;
        let (sender, outcome) = watch::channel(None);
        let new = OfferedSignIn { address: pending.address().into(), outcome };
        tokio::spawn(async move {
            let ended = timeout(PATIENCE, pending.finish()).await;
            sender.send_replace(Some(matches!(ended, Ok(Ok(_)))));
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

    /// Waits for the browser to come back, and ends the sign-in.
    async fn finish(mut self) -> Result<SignIn, SignInError> {
        loop {
            if let Some(ended) = self.next().await {
                return ended;
            }
        }
    }

    /// Ends the sign-in with the address that a browser on another machine came back to; `None` where it is of no sign-in
    /// or of another one.
    pub async fn finish_with(&self, pasted: &str) -> Option<Result<SignIn, SignInError>> {
        let query = pasted.trim().split_once('?').map_or(pasted.trim(), |(_, query)| query);
        let query = query.split('#').next().unwrap_or_default();
        Some(match outcome(query, &self.state)? {
            Err(why) => Err(format!("the authorization server refused: {why}").into()),
            Ok(code) => self.exchange(query, &code).await,
        })
    }

    /// The next browser that comes back; the outcome where it belongs to this sign-in.
    pub async fn next(&mut self) -> Option<Result<SignIn, SignInError>> {
        let arrival = self.callback.arrivals.recv().await?;
        self.answer(arrival).await
    }

    async fn answer(&self, arrival: Arrival) -> Option<Result<SignIn, SignInError>> {
        let Some(ended) = self.finish_with(&format!("?{}", arrival.query)).await else {
            let text = "This address belongs to no sign-in that waits here.";
            arrival.show(StatusCode::BAD_REQUEST, "Not this sign-in", text).await;
            return None;
        };
        match &ended {
            Ok(signed_in) => {
                let text = format!("You are signed in to {}. This page can be closed.", signed_in.server);
                arrival.show(StatusCode::OK, "Signed in", &text).await;
            }
            Err(problem) => arrival.show(StatusCode::BAD_REQUEST, "Not signed in", &problem.0).await,
        }
        Some(ended)
    }

    /// Changes the code for tokens, and keeps them.
    async fn exchange(&self, query: &str, code: &str) -> Result<SignIn, SignInError> {
        let secrets: &[&str] = if code.len() >= 4 { &[code] } else { &[] };
        let callback =
            AuthorizationCallback::from_redirect_url(&format!("{}?{query}", self.callback.address));
        let callback = callback.map_err(|error| reason(&error, secrets))?;
        let manager = &self.authorization.manager;
        let state = &callback.csrf_token;
        let issuer = callback.issuer.as_deref();
        let given = manager.exchange_code_for_token_with_issuer(code, state, issuer).await;
        given.map_err(|error| match reason(&error, secrets) {
            reason if is_unknown_client(&reason) => format!(
                "{reason}; {WRONG_CLIENT}: see the `auth` of `{}` in toolcrib.toml",
                self.begun.server
            ),
            reason => reason,
        })?;
        let sign_in = self.authorization.sign_in(&self.begun).await?;
        sign_in.token().ok_or(NO_TOKEN)?;
        let _lock = self.place.lock().await?;
        self.place.write(&sign_in)?;
        Ok(sign_in)
    }
}

impl OfferedSignIn {
    /// The address to open in a browser.
    pub fn address(&self) -> &str {
        &self.address
    }

    /// Waits until the person has signed in, or has given up; whether it has signed in.
    pub async fn ended(mut self) -> bool {
        self.outcome.wait_for(Option::is_some).await.is_ok_and(|outcome| *outcome == Some(true))
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
    scopes: &[String],
) -> Result<OAuthClientConfig, SignInError> {
    let takes_documents =
        authorization.metadata.additional_fields.get("client_id_metadata_document_supported");
    let document = auth.client_metadata_url.as_ref().filter(|_| takes_documents == Some(&true.into()));
    if let Some(id) = auth.client_id.as_ref().or(document) {
        let mut client = OAuthClientConfig::new(id, redirect_uri);
        client.client_secret = secret;
        let configured = authorization.manager.configure_client(client.clone());
        return configured.map(|()| client).map_err(|error| reason(&error, &[]).into());
    }
    let asked: Vec<&str> = scopes.iter().map(String::as_str).collect();
    let registered = authorization.manager.register_client(CLIENT_NAME, redirect_uri, &asked).await;
    let registered = registered.map_err(|error| if authorization.is_discovered {
 format!(
            "toolcrib cannot register itself at {}: {}; register a client there, and set `client_id` in the `auth` of \
             the server",
            clean_line(&authorization.issuer()),
            reason(&error, &[])
        )
 } else {
 format!("it names no authorization server, so that nobody can sign in to it; {OWN_TOKEN}")
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

// The sign-ins of the operator on disk: one file for each server, for its owner alone, with a lock beside it.

/// Most bytes of a file; tokens have a few thousand.
const MAX_FILE: u64 = 256 << 10;
/// Longest wait for another process that refreshes: longer than each of its requests may take.
const LOCK_WAIT: Duration = Duration::from_secs(120);
/// Pause between tries of the lock.
const LOCK_PAUSE: Duration = Duration::from_millis(20);
/// Seconds before its end at which a token is refreshed.
const REFRESH_BEFORE: u64 = 60;

/// A sign-in to one server.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SignIn {
    /// The name of the server in the configuration.
    pub server: String,
    /// The address of the server; its tokens go nowhere else.
    pub url: String,
    /// The authorization server; its refresh token goes nowhere else.
    pub issuer: String,
    /// The client that signed in.
    pub(super) client_id: String,
    /// The address at which the browser came back.
    pub(super) redirect_uri: String,
    /// The scopes that were given.
    pub scopes: Vec<String>,
    /// The scopes that the server has asked for since.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) wanted: Vec<String>,
    /// The second since 1970 at which the token was given, and the seconds that it lives, where that is known.
    pub(super) received_at: u64,
    pub(super) expires_in: Option<u64>,
    /// The tokens; `None` when the sign-in has ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) tokens: Option<Tokens>,
}

/// The secrets of a sign-in.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Tokens {
    pub(super) access: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) refresh: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) client_secret: Option<String>,
}

impl fmt::Debug for SignIn {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(to, "SignIn({} at {})", self.server, self.issuer)
    }
}

impl SignIn {
    /// The token; `None` when the sign-in has ended, and where the last answer had no usable token.
    pub(super) fn token(&self) -> Option<SecretToken> {
        let access = &self.tokens.as_ref()?.access;
        (!access.is_empty()).then(|| SecretToken::new(access))
    }

    /// Whether somebody is signed in.
    pub fn is_active(&self) -> bool {
        self.is_refreshable() || (self.tokens.is_some() && self.seconds_left() > 0)
    }

    /// Whether it is prolonged without the operator.
    pub fn is_refreshable(&self) -> bool {
        self.tokens.as_ref().is_some_and(|tokens| tokens.refresh.is_some())
    }

    /// The second since 1970 at which the token ends.
    pub fn ends_at(&self) -> Option<u64> {
        Some(self.received_at.saturating_add(self.expires_in?))
    }

    /// Seconds until the token ends; many, where nothing is known.
    #[expect(clippy::disallowed_methods, reason = "tokens end at a time of the clock")]
    pub(super) fn seconds_left(&self) -> u64 {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
        self.ends_at().map_or(u64::MAX, |end| end.saturating_sub(now))
    }

    /// Whether the token is soon to end, so that it is refreshed first.
    pub(super) fn is_due(&self) -> bool {
        let life = self.expires_in.unwrap_or(u64::MAX);
        self.seconds_left() <= REFRESH_BEFORE.min(life / 2)
    }
}

/// All sign-ins in a folder, by the names of their servers.
pub(super) fn all(folder: &Path) -> Vec<SignIn> {
    let files = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let files = files.filter(|file| file.extension().is_some_and(|ending| ending == "json"));
    let mut found: Vec<SignIn> = files.filter_map(|file| read(&file).ok().flatten()).collect();
    found.sort_by(|one, other| (&one.server, &one.url).cmp(&(&other.server, &other.url)));
    found
}

/// The place of a sign-in.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Place {
    file: PathBuf,
}

/// A file as it was once; a file that was replaced has another stamp.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Stamp(SystemTime, u64, u64);

impl Place {
    /// The place of the sign-in to a server in a folder.
    pub(super) fn new(folder: &Path, (name, url): (&str, &str)) -> Self {
        let hash = blake3::hash(format!("{name}\n{url}").as_bytes()).to_hex();
        let is_plain = |letter: &char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_');
        let shown: String = name.chars().filter(is_plain).take(40).collect();
        Self { file: folder.join(format!("{shown}-{}.json", &hash[..16])) }
    }

    /// The stamp of the file; `None` without one.
    pub(super) fn stamp(&self) -> Option<Stamp> {
        let facts = fs::metadata(&self.file).ok()?;
        #[cfg(unix)]
        let number = std::os::unix::fs::MetadataExt::ino(&facts);
        #[cfg(not(unix))]
        let number = 0;
        Some(Stamp(facts.modified().ok()?, facts.len(), number))
    }

    /// The sign-in with its tokens; `None` without one. A file that others can write to does not count.
    pub(super) fn read(&self) -> Result<Option<SignIn>, SignInError> {
        read(&self.file).map_err(|error| self.failed("read", &error))
    }

    /// Writes a sign-in.
    pub(super) fn write(&self, sign_in: &SignIn) -> Result<(), SignInError> {
        let text = serde_json::to_string_pretty(sign_in).map_err(|error| error.to_string())?;
        private_file::write(&self.file, format!("{text}\n").as_bytes())
            .map_err(|error| self.failed("write", &error))
    }

    /// Removes a sign-in.
    pub(super) fn remove(&self) -> Result<(), SignInError> {
        match fs::remove_file(&self.file) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(self.failed("remove", &error)),
            _ => Ok(()),
        }
    }

    /// Waits until no other process changes this sign-in, and keeps others from it until the lock is dropped.
    pub(super) async fn lock(&self) -> Result<File, SignInError> {
        let file = self.file.with_extension("lock");
        let failed = |error: &io::Error| self.failed("lock", error);
        private_file::create_folder(self.file.parent().unwrap_or(Path::new(".")))
            .map_err(|error| failed(&error))?;
        let lock = private_file::options().write(true).create(true).truncate(false).open(file);
        let lock = lock.map_err(|error| failed(&error))?;
        let until = Instant::now() + LOCK_WAIT;
        loop {
            match lock.try_lock() {
                Ok(()) => return Ok(lock),
                Err(TryLockError::WouldBlock) if Instant::now() < until => sleep(LOCK_PAUSE).await,
                Err(TryLockError::WouldBlock) => {
                    return Err("another process holds its lock for too long".into());
                }
                Err(TryLockError::Error(error)) => return Err(failed(&error)),
            }
        }
    }

    fn failed(&self, what: &str, error: &io::Error) -> SignInError {
        match error.kind() {
            io::ErrorKind::InvalidData => {
                format!("{} is damaged, or others can write to it: remove it", self.file.display()).into()
            }
            _ => format!("cannot {what} {}: {error}", self.file.display()).into(),
        }
    }
}

fn read(file: &Path) -> io::Result<Option<SignIn>> {
    match private_file::read(file, MAX_FILE) {
        Ok(text) => serde_json::from_str(&text).map(Some).map_err(|_| io::ErrorKind::InvalidData.into()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
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
