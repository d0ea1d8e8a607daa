//! People at the pages: a form takes a token, and a signed cookie remembers the caller whose token it was. The forms of all pages
//! are checked here too.
//!
//! The cookie holds no token. It holds the caller, the resources that the token is for, and the time at which it ends. Its
//! key comes from state, which replicas share, and from the configured callers, so that a change of these ends all cookies.
//! A cookie is accepted where pages are read and their forms sent, and nowhere else. A proxy in front may name the person instead.

use std::collections::HashMap;
use std::sync::Mutex;

use axum::body::Body;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use cookie::{Cookie, SameSite};
use http::header::{AUTHORIZATION, CACHE_CONTROL, CONTENT_TYPE, COOKIE, HOST, LOCATION, SET_COOKIE};
use http::request::Parts;
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use serde::{Deserialize, Serialize};
use tokio::sync::OnceCell;

use super::{RequestContext, Response, Shared, functions, query_value};
use crate::auth::{AuthError, Resource, Verified};
use crate::response::{Problem, ProblemCode, add_to_vary, negotiated, with};
use crate::site::{Person, SignInPage};
use crate::{RequestCatalog, Route};
use toolcrib_definition::clean_line;
use toolcrib_definition::guard::locked;
use toolcrib_gateway::exec::Caller;
use toolcrib_gateway::state::{StateError, now, random_secret};

/// Most milliseconds after which a person has to sign in again; less where the token ends earlier.
const LONGEST_MS: i64 = 8 * 3_600_000;
/// Longest value of a cookie, in bytes: browsers keep 4,096 with the name and the attributes.
const MAX_COOKIE: usize = 3_800;
/// Most cookies that are remembered as ended.
const MAX_ENDED: usize = 10_000;
/// Longest address to return to, in bytes.
const MAX_RETURN: usize = 2_048;
/// Parameters of an address that are credentials: no page carries them on.
const CREDENTIALS: [&str; 5] = ["access_token", "code", "id_token", "refresh_token", "token"];
/// Most characters of a name that pages show.
const MAX_SHOWN: usize = 80;

const COOKIE_KEY: &str = "toolcrib 2026 cookie of a person at the pages";

/// The use of a cookie.
const SESSION: &str = "session";
const FORM: &str = "form";

/// What signing in needs beside the callers.
#[derive(Debug, Default)]
pub(super) struct SignIn {
    key: OnceCell<[u8; 32]>,
    /// Cookies of people who have signed out, until they would have ended.
    ended: Mutex<HashMap<blake3::Hash, i64>>,
}

/// A person who reads the pages.
#[derive(Clone, Debug)]
pub(super) struct Visitor {
    pub(super) caller: Caller,
    /// The name that pages show.
    pub(super) name: String,
    /// The value in the form that signs the person out; empty for a person whom a proxy names.
    pub(super) csrf: String,
}

impl Visitor {
    /// The person who has sent a request, if it is known.
    pub(super) fn person_of(request: &Parts) -> Option<Person<'_>> {
        request.extensions.get::<Self>().map(Self::person)
    }

    /// The person as pages show them.
    pub(super) fn person(&self) -> Person<'_> {
        Person { name: &self.name, csrf: &self.csrf }
    }
}

/// The content of the cookie.
#[derive(Serialize, Deserialize)]
pub struct Session {
    /// A number that no other session has.
    id: String,
    #[serde(flatten)]
    verified: Verified,
}

impl Visitor {
    /// The person whom a proxy names.
    pub(super) fn of_proxy(caller: Caller) -> Self {
        let name = caller.name.rsplit_once('@').map_or(&*caller.name, |(name, _)| name);
        let name = shown(&percent_encoding::percent_decode_str(name).decode_utf8_lossy());
        Self { name, caller, csrf: String::new() }
    }
}

impl SignIn {
    fn end(&self, value: &str, until: i64) {
        let mut ended = locked(&self.ended);
        ended.retain(|_, until| *until > now());
        if ended.len() >= MAX_ENDED
            && let Some(first) = ended.iter().min_by_key(|(_, until)| **until).map(|(hash, _)| *hash)
        {
            ended.remove(&first);
        }
        ended.insert(blake3::hash(value.as_bytes()), until);
    }

