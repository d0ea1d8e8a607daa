//! Handles each request: the check of host and origin, the caller, the profile, and the headers of the answer.

use std::borrow::Cow;
use std::collections::HashSet;
use std::net::{IpAddr, Ipv6Addr, SocketAddr};
use std::sync::{Arc, LazyLock};
use std::time::{Duration, Instant};

use axum::Router;
use axum::body::{Body, HttpBody};
use futures_util::FutureExt;
use http::header::{
    ALLOW, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HOST, IF_NONE_MATCH, ORIGIN, REFERRER_POLICY,
    X_CONTENT_TYPE_OPTIONS,
};
use http::request::Parts;
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, Uri};
use hyper::body::Incoming;
use tokio::sync::Semaphore;
use tokio::time::timeout;
use tower::ServiceExt;

use super::caller::{self, PathProfile};
use super::functions::TRACE;
use super::sign_in::{Browser, Visitor};
use super::{MAX_SLOW, Response, Shared, docs, functions, routes, sign_in};
use crate::auth::Resource;
use crate::response::{Media, Problem, ProblemCode, negotiated, no_store, reads_pages, unless_known};
use crate::{Authenticator, CallLimiter, LiveCatalog, RequestCatalog, Route, mcp, metrics, site};
use toolcrib_catalog::config::ServeLimits;
use toolcrib_definition::guard::{MISTAKE, guarded};
use toolcrib_definition::quoted;
use toolcrib_gateway::exec::{Caller, LackedRight};
use toolcrib_gateway::functions::Counters;
use toolcrib_gateway::state::random_id;

/// The content security policy of every page, with `frame-ancestors`, which a page cannot set itself.
static POLICY: LazyLock<HeaderValue> = LazyLock::new(|| {
    let policy = format!("{}; frame-ancestors 'none'", site::CONTENT_SECURITY_POLICY);
    HeaderValue::try_from(policy).unwrap_or_else(|_| HeaderValue::from_static("default-src 'none'"))
});

/// Request ids of a client, returned as they are.
const NAMES: [HeaderName; 2] =
    [HeaderName::from_static("x-request-id"), HeaderName::from_static("traceparent")];

/// The server of HTTP.
#[derive(Debug)]
pub struct HttpService {
    live: Arc<LiveCatalog>,
    pub(super) shared: Arc<Shared>,
    routes: Router,
}

impl HttpService {
    /// A server of the running catalog.
    pub fn new(
        live: Arc<LiveCatalog>,
        hosts: Hosts,
        authenticator: Authenticator,
        limits: ServeLimits,
    ) -> Self {
        let call_limiter = Arc::new(CallLimiter::new(&limits, Arc::clone(live.services())));
        let shared = Arc::new(Shared {
            hosts,
            authenticator,
            sign_in: Default::default(),
            limits,
            connections: Arc::default(),
            call_limiter,
            slow_work: Arc::new(Semaphore::new(MAX_SLOW)),
        });
        Self { live, routes: routes::routes(Arc::clone(&shared)), shared }
    }

    /// The same server with one for MCP. It gets the extensions of each request: the catalog ([`RequestCatalog`]), the
    /// [`Caller`], and the [`CallLimiter`] for calls of functions.
    pub fn with_mcp(mut self, service: mcp::Service) -> Self {
        self.routes = self.routes.nest_service(routes::MCP, service);
        self
    }

    /// The counters of everything that is served.
    pub(super) fn counts(&self) -> &Counters {
        &self.live.services().counts
    }

