//! People at the pages: a form takes a token, and a signed cookie remembers the caller whose token it was. The forms of all pages
//! are checked here too.
//!
//! The cookie holds no token. It holds the caller, the resources that the token is for, and the time at which it ends. Its
//! key comes from state, which replicas share, and from the configured callers, so that a change of these ends all cookies.
//! A cookie is accepted where pages are read and their forms sent, and nowhere else. A proxy in front may name the person instead.

use axum::body::Body;
use http::header::{AUTHORIZATION, CACHE_CONTROL, HOST};
use http::request::Parts;
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use serde::Serialize;
use serde_json::json;

use super::address::{safe, see_other};
use super::browser::{Browser, FORM, MAX_COOKIE, SESSION, Visitor, shown};
use super::csrf::{form_refused, form_value, is_form_value, may_send_form, take_field};
use super::metrics::Route;
use super::request_context::{OpenRequest, query_value};
use super::session_cookie::Session;
use crate::auth::{AuthError, Resource};
use crate::response::{Media, Problem, Response, add_to_vary, negotiated};
use crate::site::CONTENT_SECURITY_POLICY;
use toolcrib_gateway::state::{now, random_secret};

/// Most milliseconds after which a person has to sign in again; less where the token ends earlier.
const LONGEST_MS: i64 = 8 * 3_600_000;

/// Everybody who signs in or out, as one caller.
const VISITORS: &str = "sign-in";

/// Whether a cookie is accepted: the request reads a page, or a file that pages link to, or sends a form of a page, and shows
/// no token.
pub(super) fn takes_cookies(request: &Parts) -> bool {
    let is_read = matches!(request.method, Method::GET | Method::HEAD);
    let is_form = may_send_form(request);
    let is_page = matches!(Route::of(request), Route::Page | Route::Doc | Route::Catalog);
    let is_api = request.uri.path().starts_with("/v1/");
    is_page && (is_read || is_form) && !is_api && !request.headers.contains_key(AUTHORIZATION)
}

/// The page on which a person signs in. It shows nothing of the catalog.
#[derive(Default, Serialize)]
struct SignInPage<'a> {
    /// The host that the browser has asked.
    host: &'a str,
    /// Whether a token can be typed.
    takes_token: bool,
    /// The address to return to.
    return_to: &'a str,
    /// The value that shows that the form comes from this page.
    csrf: &'a str,
    /// The reason why signing in has failed.
    problem: Option<&'a str>,
    /// Good news, such as that the person is signed out.
    notice: Option<&'a str>,
    /// The person who is signed in.
    person: Option<&'a str>,
}

impl Browser<'_> {
    /// The person who has signed in, and may read this resource.
    pub(super) async fn visitor(self, resource: Resource<'_>) -> Result<Option<Visitor>, Problem> {
        let Some((value, Session { verified, .. })) = self.session().await? else { return Ok(None) };
        if !self.shared.authenticator.is_for(&verified, resource) {
            return Ok(None);
        }
        let name = shown(&verified.caller.name);
        let csrf = form_value(&value);
        Ok(Some(Visitor { caller: verified.caller, name, csrf }))
    }

    /// The form in place of a refusal, at the same address, to which the person returns.
    pub(super) fn refused(self, problem: &Problem, wanted: &str) -> Response {
        let page = SignInPage { return_to: wanted, ..SignInPage::default() };
        match self.ask(StatusCode::UNAUTHORIZED, page) {
            Ok(mut page) => {
                page.headers_mut().extend(problem.headers.clone());
                page
            }
            Err(failed) => failed.answer(""),
        }
    }

    /// The page with the form. The browser gets a cookie, from which the value of the form is made.
    fn ask(self, status: StatusCode, page: SignInPage<'_>) -> Result<Response, Problem> {
        let known = self.cookie(FORM);
        let is_new = known.is_none();
        let none = || Problem::internal("this machine has no random numbers");
        let secret = known.or_else(random_secret).ok_or_else(none)?;
        let csrf = form_value(&secret);
        let takes_token = self.shared.authenticator.takes_tokens();
        let page = SignInPage { takes_token, return_to: safe(page.return_to), csrf: &csrf, ..page };
        let mut response = self.page(status, page)?;
        if is_new {
            response.headers_mut().extend(self.set_cookie(FORM, secret, None));
        }
        Ok(response)
    }

    /// The page. Its links are from the root of the server on.
    fn page(self, status: StatusCode, page: SignInPage<'_>) -> Result<Response, Problem> {
        let host = self.request.headers.get(HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
        let page = SignInPage { host, ..page };
        let version = env!("CARGO_PKG_VERSION");
        let values = json!({ "page": page, "policy": CONTENT_SECURITY_POLICY, "product_version": version });
        let snapshot = self.shared.live.current();
        let page = snapshot.unrestricted_view().templates().render("site/sign_in.html", &values);
        Ok(negotiated(status, Media::Html.content_type(), page.map_err(Problem::internal)?))
    }
}

