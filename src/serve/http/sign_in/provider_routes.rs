//! The way to the identity provider and back. An attempt is stored under a hash of its `state`, tied to one browser, and taken
//! once, whatever comes of it.

use http::header::HOST;
use http::request::Parts;
use http::{HeaderMap, StatusCode};
use subtle::ConstantTimeEq;

use super::cookies::{BrowserSecret, CookieKind};
use super::form::{see_other, signed_in};
use super::page::{Outcome, ask};
use super::provider::{ATTEMPT_BROWSER, Attempt, Provider, SignInProblem};
use super::session::{new_secret, shown_name, unavailable};
use super::{return_address, scope};
use crate::serve::RequestCatalog;
use crate::serve::auth::AuthError;
use crate::serve::http::request_context::RequestContext;
use crate::serve::http::{Response, Shared};
use crate::serve::response::problem::{Problem, ProblemCode};
use crate::state::{SignIn, StateStore, now};

/// Milliseconds that a person may take at the identity provider.
const ATTEMPT_MS: i64 = 600_000;

/// Purpose of the hash under which an attempt is stored.
const ATTEMPT_ID: &str = "toolcrib 2026 id of an attempt to sign in";

/// Name of the query field that says that the address was put right already.
const PUT_RIGHT: &str = "here";

const TOO_OLD: &str = "This sign-in was not begun in this browser, or is too old. Please sign in again.";
const AWAY: &str = "The identity provider does not answer as it should. Please try again, or tell the operator of this server.";

/// The fields of a query; each counts once.
#[derive(Debug, Default)]
struct Query {
    return_to: String,
    state: String,
    code: String,
    error: Option<String>,
    issuer: Option<String>,
    is_put_right: bool,
}

impl Query {
    fn read(request: &Parts) -> Self {
        let mut read = Query::default();
        for (name, value) in form_urlencoded::parse(request.uri.query().unwrap_or_default().as_bytes()) {
            match &*name {
                "return" => read.return_to = value.into_owned(),
                "state" => read.state = value.into_owned(),
                "code" => read.code = value.into_owned(),
                "error" => read.error = Some(value.into_owned()),
                "iss" => read.issuer = Some(value.into_owned()),
                PUT_RIGHT => read.is_put_right = true,
                _ => {}
            }
        }
        read
    }
}

/// `GET /sign-in/start`: leads the browser to the identity provider.
pub(in crate::serve::http) async fn start(context: RequestContext) -> Result<Response, Problem> {
    let RequestContext { shared, catalog, request, .. } = context;
    let provider = provider(&shared)?;
    let query = Query::read(&request);
    let return_to = return_address::safe(&query.return_to);
    if !query.is_put_right && !is_at(provider.public_url(), &request.headers) {
        // The person comes back to the public address, and cookies of another one would not be there.
        let return_to: String = form_urlencoded::byte_serialize(return_to.as_bytes()).collect();
        let start = format!("{}/sign-in/start?return={return_to}&{PUT_RIGHT}=1", provider.public_url());
        return Ok(see_other(&start, std::iter::empty()));
    }
    let scope = scope(&shared, &request);
    let known = scope.read(CookieKind::Browser, &request.headers);
    let is_new = known.is_none();
    let (browser, secret) = (known.map_or_else(new_secret, Ok)?, new_secret()?);
    let begun = provider.begin(secret.text(), &browser, return_to).await;
    let (url, attempt) = match begun {
        Ok(begun) => begun,
        Err(problem) => return refused(&shared, &catalog, &request, (return_to, &problem)),
    };
    let data = serde_json::to_string(&attempt).unwrap_or_default();
    let until = now().saturating_add(ATTEMPT_MS);
    let stored = SignIn { id: secret.hex_key(ATTEMPT_ID), is_attempt: true, data, until };
    catalog.services().state.store_sign_in(&stored).await.map_err(unavailable)?;
    let cookie = scope.set(CookieKind::Browser, &browser, None).filter(|_| is_new);
    Ok(see_other(&url, cookie.into_iter()))
}

