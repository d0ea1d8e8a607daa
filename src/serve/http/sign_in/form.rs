//! The forms of people: one signs in with a token, the other signs out.

use http::header::{CACHE_CONTROL, CONTENT_TYPE, LOCATION, SET_COOKIE};
use http::request::Parts;
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};

use axum::body::Body;

use super::cookies::{BrowserSecret, CookieKind};
use super::page::{Outcome, SIGNED_OUT, ask, has_sent, rendered};
use super::{Provider, return_address, scope, visitor};
use crate::serve::http::RequestContext;
use crate::serve::http::{Response, Shared, functions};
use crate::serve::response::problem::{Problem, ProblemCode};
use crate::serve::response::with;
use crate::site::SignInPage;
use crate::state::StateStore;

/// Tells a browser to forget the pages of the person.
const CLEAR: HeaderName = HeaderName::from_static("clear-site-data");

/// The fields of a form.
#[derive(Debug, Default)]
struct Fields {
    csrf: String,
    token: String,
    return_to: String,
}

/// `POST /sign-in`: a token, typed by a person.
pub(in crate::serve::http) async fn sign_in(context: RequestContext) -> Result<Response, Problem> {
    let RequestContext { shared, catalog, request, body, .. } = context;
    let fields = fields(&shared, &request, body).await?;
    let (scope, state) = (scope(&shared, &request), &*catalog.services().state);
    let asks_again = |status: StatusCode, problem: &str| {
        ask(&shared, &catalog, &request, &fields.return_to, Outcome::failed(status, problem))
    };
    let browser = scope.read(CookieKind::Browser, &request.headers);
    if browser.is_none() {
        let problem =
            "Your browser has not sent its cookie. Allow cookies of this site, and open it with https.";
        return asks_again(StatusCode::FORBIDDEN, problem);
    }
    if !has_sent(browser.as_ref(), &fields.csrf) {
        return asks_again(StatusCode::FORBIDDEN, "This form was too old. Please sign in again.");
    }
    let Some(secret) = shared.begin_session_with_token(state, &fields.token).await? else {
        return asks_again(StatusCode::UNAUTHORIZED, "This token is not known here.");
    };
    signed_in(&shared, state, &request, (&secret, &fields.return_to)).await
}

/// Gives a browser its new session. The one that it had before ends, and its secrets are never used again.
pub(super) async fn signed_in(
    shared: &Shared,
    state: &StateStore,
    request: &Parts,
    (secret, return_to): (&BrowserSecret, &str),
) -> Result<Response, Problem> {
    let scope = scope(shared, request);
    if let Some(before) = scope.read(CookieKind::Session, &request.headers) {
        shared.end_session(state, &before).await?;
    }
    let session = scope.set(CookieKind::Session, secret, Some(shared.sign_ins.session_ms()));
    let cookies = [session, scope.remove(CookieKind::Browser)];
    Ok(see_other(return_address::safe(return_to), cookies.into_iter().flatten()))
}

/// `POST /sign-out`.
pub(in crate::serve::http) async fn sign_out(context: RequestContext) -> Result<Response, Problem> {
    let RequestContext { shared, catalog, request, body, .. } = context;
    let fields = fields(&shared, &request, body).await?;
    let (scope, state) = (scope(&shared, &request), &*catalog.services().state);
    let visitor = visitor(&shared, state, &request).await?;
    if visitor.as_ref().is_some_and(|visitor| !visitor.has_sent(&fields.csrf)) {
        let message = "this form is of another session, or of another site";
        return Err(Problem::new(ProblemCode::FormRefused, message));
    }
    if let Some(secret) = scope.read(CookieKind::Session, &request.headers) {
        shared.end_session(state, &secret).await?;
    }
    let gone = [CookieKind::Session, CookieKind::Browser].into_iter().filter_map(|kind| scope.remove(kind));
    let provider = shared.sign_ins.provider.as_ref().filter(|_| visitor.is_some_and(|v| v.is_of_provider));
    let next = match provider {
        Some(provider) => provider.sign_out_url().await,
        None => None,
    };
    let mut response = match next {
        Some(next) => {
            let page = SignInPage {
                next: Some(&next),
                provider: provider.map(Provider::host),
                ..SignInPage::default()
            };
            let mut response = rendered(&catalog, &request, StatusCode::OK, page)?;
            response.headers_mut().extend(gone.map(|cookie| (SET_COOKIE, cookie)));
            response
        }
        None => see_other(&format!("/sign-in?{SIGNED_OUT}=1"), gone),
    };
    response.headers_mut().insert(CLEAR, HeaderValue::from_static("\"cache\""));
    Ok(response)
}

/// Leads a browser to a page of this server, with cookies.
pub(super) fn see_other(path: &str, cookies: impl Iterator<Item = HeaderValue>) -> Response {
    let mut headers = HeaderMap::new();
    headers.extend(HeaderValue::try_from(path).map(|path| (LOCATION, path)));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.extend(cookies.map(|cookie| (SET_COOKIE, cookie)));
    with(StatusCode::SEE_OTHER, headers, Body::empty())
}

/// The fields of a form; each counts once.
async fn fields(shared: &Shared, request: &Parts, body: Body) -> Result<Fields, Problem> {
    let kind = request.headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let kind = kind.split(';').next().unwrap_or_default().trim();
    if !kind.eq_ignore_ascii_case("application/x-www-form-urlencoded") {
        let problem =
            Problem::new(ProblemCode::UnsupportedMediaType, "this address takes a form of its own pages");
        return Err(problem.next("sign in with a browser, or send `Authorization: Bearer TOKEN`"));
    }
    let body = functions::whole(shared, body).await?;
    let mut fields = Fields::default();
    for (name, value) in form_urlencoded::parse(&body) {
        let field = match &*name {
            "csrf" => &mut fields.csrf,
            "token" => &mut fields.token,
            "return" => &mut fields.return_to,
            _ => continue,
        };
        *field = value.into_owned();
    }
    Ok(fields)
}