/// `GET /sign-in`: the form, or the person who is signed in.
pub(super) async fn show(context: OpenRequest) -> Result<Response, Problem> {
    let browser = context.browser();
    if let Some(visitor) = browser.visitor(Resource { root: "", is_mcp: false }).await? {
        let page = SignInPage { person: Some(&visitor.name), csrf: &visitor.csrf, ..SignInPage::default() };
        return browser.page(StatusCode::OK, page);
    }
    let return_to = query_value(&context.request, "return").unwrap_or_default();
    let notice = query_value(&context.request, "signed-out").map(|_| "You are signed out.");
    browser.ask(StatusCode::OK, SignInPage { return_to: &return_to, notice, ..SignInPage::default() })
}

/// `POST /sign-in`: a token, typed by a person.
pub(super) async fn sign_in(context: OpenRequest, body: Body) -> Result<Response, Problem> {
    let browser = context.browser();
    let mut fields = browser.fields(VISITORS, body).await?;
    let [csrf, token, return_to] = ["csrf", "token", "return"].map(|name| take_field(&mut fields, name));
    let asks_again = |status: StatusCode, problem: &str| {
        let page = SignInPage { return_to: &return_to, problem: Some(problem), ..SignInPage::default() };
        browser.ask(status, page)
    };
    match browser.cookie(FORM) {
        Some(secret) if is_form_value(&secret, &csrf) => {}
        Some(_) => return asks_again(StatusCode::FORBIDDEN, "This form was too old. Please sign in again."),
        None => {
            let problem =
                "Your browser has not sent its cookie. Allow cookies of this site, and open it with https.";
            return asks_again(StatusCode::FORBIDDEN, problem);
        }
    }
    let mut verified = match browser.shared.authenticator.verified(token.trim().as_bytes()).await {
        Ok(verified) => verified,
        Err(AuthError::IssuerAway) => {
            return asks_again(StatusCode::SERVICE_UNAVAILABLE, "The issuer of this token does not answer.");
        }
        Err(refused) => {
            let status =
                if refused == AuthError::NoGrant { StatusCode::FORBIDDEN } else { StatusCode::UNAUTHORIZED };
            return asks_again(status, &format!("You are not signed in: {refused}."));
        }
    };
    verified.until = verified.until.min(now().saturating_add(LONGEST_MS));
    let ms = verified.until - now();
    let session = Session { id: random_secret().unwrap_or_default(), verified };
    let value = session.sealed(&browser.key().await?);
    if value.len() > MAX_COOKIE {
        let problem = "This token has too many rights for a cookie. Ask the operator for one with fewer.";
        return asks_again(StatusCode::FORBIDDEN, problem);
    }
    browser.end_session().await?;
    let cookies =
        [browser.set_cookie(SESSION, value, Some(ms)), browser.set_cookie(FORM, String::new(), Some(0))];
    Ok(see_other(safe(&return_to), cookies))
}

/// `POST /sign-out`.
pub(super) async fn sign_out(context: OpenRequest, body: Body) -> Result<Response, Problem> {
    let browser = context.browser();
    let csrf = take_field(&mut browser.fields(VISITORS, body).await?, "csrf");
    if browser.session().await?.is_some_and(|(value, _)| !is_form_value(&value, &csrf)) {
        return Err(form_refused());
    }
    browser.end_session().await?;
    let gone = [SESSION, FORM].map(|kind| browser.set_cookie(kind, String::new(), Some(0)));
    let mut response = see_other("/sign-in?signed-out=1", gone);
    let clear = HeaderName::from_static("clear-site-data");
    response.headers_mut().insert(clear, HeaderValue::from_static("\"cache\""));
    Ok(response)
}

/// Marks an answer that is for one person: no shared cache keeps it, and no page of another origin loads it.
pub(super) fn mark_as_personal(headers: &mut HeaderMap) {
    if headers.get(CACHE_CONTROL).is_none_or(|known| known.as_bytes() != b"no-store") {
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("private, no-cache"));
    }
    add_to_vary(headers, "cookie");
    let policy = HeaderName::from_static("cross-origin-resource-policy");
    headers.insert(policy, HeaderValue::from_static("same-origin"));
}
