//! Settings of signing in to the pages.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Most hours of a session: a month.
const MAX_HOURS: u64 = 744;

/// Signing in to the pages: at an identity provider with OpenID Connect, where `issuer` and `client_id` are set, or by
/// typing one of the tokens of `[[serve.token]]`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(deny_unknown_fields)]
pub struct ServeSignIn {
    /// The identity provider, exactly as the claim `iss` of its tokens has it. The `[[serve.issuer]]` of the same name says which
    /// rights its people have.
    pub issuer: Option<String>,
    /// The client that this server is there. Its redirect address is `/sign-in/callback` below `public_url`.
    pub client_id: String,
    /// The secret of the client, where it has one; `${NAME}` stands for the environment variable `NAME`.
    pub client_secret: Option<String>,
    /// The scopes that are asked for, beside `openid`.
    pub scopes: Vec<String>,
    /// Hours after which a person has to sign in again.
    #[schemars(range(min = 1, max = 744))]
    pub session_hours: u64,
}

impl Default for ServeSignIn {
    fn default() -> Self {
        Self {
            issuer: None,
            client_id: String::new(),
            client_secret: None,
            scopes: vec!["profile".into()],
            session_hours: 8,
        }
    }
}

impl ServeSignIn {
    /// Milliseconds of a session.
    pub fn session_ms(&self) -> i64 {
        self.session_hours.clamp(1, MAX_HOURS) as i64 * 3_600_000
    }

    /// The first mistake in these settings, with its field; `None` when there is none.
    pub(super) fn problem(&self) -> Option<(&'static str, &'static str)> {
        match &self.issuer {
            Some(_) if self.client_id.is_empty() => {
                Some(("client_id", "an `issuer` needs a `client_id`: this server as a client there"))
            }
            None if !self.client_id.is_empty() || self.client_secret.is_some() => {
                Some(("issuer", "a client needs an `issuer`: the identity provider at which people sign in"))
            }
            _ if !(1..=MAX_HOURS).contains(&self.session_hours) => {
                Some(("session_hours", "a session has 1 to 744 hours"))
            }
            _ => None,
        }
    }
}