    /// Answers a request.
    pub(super) async fn answer(&self, request: http::Request<Incoming>) -> Response {
        let started = Instant::now();
        let (mut request, body) = request.into_parts();
        let path = request.uri.clone();
        let method = request.method.clone();
        let profile = PathProfile::take(&mut request);
        let route = routes::label(request.uri.path());
        let named = NAMES.map(|name| request.headers.get(&name).filter(|value| value.len() <= 128).cloned());
        let begins = route == Route::Mcp && caller::may_begin(&request);
        let mut session = None;
        let mut is_personal = false;
        let mut response = match self.admit(route, &mut request, profile.as_ref()).await {
            Ok((catalog, caller)) => {
                is_personal = request.extensions.get::<Visitor>().is_some();
                if profile.as_ref().is_some_and(|path| path.is_bare) {
                    let query = path.query().map(|query| format!("?{query}")).unwrap_or_default();
                    docs::redirect(&format!("{}/{query}", catalog.root()))
                } else {
                    session = begins.then(|| random_id("s"));
                    let root = catalog.root().to_string();
                    // An open route shows nothing of the catalog.
                    let is_page =
                        matches!(route, Route::Page | Route::Doc) && !routes::is_open(request.uri.path());
                    let reader = is_page.then(|| Reader::of(&request, &catalog, &caller)).flatten();
                    let answered = guarded(self.challenging(route, catalog, caller, request, body)).await;
                    let broken = |_| Err(Problem::new(ProblemCode::Internal, MISTAKE));
                    answered
                        .unwrap_or_else(broken)
                        .or_else(|problem| reader.and_then(|reader| reader.page(&problem)).ok_or(problem))
                        .unwrap_or_else(|problem| problem_response(&problem, route, &root))
                }
            }
            Err(problem) => self.refused(&problem, route, &request, &path),
        };
        let headers = response.headers_mut();
        if is_personal {
            sign_in::mark_as_personal(headers);
        }
        headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
        // Only pages run scripts or load anything.
        if headers.get(CONTENT_TYPE).is_some_and(|media| media.as_bytes().starts_with(b"text/html")) {
            // Without a referrer, a browser hides the origin of a page's own form.
            headers.insert(REFERRER_POLICY, HeaderValue::from_static("same-origin"));
            headers.insert(CONTENT_SECURITY_POLICY, POLICY.clone());
        }
        for (name, value) in NAMES.into_iter().zip(named) {
            headers.extend(value.map(|value| (name, value)));
        }
        if route == Route::Function && !headers.contains_key(TRACE) {
            headers.extend(HeaderValue::try_from(random_id("tr")).map(|id| (TRACE, id)));
        }
        // In front of live servers, MCP has issued a session that it keeps.
        let is_issued = headers.contains_key(caller::MCP_SESSION);
        if let Some(id) = session.filter(|_| response.status() == StatusCode::OK && !is_issued) {
            response.headers_mut().extend(HeaderValue::try_from(id).map(|id| (caller::MCP_SESSION, id)));
        }
        let status = response.status();
        let took = started.elapsed();
        metrics::answered(self.counts(), route, status, took);
        let trace_id = response.headers().get(TRACE).and_then(|id| id.to_str().ok());
        let bytes = response.body().size_hint().exact();
        let micros = took.as_micros() as u64;
        tracing::debug!(%method, path = path.path(), status = status.as_u16(), bytes, micros, trace_id);
        response
    }

    /// Checks host and origin, and finds the caller and the profile. A person who has signed in becomes an extension of the
    /// request.
    async fn admit(
        &self,
        route: Route,
        request: &mut Parts,
        path: Option<&PathProfile>,
    ) -> Result<(RequestCatalog, Caller), Problem> {
        let shared = &self.shared;
        let catalog = self.live.for_request();
        shared.hosts.check(request, route == Route::Mcp)?;
        let root = path.map(PathProfile::root).unwrap_or_default();
        let resource = Resource { root: &root, is_mcp: route == Route::Mcp };
        let refused = |refused| caller::problem(shared, refused, resource);
        let person = shared.authenticator.by_proxy(request).map_err(refused)?;
        let is_open = routes::is_open(request.uri.path()) && path.is_none();
        let caller = if route == Route::SignIn {
            None
        } else if is_open {
            // A process monitor has no token; it learns only that the server is well. It waits for no issuer.
            shared.authenticator.caller(request, resource).now_or_never().and_then(Result::ok)
        } else {
            let visitor = match person {
                Some(person) => Some(Visitor::of_proxy(person)),
                None if sign_in::takes_cookies(route, request) => {
                    Browser { shared, catalog: &catalog, request }.visitor(resource).await?
                }
                None => None,
            };
            let caller = match &visitor {
                Some(visitor) => visitor.caller.clone(),
                None => shared.authenticator.caller(request, resource).await.map_err(refused)?,
            };
            visitor.into_iter().for_each(|visitor| drop(request.extensions.insert(visitor)));
            Some(caller)
        };
        match caller {
            Some(caller) => Ok((caller::profile_of_request(catalog, &caller, path)?, caller)),
            None => Ok((catalog, Caller { roles: Some(Vec::new()), ..Caller::default() })),
        }
    }

