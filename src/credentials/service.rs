//! Tokens of a service with credentials of its own (client credentials).

use super::token_request::TokenRequest;
use super::{Credentials, Refused, SecretToken, SignInProblem};
use crate::config::Server;

pub(super) async fn token(
    credentials: &Credentials,
    server: (&str, &Server),
) -> Result<Option<SecretToken>, SignInProblem> {
    let request = TokenRequest::new(credentials, server)?;
    credentials.issued.token(&request).await.map(Some)
}

pub(super) async fn rejected(
    credentials: &Credentials,
    server: (&str, &Server),
    refused: Refused<'_>,
) -> Result<Option<SecretToken>, SignInProblem> {
    let request = TokenRequest::new(credentials, server)?;
    credentials.issued.replace(&request, refused).await
}
