//! Sign-ins of the operator: refreshed before they end, one process at a time.

use std::convert::Infallible;
use std::path::PathBuf;
use std::sync::{Condvar, Mutex};
use std::time::Duration;

use axum::body::Body;
use http::header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, REFERRER_POLICY};
use http::{Method, StatusCode};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use subtle::ConstantTimeEq;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::timeout;

use super::http::{MAX_SCOPES, scopes_of};
use super::service::{Authorization, RefreshError};
use super::sign_in::{Place, SignIn};
use super::{CallerToken, NO_TOKEN, Refused, SecretToken, SignInProblem};
use toolcrib_catalog::config::{Server, ServerAuth};
use toolcrib_definition::clean_line;
use toolcrib_definition::guard::locked;

/// The reason before the first sign-in.
const NOBODY: &str = "nobody has signed in to it";

/// The sign-ins of the operator.
#[derive(Debug, Default)]
pub(super) struct Person {
    /// The folder of their files.
    pub(super) folder: Option<PathBuf>,
}

impl Person {
    /// The token of the operator, refreshed where it is soon to end; `None` where nobody has signed in, and for callers
    /// that it is not for.
    pub(super) async fn token(
        &self,
        server: (&str, &Server),
        caller: Option<&CallerToken>,
    ) -> Result<Option<SecretToken>, SignInProblem> {
        let place = self.place(server).filter(|_| is_for(server.1, caller));
        let Some(place) = place else { return Ok(None) };
        match self.current(&place, server) {
            Some(sign_in) if sign_in.is_due() => refresh(place, server.1, sign_in).await.map(Some),
            sign_in => Ok(sign_in.and_then(|sign_in| sign_in.token())),
        }
    }

    /// A new token in place of a rejected one, or why there is no new token.
    pub(super) async fn rejected(
        &self,
        server: (&str, &Server),
        caller: Option<&CallerToken>,
        refused: Refused<'_>,
    ) -> Result<Option<SecretToken>, SignInProblem> {
        if !is_for(server.1, caller) {
            return Err(SignInProblem::NotShared);
        }
        let scopes = refused.challenge.map(scopes_of).unwrap_or_default();
        let place = self.place(server).ok_or_else(|| sign_in(NOBODY, scopes.clone()))?;
        let Some(current) = self.current(&place, server) else {
            let ended = place.read().ok().flatten().is_some();
            let reason = if ended { "the sign-in to it has ended" } else { NOBODY };
            return Err(sign_in(reason, scopes));
        };
        if refused.status == 403 {
            want(&place, &scopes).await;
            let reason = format!("the sign-in to it does not cover this: it asks for {}", scopes.join(" "));
            return Err(sign_in(&reason, scopes));
        }
        match current.token() {
            Some(token) if refused.token != Some(&token) => Ok(Some(token)),
            _ => refresh(place, server.1, current).await.map(Some),
        }
    }

    /// Whether the operator is signed in to a server.
    pub(super) fn is_signed_in(&self, server: (&str, &Server)) -> bool {
        self.place(server).is_some_and(|place| self.current(&place, server).is_some())
    }

    pub(super) fn place(&self, (name, server): (&str, &Server)) -> Option<Place> {
        Some(Place::new(self.folder.as_ref()?, (name, server.url.as_deref()?)))
    }

    /// The sign-in to a server, unless it has ended or was made with another client.
    fn current(&self, place: &Place, (_, server): (&str, &Server)) -> Option<SignIn> {
        let read = place.read();
        let found = read.map_err(|problem| tracing::warn!(%problem, "a sign-in does not count")).ok()??;
        let client = server.auth.as_ref().and_then(|auth| auth.client_id.as_deref());
        let is_ours = client.is_none_or(|id| id == found.client_id);
        let is_there = Some(&found.url) == server.url.as_ref();
        (is_ours && is_there && found.tokens.is_some()).then_some(found)
    }
}

/// Whether the operator's sign-in is for a caller.
fn is_for(server: &Server, caller: Option<&CallerToken>) -> bool {
    caller.is_none() || server.auth.as_ref().is_some_and(|auth| auth.shared)
}

fn sign_in(reason: &str, scopes: Vec<String>) -> SignInProblem {
    SignInProblem::SignIn { reason: reason.into(), is_first: reason == NOBODY, scopes }
}

/// Refreshes that have begun and not ended. An authorization server that rotates refresh tokens has forgotten the old one as soon
/// as it answers, so a program that ended before the new one is stored would end the sign-in.
static REFRESHES: (Mutex<usize>, Condvar) = (Mutex::new(0), Condvar::new());

/// One of the refreshes that a program waits for before it ends.
struct Refreshing;

impl Refreshing {
    fn begin() -> Self {
        *locked(&REFRESHES.0) += 1;
        Self
    }
}

impl Drop for Refreshing {
    fn drop(&mut self) {
        *locked(&REFRESHES.0) -= 1;
        REFRESHES.1.notify_all();
    }
}