    /// The answer, and where it refuses a call for a right that the caller's token lacks, the challenge.
    async fn challenging(
        &self,
        route: Route,
        catalog: RequestCatalog,
        mut caller: Caller,
        request: Parts,
        body: Incoming,
    ) -> Result<Response, Problem> {
        if !matches!(route, Route::Function | Route::Mcp) {
            return self.route(route, catalog, caller, request, body).await;
        }
        caller::complete(&self.shared, &catalog, &mut caller, &request)?;
        if !self.shared.authenticator.has_issuers() {
            return self.route(route, catalog, caller, request, body).await;
        }
        let of = (catalog.clone(), caller.clone());
        let lacked = LackedRight::default();
        caller.lacked_right = Some(lacked.clone());
        let response = self.route(route, catalog, caller, request, body).await;
        if !lacked.is_set() {
            return response;
        }
        let (catalog, caller) = of;
        let resource = Resource { root: catalog.root(), is_mcp: route == Route::Mcp };
        let most = catalog.unrestricted_view().catalog().config.exec.allow();
        let response = response.unwrap_or_else(|problem| problem.answer(catalog.root()));
        Ok(match self.shared.authenticator.wider(&caller, most, resource) {
            Some(challenge) => caller::challenged(response, route, challenge),
            None => response,
        })
    }

    /// The answer to a request that is not admitted: to a browser that may sign in, the form for that.
    fn refused(&self, problem: &Problem, route: Route, request: &Parts, wanted: &Uri) -> Response {
        let may_sign_in = problem.code == ProblemCode::Unauthorized && sign_in::takes_cookies(route, request);
        if may_sign_in && reads_pages(&request.headers) {
            let wanted = wanted.path_and_query().map_or("/", |wanted| wanted.as_str());
            let catalog = &self.live.for_request();
            return Browser { shared: &self.shared, catalog, request }.refused(problem, wanted);
        }
        problem_response(problem, route, "")
    }

    /// The answer of the router.
    async fn route(
        &self,
        route: Route,
        catalog: RequestCatalog,
        caller: Caller,
        mut request: Parts,
        body: Incoming,
    ) -> Result<Response, Problem> {
        docs::decoded_address(request.uri.path())?;
        let mut body = Body::new(body);
        if route == Route::Mcp && request.method == Method::POST {
            let message = functions::whole(&self.shared, body).await?;
            if let Some((status, refusal)) = mcp::refusal(&message) {
                return Ok(no_store(status, Media::Json.content_type(), refusal));
            }
            body = Body::from(message);
        }
        // The origin is checked already; the nested service knows fewer names, and would refuse good ones.
        request.headers.remove(ORIGIN);
        let known: Vec<HeaderValue> = request.headers.get_all(IF_NONE_MATCH).iter().cloned().collect();
        request.extensions.insert(caller);
        request.extensions.insert(catalog);
        request.extensions.insert(Arc::clone(&self.shared.call_limiter));
        // A POST may run tools, and its parts have their own limits.
        let may_run_tools = request.method == Method::POST;
        let limit = if may_run_tools { Duration::MAX } else { self.shared.limits.answer_time() };
        let answering = self.routes.clone().oneshot(http::Request::from_parts(request, body));
        let Ok(Ok(mut response)) = timeout(limit, answering).await else {
            let message = format!("there was no answer within {} seconds", limit.as_secs());
            return Err(Problem::new(ProblemCode::Timeout, message));
        };
        match response.extensions_mut().remove::<Problem>() {
            Some(problem) => {
                let allow = response.headers_mut().remove(ALLOW);
                let allow = allow.filter(|_| response.status() == StatusCode::METHOD_NOT_ALLOWED);
                Err(problem.header(allow.map(|allow| (ALLOW, allow))))
            }
            None => Ok(unless_known(&known, response)),
        }
    }
}

