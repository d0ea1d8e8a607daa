//! Who the caller of a request is, what it sends besides its token (the session, the strongest allowed effect, headers for
//! servers), and which catalog it sees. Handlers for callers take a [`RequestCatalog`], which only
//! [`Shared::admit`] makes.

use std::borrow::Cow;
use std::sync::Arc;

use axum::extract::{OriginalUri, Request, State};
use axum::middleware::Next;
use axum::response::IntoResponse;
use http::header::AUTHORIZATION;
use http::request::Parts;
use http::{HeaderMap, HeaderName, Method};

use super::address::{decoded_address, redirect};
use super::browser::{Browser, Visitor};
use super::metrics::Route;
use super::profile::{self, PathProfile};
use super::request_context::Shared;
use super::{challenge, sign_in};
use crate::RequestCatalog;
use crate::auth::Resource;
use crate::response::{Problem, ProblemCode, Response, negotiated, reads_pages, with_problem};
use toolcrib_definition::Effect;
use toolcrib_gateway::exec::LackedRight;
use toolcrib_gateway::state::Session;

impl Shared {
    /// The catalog as the caller of a request sees it. A person who has signed in becomes an extension of the request.
    pub(super) async fn admit(&self, request: &mut Parts) -> Result<RequestCatalog, Problem> {
        let path = request.extensions.get::<PathProfile>().cloned();
        let root = path.as_ref().map(PathProfile::root).unwrap_or_default();
        let resource = Resource { root: &root, is_mcp: Route::of(request) == Route::Mcp };
        let refused = |refused| challenge::problem(self, refused, resource);
        let visitor = match self.authenticator.by_proxy(request).map_err(refused)? {
            Some(person) => Some(Visitor::of_proxy(person)),
            None if sign_in::takes_cookies(request) => {
                Browser { shared: self, request }.visitor(resource).await?
            }
            None => None,
        };
        let caller = match &visitor {
            Some(visitor) => visitor.caller.clone(),
            None => self.authenticator.caller(request, resource).await.map_err(refused)?,
        };
        visitor.into_iter().for_each(|visitor| drop(request.extensions.insert(visitor)));
        profile::profile_of_request(self.live.for_caller(caller), path.as_ref())
    }
}

/// Answers callers alone. Problems become pages for people, and have addresses below the path of the profile.
pub(super) async fn admitted(State(shared): State<Arc<Shared>>, request: Request, next: Next) -> Response {
    let (mut head, body) = request.into_parts();
    let route = Route::of(&head);
    let mut catalog = match shared.admit(&mut head).await {
        Ok(catalog) => catalog,
        Err(problem) => return refused(&shared, &problem, &head),
    };
    let visitor = head.extensions.get::<Visitor>().cloned();
    let wants_page = matches!(route, Route::Page | Route::Doc) && reads_pages(&head.headers);
    let path = wants_page.then(|| head.uri.path().to_string());
    let is_call = matches!(route, Route::Function | Route::Mcp);
    let completed = if is_call { complete(&shared, &mut catalog, &head) } else { Ok(()) };
    let asking = catalog.clone();
    let lacked = (is_call && shared.authenticator.has_issuers()).then(LackedRight::default);
    catalog.caller.lacked_right = lacked.clone();
    let response = match completed {
        Err(problem) => problem.into_response(),
        Ok(()) if head.extensions.get::<PathProfile>().is_some_and(|path| path.is_bare) => {
            let query = head.uri.query().map(|query| format!("?{query}")).unwrap_or_default();
            redirect(&format!("{}/{query}", catalog.root()))
        }
        Ok(()) => {
            head.extensions.insert(catalog);
            next.run(Request::from_parts(head, body)).await
        }
    };
    let mut response = with_problem(response, |problem| {
        let page = path.and_then(|path| error_page(&asking, visitor.as_ref(), &path, &problem));
        page.unwrap_or_else(|| route.problem(&problem, asking.root()))
    });
    if visitor.is_some() {
        sign_in::mark_as_personal(response.headers_mut());
    }
    let resource = Resource { root: asking.root(), is_mcp: route == Route::Mcp };
    let wider = || {
        let most = asking.unrestricted_view().catalog().config.exec.allow();
        shared.authenticator.wider(&asking.caller, most, resource)
    };
    let is_lacking = lacked.is_some_and(|lacked| lacked.is_set());
    match is_lacking.then(wider).flatten() {
        Some(challenge) => challenge::challenged(response, route, challenge),
        None => response,
    }
}

