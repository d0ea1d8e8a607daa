//! Reads what a caller sends with a request besides the token: the session, the strongest allowed effect, and headers
//! for servers. A request without a caller, or with a token that lacks a right, gets a challenge, so that the client
//! knows where to get a token.

use std::sync::Arc;

use http::header::{AUTHORIZATION, CONTENT_TYPE, RETRY_AFTER, WWW_AUTHENTICATE};
use http::request::Parts;
use http::uri::PathAndQuery;
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, Uri};

use super::docs::{decoded_address, encoded_address};
use super::{RequestContext, Response, Shared};
use crate::auth::{AuthError, METADATA, Resource};
use crate::response::{Media, Problem, ProblemCode, no_store};
use crate::{RequestCatalog, Route};
use toolcrib_definition::finding::nearest;
use toolcrib_definition::{Effect, quoted};
use toolcrib_gateway::exec::Caller;
use toolcrib_gateway::state::Session;

/// Header with the session, which the caller names.
const SESSION: HeaderName = HeaderName::from_static("x-session-id");

/// Header with the session id, which clients with an older MCP revision repeat.
pub(super) const MCP_SESSION: HeaderName = HeaderName::from_static("mcp-session-id");

/// Header with the strongest effect of calls in this request. It can only lower the caller's own limit.
const ALLOW: HeaderName = HeaderName::from_static("x-allow");

/// Adds the session, the allowed effect, and headers for servers from the request to the caller of a function.
pub(super) fn complete(
    shared: &Shared,
    catalog: &RequestCatalog,
    caller: &mut Caller,
    request: &Parts,
) -> Result<(), Problem> {
    let headers = &request.headers;
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
    caller.headers = sent_on(shared, catalog, headers);
    let is_wanted = catalog.generation().wants_caller_tokens;
    caller.token = is_wanted.then(|| shared.authenticator.token_for_servers(headers)).flatten();
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
    let wanted = catalog.generation().caller_headers.iter().filter(|name| !is_ours(name));
    wanted.filter_map(|name| Some((name.clone(), headers.get(name)?.clone()))).collect()
}

fn invalid_header(message: &str) -> Problem {
    Problem::new(ProblemCode::ValidationError, message).next("correct the header, or leave it out")
}

/// The problem for a request without a caller.
pub(super) fn problem(shared: &Shared, refused: AuthError, resource: Resource<'_>) -> Problem {
    let code = match refused {
        AuthError::Twice => ProblemCode::BadRequest,
        AuthError::NoGrant => ProblemCode::InsufficientScope,
        AuthError::Forged => return Problem::new(ProblemCode::ProxyRefused, refused.to_string()),
        AuthError::IssuerAway => {
            let later = [(RETRY_AFTER, HeaderValue::from_static("5"))];
            return Problem::new(ProblemCode::IssuerUnavailable, refused.to_string()).header(later);
        }
        _ => ProblemCode::Unauthorized,
    };
    let challenge = shared.authenticator.challenge(refused, resource);
    Problem::new(code, refused.to_string()).header([(WWW_AUTHENTICATE, challenge)])
}

/// Adds the challenge to a forbidden answer. An MCP answer gets status 403, because clients look for the status.
pub(super) fn challenged(mut response: Response, route: Route, challenge: HeaderValue) -> Response {
    let is_json = response
        .headers()
        .get(CONTENT_TYPE)
        .is_some_and(|kind| kind.as_bytes().starts_with(b"application/json"));
    if route == Route::Mcp && is_json && response.status() == StatusCode::OK {
        *response.status_mut() = StatusCode::FORBIDDEN;
    }
    if response.status() == StatusCode::FORBIDDEN {
        response.headers_mut().insert(WWW_AUTHENTICATE, challenge);
    }
    response
}

