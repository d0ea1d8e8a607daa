//! Reads what a caller sends with a request besides the token: the session, the strongest allowed effect, and headers
//! for servers.

use http::header::AUTHORIZATION;
use http::request::Parts;
use http::{HeaderMap, HeaderName, Method};

use super::request_context::Shared;
use crate::RequestCatalog;
use crate::response::{Problem, ProblemCode};
use toolcrib_definition::Effect;
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
    let is_wanted = catalog.snapshot().wants_caller_tokens;
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
    let wanted = catalog.snapshot().caller_headers.iter().filter(|name| !is_ours(name));
    wanted.filter_map(|name| Some((name.clone(), headers.get(name)?.clone()))).collect()
}

fn invalid_header(message: &str) -> Problem {
    Problem::new(ProblemCode::ValidationError, message).next("correct the header, or leave it out")
}
