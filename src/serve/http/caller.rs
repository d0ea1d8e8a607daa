//! Reads the caller from a request, beside the token: the session, the strongest effect allowed, and headers for
//! servers.

use http::request::Parts;
use http::{HeaderMap, HeaderName, Method, header};

use super::Shared;
use crate::exec::Caller;
use crate::serve::RequestCatalog;
use crate::serve::response::problem::{Problem, ProblemCode};
use crate::state::{Session, random_id};
use crate::tool::Effect;

/// The session, named by the caller.
const SESSION: HeaderName = HeaderName::from_static("x-session-id");

/// The beginning of the id of a session that we issue, and the length of its random part.
const SESSION_KIND: &str = "s";
const SESSION_DIGITS: usize = 12;

/// The session that clients of MCP's older wire repeat.
pub(super) const MCP_SESSION: HeaderName = HeaderName::from_static("mcp-session-id");

/// The strongest effect of calls in this request; it can only lower the caller's own.
const ALLOW: HeaderName = HeaderName::from_static("x-allow");

/// The caller of a request for functions.
pub(super) fn of_request(
    shared: &Shared,
    catalog: &RequestCatalog,
    mut caller: Caller,
    request: &Parts,
) -> Result<Caller, Problem> {
    let headers = &request.headers;
    caller.session = match headers.get(SESSION) {
        Some(id) => {
            let id = Session::named(id.to_str().unwrap_or_default());
            Some(id.map_err(|bad| refused(&format!("`X-Session-Id` does not fit: {bad}")))?)
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
        let allow = allow.ok_or_else(|| refused("`X-Allow` is read, write or destructive"))?;
        caller.allow = caller.allow.min(allow);
    }
    caller.headers = sent_on(shared, catalog, headers);
    let is_wanted = catalog.generation().wants_caller_tokens;
    caller.token = is_wanted.then(|| shared.authenticator.token_for_servers(headers)).flatten();
    Ok(caller)
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
    let is_ours = |name: &HeaderName| *name == header::AUTHORIZATION && !shared.authenticator.is_open();
    let wanted = catalog.generation().caller_headers.iter().filter(|name| !is_ours(name));
    wanted.filter_map(|name| Some((name.clone(), headers.get(name)?.clone()))).collect()
}

fn refused(message: &str) -> Problem {
    Problem::new(ProblemCode::ValidationError, message).next("correct the header, or leave it out")
}