/// `GET /.well-known/oauth-protected-resource/PATH`: the issuers and scopes for an endpoint (RFC 9728). It needs no
/// token, and answers the same for profiles that do not exist, so that nobody learns the names of profiles.
pub(super) async fn metadata(context: RequestContext) -> Result<Response, Problem> {
    let path = context.request.uri.path().strip_prefix(METADATA).unwrap_or_default();
    let resource = Resource::at(path);
    let metadata = resource.and_then(|resource| context.shared.authenticator.metadata(resource));
    let metadata = metadata.ok_or_else(|| {
        Problem::new(ProblemCode::NotFound, "this path is not a resource that accepts an issuer's tokens")
            .next("send the request without an issuer's token")
    })?;
    Ok(no_store(StatusCode::OK, Media::Json.content_type(), format!("{metadata:#}\n")))
}

// The profile of a request. The path (`/p/NAME/...`) or the token chooses it. A path to a profile that the token is not
// for is rejected, with an error that does not reveal whether the profile exists.

/// The path before the name of a profile.
const PREFIX: &str = "/p/";

/// A profile in the path of a request.
pub(super) struct PathProfile {
    name: String,
    /// Whether the path ends with the name. Relative links on a page would not work there.
    pub(super) is_bare: bool,
}

impl PathProfile {
    /// Removes the profile from the path of a request; `None` without a profile.
    pub(super) fn take(request: &mut Parts) -> Option<Self> {
        let below = request.uri.path().strip_prefix(PREFIX)?;
        let name = below.split('/').next().filter(|name| !name.is_empty())?;
        let rest = &below[name.len()..];
        let is_bare = rest.is_empty();
        let query = request.uri.query().map(|query| format!("?{query}")).unwrap_or_default();
        let rest = format!("{}{query}", if is_bare { "/" } else { rest });
        let name = decoded_address(name).ok()?.into_owned();
        let mut parts = request.uri.clone().into_parts();
        parts.path_and_query = Some(PathAndQuery::try_from(rest).ok()?);
        request.uri = Uri::from_parts(parts).ok()?;
        Some(Self { name, is_bare })
    }

    /// The path of the profile.
    pub(super) fn root(&self) -> Arc<str> {
        Arc::from(format!("{PREFIX}{}", encoded_address(&self.name)))
    }
}

/// The catalog with the profile that a request of this caller asks for.
pub(super) fn profile_of_request(
    catalog: RequestCatalog,
    caller: &Caller,
    path: Option<&PathProfile>,
) -> Result<RequestCatalog, Problem> {
    match path {
        Some(path) => Ok(chosen(catalog, caller, &path.name)?.with_root(path.root())),
        None => of_token(catalog, caller),
    }
}

/// The profile of this name. Only a caller who may use it learns whether it exists.
fn chosen(catalog: RequestCatalog, caller: &Caller, name: &str) -> Result<RequestCatalog, Problem> {
    if !caller.may_use(Some(name)) {
        let message =
            format!("the path asks for the profile `{}`, but {}", quoted(name), profiles_of_token(caller));
        return Err(Problem::new(ProblemCode::ProfileNotAllowed, message));
    }
    catalog.clone().in_profile(Some(name)).ok_or_else(|| {
        let known = catalog.generation().choices().chain(catalog.profile_name());
        let near = nearest(name, known.filter(|known| caller.may_use(Some(known))));
        let message = format!("the path asks for the unknown profile `{}`", quoted(name));
        Problem::new(ProblemCode::UnknownProfile, message).nearest(near.iter().map(ToString::to_string))
    })
}

/// The profile of a request that does not choose a profile: the default profile if the token is for it, otherwise the
/// token's first profile.
fn of_token(catalog: RequestCatalog, caller: &Caller) -> Result<RequestCatalog, Problem> {
    if caller.may_use(catalog.profile_name()) {
        return Ok(catalog);
    }
    let mut own = caller.profiles.iter().flat_map(|own| own.iter());
    own.find_map(|name| catalog.clone().in_profile(Some(name))).ok_or_else(|| {
        let message = format!("{}, which this server does not serve", profiles_of_token(caller));
        Problem::new(ProblemCode::ProfileNotAllowed, message).next("tell the operator of this server")
    })
}

/// The profiles of a token, in words.
fn profiles_of_token(caller: &Caller) -> String {
    let names = caller.profiles.iter().flat_map(|own| own.iter());
    let names: Vec<String> = names.map(|name| format!("`{}`", quoted(name))).collect();
    format!("the token is for {}", names.join(", "))
}