/// Waits until no sign-in is being refreshed, at most this long.
pub fn wait_for_refreshes(limit: Duration) {
    let running = locked(&REFRESHES.0);
    drop(REFRESHES.1.wait_timeout_while(running, limit, |running| *running > 0));
}

/// Refreshes a sign-in on a thread of its own, which goes on when its caller no longer waits or its runtime ends.
async fn refresh(place: Place, server: &Server, used: SignIn) -> Result<SecretToken, SignInProblem> {
    let failed = || SignInProblem::Refused("the sign-in could not be refreshed".into());
    let auth = server.auth.clone().unwrap_or_default();
    let (sender, outcome) = oneshot::channel();
    let refreshing = Refreshing::begin();
    let work = move || {
        let _refreshing = refreshing;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let refreshed = runtime.map(|runtime| runtime.block_on(refresh_alone(&place, &auth, &used)));
        let _ = sender.send(refreshed.unwrap_or_else(|_| Err(failed())));
    };
    std::thread::Builder::new().name("refresh".into()).spawn(work).map_err(|_| failed())?;
    outcome.await.unwrap_or_else(|_| Err(failed()))
}

/// Refreshes a sign-in while no other process does. Where one has done so, its token counts.
async fn refresh_alone(
    place: &Place,
    auth: &ServerAuth,
    used: &SignIn,
) -> Result<SecretToken, SignInProblem> {
    let refused = SignInProblem::refused;
    let _lock = place.lock().await.map_err(refused)?;
    let ended = || sign_in("the sign-in to it has ended", used.scopes.clone());
    let latest = place.read().map_err(refused)?.ok_or_else(ended)?;
    let token = latest.token();
    if latest.tokens != used.tokens && !latest.is_due() {
        return token.ok_or_else(ended);
    }
    if !latest.is_refreshable() {
        let is_unused = latest.tokens != used.tokens || used.is_due();
        return token.filter(|_| is_unused && latest.seconds_left() > 0).ok_or_else(ended);
    }
    let refreshed = match Authorization::discover(&latest.url, auth).await {
        Ok(authorization) => authorization.refresh(&latest, auth).await,
        Err(problem) => Err(RefreshError::Failed(problem)),
    };
    match refreshed {
        Ok(refreshed) => {
            place.write(&refreshed).map_err(refused)?;
            refreshed.token().ok_or_else(|| SignInProblem::Refused(NO_TOKEN.into()))
        }
        Err(RefreshError::Ended) => {
            place.write(&SignIn { tokens: None, ..latest }).map_err(refused)?;
            Err(ended())
        }
        Err(RefreshError::Failed(_)) if token.is_some() && used.is_due() && latest.seconds_left() > 0 => {
            token.ok_or_else(ended)
        }
        Err(RefreshError::Failed(problem)) => {
            let reason = format!("its authorization server gives no new token: {problem}");
            Err(SignInProblem::of_authorization_server(reason))
        }
    }
}

/// Notes the scopes that the next sign-in asks for.
async fn want(place: &Place, scopes: &[String]) {
    let Ok(_lock) = place.lock().await else { return };
    let Ok(Some(mut sign_in)) = place.read() else { return };
    let new: Vec<String> = scopes.iter().filter(|scope| !sign_in.wanted.contains(scope)).cloned().collect();
    if new.is_empty() {
        return;
    }
    sign_in.wanted.extend(new);
    // A server may ask for others each time.
    let surplus = sign_in.wanted.len().saturating_sub(MAX_SCOPES);
    sign_in.wanted.drain(..surplus);
    if let Err(problem) = place.write(&sign_in) {
        tracing::warn!(%problem, "the scopes of the next sign-in are not noted");
    }
}

// The address on this machine at which a browser comes back from a sign-in.

/// Longest time of one request: browsers open connections that they never use.
const REQUEST_TIME: Duration = Duration::from_secs(10);
/// Most requests that wait at the same time.
const MAX_WAITING: usize = 16;
/// The path at which the browser comes back.
const PATH: &str = "/callback";

/// A listener for one sign-in. It ends when this is dropped.
pub(super) struct Callback {
    /// The address to come back to.
    pub(super) address: String,
    /// The browsers that come back.
    pub(super) arrivals: mpsc::Receiver<Arrival>,
    task: tokio::task::JoinHandle<()>,
}

/// A browser that came back, and waits for its page.
pub(super) struct Arrival {
    /// The query of its address.
    pub(super) query: String,
    page: oneshot::Sender<http::Response<Body>>,
    /// Ends with the connection.
    connection: watch::Receiver<()>,
}

impl Callback {
    /// Listens on this port of the machine, or on any free one.
    pub(super) async fn listen(port: Option<u16>) -> std::io::Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", port.unwrap_or(0))).await?;
        let address = format!("http://127.0.0.1:{}{PATH}", listener.local_addr()?.port());
        let (arrived, arrivals) = mpsc::channel(MAX_WAITING);
        let task = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(timeout(REQUEST_TIME, serve(stream, arrived.clone())));
            }
        });
        Ok(Self { address, arrivals, task })
    }
}

