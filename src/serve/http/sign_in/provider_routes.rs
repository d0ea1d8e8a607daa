//! The way to the identity provider and back. An attempt comes back to the browser that began it; its code counts once there.

use http::header::HOST;
use http::request::Parts;
use http::{HeaderMap, StatusCode};

use super::attempt::Attempt;
use super::cookies::CookieKind;
use super::form::{see_other, signed_in};
use super::page::{Outcome, ask};
use super::provider::{Provider, SignInProblem};
use super::session::{new_secret, shown_name};
use super::{return_address, scope};
use crate::serve::RequestCatalog;
use crate::serve::auth::AuthError;
use crate::serve::http::RequestContext;
use crate::serve::http::{Response, Shared};
use crate::serve::response::problem::{Problem, ProblemCode};
use crate::state::now;

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
    let browser = known.map_or_else(new_secret, Ok)?;
    let attempt = Attempt::begin(&browser, &new_secret()?, return_to, now());
    let url = match provider.address(&attempt).await {
        Ok(url) => url,
        Err(problem) => return refused(&shared, &catalog, &request, (return_to, &problem)),
    };
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
    let browser = scope(&shared, &request).read(CookieKind::Browser, &request.headers);
    let attempt = browser.and_then(|browser| Attempt::read(&browser, &query.state, now()));
    let Some(attempt) = attempt else {
        return asks_again(StatusCode::BAD_REQUEST, TOO_OLD, "/");
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
    let claims = match provider.claims(&shared.authenticator, &query.code, &attempt).await {
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
