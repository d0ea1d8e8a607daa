//! Reads the caller from a request, beside the token: the session, the strongest effect allowed, and headers for
//! servers. Requests without a caller, and callers whose token lacks a right, get the challenge that says where to get a
//! token.

use std::sync::Arc;

use http::header::{AUTHORIZATION, CONTENT_TYPE, RETRY_AFTER, VARY, WWW_AUTHENTICATE};
use http::request::Parts;
use http::uri::PathAndQuery;
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, Uri};

use super::docs::{decoded_address, encoded_address};
use super::{RequestContext, Response, Shared};
use crate::exec::Caller;
use crate::finding::nearest;
use crate::serve::auth::{AuthError, METADATA, Resource};
use crate::serve::response::{Media, Problem, ProblemCode, add_to_vary as vary_by, no_store};
use crate::serve::{RequestCatalog, Route, Way};
use crate::state::{Session, random_id};
use crate::tool::{Effect, quoted};

/// The session, named by the caller.
const SESSION: HeaderName = HeaderName::from_static("x-session-id");

/// The beginning of the id of a session that we issue, and the length of its random part.
const SESSION_KIND: &str = "s";
const SESSION_DIGITS: usize = 12;

/// The session that clients of MCP's older wire repeat.
pub(super) const MCP_SESSION: HeaderName = HeaderName::from_static("mcp-session-id");

/// The strongest effect of calls in this request; it can only lower the caller's own.
const ALLOW: HeaderName = HeaderName::from_static("x-allow");

/// Adds to a caller of functions what the request says of the session, the allowed effect, and headers for servers.
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
            Some(id.map_err(|bad| invalid_header(&format!("`X-Session-Id` does not fit: {bad}")))?)
        }
        // The caller does not choose this one, and only sessions that we issued are accepted.
        None => headers.get(MCP_SESSION).and_then(|id| Session::named(id.to_str().ok()?).ok()),
    };
    let session = headers.get(MCP_SESSION).and_then(|id| profile_sign(id.to_str().ok()?));
    if session.is_some_and(|sign| sign != sign_of(catalog.profile_name())) {
        let message = "the session of `Mcp-Session-Id` began with another profile";
        let next = "begin a session for each profile";
        return Err(Problem::new(ProblemCode::ProfileMismatch, message).next(next));
    }
    if let Some(allow) = headers.get(ALLOW) {
        let allow = allow.to_str().ok().and_then(|word| Effect::parse(word.trim()));
        let allow = allow.ok_or_else(|| invalid_header("`X-Allow` is read, write or destructive"))?;
        caller.allow = caller.allow.min(allow);
    }
    caller.headers = sent_on(shared, catalog, headers);
    let is_wanted = catalog.generation().wants_caller_tokens;
    caller.token = is_wanted.then(|| shared.authenticator.token_for_servers(headers)).flatten();
    Ok(())
}

/// Whether a request of MCP may be the first of a client of the older wire: the only one that names neither the
/// version nor a session. The client repeats the session that the answer names, and we store nothing.
pub(super) fn may_begin(request: &Parts) -> bool {
    let later = ["mcp-protocol-version", "mcp-method", "mcp-session-id"];
    request.method == Method::POST && !later.iter().any(|name| request.headers.contains_key(*name))
}

/// The id of a new session of MCP. It ends with a sign of the profile, to which it is bound: we store nothing.
pub(super) fn new_mcp_session(profile: Option<&str>) -> String {
    let (id, sign) = (random_id(SESSION_KIND), sign_of(profile));
    if sign.is_empty() { id } else { format!("{id}.{sign}") }
}

/// The sign of the profile in the id of a session that we issued.
fn profile_sign(id: &str) -> Option<&str> {
    let random = id.strip_prefix(SESSION_KIND)?.strip_prefix('_')?;
    let (random, sign) = random.split_once('.').unwrap_or((random, ""));
    (random.len() == SESSION_DIGITS).then_some(sign)
}

/// The sign of a profile, which does not show its name; empty for the whole catalog.
fn sign_of(profile: Option<&str>) -> String {
    profile.map_or_else(String::new, |name| blake3::hash(name.as_bytes()).to_hex()[..8].to_string())
}

/// The headers that some server is configured to receive. Our own tokens are never passed on.
fn sent_on(shared: &Shared, catalog: &RequestCatalog, headers: &HeaderMap) -> HeaderMap {
    let is_ours = |name: &HeaderName| *name == AUTHORIZATION && !shared.authenticator.is_open();
    let wanted = catalog.generation().caller_headers.iter().filter(|name| !is_ours(name));
    wanted.filter_map(|name| Some((name.clone(), headers.get(name)?.clone()))).collect()
}

