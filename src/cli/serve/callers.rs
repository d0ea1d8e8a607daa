//! The callers that the configuration names: tokens and secrets are in the environment.

use std::net::SocketAddr;

use crate::cli::CommandError;
use crate::cli::catalog::CatalogArgs;
use crate::config;
use crate::serve::{Authenticator, Tokens};

/// The configured callers.
pub(super) fn configured(
    catalog: &CatalogArgs,
    configured: &config::Serve,
) -> Result<Authenticator, CommandError> {
    let (root, environment) = (catalog.workspace()?.root, catalog.environment().unwrap_or_default());
    let secret = configured.proxy.as_ref().and_then(|proxy| proxy.secret.as_deref());
    let secret = secret.map(|text| environment.filled(text)).transpose().map_err(CommandError::Usage)?;
    Authenticator::new(tokens(configured)?, configured, &root, secret.as_deref()).map_err(CommandError::Usage)
}

/// Refuses issuers on an address that does not say what their tokens are for.
pub(super) fn have_an_address(
    configured: &config::Serve,
    address: SocketAddr,
    is_local: bool,
) -> Result<(), CommandError> {
    let is_known = configured.public_url.is_some() || (is_local && !address.ip().is_unspecified());
    if configured.issuers.is_empty() || is_known {
        return Ok(());
    }
    Err(CommandError::Usage(format!(
        "tokens of an issuer are for one address, and {address} does not say under which one callers reach it; add \
         `public_url = \"https://...\"` below `[serve]` in toolcrib.toml"
    )))
}

/// The host of the public address.
pub(super) fn host(public_url: &str) -> String {
    let rest = public_url.split_once("://").map_or(public_url, |(_, rest)| rest);
    rest.trim_end_matches('/').to_string()
}

/// The tokens that are configured, from the environment.
fn tokens(configured: &config::Serve) -> Result<Tokens, CommandError> {
    let mut tokens = Tokens::default();
    for token in &configured.tokens {
        let name = &token.env;
        #[expect(clippy::disallowed_methods, reason = "secrets come from the environment")]
        let secret = std::env::var(name).map_err(|_| {
            CommandError::Usage(format!(
                "the environment variable {name}, which toolcrib.toml names for a token, is not set"
            ))
        })?;
        tokens.add(&secret, token).map_err(|problem| CommandError::Usage(format!("{name}: {problem}")))?;
    }
    Ok(tokens)
}