impl Drop for Callback {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Arrival {
    /// Shows a page to the person, and waits until it is written: the program may end then.
    pub(super) async fn show(mut self, status: StatusCode, heading: &str, text: &str) {
        let _ = self.page.send(page(status, heading, text));
        let _ = timeout(REQUEST_TIME, self.connection.changed()).await;
    }
}

/// Reads one request, and answers it once the sign-in has an outcome.
async fn serve(stream: TcpStream, arrived: mpsc::Sender<Arrival>) {
    // Dropped at the end, which the other side notices.
    let (_open, connection) = watch::channel(());
    let answering = service_fn(|request: http::Request<Incoming>| {
        let (page_sender, shown) = oneshot::channel();
        let query = request.uri().query().unwrap_or_default().to_string();
        let arrival = Arrival { query, page: page_sender, connection: connection.clone() };
        let is_ours = request.method() == Method::GET && request.uri().path() == PATH;
        let has_arrived = is_ours && arrived.try_send(arrival).is_ok();
        async move {
            let shown = if has_arrived { shown.await.ok() } else { None };
            let ended =
                || page(StatusCode::GONE, "This sign-in has ended", "Begin again with `toolcrib login`.");
            Ok::<_, Infallible>(shown.unwrap_or_else(ended))
        }
    });
    let _ = http1::Builder::new().keep_alive(false).serve_connection(TokioIo::new(stream), answering).await;
}

/// A page without anything of the request.
fn page(status: StatusCode, heading: &str, text: &str) -> http::Response<Body> {
    let safe = |text: &str| text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    let heading = safe(heading);
    let text = safe(text);
    let body = format!(
        "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><meta name=\"viewport\" \
         content=\"width=device-width\"><title>{heading}</title><style>body{{font:1.1rem/1.5 system-ui;max-width:34rem;\
         margin:15vh auto;padding:0 1rem}}</style><h1>{heading}</h1><p>{text}</p></html>\n"
    );
    let mut response = http::Response::new(Body::from(body));
    *response.status_mut() = status;
    let headers = [
        (CONTENT_TYPE, "text/html; charset=utf-8"),
        (CACHE_CONTROL, "no-store"),
        (REFERRER_POLICY, "no-referrer"),
        (CONTENT_SECURITY_POLICY, "default-src 'none'; style-src 'unsafe-inline'"),
    ];
    response.headers_mut().extend(headers.map(|(name, value)| (name, http::HeaderValue::from_static(value))));
    response
}

/// The code in a query for the sign-in with this state, or the reason why the authorization server refused; `None` where the
/// query belongs to another sign-in, or to none.
pub(super) fn outcome(query: &str, state: &str) -> Option<Result<String, String>> {
    let values = |name: &str| -> Vec<String> {
        let pairs = form_urlencoded::parse(query.as_bytes());
        pairs.filter(|(key, _)| key == name).map(|(_, value)| value.into_owned()).collect()
    };
    let [given]: [String; 1] = values("state").try_into().ok()?;
    if state.is_empty() || !bool::from(given.as_bytes().ct_eq(state.as_bytes())) {
        return None;
    }
    if let Some(error) = values("error").first() {
        let said = values("error_description").first().map(|said| format!(": {said}")).unwrap_or_default();
        return Some(Err(clean_line(&format!("{error}{said}")).chars().take(300).collect()));
    }
    let [code]: [String; 1] = values("code").try_into().ok()?;
    (values("iss").len() <= 1).then_some(Ok(code))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_query_counts_for_its_own_sign_in_alone() {
        assert_eq!(outcome("code=a&state=s&iss=x", "s"), Some(Ok("a".into())));
        for foreign in [
            "",
            "code=a",
            "code=a&state=other",
            "code=a&state=s&state=s",
            "code=a&code=b&state=s",
            "code=a&state=s&iss=x&iss=y",
            "state=s",
            "error=access_denied",
        ] {
            assert_eq!(outcome(foreign, "s"), None, "{foreign}");
        }
        assert_eq!(outcome("code=a&state=", ""), None);
        let refused = outcome("error=access_denied&error_description=no%0A%1b[31m&state=s", "s");
        assert!(
            matches!(refused, Some(Err(why)) if why.starts_with("access_denied: no") && !why.contains('\u{1b}'))
        );
    }

    #[tokio::test]
    async fn a_page_repeats_no_markup() {
        let page = page(StatusCode::OK, "<script>", "a & b").into_body();
        let page = axum::body::to_bytes(page, 10_000).await.unwrap();
        let page = std::str::from_utf8(&page).unwrap();
        assert!(page.contains("<h1>&lt;script&gt;</h1><p>a &amp; b"));
    }
}
