//! Reads a response within its limits of size and time: JSON as JSON, text as text, anything else as base64.

use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use http::HeaderMap;
use http::header::{CONTENT_ENCODING, CONTENT_TYPE};
use mime::Mime;
use reqwest::Response;
use serde_json::{Value, json};
use tokio::time::{Instant, timeout};

use crate::exec::backend::backend_error::BackendError;
use crate::exec::backend::request::{BackendResponse, too_many_values};
use toolcrib_catalog::config::Server;
use toolcrib_definition::Effect;
use toolcrib_definition::document::from_others;
use toolcrib_definition::media_type;
use toolcrib_front::long_work::apart;

/// Reads a successful answer of the server with this name.
pub(super) async fn answer(
    response: Response,
    (name, server): (&str, &Server),
    effect: Effect,
    longest_silence: Duration,
) -> Result<BackendResponse, BackendError> {
    let max_bytes = server.max_bytes;
    let media = Media::of(response.headers());
    // A stream may have no end, and so has a time for all of it.
    let until = Instant::now() + server.timeout().min(longest_silence);
    let wait = || if media.is_stream() { until.duration_since(Instant::now()) } else { longest_silence };
    let (bytes, ended) = content(response, max_bytes, wait).await;
    let warning = match ended {
        Ended::Whole => None,
        Ended::TooLarge => Some(format!("the answer was cut: it is longer than {max_bytes} bytes")),
        Ended::TooSlow if media.is_stream() => Some("the answer was cut: it goes on without an end".into()),
        Ended::TooSlow => return Err(too_slow(name)),
        Ended::Broken => return Err(connection_lost(name)),
    };
    let (response, is_as_said) = apart(bytes.len(), || media.decode(bytes, warning.is_none()));
    // A proxy may have written this in place of the server's answer.
    if !is_as_said && effect != Effect::Read {
        let promised = "answered with something else than the JSON that its head promises";
        let message = format!("the server `{name}` {promised}; it may have run the call");
        return Err(BackendError::connection_lost(message));
    }
    let unlike = (!is_as_said).then(|| "the answer is declared as JSON, and is not".to_string());
    Ok(response.warning(unlike).warning(warning))
}

/// The reason why reading ended.
pub(super) enum Ended {
    Whole,
    TooLarge,
    TooSlow,
    Broken,
}

/// The bytes of a body, and the reason why reading ended.
pub(super) async fn content(
    mut response: Response,
    max_bytes: usize,
    wait: impl Fn() -> Duration,
) -> (Vec<u8>, Ended) {
    let expected = response.content_length().and_then(|bytes| usize::try_from(bytes).ok());
    let mut bytes = Vec::with_capacity(expected.unwrap_or_default().min(max_bytes));
    let ended = loop {
        match timeout(wait(), response.chunk()).await {
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
    (bytes, ended)
}

/// The media type of an answer; `None` where it has none that can be read.
struct Media {
    kind: Option<Mime>,
    is_compressed: bool,
}

impl Media {
    fn of(headers: &HeaderMap) -> Self {
        let header = |name| headers.get(name).and_then(|value| value.to_str().ok());
        let is_compressed =
            header(CONTENT_ENCODING).is_some_and(|said| !said.eq_ignore_ascii_case("identity"));
        Self { kind: header(CONTENT_TYPE).and_then(|said| said.parse().ok()), is_compressed }
    }

    fn is(&self, fits: impl Fn(&Mime) -> bool) -> bool {
        self.kind.as_ref().is_some_and(fits)
    }

    fn is_json(&self) -> bool {
        self.is(|kind| kind.subtype() == mime::JSON || kind.suffix() == Some(mime::JSON))
    }

    fn is_text(&self) -> bool {
        let is_text = |kind: &Mime| media_type::is_text(kind.essence_str());
        self.kind.is_none() || self.is(is_text) || self.is_json() || self.is_stream()
    }

    /// Whether the answer is a stream that may never end.
    fn is_stream(&self) -> bool {
        const STREAMS: [&str; 3] = ["text/event-stream", "application/x-ndjson", "application/jsonl"];
        self.is(|kind| STREAMS.contains(&kind.essence_str()))
    }

    /// The content, and whether it fits its media type.
    fn decode(&self, bytes: Vec<u8>, is_whole: bool) -> (BackendResponse, bool) {
        let looks_like_json = || bytes.trim_ascii_start().first().is_some_and(|first| b"{[".contains(first));
        let may_be_json = self.is_json() || (self.kind.is_none() && looks_like_json());
        if bytes.is_empty() {
            return (BackendResponse::new(Value::Null), true);
        }
        if self.is_compressed || !self.is_text() {
            return (BackendResponse::new(self.data(&bytes)), true);
        }
        let too_many = if may_be_json && is_whole { too_many_values(&bytes) } else { None };
        if !may_be_json || !is_whole || too_many.is_some() {
            return (BackendResponse::new(self.text(bytes)).warning(too_many), true);
        }
        match from_others(&bytes) {
            Ok(value) => (BackendResponse::new(value), true),
            Err(_) => (BackendResponse::new(self.text(bytes)), !self.is_json()),
        }
    }

    fn data(&self, bytes: &[u8]) -> Value {
        let kind = self.kind.as_ref().map_or("application/octet-stream", Mime::essence_str);
        let mut content =
            json!({ "media_type": kind, "bytes": bytes.len(), "base64": STANDARD.encode(bytes) });
        if self.is_compressed {
            content["compressed"] = true.into();
        }
        content
    }

    fn text(&self, bytes: Vec<u8>) -> Value {
        if self.is(|kind| kind.get_param(mime::CHARSET).is_some_and(|charset| charset == "iso-8859-1")) {
            return bytes.into_iter().map(char::from).collect::<String>().into();
        }
        String::from_utf8(bytes)
            .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
            .into()
    }
}

/// The error of a request without an answer in time.
pub(super) fn too_slow(name: &str) -> BackendError {
    let message = format!("the server `{name}` did not answer in time; it may have run the call");
    BackendError::timed_out(message)
}

/// The error of a request whose connection broke.
pub(super) fn connection_lost(name: &str) -> BackendError {
    let message =
        format!("the connection to the server `{name}` broke after the call was sent; it may have been run");
    BackendError::connection_lost(message)
}
