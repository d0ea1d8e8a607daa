//! Opaque tokens: their issuer says whether they are valid (RFC 7662). Few questions are open at a time, and each token is
//! asked about once in a while.

use std::time::Duration;

use serde_json::Value;
use tokio::sync::Semaphore;

use super::claims::Claims;
use super::fetch::{Fetcher, Form};

/// Most questions at a time.
const MAX_OPEN: usize = 16;
/// Longest wait for a turn.
const WAITING: Duration = Duration::from_secs(5);
/// Milliseconds for which an answer counts: a token that was revoked is refused after them.
pub(super) const REMEMBERED: i64 = 60_000;

/// The endpoint of an issuer.
pub(super) struct IntrospectionEndpoint {
    pub(super) url: String,
    pub(super) client_id: String,
    /// The secret, with its variables filled in.
    pub(super) client_secret: String,
    fetcher: Fetcher,
    open: Semaphore,
}

impl std::fmt::Debug for IntrospectionEndpoint {
    fn fmt(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(to, "IntrospectionEndpoint({})", self.url)
    }
}

impl IntrospectionEndpoint {
    pub(super) fn new(url: String, client_id: String, client_secret: String) -> Self {
        Self { url, client_id, client_secret, fetcher: Fetcher::default(), open: Semaphore::new(MAX_OPEN) }
    }

    /// The claims of a token; `None` when it is not valid. The error says why nobody knows.
    pub(super) async fn claims(&self, token: &str) -> Result<Option<Claims>, String> {
        let turn = tokio::time::timeout(WAITING, self.open.acquire()).await;
        let _turn = turn.ok().and_then(Result::ok).ok_or("too many tokens are asked about")?;
        let fields = [("token", token), ("token_type_hint", "access_token")];
        let form = Form { fields: &fields, client: (&self.client_id, &self.client_secret) };
        let answer = self.fetcher.post(&self.url, form).await?;
        match serde_json::from_slice(&answer) {
            Ok(Value::Object(claims)) => {
                Ok((claims.get("active") == Some(&Value::Bool(true))).then_some(Claims(claims)))
            }
            _ => Err("the answer is no JSON object".into()),
        }
    }
}