/// The answer with a problem, at addresses below `root`.
fn problem_response(problem: &Problem, route: Route, root: &str) -> Response {
    match route {
        Route::Mcp if problem.is_about_profiles() => problem.rpc_answer(),
        _ => problem.answer(root),
    }
}

/// The reader of a page in a browser, who gets a page also where there is no answer.
struct Reader {
    catalog: RequestCatalog,
    caller: Caller,
    visitor: Option<Visitor>,
    path: String,
}

impl Reader {
    fn of(request: &Parts, catalog: &RequestCatalog, caller: &Caller) -> Option<Self> {
        reads_pages(&request.headers).then(|| Self {
            catalog: catalog.clone(),
            caller: caller.clone(),
            visitor: request.extensions.get().cloned(),
            path: request.uri.path().to_string(),
        })
    }

    /// The page with a problem. For a missing page, it lists the tools with a name like the one in the address.
    fn page(&self, problem: &Problem) -> Option<Response> {
        let path = docs::decoded_address(&self.path).unwrap_or(Cow::Borrowed(&self.path));
        let site = self.catalog.site(&self.caller, self.visitor.as_ref().map(Visitor::person));
        let page = match problem.code {
            ProblemCode::NotFound | ProblemCode::Ambiguous => {
                site.not_found(&path, &problem.message, &problem.nearest)
            }
            _ => site.refused(&path, &problem.message, problem.next_action()),
        };
        let page = page.ok()?;
        let mut response = negotiated(problem.status(), page.content_type, page.body);
        response.headers_mut().extend(problem.headers.clone());
        Some(response)
    }
}

// Checks that a request is meant for this server: its host names, and the origins of pages that may call it. So a
// web page that somebody has open cannot use a server on their machine.

/// Longest `Host`, in bytes.
const MAX_URI: usize = 8 * 1024;

/// Longest host name, in bytes.
const LONGEST_NAME: usize = 255;

/// The host names of this server.
#[derive(Clone, Debug)]
pub struct Hosts {
    public: HashSet<String>,
    local: bool,
    address: IpAddr,
    port: u16,
}

impl Hosts {
    /// The names of the listening address, and the public ones.
    pub fn new(address: SocketAddr, public: &[String]) -> Self {
        let port = address.port();
        let address = address.ip();
        let public = public.iter().map(|name| match Authority::read(name) {
            Some(authority) => authority.host,
            None => name.to_ascii_lowercase(),
        });
        let public = public.collect();
        Self { public, local: address.is_loopback() || address.is_unspecified(), address, port }
    }

    /// Whether this server has that name. Anybody could make a name point here (DNS rebinding), but not an address.
    fn has(&self, host: &str) -> bool {
        match host.parse::<IpAddr>() {
            Ok(address) if address.is_loopback() => self.local,
            Ok(address) => {
                address == self.address || !self.address.is_loopback() || self.public.contains(host)
            }
            Err(_) => (self.local && host == "localhost") || self.public.contains(host),
        }
    }

