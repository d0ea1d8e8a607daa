//! Answers of HTTP servers, read within their limits: JSON as JSON, text as text, anything else as base64; and what their errors mean.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use http::header::{CONTENT_ENCODING, CONTENT_TYPE};
use reqwest::Response;
use serde_json::{Value, json};
use tokio::time::{Instant, timeout_at};

use crate::catalog::Tool;
use crate::exec::backend::{BackendError, BackendErrorKind, BackendResponse, ErrorAnswer};
use crate::sources::mcp::FilledSecrets;
use crate::tool::Effect;

/// Bytes that are read of an error's body.
const MAX_ERROR: usize = 64 << 10;

/// The bytes of a body, and the reason why reading ended.
struct Content {
    bytes: Vec<u8>,
    ended: Ended,
}

enum Ended {
    Whole,
    TooLarge,
    TooSlow,
    Broken,
}

/// Settings for reading a successful answer.
pub(super) struct Reading<'r> {
    pub(super) name: &'r str,
    pub(super) tool: &'r Tool,
    pub(super) max_bytes: usize,
}

impl Reading<'_> {
    pub(super) async fn answer(
        &self,
        response: Response,
        deadline: Instant,
    ) -> Result<BackendResponse, BackendError> {
        let (name, max_bytes) = (self.name, self.max_bytes);
        let media = Media::of(&response);
        let content = content(response, max_bytes, deadline).await;
        let warning = match content.ended {
            Ended::Whole => None,
            Ended::TooLarge => Some(format!("the answer was cut: it is longer than {max_bytes} bytes")),
            Ended::TooSlow if media.is_stream() => {
                Some("the answer was cut: it goes on without an end".into())
            }
            Ended::TooSlow => return Err(too_slow(name)),
            Ended::Broken => return Err(connection_lost(name)),
        };
        let (mut response, is_as_said) = media.decode(content.bytes, warning.is_none());
        if !is_as_said {
            // A proxy may have written this in place of the server's answer.
            if self.tool.effect != Effect::Read {
                return Err(unreadable(name));
            }
            response.warnings.push("the answer is declared as JSON, and is not".into());
        }
        response.warnings.extend(warning);
        Ok(response)
    }
}

/// Reads the body of an error, as far as it comes.
pub(super) async fn read_error(response: Response, deadline: Instant) -> String {
    let content = content(response, MAX_ERROR, deadline).await;
    String::from_utf8_lossy(&content.bytes).into_owned()
}

async fn content(mut response: Response, max_bytes: usize, deadline: Instant) -> Content {
    let mut bytes = Vec::new();
    let ended = loop {
        match timeout_at(deadline, response.chunk()).await {
            Ok(Ok(None)) => break Ended::Whole,
            Ok(Ok(Some(chunk))) => {
                let room = max_bytes - bytes.len();
                bytes.extend_from_slice(&chunk[..chunk.len().min(room)]);
                if chunk.len() > room {
                    break Ended::TooLarge;
                }
            }
            Ok(Err(_)) => break Ended::Broken,
            Err(_) => break Ended::TooSlow,
        }
    };
    Content { bytes, ended }
}

/// The media type of an answer.
struct Media {
    /// Without parameters, in lower case; empty when there is none.
    essence: String,
    is_latin: bool,
    is_encoded: bool,
}

impl Media {
    fn of(response: &Response) -> Self {
        let header = |name| response.headers().get(name).and_then(|value| value.to_str().ok());
        let said = header(CONTENT_TYPE).unwrap_or_default().to_ascii_lowercase();
        let encoding = header(CONTENT_ENCODING).unwrap_or("identity");
        Self {
            essence: said.split(';').next().unwrap_or_default().trim().to_string(),
            is_latin: said.contains("charset=iso-8859-1"),
            is_encoded: !encoding.eq_ignore_ascii_case("identity"),
        }
    }

    fn is_json(&self) -> bool {
        matches!(self.essence.as_str(), "application/json" | "text/json") || self.essence.ends_with("+json")
    }

    fn is_text(&self) -> bool {
        const TEXTS: [&str; 6] = ["xml", "yaml", "javascript", "x-www-form-urlencoded", "ndjson", "graphql"];
        self.essence.is_empty()
            || self.essence.starts_with("text/")
            || TEXTS.iter().any(|text| self.essence.ends_with(text))
    }

    /// Whether the answer is a stream that may never end.
    fn is_stream(&self) -> bool {
        matches!(self.essence.as_str(), "text/event-stream" | "application/x-ndjson" | "application/jsonl")
    }

    /// The content, and whether it fits its media type.
    fn decode(&self, bytes: Vec<u8>, is_whole: bool) -> (BackendResponse, bool) {
        if bytes.is_empty() {
            return (BackendResponse::new(Value::Null), true);
        }
        let looks_like_json = || bytes.trim_ascii_start().first().is_some_and(|first| b"{[".contains(first));
        if !self.is_encoded && is_whole && (self.is_json() || (self.essence.is_empty() && looks_like_json()))
        {
            if let Ok(value) = serde_json::from_slice(&bytes) {
                return (BackendResponse::new(value), true);
            }
            return (BackendResponse::new(self.text(bytes)), !self.is_json());
        }
        let is_text = self.is_json() || self.is_text() || self.is_stream();
        if !self.is_encoded && is_text {
            return (BackendResponse::new(self.text(bytes)), true);
        }
        let media = if self.essence.is_empty() { "application/octet-stream" } else { &self.essence };
        let mut content =
            json!({ "media_type": media, "bytes": bytes.len(), "base64": STANDARD.encode(&bytes) });
        if self.is_encoded {
            content["compressed"] = true.into();
        }
        (BackendResponse::new(content), true)
    }

    fn text(&self, bytes: Vec<u8>) -> Value {
        if self.is_latin {
            return bytes.into_iter().map(char::from).collect::<String>().into();
        }
        match String::from_utf8(bytes) {
            Ok(text) => text.into(),
            Err(error) => String::from_utf8_lossy(error.as_bytes()).into_owned().into(),
        }
    }
}

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
