//! Handles each request: the check of host and origin, the caller, the profile, and the headers of the answer.

use std::sync::{Arc, LazyLock};
use std::time::{Duration, Instant};

use axum::Router;
use axum::body::{Body, HttpBody};
use futures_util::FutureExt;
use http::header::{
    ALLOW, CONTENT_SECURITY_POLICY, CONTENT_TYPE, IF_NONE_MATCH, ORIGIN, REFERRER_POLICY,
    X_CONTENT_TYPE_OPTIONS,
};
use http::request::Parts;
use http::{HeaderName, HeaderValue, Method, StatusCode, Uri};
use hyper::body::Incoming;
use tokio::sync::Semaphore;
use tokio::time::timeout;
use tower::ServiceExt;

use super::browser::{Browser, Visitor};
use super::error_page::Reader;
use super::functions::TRACE;
use super::host_check::Hosts;
use super::metrics::{self, Route};
use super::profile::{self, PathProfile};
use super::request_context::{MAX_SLOW, Shared};
use super::{address, body, caller, challenge, redirects, routes, sign_in};
use crate::auth::Resource;
use crate::call_limiter::CallLimiter;
use crate::response::{Media, Problem, ProblemCode, Response, no_store, reads_pages, unless_known};
use crate::{Authenticator, LiveCatalog, RequestCatalog, mcp, site};
use toolcrib_catalog::config::ServeLimits;
use toolcrib_definition::guard::{MISTAKE, guarded};
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
                    redirects::redirect(&format!("{}/{query}", catalog.root()))
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
        if let Some(id) = session
            && response.status() == StatusCode::OK
            && !is_issued
        {
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
        let refused = |refused| challenge::problem(shared, refused, resource);
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
            Some(caller) => Ok((profile::profile_of_request(catalog, &caller, path)?, caller)),
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
            Some(challenge) => challenge::challenged(response, route, challenge),
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
        address::decoded_address(request.uri.path())?;
        let mut body = Body::new(body);
        if route == Route::Mcp && request.method == Method::POST {
            let message = body::whole(&self.shared, body).await?;
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
                let is_of_router = response.status() == StatusCode::METHOD_NOT_ALLOWED;
                let allow = if is_of_router { response.headers_mut().remove(ALLOW) } else { None };
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