/// `GET /sign-in/callback`: the browser comes back with a code.
pub(in crate::serve::http) async fn callback(context: RequestContext) -> Result<Response, Problem> {
    let RequestContext { shared, catalog, request, .. } = context;
    let provider = provider(&shared)?;
    let query = Query::read(&request);
    let state = &*catalog.services().state;
    let asks_again = |status: StatusCode, problem: &str, return_to: &str| {
        ask(&shared, &catalog, &request, return_to, Outcome::failed(status, problem))
    };
    let Some(attempt) = taken(state, &query.state).await? else {
        return asks_again(StatusCode::BAD_REQUEST, TOO_OLD, "/");
    };
    let browser = scope(&shared, &request).read(CookieKind::Browser, &request.headers);
    let is_same = |browser: &BrowserSecret| {
        bool::from(browser.hex_key(ATTEMPT_BROWSER).as_bytes().ct_eq(attempt.browser.as_bytes()))
    };
    let Some(browser) = browser.filter(is_same) else {
        return asks_again(StatusCode::FORBIDDEN, TOO_OLD, "/");
    };
    let return_to = attempt.return_to.as_str();
    if let Err(problem) = provider.check_issuer(query.issuer.as_deref()).await {
        return refused(&shared, &catalog, &request, (return_to, &problem));
    }
    if query.error.is_some() || query.code.is_empty() {
        let problem = match query.error.as_deref() {
            Some("access_denied") => "The identity provider has not let you in.",
            _ => AWAY,
        };
        return asks_again(StatusCode::FORBIDDEN, problem, return_to);
    }
    let claims = match provider.claims(&shared.authenticator, &query.code, (&browser, &attempt)).await {
        Ok(claims) => claims,
        Err(problem) => return refused(&shared, &catalog, &request, (return_to, &problem)),
    };
    match shared.authenticator.caller_of_claims(provider.issuer(), &claims) {
        Ok(caller) => tracing::debug!(caller = &*caller.name, "a person has signed in"),
        Err(problem) => {
            tracing::warn!(%problem, "a person has no rights here");
            let name = shown_name(&claims, &crate::exec::Caller::default());
            let problem =
                format!("{name}, you have no rights here. Ask the operator of this server for them.");
            return asks_again(StatusCode::FORBIDDEN, problem.trim_start_matches(", "), return_to);
        }
    }
    let secret = shared.begin_session_with_claims(state, claims).await?;
    signed_in(&shared, state, &request, (&secret, return_to)).await
}

fn provider(shared: &Shared) -> Result<&Provider, Problem> {
    let missing = || Problem::new(ProblemCode::NotFound, "nobody signs in at an identity provider here");
    shared.sign_ins.provider.as_ref().ok_or_else(missing)
}

/// Takes the attempt with this `state`. Nobody takes it again.
async fn taken(state: &dyn StateStore, named: &str) -> Result<Option<Attempt>, Problem> {
    let Some(secret) = BrowserSecret::read(named) else { return Ok(None) };
    let taken = state.take_sign_in(&secret.hex_key(ATTEMPT_ID)).await.map_err(unavailable)?;
    Ok(taken.and_then(|taken| serde_json::from_str(&taken.data).ok()))
}

/// The page after an attempt that has failed; the operator reads more in the log.
fn refused(
    shared: &Shared,
    catalog: &RequestCatalog,
    request: &Parts,
    (return_to, problem): (&str, &SignInProblem),
) -> Result<Response, Problem> {
    tracing::warn!(%problem, "nobody has signed in at the identity provider");
    let (status, told) = match problem {
        SignInProblem::OtherIssuer => {
            (StatusCode::FORBIDDEN, "The answer comes from another identity provider.")
        }
        SignInProblem::Token(AuthError::IssuerAway) | SignInProblem::Provider(_) => {
            (StatusCode::BAD_GATEWAY, AWAY)
        }
        SignInProblem::Token(_) | SignInProblem::Code => {
            (StatusCode::FORBIDDEN, "The proof of the identity provider is not valid.")
        }
    };
    ask(shared, catalog, request, return_to, Outcome::failed(status, told))
}

/// Whether a request has come to this address.
fn is_at(public_url: &str, headers: &HeaderMap) -> bool {
    let authority = public_url.split_once("://").map_or(public_url, |(_, rest)| rest);
    headers.get(HOST).is_some_and(|host| host.as_bytes().eq_ignore_ascii_case(authority.as_bytes()))
}
