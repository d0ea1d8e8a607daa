//! Reads a successful response within its limits: JSON as JSON, text as text, anything else as base64.

use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use http::header::{CONTENT_ENCODING, CONTENT_TYPE};
use reqwest::Response;
use serde_json::{Value, json};
use tokio::time::Instant;

use super::content::{Ended, content};
use super::error_response::{connection_lost, too_slow};
use crate::exec::backend::backend_error::BackendError;
use crate::exec::backend::request::{BackendResponse, too_many_values};
use toolcrib_catalog::config::Server;
use toolcrib_definition::Effect;
use toolcrib_definition::document::from_others;
use toolcrib_front::long_work::apart;

/// Reads a successful answer of the server with this name.
pub(super) async fn answer(
    response: Response,
    (name, server): (&str, &Server),
    effect: Effect,
    longest_silence: Duration,
) -> Result<BackendResponse, BackendError> {
    let max_bytes = server.max_bytes;
    let media = Media::of(&response);
    // A stream may have no end, and so has a time for all of it.
    let until = Instant::now() + server.timeout().min(longest_silence);
    let wait = || if media.is_stream() { until.duration_since(Instant::now()) } else { longest_silence };
    let content = content(response, max_bytes, wait).await;
    let warning = match content.ended {
        Ended::Whole => None,
        Ended::TooLarge => Some(format!("the answer was cut: it is longer than {max_bytes} bytes")),
        Ended::TooSlow if media.is_stream() => Some("the answer was cut: it goes on without an end".into()),
        Ended::TooSlow => return Err(too_slow(name)),
        Ended::Broken => return Err(connection_lost(name)),
    };
    let bytes = content.bytes;
    let (mut response, is_as_said) = apart(bytes.len(), || media.decode(bytes, warning.is_none()));
    if !is_as_said {
        // A proxy may have written this in place of the server's answer.
        if effect != Effect::Read {
            return Err(unreadable(name));
        }
        response.warnings.push("the answer is declared as JSON, and is not".into());
    }
    response.warnings.extend(warning);
    Ok(response)
}

/// The media type of an answer.
struct Media {
    /// Without parameters, in lower case; empty if the answer has no media type.
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
            if let Some(warning) = too_many_values(&bytes) {
                let content = BackendResponse::new(self.text(bytes));
                return (BackendResponse { warnings: vec![warning], ..content }, true);
            }
            if let Ok(value) = from_others(&bytes) {
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

/// The error of a success with a body that cannot be read.
fn unreadable(name: &str) -> BackendError {
    let message = format!(
        "the server `{name}` answered with something else than the JSON that its head promises; it may have run the call"
    );
    BackendError::connection_lost(message)
}