    /// Refuses a request for another host, or from another origin.
    pub(super) fn check(&self, request: &Parts, is_mcp: bool) -> Result<(), Problem> {
        let length = request.uri.path_and_query().map_or(0, |uri| uri.as_str().len());
        if length > MAX_URI {
            return Err(Problem::new(
                ProblemCode::UriTooLong,
                format!("an address may have {MAX_URI} bytes"),
            ));
        }
        let asked_for = asked_for(request)?;
        if !self.has(&asked_for.host) {
            let message = format!("this server does not answer to `{}`", quoted(&asked_for.host));
            return Err(Problem::new(ProblemCode::HostNotAllowed, message));
        }
        let changes = !matches!(request.method, Method::GET | Method::HEAD | Method::OPTIONS);
        if changes || is_mcp {
            self.check_origin(&request.headers, &asked_for)?;
        }
        Ok(())
    }

    /// The requested port, where the requested host is this machine itself.
    pub(super) fn loopback_port(&self, request: &Parts) -> Option<u16> {
        let Authority { host, port } = asked_for(request).ok()?;
        let is_loopback = || host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback());
        (host == "localhost" || is_loopback()).then_some(port.unwrap_or(80))
    }

    /// The scheme of a host in addresses for people: a public name is reached through a proxy with TLS.
    pub(super) fn scheme(&self, host: &str) -> &'static str {
        let is_proxied = |site: Authority| self.public.contains(&site.host) && site.port.is_none();
        if self.port != 80 && Authority::read(host).is_some_and(is_proxied) { "https" } else { "http" }
    }

    /// Browsers send the origin of a page. This server speaks http, so a page of it has that scheme, and the requested host and
    /// port. A page of a public name comes through a proxy with TLS: somebody in the network could have written its http form.
    fn check_origin(&self, headers: &HeaderMap, asked_for: &Authority) -> Result<(), Problem> {
        for origin in headers.get_all(ORIGIN) {
            let origin = origin.to_str().unwrap_or_default();
            let is_proxied = |site: &Authority| self.public.contains(&site.host) && site.port.is_none();
            let is_ours = origin.split_once("://").is_some_and(|(scheme, site)| {
                let Some(site) = Authority::read(site) else { return false };
                match scheme {
                    "http" => site == *asked_for && (self.port == 80 || !is_proxied(&site)),
                    "https" => self.public.contains(&site.host),
                    _ => false,
                }
            });
            if !is_ours {
                let message = format!("pages of `{}` may not use this server", quoted(origin));
                return Err(Problem::new(ProblemCode::OriginNotAllowed, message));
            }
        }
        Ok(())
    }
}

/// The requested host: one `Host`, in every version, equal to the host of the address where that has one (RFC 9112,
/// 3.2). A proxy in front could otherwise have read another host.
fn asked_for(request: &Parts) -> Result<Authority, Problem> {
    let refused = |what: &str| Err(Problem::new(ProblemCode::BadRequest, what));
    let mut hosts = request.headers.get_all(HOST).into_iter();
    let (Some(host), None) = (hosts.next(), hosts.next()) else { return refused("a request has one `Host`") };
    let Some(host) = host.to_str().ok().and_then(Authority::read) else {
        return refused(
            "`Host` is a name or an address, and a port where it is not the usual one: `localhost:7878`",
        );
    };
    match request.uri.authority().map(|authority| Authority::read(authority.as_str())) {
        Some(other) if other.as_ref() != Some(&host) => refused("`Host` and the address name two servers"),
        _ => Ok(host),
    }
}

/// The requested host: `uri-host [":" port]` of RFC 9110, section 7.2.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Authority {
    /// An address, or a name in lower case.
    host: String,
    port: Option<u16>,
}

impl Authority {
    /// Reads strictly: no user, no invalid port, no IPv6 address without brackets.
    fn read(text: &str) -> Option<Self> {
        let (host, rest) = match text.strip_prefix('[') {
            Some(inside) => {
                let (address, rest) = inside.split_once(']')?;
                (address.parse::<Ipv6Addr>().ok()?.to_string(), rest)
            }
            None => {
                let (name, rest) = text.split_at(text.find(':').unwrap_or(text.len()));
                (host_name(name)?, rest)
            }
        };
        let port = match rest.strip_prefix(':') {
            None if rest.is_empty() => None,
            Some("") => None,
            Some(digits) if digits.bytes().all(|byte| byte.is_ascii_digit()) => Some(digits.parse().ok()?),
            _ => return None,
        };
        Some(Self { host, port })
    }
}