    fn has_ended(&self, value: &str) -> bool {
        let ended = locked(&self.ended);
        ended.contains_key(&blake3::hash(value.as_bytes()))
    }
}

impl Session {
    fn sealed(&self, key: &[u8; 32]) -> String {
        let facts = URL_SAFE_NO_PAD.encode(serde_json::to_vec(self).unwrap_or_default());
        format!("{facts}.{}", blake3::keyed_hash(key, facts.as_bytes()).to_hex())
    }

    /// The session in a cookie that was signed with this key and has not ended.
    fn read(value: &str, key: &[u8; 32], now: i64) -> Option<Self> {
        let (facts, signature) = value.split_once('.')?;
        // Hashes are compared in constant time.
        let is_signed = blake3::Hash::from_hex(signature).ok()? == blake3::keyed_hash(key, facts.as_bytes());
        let facts = URL_SAFE_NO_PAD.decode(facts).ok().filter(|_| is_signed)?;
        serde_json::from_slice(&facts).ok().filter(|session: &Self| now < session.verified.until)
    }
}

/// Whether a cookie is accepted: the request reads a page, or a file that pages link to, or sends a form of a page, and shows
/// no token.
pub(super) fn takes_cookies(route: Route, request: &Parts) -> bool {
    let is_read = matches!(request.method, Method::GET | Method::HEAD);
    let is_form = may_send_form(route, request);
    let is_page = matches!(route, Route::Page | Route::Doc | Route::Catalog | Route::SignIn);
    let is_api = request.uri.path().starts_with("/v1/");
    is_page && (is_read || is_form) && !is_api && !request.headers.contains_key(AUTHORIZATION)
}

