//! Notices of waiting calls: a signed POST to the address that the operator has configured, in the form of Standard Webhooks. A notice
//! has no arguments; the page of the approval has them.

use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use http::StatusCode;
use http::header::CONTENT_TYPE;
use ring::hmac;
use serde_json::json;
use tokio::runtime::Handle;
use tokio::sync::Semaphore;
use tokio::time::sleep;

use crate::exec::call::Call;
use crate::state::{Approval, now};
use toolcrib_catalog::Tool;
use toolcrib_catalog::config::Config;
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

/// Sends the notice of a new approval in the background, if the operator wants notices.
pub(super) fn announce(call: &Call, tool: &Tool, approval: &Approval) {
    let Some(url) = call.config().approval.webhook.clone() else { return };
    let secret = call.config().approval.secret.as_deref().unwrap_or_default();
    let ready = call.context.services.backends.web().map_err(|error| error.message);
    let ready = ready.and_then(|(client, environment)| {
        let secret = environment.filled(secret).map_err(|missing| missing.to_string())?;
        Ok((client.clone(), key_of(&secret)?, Handle::try_current().map_err(|error| error.to_string())?))
    });
    let turn = TURNS.try_acquire();
    let (client, key, runtime, turn) = match (ready, turn) {
        (Ok((client, key, runtime)), Ok(turn)) => (client, key, runtime, turn),
        (Err(problem), _) => return tracing::warn!("no notice of {} was sent: {problem}", approval.id),
        (_, Err(_)) => {
            return tracing::warn!("no notice of {} was sent: too many are on their way", approval.id);
        }
    };
    let body = json!({
        "type": "approval.requested",
        "id": approval.id,
        "op": approval.op,
        "effect": tool.effect.as_str(),
        "caller": approval.caller,
        "session": approval.session,
        "asked_at": approval.asked_at,
        "until": approval.until,
        "url": page(call.config(), &approval.id),
    });
    let id = approval.id.clone();
    let body = body.to_string();
    runtime.spawn(async move {
        let _turn = turn;
        let sent = guarded(send(&client, &url, (&id, &body), &key)).await;
        if let Err(problem) = sent.unwrap_or_else(|_| Err("it failed inside toolcrib".into())) {
            tracing::warn!("the notice of {id} was not accepted: {problem}");
        }
    });
}

async fn send(
    client: &reqwest::Client,
    url: &str,
    (id, body): (&str, &str),
    key: &[u8],
) -> Result<(), String> {
    let mut problem = String::new();
    for pause in PAUSES {
        sleep(pause).await;
        let time = now() / 1000;
        let request = client
            .post(url)
            .timeout(TIMEOUT)
            .header(CONTENT_TYPE, "application/json")
            .header("webhook-id", id)
            .header("webhook-timestamp", time)
            .header("webhook-signature", format!("v1,{}", signature(key, id, time, body)));
        problem = match request.body(body.to_string()).send().await {
            Ok(answer) if answer.status().is_success() => return Ok(()),
            Ok(answer) if is_final(answer.status()) => return Err(format!("status {}", answer.status())),
            Ok(answer) => format!("status {}", answer.status()),
            Err(error) => error.without_url().to_string(),
        };
    }
    Err(problem)
}

/// Returns true if another attempt would be answered in the same way.
fn is_final(status: StatusCode) -> bool {
    !status.is_server_error()
        && status != StatusCode::TOO_MANY_REQUESTS
        && status != StatusCode::REQUEST_TIMEOUT
}

/// The key in a secret: the base64 after `whsec_`, as Standard Webhooks write it, else the text itself.
fn key_of(secret: &str) -> Result<Vec<u8>, String> {
    match secret.strip_prefix("whsec_") {
        None => Ok(secret.into()),
        Some(key) => {
            STANDARD.decode(key).map_err(|error| format!("its secret is no base64 after `whsec_`: {error}"))
        }
    }
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
        assert!(key_of("whsec_?").unwrap_err().contains("base64"));
    }
}
