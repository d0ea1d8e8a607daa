//! Errors of HTTP servers: the meaning of a status or of a missing answer, and the next step.

use serde_json::Value;

use crate::exec::backend::{BackendError, BackendErrorKind, ErrorAnswer};
use crate::sources::mcp::FilledSecrets;
use crate::tool::Effect;

/// Bytes of a body that an error repeats: a model reads it.
const MAX_EXCERPT: usize = 2048;

/// An HTTP response that is no success.
pub(super) struct ErrorResponse<'r> {
    pub(super) name: &'r str,
    pub(super) status: u16,
    pub(super) body: String,
    /// The `Location` header of a redirect.
    pub(super) location: Option<String>,
    pub(super) retry_after_seconds: Option<u64>,
    pub(super) effect: Effect,
    pub(super) secrets: &'r FilledSecrets,
}

impl ErrorResponse<'_> {
    pub(super) fn backend_error(&self) -> BackendError {
        let (what, next) = self.meaning();
        let message = format!("the server `{}` {what} (status {})", self.name, self.status);
        let answer = ErrorAnswer::Http {
            status: self.status,
            retry_after_seconds: self.retry_after_seconds,
            location: self.location.as_deref().map(|location| self.secrets.line(location)),
            body: (!self.body.trim().is_empty()).then(|| self.body_excerpt()),
        };
        let kind = match self.status {
            // Only these two say that the call was not run.
            429 | 503 => BackendErrorKind::Busy,
            // A gateway got no answer from the server behind it.
            502 | 504 => BackendErrorKind::ConnectionLost,
            _ => BackendErrorKind::Failed,
        };
        BackendError::new(kind, message, next).with_answer(answer)
    }

    fn meaning(&self) -> (&'static str, String) {
        let again = "sending the same call again changes nothing";
        match self.status {
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
            429 => {
                let wait =
                    self.retry_after_seconds.map_or("a while".into(), |seconds| format!("{seconds} seconds"));
                ("has had too many calls", format!("wait {wait} before the next call"))
            }
            500.. if self.effect > Effect::Read => (
                "failed",
                "it may have done a part of the work: check that before you send the call again".into(),
            ),
            500.. => ("failed", "try again later, or tell the user".into()),
            _ => ("refuses", format!("do as `body` says, or tell the user; {again}")),
        }
    }

    /// The body: JSON where it is JSON and short, else its beginning.
    fn body_excerpt(&self) -> Value {
        let body = self.secrets.hide(&self.body);
        if body.len() <= MAX_EXCERPT {
            let read = serde_json::from_str(&body).unwrap_or(Value::String(body));
            return self.secrets.hide_in(read);
        }
        let end = body.floor_char_boundary(MAX_EXCERPT);
        format!("{}...", &body[..end]).into()
    }
}

/// A request without an answer in time.
pub(super) fn too_slow(name: &str) -> BackendError {
    let message = format!("the server `{name}` did not answer in time; it may have run the call");
    BackendError::timed_out(message)
}

/// A success with a body that cannot be read.
pub(super) fn unreadable(name: &str) -> BackendError {
    let message = format!(
        "the server `{name}` answered with something else than the JSON that its head promises; it may have run the call"
    );
    BackendError::connection_lost(message)
}

/// A request whose connection broke.
pub(super) fn connection_lost(name: &str) -> BackendError {
    let message =
        format!("the connection to the server `{name}` broke after the call was sent; it may have been run");
    BackendError::connection_lost(message)
}
