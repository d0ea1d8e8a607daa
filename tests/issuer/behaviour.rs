//! The behaviour of an issuer, with its faults.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

/// The behaviour of an issuer; every field can be changed while it runs.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Behaviour {
    /// Claims of the person who agrees; `sub` is their name.
    pub user: Map<String, Value>,
    /// Whether the person agrees.
    pub agrees: bool,
    /// Seconds that access tokens live.
    pub token_seconds: u64,
    /// The algorithm of its tokens: RS256, ES256 or EdDSA.
    pub algorithm: String,
    /// Whether sign-ins give refresh tokens.
    pub gives_refresh_tokens: bool,
    /// Whether it refuses refresh tokens with `invalid_grant`.
    pub refuses_refresh: bool,
    /// Scopes that it gives at most; all that are asked for when absent.
    pub gives_scopes: Option<Vec<String>>,
    /// Whether clients can register themselves.
    pub registers_clients: bool,
    /// Whether the URL of a client's metadata document is a client id. The document is not fetched: any https URL is
    /// known, with loopback redirects.
    pub takes_metadata_documents: bool,
    /// Whether the redirect has `iss` (RFC 9207).
    pub sends_issuer: bool,
    /// The `iss` of redirects, metadata and tokens, where it is not its own.
    pub claims_issuer: Option<String>,
    /// Whether its metadata says that it takes PKCE.
    pub tells_pkce: bool,
    /// Milliseconds before each answer.
    pub delay_ms: u64,
    /// Milliseconds between a new token and its answer.
    pub token_delay_ms: u64,
    /// The access token of the next answers, instead of a signed one.
    pub token: Option<String>,
    /// Whether its metadata is not found.
    pub hides_metadata: bool,
    /// Whether every request is answered with 503.
    pub is_dead: bool,
    /// Whether `/token` redirects to another address.
    pub redirects_token_to: Option<String>,
    /// Whether `/jwks` is an endless document.
    pub endless_keys: bool,
}

impl Default for Behaviour {
    fn default() -> Self {
        let user = json!({"sub": "amy", "name": "Amy", "email": "amy@example.com", "groups": ["engineers"]});
        Self {
            user: user.as_object().cloned().unwrap_or_default(),
            agrees: true,
            token_seconds: 3600,
            algorithm: "ES256".into(),
            gives_refresh_tokens: true,
            refuses_refresh: false,
            gives_scopes: None,
            registers_clients: true,
            takes_metadata_documents: true,
            sends_issuer: true,
            claims_issuer: None,
            tells_pkce: true,
            delay_ms: 0,
            token_delay_ms: 0,
            token: None,
            hides_metadata: false,
            is_dead: false,
            redirects_token_to: None,
            endless_keys: false,
        }
    }
}