/// Header with the session, which the caller names.
const SESSION: HeaderName = HeaderName::from_static("x-session-id");

/// Header with the session id, which clients with an older MCP revision repeat.
pub(super) const MCP_SESSION: HeaderName = HeaderName::from_static("mcp-session-id");

/// Header with the strongest effect of calls in this request. It can only lower the caller's own limit.
const ALLOW: HeaderName = HeaderName::from_static("x-allow");

/// Adds the session, the allowed effect, and headers for servers from the request to the caller of a function.
fn complete(shared: &Shared, catalog: &mut RequestCatalog, request: &Parts) -> Result<(), Problem> {
    let headers = &request.headers;
    let sent_on = sent_on(shared, catalog, headers);
    let wants_token = catalog.snapshot.wants_caller_tokens;
    let caller = &mut catalog.caller;
    caller.session = match headers.get(SESSION) {
        Some(id) => {
            let id = Session::named(id.to_str().unwrap_or_default());
            Some(id.map_err(|bad| invalid_header(&format!("`X-Session-Id` is invalid: {bad}")))?)
        }
        // The caller does not choose an MCP session: only sessions that toolcrib issued are accepted.
        None => headers.get(MCP_SESSION).and_then(|id| Session::named(id.to_str().ok()?).ok()),
    };
    if let Some(allow) = headers.get(ALLOW) {
        let allow = allow.to_str().ok().and_then(|word| Effect::parse(word.trim()));
        let allow = allow.ok_or_else(|| invalid_header("`X-Allow` must be read, write or destructive"))?;
        caller.allow = caller.allow.min(allow);
    }
    caller.headers = sent_on;
    caller.token = wants_token.then(|| shared.authenticator.token_for_servers(headers)).flatten();
    Ok(())
}

/// Returns true if an MCP request may be the first of a client with an older revision: only the first request names
/// neither the version nor a session. The client repeats the session of the answer, so toolcrib stores nothing.
pub(super) fn may_begin(request: &Parts) -> bool {
    let later = ["mcp-protocol-version", "mcp-method", "mcp-session-id"];
    request.method == Method::POST && !later.iter().any(|name| request.headers.contains_key(*name))
}

/// The headers that the configuration passes on to some server. Tokens for toolcrib itself are never passed on.
fn sent_on(shared: &Shared, catalog: &RequestCatalog, headers: &HeaderMap) -> HeaderMap {
    let is_ours = |name: &HeaderName| *name == AUTHORIZATION && !shared.authenticator.is_open();
    let wanted = catalog.snapshot.caller_headers.iter().filter(|name| !is_ours(name));
    wanted.filter_map(|name| Some((name.clone(), headers.get(name)?.clone()))).collect()
}

fn invalid_header(message: &str) -> Problem {
    Problem::new(ProblemCode::ValidationError, message).next("correct the header, or leave it out")
}

/// The answer to a request that is not admitted: to a browser that may sign in, the form for that.
fn refused(shared: &Shared, problem: &Problem, request: &Parts) -> Response {
    let may_sign_in = problem.code == ProblemCode::Unauthorized && sign_in::takes_cookies(request);
    if !may_sign_in || !reads_pages(&request.headers) {
        return Route::of(request).problem(problem, "");
    }
    let wanted = request.extensions.get::<OriginalUri>().and_then(|OriginalUri(uri)| uri.path_and_query());
    Browser { shared, request }.refused(problem, wanted.map_or("/", |wanted| wanted.as_str()))
}

/// The page with a problem, for a person who reads pages in a browser. For a missing page, it lists the tools with a name like
/// the one in the address.
fn error_page(
    catalog: &RequestCatalog,
    visitor: Option<&Visitor>,
    path: &str,
    problem: &Problem,
) -> Option<Response> {
    let path = decoded_address(path).unwrap_or(Cow::Borrowed(path));
    let site = catalog.site(visitor.map(Visitor::person));
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