/// The browser of a request.
#[derive(Clone, Copy)]
pub(super) struct Browser<'r> {
    pub(super) shared: &'r Shared,
    pub(super) catalog: &'r RequestCatalog,
    pub(super) request: &'r Parts,
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
    pub fn ask(self, status: StatusCode, page: SignInPage<'_>) -> Result<Response, Problem> {
        let known = self.cookie(FORM);
        let is_new = known.is_none();
        let none = || Problem::new(ProblemCode::Internal, "this machine has no random numbers");
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

    fn page(self, status: StatusCode, page: SignInPage<'_>) -> Result<Response, Problem> {
        let host = self.request.headers.get(HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
        let page = SignInPage { host, ..page }.render(self.catalog.unrestricted_view().templates());
        let page = page.map_err(|error| Problem::new(ProblemCode::Internal, error.to_string()))?;
        Ok(negotiated(status, page.content_type, page.body))
    }

    /// The key that signs cookies.
    pub(super) async fn key(self) -> Result<[u8; 32], Problem> {
        let make = async || {
            let secret = self.catalog.services().state.hash_key().await?;
            let callers = self.shared.authenticator.fingerprint();
            Ok(blake3::derive_key(COOKIE_KEY, format!("{secret}\n{callers}").as_bytes()))
        };
        let key = self.shared.sign_in.key.get_or_try_init(make).await;
        key.copied().map_err(|error: StateError| Problem::of_state(&error, "nobody can sign in now"))
    }

    /// The cookie of the session, and what it holds, if that has not ended.
    async fn session(self) -> Result<Option<(String, Session)>, Problem> {
        let Some(value) = self.cookie(SESSION) else { return Ok(None) };
        let session = Session::read(&value, &self.key().await?, now());
        let session = session.filter(|_| !self.shared.sign_in.has_ended(&value));
        Ok(session.map(|session| (value, session)))
    }

    /// Ends the session that the browser has, so that a copy of its cookie is of no use here.
    async fn end_session(self) -> Result<(), Problem> {
        if let Some((value, session)) = self.session().await? {
            self.shared.sign_in.end(&value, session.verified.until);
        }
        Ok(())
    }

    /// The address by which the browser reached this server, or the public one.
    pub(super) fn address(self) -> String {
        let public = self.shared.authenticator.public_url();
        match self.request.headers.get(HOST).and_then(|host| host.to_str().ok()) {
            Some(host) if public.starts_with("http://") => {
                format!("{}://{host}", self.shared.hosts.scheme(host))
            }
            _ => public.to_string(),
        }
    }

    /// The port of this machine at which the browser asks without TLS; only there a cookie does without `Secure`.
    fn loopback_port(self) -> Option<u16> {
        let is_https = self.shared.authenticator.public_url().starts_with("https://");
        self.shared.hosts.loopback_port(self.request).filter(|_| !is_https)
    }

    /// The name of a cookie. Over TLS, no other host can set or read it; servers at other ports of this machine share cookies.
    fn cookie_name(self, kind: &str) -> String {
        match self.loopback_port() {
            Some(port) => format!("toolcrib-{kind}-{port}"),
            None => format!("__Host-toolcrib-{kind}"),
        }
    }

    /// The value of a cookie. A cookie that is sent twice counts as missing: another server of this machine may have set one.
    fn cookie(self, kind: &str) -> Option<String> {
        let name = self.cookie_name(kind);
        let sent = self.request.headers.get_all(COOKIE).into_iter().filter_map(|value| value.to_str().ok());
        let mut found = sent.flat_map(Cookie::split_parse).flatten().filter(|cookie| cookie.name() == name);
        let cookie = found.next().filter(|_| found.next().is_none())?;
        Some(cookie.value().to_string()).filter(|value| !value.is_empty() && value.len() <= MAX_COOKIE)
    }

    /// The header that sets a cookie, until the browser ends or for these milliseconds.
    fn set_cookie(self, kind: &str, value: String, ms: Option<i64>) -> Option<(HeaderName, HeaderValue)> {
        let mut cookie = Cookie::new(self.cookie_name(kind), value);
        cookie.set_path("/");
        cookie.set_http_only(true);
        cookie.set_secure(self.loopback_port().is_none());
        cookie.set_same_site(SameSite::Strict);
        cookie.set_max_age(ms.map(cookie::time::Duration::milliseconds));
        Some((SET_COOKIE, HeaderValue::try_from(cookie.to_string()).ok()?))
    }
}

/// `GET /sign-in`: the form, or the person who is signed in.
pub(super) async fn show(context: RequestContext) -> Result<Response, Problem> {
    let RequestContext { shared, catalog, request, .. } = &context;
    let browser = Browser { shared, catalog, request };
    if let Some(visitor) = browser.visitor(Resource { root: "", is_mcp: false }).await? {
        let page = SignInPage { person: Some(&visitor.name), csrf: &visitor.csrf, ..SignInPage::default() };
        return browser.page(StatusCode::OK, page);
    }
    let return_to = query_value(request, "return").unwrap_or_default();
    let notice = query_value(request, "signed-out").map(|_| "You are signed out.");
    browser.ask(StatusCode::OK, SignInPage { return_to: &return_to, notice, ..SignInPage::default() })
}

/// `POST /sign-in`: a token, typed by a person.
pub(super) async fn sign_in(context: RequestContext) -> Result<Response, Problem> {
    let RequestContext { shared, catalog, request, body, .. } = context;
    let browser = Browser { shared: &shared, catalog: &catalog, request: &request };
    let mut fields = browser.fields(body).await?;
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
    let mut verified = match shared.authenticator.verified(token.trim().as_bytes()).await {
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
pub(super) async fn sign_out(context: RequestContext) -> Result<Response, Problem> {
    let RequestContext { shared, catalog, request, body, .. } = context;
    let browser = Browser { shared: &shared, catalog: &catalog, request: &request };
    let csrf = take_field(&mut browser.fields(body).await?, "csrf");
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

/// Leads a browser to a page of this server, with cookies.
pub(super) fn see_other<const N: usize>(
    path: &str,
    cookies: [Option<(HeaderName, HeaderValue)>; N],
) -> Response {
    let mut headers = HeaderMap::new();
    headers.extend(HeaderValue::try_from(path).map(|path| (LOCATION, path)));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    for (name, cookie) in cookies.into_iter().flatten() {
        headers.append(name, cookie);
    }
    with(StatusCode::SEE_OTHER, headers, Body::empty())
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

fn shown(name: &str) -> String {
    clean_line(name).chars().take(MAX_SHOWN).collect()
}

/// The address, if it is a path of this server; else the home page. A browser must read no host in it, however it mends
/// what is written. An address with credentials loses its parameters.
fn safe(address: &str) -> &str {
    let is_plain = |byte: u8| byte.is_ascii_graphic() && !matches!(byte, b'\\' | b'"' | b'<' | b'>');
    let is_path = address.starts_with('/') && !address.starts_with("//");
    let is_ours = is_path && address.len() <= MAX_RETURN && address.bytes().all(is_plain);
    let path = address.split(['?', '#']).next().unwrap_or_default();
    // An address of signing in is not worth returning to.
    let is_of_sign_in = path.split('/').any(|part| part == "sign-in" || part == "sign-out");
    let shows =
        |query: &str| form_urlencoded::parse(query.as_bytes()).any(|(name, _)| CREDENTIALS.contains(&&*name));
    match address.split_once('?') {
        _ if !is_ours || is_of_sign_in => "/",
        Some((path, query)) if shows(query) => path,
        _ => address,
    }
}

// Forms of pages. A form is accepted only from a page of this server, and only from the person who read that page. Each
// check holds without the others:
//
// 1. The origin of the request, where the browser sends it (`Hosts::check`).
// 2. The site of the request, where the browser sends it.
// 3. A value in the form, which no other site can read: it is made from the cookie of the session, or for people without a
//    session, from their name and a key of the server.

const FORM_KEY: &str = "toolcrib 2026 form of a page";
/// Header in which a browser names the relation between the sending page and this server.
const FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");
/// Name of the field with the value.
const FORM_FIELD: &str = "csrf";

/// The fields of a form, in the order of the page.
pub(super) type Fields = Vec<(String, String)>;

/// Takes the value of a field.
pub(super) fn take_field(fields: &mut Fields, name: &str) -> String {
    let place = fields.iter().position(|(known, _)| known == name);
    place.map(|place| fields.remove(place).1).unwrap_or_default()
}

/// Returns true if a request may send the form of a page. Only handlers that read the form with [`Browser::form`] answer it.
pub(super) fn may_send_form(route: Route, request: &Parts) -> bool {
    request.method == Method::POST && matches!(route, Route::Page | Route::Doc) && is_form(request)
}

fn is_form(request: &Parts) -> bool {
    let kind = request.headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    let kind = kind.unwrap_or_default().split(';').next().unwrap_or_default().trim();
    kind.eq_ignore_ascii_case("application/x-www-form-urlencoded")
}

/// The value of a form whose browser has this cookie. The cookie cannot be found from it.
fn form_value(secret: &str) -> String {
    blake3::Hash::from_bytes(blake3::derive_key(FORM_KEY, secret.as_bytes())).to_hex().to_string()
}

fn is_form_value(secret: &str, csrf: &str) -> bool {
    let own = blake3::derive_key(FORM_KEY, secret.as_bytes());
    // Hashes are compared in constant time.
    blake3::Hash::from_hex(csrf).is_ok_and(|sent| sent == own)
}

impl Browser<'_> {
    /// The value in the forms on this person's pages.
    pub(super) async fn csrf(self, caller: &Caller) -> Result<String, Problem> {
        let visitor = self.request.extensions.get::<Visitor>();
        if let Some(csrf) = visitor.map(|visitor| &visitor.csrf).filter(|csrf| !csrf.is_empty()) {
            return Ok(csrf.clone());
        }
        let key = self.key().await?;
        Ok(blake3::keyed_hash(&key, format!("{FORM_KEY}\n{}", caller.name).as_bytes()).to_hex().to_string())
    }

    /// The fields of a form that this person sent from a page of this server.
    pub(super) async fn form(self, caller: &Caller, body: Body) -> Result<Fields, Problem> {
        let mut fields = self.fields(body).await?;
        let own = self.csrf(caller).await?;
        let sent = take_field(&mut fields, FORM_FIELD);
        let hash = |text: &str| blake3::Hash::from_hex(text).ok();
        // Hashes are compared in constant time.
        if hash(&own).is_some_and(|own| Some(own) == hash(&sent)) { Ok(fields) } else { Err(form_refused()) }
    }

    /// The fields of a form, whose value is not checked yet.
    pub(super) async fn fields(self, body: Body) -> Result<Fields, Problem> {
        if self.request.headers.get_all(FETCH_SITE).iter().any(|site| site != "same-origin") {
            return Err(form_refused());
        }
        if !is_form(self.request) {
            let message = "this address takes a form of its own pages";
            return Err(Problem::new(ProblemCode::UnsupportedMediaType, message)
                .next("use the page in a browser, or send `Authorization: Bearer TOKEN` to /v1"));
        }
        let body = functions::whole(self.shared, body).await?;
        Ok(form_urlencoded::parse(&body).into_owned().collect())
    }
}

/// The problem of a form from elsewhere.
fn form_refused() -> Problem {
    Problem::new(ProblemCode::FormRefused, "this form is of another session, or of another site")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn session(until: i64, role: &str) -> Session {
        let caller = Caller { name: "amy".into(), roles: Some(vec![role.into()]), ..Caller::default() };
        Session { id: "1".into(), verified: Verified { caller, audience: None, until } }
    }

    #[test]
    fn a_cookie_is_of_its_key_unchanged_and_ends() {
        let own = [1; 32];
        let other = [2; 32];
        let value = session(1000, "reader").sealed(&own);
        assert_eq!(Session::read(&value, &own, 999).unwrap().verified.caller.roles.unwrap(), ["reader"]);
        assert!(Session::read(&value, &own, 1000).is_none(), "it has ended");
        assert!(Session::read(&value, &other, 0).is_none(), "it is signed with another key");
        let (facts, signature) = value.split_once('.').unwrap();
        let forged = session(i64::MAX, "*").sealed(&other);
        let forged = forged.split_once('.').unwrap().0;
        for bad in [
            format!("{forged}.{signature}"),
            format!("{facts}."),
            facts.to_string(),
            format!("{facts}.{}", "0".repeat(64)),
            format!("{facts}x.{signature}"),
            format!("{facts}.{signature}0"),
            ".".into(),
            String::new(),
        ] {
            assert!(Session::read(&bad, &own, 0).is_none(), "{bad}");
        }
    }

    #[test]
    fn cookies_that_have_ended_are_remembered_within_a_limit() {
        let sign_in = SignIn::default();
        for number in 0..MAX_ENDED + 10 {
            sign_in.end(&number.to_string(), i64::MAX - number as i64);
        }
        assert!(sign_in.ended.lock().unwrap().len() <= MAX_ENDED);
        assert!(sign_in.has_ended("0") && !sign_in.has_ended("x"));
    }

    #[test]
    fn only_paths_of_this_server_are_returned_to() {
        for good in ["/", "/tools/get_me.html", "/search.html?q=a%20b&c=//x", "/p/creator/", "/a//b", "/a@b"]
        {
            assert_eq!(safe(good), good);
        }
        assert_eq!(safe("/search.html?q=a&access_token=b"), "/search.html");
        assert_eq!(safe("/?c%6fde=b"), "/");
        let long = format!("/{}", "a".repeat(MAX_RETURN));
        for bad in [
            "", "//evil.example", "/\\evil.example", "\\\\evil.example", "https://evil.example/",
            "javascript:alert(1)", "evil.example", "/\t/evil.example", "/\n/evil.example", " //evil.example",
            "///evil.example", "/a\r\nset-cookie: x", "/ä", "/sign-in", "/sign-in?return=/", "/sign-out",
            "/p/x/sign-in/start", &long,
        ] {
            assert_eq!(safe(bad), "/", "{bad}");
        }
    }

    #[test]
    fn a_form_belongs_to_one_cookie() {
        assert!(is_form_value("a", &form_value("a")));
        for csrf in ["", "0", &"0".repeat(64), &form_value("b")] {
            assert!(!is_form_value("a", csrf), "{csrf}");
        }
    }
}
