//! Tokens that the token of a caller is exchanged for (RFC 8693). Each caller has its own.

use super::token_request::TokenRequest;
use super::{CallerToken, Credentials, Refused, SecretToken, SignInProblem, service};
use crate::config::Server;

pub(super) async fn token(
    credentials: &Credentials,
    server: (&str, &Server),
    caller: Option<&CallerToken>,
) -> Result<Option<SecretToken>, SignInProblem> {
    match caller {
        Some(caller) => {
            let request = TokenRequest::for_caller(credentials, server, caller)?;
            credentials.issued.token(&request).await.map(Some)
        }
        None if has_client(server.1) => service::token(credentials, server).await,
        None => Ok(None),
    }
}

pub(super) async fn rejected(
    credentials: &Credentials,
    server: (&str, &Server),
    caller: Option<&CallerToken>,
    refused: Refused<'_>,
) -> Result<Option<SecretToken>, SignInProblem> {
    match caller {
        Some(caller) => {
            let request = TokenRequest::for_caller(credentials, server, caller)?;
            credentials.issued.replace(&request, refused).await
        }
        None if has_client(server.1) => service::rejected(credentials, server, refused).await,
        None => Ok(None),
    }
}

/// Whether the client has credentials of its own, with which the tools of the server are listed.
fn has_client(server: &Server) -> bool {
    server.auth.as_ref().is_some_and(|auth| auth.client_id.is_some() && auth.client_secret.is_some())
}
