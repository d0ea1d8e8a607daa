//! The page of signing in: in place of a refusal, or asked for.

use http::header::{HOST, REFERRER_POLICY, SET_COOKIE};
use http::request::Parts;
use http::{HeaderValue, StatusCode};
use subtle::ConstantTimeEq;

use super::super::RequestContext;
use super::cookies::{BrowserSecret, CookieKind};
use super::session::new_secret;
use super::{return_address, scope, visitor};
use crate::serve::RequestCatalog;
use crate::serve::http::{Response, Shared};
use crate::serve::response::negotiated;
use crate::serve::response::problem::{Problem, ProblemCode};
use crate::site::SignInPage;

/// The use of a browser's secret in the form.
const SIGN_IN_FORM: &str = "toolcrib 2026 form that signs in";

/// Name of the query field that says that somebody has signed out.
pub(super) const SIGNED_OUT: &str = "signed-out";

/// The outcome that the page tells.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Outcome<'a> {
    pub(super) status: StatusCode,
    pub(super) problem: Option<&'a str>,
    pub(super) notice: Option<&'a str>,
}

impl<'a> Outcome<'a> {
    /// A sign-in that has failed.
    pub(super) fn failed(status: StatusCode, problem: &'a str) -> Self {
        Self { status, problem: Some(problem), notice: None }
    }
}

/// `GET /sign-in`: the page, or the person who is signed in.
pub(in crate::serve::http) async fn show(context: RequestContext) -> Result<Response, Problem> {
    let RequestContext { shared, catalog, request, .. } = context;
    if let Some(visitor) = visitor(&shared, &*catalog.services().state, &request).await? {
        let csrf = visitor.sign_out_value();
        let page = SignInPage { person: Some(&visitor.name), csrf: &csrf, ..SignInPage::default() };
        return rendered(&catalog, &request, StatusCode::OK, page);
    }
    let query = request.uri.query().unwrap_or_default();
    let field = |name: &str| form_urlencoded::parse(query.as_bytes()).find(|(known, _)| known == name);
    let return_to = field("return").map(|(_, value)| value.into_owned()).unwrap_or_default();
    let notice = field(SIGNED_OUT).map(|_| "You are signed out.");
    let outcome = Outcome { notice, ..Outcome::default() };
    ask(&shared, &catalog, &request, &return_to, outcome)
}

/// The page in place of a refusal, at the same address, to which the person returns.
pub(in crate::serve::http) fn refused(
    shared: &Shared,
    catalog: &RequestCatalog,
    request: &Parts,
    (problem, wanted): (&Problem, &str),
) -> Response {
    let outcome = Outcome { status: StatusCode::UNAUTHORIZED, ..Outcome::default() };
    match ask(shared, catalog, request, wanted, outcome) {
        Ok(mut page) => {
            page.headers_mut().extend(problem.own_headers());
            page
        }
        Err(failed) => failed.answer(&request.headers, ""),
    }
}

/// The page that asks a person to sign in. The browser gets a secret, of which the form has a part.
pub(super) fn ask(
    shared: &Shared,
    catalog: &RequestCatalog,
    request: &Parts,
    return_to: &str,
    outcome: Outcome<'_>,
) -> Result<Response, Problem> {
    let scope = scope(shared, request);
    let known = scope.read(CookieKind::Browser, &request.headers);
    let is_new = known.is_none();
    let browser = known.map_or_else(new_secret, Ok)?;
    let (return_to, csrf) = (return_address::safe(return_to), browser.hex_key(SIGN_IN_FORM));
    let return_query: String = form_urlencoded::byte_serialize(return_to.as_bytes()).collect();
    let page = SignInPage {
        provider: shared.sign_ins.provider.as_ref().map(|provider| provider.host()),
        takes_token: !shared.authenticator.tokens().is_empty(),
        return_to,
        return_query: &return_query,
        csrf: &csrf,
        problem: outcome.problem,
        notice: outcome.notice,
        ..SignInPage::default()
    };
    let mut response = rendered(catalog, request, outcome.status, page)?;
    let cookie = scope.set(CookieKind::Browser, &browser, None).filter(|_| is_new);
    response.headers_mut().extend(cookie.map(|cookie| (SET_COOKIE, cookie)));
    Ok(response)
}

/// Whether a form comes from a page that this browser was given.
pub(super) fn has_sent(browser: Option<&BrowserSecret>, csrf: &str) -> bool {
    browser.is_some_and(|own| bool::from(own.hex_key(SIGN_IN_FORM).as_bytes().ct_eq(csrf.as_bytes())))
}

pub(super) fn rendered(
    catalog: &RequestCatalog,
    request: &Parts,
    status: StatusCode,
    page: SignInPage<'_>,
) -> Result<Response, Problem> {
    let host = request.headers.get(HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
    let page = SignInPage { host, ..page }.render(catalog.unrestricted_view().templates());
    let page = page.map_err(|error| Problem::new(ProblemCode::Internal, error.to_string()))?;
    let mut response = negotiated(status, page.content_type, page.body);
    // Without a referrer, a browser hides the origin of its own form.
    response.headers_mut().insert(REFERRER_POLICY, HeaderValue::from_static("same-origin"));
    Ok(response)
}
