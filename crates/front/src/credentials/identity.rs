//! The identity with which a server is called: the operator, a service, or the caller.

use toolcrib_catalog::config::{ActsAs, Server};
use toolcrib_definition::clean_line;

use super::token::CallerToken;

/// The identity with which a server is called; `None` for a command, and for a server whose `Authorization` is configured or made.
pub fn acts_as(server: &Server) -> Option<ActsAs> {
    let has_header = server.headers.keys().any(|name| name.eq_ignore_ascii_case("authorization"));
    let is_asked = server.url.is_some() && !has_header && server.headers_command.is_empty();
    is_asked.then(|| server.auth.as_ref().map(|auth| auth.acts_as).unwrap_or_default())
}

/// The identity with which a server is called, for people; `None` for the operator, and where no token is looked for.
pub fn identity(server: &Server) -> Option<String> {
    let client = server.auth.as_ref().and_then(|auth| auth.client_id.as_deref()).unwrap_or_default();
    Some(match acts_as(server)? {
        ActsAs::Person => return None,
        ActsAs::Service => format!("the service `{}`", clean_line(client)),
        ActsAs::Caller => "the caller, with its own token".into(),
    })
}

/// Whether a server is called with the token of the caller.
pub fn wants_caller_token(server: &Server) -> bool {
    acts_as(server) == Some(ActsAs::Caller)
}

/// Whether the operator's sign-in is for a caller.
pub(super) fn is_for_caller(server: &Server, caller: Option<&CallerToken>) -> bool {
    caller.is_none() || server.auth.as_ref().is_some_and(|auth| auth.shared)
}
