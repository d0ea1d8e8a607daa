//! Notices of waiting calls: a signed POST to the address that the operator has configured, in the form of Standard Webhooks. A notice
//! has no arguments; the page of the approval has them.

use std::time::Duration;

use base64::engine::general_purpose::STANDARD;
use base64::{DecodeError, Engine};
use http::StatusCode;
use http::header::CONTENT_TYPE;
use ring::hmac;
use serde_json::json;
use tokio::runtime::{Handle, TryCurrentError};
use tokio::sync::{Semaphore, TryAcquireError};
use tokio::time::sleep;

use crate::exec::backend::BackendError;
use crate::exec::call::Call;
use crate::state::{Approval, now};
use toolcrib_catalog::config::{Config, MissingVariable};
use toolcrib_definition::guard::guarded;

/// Longest time of one attempt.
const TIMEOUT: Duration = Duration::from_secs(10);

/// Waits before the attempts.
const PAUSES: [Duration; 3] = [Duration::ZERO, Duration::from_secs(1), Duration::from_secs(10)];

/// Most notices on their way at once; the others are dropped, and logged.
const MAX_NOTICES: usize = 16;

static TURNS: Semaphore = Semaphore::const_new(MAX_NOTICES);

/// The page of an approval, if the server has a public address.
pub(super) fn page(config: &Config, id: &str) -> Option<String> {
    let url = config.serve.public_url.as_deref()?.trim_end_matches('/');
    Some(format!("{url}/approvals/{id}"))
}

/// The reason why a notice was not sent, or not accepted, for the log.
#[derive(Debug, thiserror::Error)]
enum NoticeError {
    #[error("{}", .0.message)]
    Unconfigured(BackendError),
    #[error(transparent)]
    NoSecret(#[from] MissingVariable),
    #[error("its secret is no base64 after `whsec_`: {0}")]
    Secret(#[from] DecodeError),
    #[error(transparent)]
    NoRuntime(#[from] TryCurrentError),
    #[error("too many are on their way")]
    TooMany(#[from] TryAcquireError),
    #[error("status {0}")]
    Refused(StatusCode),
    #[error("{0}")]
    NotSent(reqwest::Error),
    #[error("it failed inside toolcrib")]
    Panicked,
}

/// Sends the notice of a new approval in the background, if the operator wants notices.
pub(super) fn announce(call: &Call, approval: &Approval) {
    if let Some(url) = &call.config().approval.webhook
        && let Err(problem) = start(call, approval, url.clone())
    {
        tracing::warn!("no notice of {} was sent: {problem}", approval.id);
    }
}

fn start(call: &Call, approval: &Approval, url: String) -> Result<(), NoticeError> {
    let web = call.context.services.backends.web();
    let (client, environment) = web.map_err(NoticeError::Unconfigured)?;
    let secret = environment.filled(call.config().approval.secret.as_deref().unwrap_or_default())?;
    let body = json!({
        "type": "approval.requested",
        "id": approval.id,
        "op": approval.op,
        "effect": call.effect().as_str(),
        "caller": approval.caller,
        "session": approval.session,
        "asked_at": approval.asked_at,
        "until": approval.until,
        "url": page(call.config(), &approval.id),
    });
    let id = approval.id.clone();
    let notice = Notice { client: client.clone(), url, key: key_of(&secret)?, id, body: body.to_string() };
    let runtime = Handle::try_current()?;
    let turn = TURNS.try_acquire()?;
    runtime.spawn(async move {
        let _turn = turn;
        if let Err(problem) = guarded(notice.send()).await.unwrap_or(Err(NoticeError::Panicked)) {
            tracing::warn!("the notice of {} was not accepted: {problem}", notice.id);
        }
    });
    Ok(())
}

/// A notice on its way.
struct Notice {
    client: reqwest::Client,
    url: String,
    key: Vec<u8>,
    id: String,
    body: String,
}

impl Notice {
    async fn send(&self) -> Result<(), NoticeError> {
        let mut problem = Ok(());
        for pause in PAUSES {
            sleep(pause).await;
            let time = now() / 1000;
            let signature = signature(&self.key, &self.id, time, &self.body);
            let request = self
                .client
                .post(&self.url)
                .timeout(TIMEOUT)
                .header(CONTENT_TYPE, "application/json")
                .header("webhook-id", &self.id)
                .header("webhook-timestamp", time)
                .header("webhook-signature", format!("v1,{signature}"));
            problem = match request.body(self.body.clone()).send().await {
                Ok(answer) if answer.status().is_success() => return Ok(()),
                Ok(answer) if is_final(answer.status()) => return Err(NoticeError::Refused(answer.status())),
                Ok(answer) => Err(NoticeError::Refused(answer.status())),
                Err(error) => Err(NoticeError::NotSent(error.without_url())),
            };
        }
        problem
    }
}

/// Returns true if another attempt would be answered in the same way.
fn is_final(status: StatusCode) -> bool {
    !status.is_server_error()
        && status != StatusCode::TOO_MANY_REQUESTS
        && status != StatusCode::REQUEST_TIMEOUT
}

/// The key in a secret: the base64 after `whsec_`, as Standard Webhooks write it, else the text itself.
fn key_of(secret: &str) -> Result<Vec<u8>, DecodeError> {
    secret.strip_prefix("whsec_").map_or_else(|| Ok(secret.into()), |key| STANDARD.decode(key))
}

fn signature(key: &[u8], id: &str, time: i64, body: &str) -> String {
    let key = hmac::Key::new(hmac::HMAC_SHA256, key);
    STANDARD.encode(hmac::sign(&key, format!("{id}.{time}.{body}").as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::{key_of, signature};

    #[test]
    fn a_signature_covers_the_id_the_time_and_the_body() {
        // openssl dgst -sha256 -hmac secret -binary | base64
        let own = signature(b"secret", "ap_1", 1_700_000_000, "{}");
        assert_eq!(own, "lhHySXw2EyW8MbD2iyGRyyluVJTzQj/w6kKSYC1chAM=");
        for other in [
            signature(b"other", "ap_1", 1_700_000_000, "{}"),
            signature(b"secret", "ap_2", 1_700_000_000, "{}"),
            signature(b"secret", "ap_1", 1_700_000_001, "{}"),
            signature(b"secret", "ap_1", 1_700_000_000, "{ }"),
        ] {
            assert_ne!(own, other);
        }
    }

    #[test]
    fn a_secret_of_standard_webhooks_is_base64() {
        let key = key_of("whsec_c2VjcmV0IG9mIHRoZSB3ZWJob29r").unwrap();
        assert_eq!(
            signature(&key, "ap_1", 1_700_000_000, "{}"),
            "yKRnG2jTzjNGkOmuNbx/ye5gHrzQiywW9g705ngxU2g="
        );
        assert_eq!(key_of("plain").unwrap(), b"plain");
        assert!(key_of("whsec_?").is_err());
    }
}