/// A name, or an IPv4 address.
fn host_name(text: &str) -> Option<String> {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
    let is_name = !text.is_empty() && text.len() <= LONGEST_NAME && text.bytes().all(fits);
    is_name.then(|| text.to_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hosts(address: &str, public: &[&str]) -> Hosts {
        let public: Vec<String> = public.iter().map(ToString::to_string).collect();
        Hosts::new(address.parse().unwrap(), &public)
    }

    fn has(hosts: &Hosts, authority: &str) -> bool {
        Authority::read(authority).is_some_and(|authority| hosts.has(&authority.host))
    }

    #[test]
    fn on_loopback_only_loopback_names_and_public_ones_count() {
        let hosts = hosts("127.0.0.1:7878", &["tools.example.com", "Other.example:8443", "192.0.2.7"]);
        let good_ones = "127.0.0.1:7878 localhost LOCALHOST:1 [::1]:7878 127.9.9.9 Tools.Example.com:443 \
            other.example 192.0.2.7:80 localhost:";
        for good in good_ones.split(' ') {
            assert!(has(&hosts, good), "{good}");
        }
        let bad_ones = "evil.example localhost.evil.example 10.0.0.1 127.0.0.1.nip.io [::2] 127.1 0x7f.0.0.1 \
            2130706433 localhost.";
        for bad in bad_ones.split(' ') {
            assert!(!has(&hosts, bad), "{bad}");
        }
    }

    #[test]
    fn an_origin_is_compared_with_its_scheme() {
        let may = |listen: &str, host: &str, origin: &str| {
            let request = http::Request::post("/v1").header(HOST, host).header(ORIGIN, origin).body(());
            hosts(listen, &["tools.example.com"]).check(&request.unwrap().into_parts().0, false).is_ok()
        };
        let local = "127.0.0.1:7878";
        let all = "0.0.0.0:80";
        let public = "tools.example.com";
        assert!(may(local, local, "http://127.0.0.1:7878"));
        assert!(
            may(local, public, "https://tools.example.com") && may(local, local, "https://tools.example.com")
        );
        assert!(may(all, public, "http://tools.example.com"), "there is no proxy");
        for (host, origin) in [
            (local, "https://127.0.0.1:7878"),
            (local, "ftp://127.0.0.1:7878"),
            (local, "127.0.0.1:7878"),
            (public, "http://tools.example.com"),
            (local, "http://tools.example.com"),
            (local, "null"),
        ] {
            assert!(!may(local, host, origin), "{host} {origin}");
        }
    }

    #[test]
    fn on_all_addresses_each_address_counts_but_no_name_that_is_not_told() {
        let hosts = hosts("0.0.0.0:7878", &[]);
        assert!(has(&hosts, "10.1.2.3:7878") && has(&hosts, "localhost") && has(&hosts, "[fe80::1]:7878"));
        assert!(!has(&hosts, "tools.example.com"));
    }

    #[test]
    fn what_is_not_plainly_a_host_is_none() {
        for text in [
            "", ":80", "user@localhost", "user:pw@localhost", "localhost:80:80", "localhost:port",
            "localhost:65536", "localhost:-1", "localhost:+1", "::1", "[::1", "::1]", "[::1]x", "[::1]80",
            "[localhost]", "[127.0.0.1]", "[fe80::1%25eth0]", "[v1.x]", "local host", "localhost/",
            "localhost?x", "localhost#x", "localhost\\x", "local,host", "l%6fcalhost", "a\u{e9}b",
            "localhost ", "\tlocalhost",
        ] {
            assert_eq!(Authority::read(text), None, "{text}");
        }
        let read = Authority::read("[0:0:0:0:0:0:0:1]:7").unwrap();
        assert_eq!((read.host.to_string().as_str(), read.port), ("::1", Some(7)));
    }
}