fn invalid_header(message: &str) -> Problem {
    Problem::new(ProblemCode::ValidationError, message).next("correct the header, or leave it out")
}

/// The problem of a request without a caller.
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

/// Adds the challenge to the answer of a call. MCP answers with a result, and clients look for the status.
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

/// `GET /.well-known/oauth-protected-resource/PATH`: the issuers and scopes for an endpoint (RFC 9728). It is open, and the same
/// for profiles that do not exist, so that nobody learns their names.
pub(super) async fn metadata(context: RequestContext) -> Result<Response, Problem> {
    let path = context.request.uri.path().strip_prefix(METADATA).unwrap_or_default();
    let resource = Resource::at(path);
    let metadata = resource.and_then(|resource| context.shared.authenticator.metadata(resource));
    let metadata = metadata.ok_or_else(|| {
        Problem::new(ProblemCode::NotFound, "there is no such resource with tokens of an issuer")
            .next("ask without a token of an issuer")
    })?;
    Ok(no_store(StatusCode::OK, Media::Json.content_type(), format!("{metadata:#}\n")))
}

// The profile of a request: its path (`/p/NAME/...`), `X-Profile`, or its token chooses it, and a request in which they
// disagree is refused. A refusal tells a caller nothing of profiles that its token is not for.

/// The path before the name of a profile.
const PREFIX: &str = "/p/";

/// The header that chooses a profile.
pub(super) const PROFILE: HeaderName = HeaderName::from_static("x-profile");

/// A profile in the path of a request.
pub(super) struct PathProfile {
    name: String,
    /// Whether the path ends with the name, so that relative links of a page there would not work.
    pub(super) is_bare: bool,
}

impl PathProfile {
    /// Takes the profile out of the path of a request; `None` where there is none.
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

/// The catalog with the profile that a request of this caller asks for, in its path or its headers.
pub(super) fn profile_of_request(
    catalog: RequestCatalog,
    caller: &Caller,
    path: Option<&PathProfile>,
    headers: &HeaderMap,
) -> Result<RequestCatalog, Problem> {
    let header = in_header(headers)?;
    let in_path = path.map(|path| path.name.as_str());
    if let (Some(path), Some(header)) = (in_path, header)
        && path != header
    {
        let message = format!(
            "the path asks for the profile `{}`, and `X-Profile` for `{}`",
            quoted(path),
            quoted(header)
        );
        return Err(Problem::new(ProblemCode::ProfileMismatch, message));
    }
    let catalog = match in_path.or(header) {
        Some(name) => chosen(catalog, caller, name, if path.is_some() { "the path" } else { "`X-Profile`" })?,
        None => of_token(catalog, caller)?,
    };
    let root = path.map(PathProfile::root).unwrap_or_default();
    Ok(catalog.with_way(Way { root, is_by_header: header.is_some() }))
}

/// Tells caches that `X-Profile` chooses between answers of the same address.
pub(super) fn add_to_vary(headers: &mut HeaderMap) {
    if headers.contains_key(VARY) {
        vary_by(headers, "x-profile");
    }
}

fn in_header(headers: &HeaderMap) -> Result<Option<&str>, Problem> {
    let mut given = headers.get_all(PROFILE).iter();
    let Some(name) = given.next() else { return Ok(None) };
    match (std::str::from_utf8(name.as_bytes()), given.next()) {
        (Ok(name), None) if !name.is_empty() => Ok(Some(name)),
        _ => Err(Problem::new(ProblemCode::ValidationError, "`X-Profile` is the name of one profile")
            .next("correct the header, or leave it out")),
    }
}

/// The profile of this name. Whether it exists is told only to a caller who may use it.
fn chosen(
    catalog: RequestCatalog,
    caller: &Caller,
    name: &str,
    place: &str,
) -> Result<RequestCatalog, Problem> {
    if !caller.may_use(Some(name)) {
        let message =
            format!("{place} asks for the profile `{}`, and {}", quoted(name), profiles_of_token(caller));
        return Err(Problem::new(ProblemCode::ProfileNotAllowed, message));
    }
    catalog.clone().in_profile(Some(name)).ok_or_else(|| {
        let known = catalog.generation().choices().chain(catalog.profile_name());
        let near = nearest(name, known.filter(|known| caller.may_use(Some(known))));
        let message = format!("{place} asks for the profile `{}`, and there is none", quoted(name));
        Problem::new(ProblemCode::UnknownProfile, message).nearest(near.iter().map(ToString::to_string))
    })
}

/// The profile of a request that chooses none: the usual one where the token is for it, else the first one of the
/// token.
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
