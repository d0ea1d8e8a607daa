//! The error of a response that is no success.

use std::time::Duration;

use http::header::{LOCATION, RETRY_AFTER};
use reqwest::Response;
use serde_json::{Value, json};

use super::response::content;
use crate::exec::backend::backend_error::{BackendError, BackendErrorKind, wait_for};
use toolcrib_definition::Effect;
use toolcrib_definition::document::from_others;
use toolcrib_front::mcp::FilledSecrets;

/// Bytes that are read of an error's body.
const MAX_ERROR: usize = 64 << 10;

/// Bytes of a body that an error repeats: a model reads it.
const MAX_EXCERPT: usize = 2048;

/// The error of a response that is no success.
pub(super) async fn error(
    response: Response,
    name: &str,
    effect: Effect,
    secrets: &FilledSecrets,
    longest_silence: Duration,
) -> BackendError {
    let status = response.status().as_u16();
    let header = |name| response.headers().get(name).and_then(|value| value.to_str().ok());
    let retry_after_seconds: Option<u64> = header(RETRY_AFTER).and_then(|text| text.trim().parse().ok());
    let mut answer = json!({ "status": status });
    if let Some(seconds) = retry_after_seconds {
        answer["retry_after_seconds"] = seconds.into();
    }
    if let Some(location) = header(LOCATION) {
        answer["location"] = secrets.line(location).into();
    }
    let (body, _) = content(response, MAX_ERROR, || longest_silence).await;
    let body = String::from_utf8_lossy(&body);
    if !body.trim().is_empty() {
        answer["body"] = excerpt(&body, secrets);
    }
    let (what, next) = meaning(status, retry_after_seconds, effect);
    let kind = match status {
        // Only these two say that the call was not run.
        429 | 503 => BackendErrorKind::Busy,
        // A gateway got no answer from the server behind it.
        502 | 504 => BackendErrorKind::ConnectionLost,
        _ => BackendErrorKind::Failed,
    };
    let error = BackendError::new(kind, format!("the server `{name}` {what} (status {status})"), next);
    BackendError { status: Some(status), retry_after_seconds, ..error.with_answer(answer) }
}

/// What a status means, and the next step.
fn meaning(status: u16, retry_after_seconds: Option<u64>, effect: Effect) -> (&'static str, String) {
    let again = "sending the same call again changes nothing";
    match status {
        300..=399 => (
            "redirects, which is not followed",
            "tell the operator, who can correct `url` or allow `redirects` of this server".into(),
        ),
        401 => (
            "does not accept the credentials of this call",
            format!("the client has to send valid credentials; {again}"),
        ),
        403 => ("does not allow this", format!("choose something else, or tell the user; {again}")),
        404 | 410 => (
            "has nothing under these arguments",
            "check the ids: list or search for them, rather than guessing".into(),
        ),
        409 | 412 => {
            ("reports a conflict with the current data", "read the current data, and decide again".into())
        }
        400 | 415 | 422 => (
            "does not accept these arguments",
            "correct the arguments as `body` says, with the tool's doc".into(),
        ),
        429 => ("has had too many calls", wait_for(retry_after_seconds)),
        500.. if effect > Effect::Read => (
            "failed",
            "it may have done a part of the work: check that before you send the call again".into(),
        ),
        500.. => ("failed", "try again later, or tell the user".into()),
        _ => ("refuses", format!("do as `body` says, or tell the user; {again}")),
    }
}

/// The body of an error: JSON where it is JSON and short, else its beginning.
fn excerpt(body: &str, secrets: &FilledSecrets) -> Value {
    let body = secrets.hide(body);
    if body.len() <= MAX_EXCERPT {
        return secrets.hide_in(from_others(body.as_bytes()).unwrap_or(Value::String(body)));
    }
    let end = body.floor_char_boundary(MAX_EXCERPT);
    format!("{}...", &body[..end]).into()
}
