//! One request, built from a call: method, address, headers and body; and its answer, read within its limits: JSON as JSON, text as
//! text, anything else as base64, and what its errors mean.

use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use http::header::{ACCEPT, ACCEPT_ENCODING, CONTENT_ENCODING, CONTENT_TYPE, COOKIE, LOCATION, RETRY_AFTER};
use http::{HeaderMap, HeaderName, HeaderValue, Method};
use reqwest::{Response, Url};
use serde_json::{Map, Value, json};
use tokio::time::{Instant, timeout};

use super::values::{Template, encode, form, pairs, plain, simple};
use crate::exec::backend::{
    BackendError, BackendErrorKind, BackendRequest, BackendResponse, too_many_values, wait_for,
};
use toolcrib_catalog::Tool;
use toolcrib_catalog::config::Server;
use toolcrib_definition::finding::{from_others, resolve_local};
use toolcrib_definition::secret::REDACTED;
use toolcrib_definition::{ArgumentPlace, Effect, HttpBackend, Location, RESERVED_HEADERS};
use toolcrib_front::long_work::apart;
use toolcrib_front::mcp::{Environment, FilledSecrets};

/// A request without the headers of the server's configuration.
pub(super) struct HttpRequest<'o> {
    pub(super) method: Method,
    /// The path below the base URL.
    path: String,
    query: String,
    headers: Vec<(HeaderName, HeaderValue)>,
    cookies: String,
    pub(super) body: Option<Body>,
    server: &'o Server,
}

impl<'o> HttpRequest<'o> {
    pub(super) fn new(
        backend: &'o HttpBackend,
        server: &'o Server,
        call: BackendRequest<'o>,
    ) -> Result<Self, BackendError> {
        let method = Method::from_bytes(backend.method.to_ascii_uppercase().as_bytes());
        let method =
            method.map_err(|_| BackendError::unconfigured("its backend has an invalid HTTP method"))?;
        let template = Template::parse(&backend.path)?;
        let parts = Parts::new(backend, &template, call.arguments)?;
        let expanded =
            template.expand(&parts.path, &|variable| argument_of(backend, variable).to_string())?;
        let asked = parts.query.iter().flat_map(|part| pairs(part.name, part.value, part.place));
        let asked = form(&asked.collect::<Vec<_>>());
        let query: Vec<&str> =
            [expanded.query.as_str(), &asked].into_iter().filter(|part| !part.is_empty()).collect();
        let properties = call.tool.parameters.schema()["properties"].as_object();
        let is_expected = properties.is_some_and(|properties| {
            properties.keys().any(|name| location(backend, &template, name) == Location::Body)
        });
        Ok(Self {
            method,
            query: query.join("&"),
            headers: parts.headers.iter().map(header).collect::<Result<_, _>>()?,
            cookies: parts.cookies.iter().map(cookie).collect::<Vec<_>>().join("; "),
            body: Body::new(backend.content_type.as_deref(), &parts, call.tool, is_expected)?,
            path: expanded.path,
            server,
        })
    }

    /// The query of the base URL, such as an API key, filled in.
    pub(super) fn base_query(
        &self,
        call: BackendRequest<'_>,
        environment: &Environment,
        secrets: &mut FilledSecrets,
    ) -> Result<String, BackendError> {
        let (_, query) = self.server.url.as_deref().and_then(|url| url.split_once('?')).unwrap_or_default();
        let mut written = Vec::new();
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            let Some((name, own)) = pair.split_once('=').filter(|(_, own)| !own.is_empty()) else {
                written.push(pair.to_string());
                continue;
            };
            // A credential in a query is one as in a header: it is hidden wherever it appears.
            let named = [(name.to_string(), own.to_string())].into_iter().collect();
            let filled = secrets.fill_headers(&named, environment, Some(&call.caller.headers))?;
            written.extend(filled.into_iter().map(|(_, value)| {
                if value == own { pair.to_string() } else { format!("{name}={}", encode(&value)) }
            }));
        }
        Ok(written.join("&"))
    }

    /// The address; always below the base URL.
    pub(super) fn url(&self, base_query: &str) -> Result<Url, BackendError> {
        let base = self.server.url.as_deref().and_then(|base| Url::parse(base).ok());
        let is_plain =
            |base: &Url| base.fragment().is_none() && base.username().is_empty() && base.password().is_none();
        let base = base.filter(is_plain).ok_or_else(|| {
            BackendError::unconfigured(
                "the `url` of its server is no base address; credentials belong in `headers`",
            )
        })?;
        let mut url = base.clone();
        let path = format!("{}{}", base.path().trim_end_matches('/'), self.path);
        url.set_path(&path);
        let query = [base_query, &self.query].into_iter().filter(|query| !query.is_empty());
        let query = query.collect::<Vec<_>>().join("&");
        url.set_query(Some(query.as_str()).filter(|query| !query.is_empty()));
        // A parser that reads another path than was written may lead out of the base URL.
        if url.path() != path || url.origin() != base.origin() {
            return Err(BackendError::invalid_argument(
                "",
                "the arguments would change the path to another than the tool's",
            ));
        }
        Ok(url)
    }

    /// All headers. The configuration wins over arguments.
    pub(super) fn headers(
        &self,
        call: BackendRequest<'_>,
        environment: &Environment,
        secrets: &mut FilledSecrets,
    ) -> Result<HeaderMap, BackendError> {
        let mut headers = HeaderMap::new();
        headers.insert(ACCEPT, HeaderValue::from_static("application/json, */*;q=0.5"));
        headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
        headers.extend(self.headers.iter().cloned());
        if let Some(body) = &self.body {
            headers.insert(CONTENT_TYPE, configured("content-type", &body.content_type)?.1);
        }
        for (name, value) in
            secrets.fill_headers(&self.server.headers, environment, Some(&call.caller.headers))?
        {
            let (name, mut value) = configured(&name, &value)?;
            value.set_sensitive(true);
            // The body is written here, so its type is known.
            if name != CONTENT_TYPE || self.body.is_none() {
                headers.insert(name, value);
            }
        }
        if !self.cookies.is_empty() {
            let known = headers.get(COOKIE).and_then(|value| value.to_str().ok());
            let all =
                known.map_or_else(|| self.cookies.clone(), |known| format!("{known}; {}", self.cookies));
            headers.insert(COOKIE, configured("cookie", &all)?.1);
        }
        if let (Some(header), Some(key)) = (&self.server.idempotency_header, call.idempotency_key) {
            let (name, value) = configured(header, key).map_err(|_| {
                BackendError::invalid_argument("", "the idempotency key holds characters that no header can")
            })?;
            headers.insert(name, value);
        }
        Ok(headers)
    }

    /// The request as a dry run shows it.
    pub(super) fn preview(&self, server_name: &str, call: BackendRequest<'_>) -> Value {
        let mut preview = Map::new();
        preview.insert("backend".into(), "http".into());
        preview.insert("server".into(), server_name.into());
        preview.insert("method".into(), self.method.as_str().into());
        preview.insert("path".into(), readable(&self.path).into());
        if !self.query.is_empty() {
            preview.insert("query".into(), readable(&self.query).into());
        }
        let asked = self.headers.iter().map(|(name, value)| {
            (name.as_str().to_string(), json!(String::from_utf8_lossy(value.as_bytes())))
        });
        let mut headers: Map<String, Value> = asked.collect();
        for name in self.server.headers.keys() {
            headers.insert(name.to_ascii_lowercase(), REDACTED.into());
        }
        if self.server.auth.is_some() {
            headers.insert("authorization".into(), REDACTED.into());
        }
        if let Some(body) = &self.body {
            headers.insert("content-type".into(), body.content_type.as_str().into());
        }
        if !self.cookies.is_empty() {
            headers.insert("cookie".into(), REDACTED.into());
        }
        if let (Some(header), Some(key)) = (&self.server.idempotency_header, call.idempotency_key) {
            headers.insert(header.to_ascii_lowercase(), key.into());
        }
        if !headers.is_empty() {
            preview.insert("headers".into(), headers.into());
        }
        if let Some(body) = &self.body {
            let body = body.preview.as_str().map(readable).map_or_else(|| body.preview.clone(), Value::from);
            preview.insert("body".into(), body);
        }
        preview.into()
    }
}

/// Text of a request in which the marker of redacted values is readable.
fn readable(written: &str) -> String {
    written.replace(&encode(REDACTED), REDACTED)
}

/// An argument as a header; a value with a line break is refused.
fn header(part: &Part<'_>) -> Result<(HeaderName, HeaderValue), BackendError> {
    let wrong = |_| BackendError::unconfigured(format!("\"{}\" is no name of a header", part.name));
    let name = HeaderName::try_from(part.name).map_err(wrong)?;
    if RESERVED_HEADERS.contains(&name.as_str()) {
        return Err(BackendError::unconfigured(format!(
            "its backend takes the header `{name}` from an argument, which is not allowed"
        )));
    }
    let value = HeaderValue::try_from(simple(part.value)).map_err(|_| {
        let message = format!("`{}` is sent as a header, so it cannot hold line breaks", part.argument);
        BackendError::invalid_argument(part.argument, message)
    })?;
    Ok((name, value))
}

fn cookie(part: &Part<'_>) -> String {
    format!("{}={}", encode(part.name), encode(&simple(part.value)))
}

fn configured(name: &str, value: &str) -> Result<(HeaderName, HeaderValue), BackendError> {
    let header = HeaderName::try_from(name);
    let header =
        header.map_err(|_| BackendError::unconfigured(format!("\"{name}\" is no name of a header")))?;
    let value = HeaderValue::try_from(value);
    let value =
        value.map_err(|_| BackendError::unconfigured(format!("the header {name} has an invalid value")))?;
    Ok((header, value))
}

/// The arguments of a call, in the parts of the request where they go.
#[derive(Default)]
struct Parts<'o> {
    /// Values by their names in the template.
    path: Map<String, Value>,
    query: Vec<Part<'o>>,
    headers: Vec<Part<'o>>,
    cookies: Vec<Part<'o>>,
    body: Vec<Part<'o>>,
    whole_body: Option<Part<'o>>,
}

/// One argument in its place.
struct Part<'o> {
    /// Its name in the schema of the tool.
    argument: &'o str,
    /// Its name in the request.
    name: &'o str,
    value: &'o Value,
    place: Option<&'o ArgumentPlace>,
}

impl<'o> Parts<'o> {
    fn new(
        backend: &'o HttpBackend,
        template: &Template,
        arguments: &'o Value,
    ) -> Result<Self, BackendError> {
        let mut parts = Self::default();
        for (argument, value) in arguments.as_object().into_iter().flatten() {
            let place = backend.arguments.get(argument);
            let name = place.and_then(|place| place.name.as_deref()).unwrap_or(argument);
            let part = Part { argument, name, value, place };
            match location(backend, template, argument) {
                Location::Path => {
                    parts.path.insert(name.to_string(), value.clone());
                }
                Location::Query => parts.query.push(part),
                Location::Header | Location::Cookie if value.is_null() => {}
                Location::Header => parts.headers.push(part),
                Location::Cookie => parts.cookies.push(part),
                Location::Body => parts.body.push(part),
                Location::WholeBody => parts.whole_body = Some(part),
            }
        }
        if parts.whole_body.is_some() && !parts.body.is_empty() {
            return Err(BackendError::unconfigured(
                "its backend sends one argument as the body, and others in it",
            ));
        }
        Ok(parts)
    }
}

/// The location of an argument: as the backend says; else the path, if it has this variable; else as the method says.
fn location(backend: &HttpBackend, template: &Template, argument: &str) -> Location {
    if let Some(place) = backend.arguments.get(argument) {
        return place.location;
    }
    if template.variables().any(|variable| variable == argument) {
        return Location::Path;
    }
    match backend.method.as_str() {
        "GET" | "HEAD" | "DELETE" => Location::Query,
        _ => Location::Body,
    }
}

/// The argument for a variable of the path.
fn argument_of<'b>(backend: &'b HttpBackend, variable: &'b str) -> &'b str {
    let named = |(_, place): &(&String, &ArgumentPlace)| {
        place.location == Location::Path && place.name.as_deref() == Some(variable)
    };
    let renamed = backend.arguments.iter().find(named);
    renamed.map_or(variable, |(argument, _)| argument.as_str())
}

const JSON: &str = "application/json";
const FORM: &str = "application/x-www-form-urlencoded";
const MULTIPART: &str = "multipart/form-data";

/// A body, with its media type.
#[derive(Debug, PartialEq)]
pub(super) struct Body {
    content_type: String,
    pub(super) content: Vec<u8>,
    /// The body as a dry run shows it.
    preview: Value,
}

impl Body {
    /// The body made of arguments; `None` without any. With `is_expected`, no arguments make an empty object.
    fn new(
        content_type: Option<&str>,
        parts: &Parts<'_>,
        tool: &Tool,
        is_expected: bool,
    ) -> Result<Option<Self>, BackendError> {
        let content_type = content_type.unwrap_or(JSON);
        let essence = content_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
        let of = |content: String, preview| Self {
            content_type: content_type.into(),
            content: content.into(),
            preview,
        };
        let json = |value: Value| of(value.to_string(), value);
        let form_of = |parts: &[Part<'_>]| {
            let pairs = parts.iter().flat_map(|part| pairs(part.name, part.value, part.place));
            let text = form(&pairs.collect::<Vec<_>>());
            of(text.clone(), text.into())
        };
        let schema = tool.parameters.schema();
        if let (Some(whole), FORM | MULTIPART) = (&parts.whole_body, essence.as_str())
            && let Some(members) = whole.value.as_object()
        {
            let part = |(name, value)| Part { argument: name, name, value, place: whole.place };
            let members: Vec<Part<'_>> =
                members.iter().map(|(name, value)| part((name.as_str(), value))).collect();
            let schema = (schema, &schema["properties"][whole.argument]);
            return Ok(Some(if essence == FORM {
                form_of(&members)
            } else {
                Self::multipart(&members, schema)
            }));
        }
        Ok(match (&parts.whole_body, essence.as_str()) {
            (Some(whole), media) if is_json(media) => Some(json(whole.value.clone())),
            (Some(Part { value: Value::String(text), .. }), media) if media != MULTIPART => {
                Some(of(text.clone(), text.as_str().into()))
            }
            (Some(whole), media) => {
                let message =
                    format!("`{}` is sent as {media}, which cannot hold such a value", whole.argument);
                return Err(BackendError::invalid_argument(whole.argument, message));
            }
            (None, _) if parts.body.is_empty() && !is_expected => None,
            (None, FORM) => Some(form_of(&parts.body)),
            (None, MULTIPART) => Some(Self::multipart(&parts.body, (schema, schema))),
            (None, media) if is_json(media) => Some(json(fields(&parts.body))),
            (None, media) => {
                return Err(BackendError::unconfigured(format!(
                    "nothing here writes {media} from arguments"
                )));
            }
        })
    }

    /// A multipart form with a part for each value. Content of files is text, since arguments are JSON.
    /// `schema` is that of the values, within its root.
    fn multipart(parts: &[Part<'_>], schema: (&Value, &Value)) -> Self {
        let content: String = parts.iter().map(|part| part.value.to_string()).collect();
        // A hash of the whole content occurs in no value.
        let boundary = blake3::hash(content.as_bytes()).to_hex().to_string();
        let mut text = String::new();
        for part in parts {
            let values = match part.value {
                Value::Array(items) => items.iter().collect(),
                Value::Null => Vec::new(),
                value => vec![value],
            };
            for value in values {
                let name = quoted(part.name);
                text.push_str(&format!("--{boundary}\r\nContent-Disposition: form-data; name=\"{name}\""));
                match value {
                    _ if is_file(schema, part.argument, 0) => {
                        text.push_str(&format!(
                            "; filename=\"{name}\"\r\nContent-Type: application/octet-stream"
                        ));
                    }
                    Value::Object(_) | Value::Array(_) => text.push_str("\r\nContent-Type: application/json"),
                    _ => {}
                }
                text.push_str(&format!("\r\n\r\n{}\r\n", plain(value)));
            }
        }
        text.push_str(&format!("--{boundary}--\r\n"));
        let content_type = format!("{MULTIPART}; boundary={boundary}");
        Self { content_type, content: text.into(), preview: fields(parts) }
    }
}

fn fields(parts: &[Part<'_>]) -> Value {
    Value::Object(parts.iter().map(|part| (part.name.to_string(), part.value.clone())).collect::<Map<_, _>>())
}

fn is_json(essence: &str) -> bool {
    matches!(essence, JSON | "text/json" | "*/*" | "application/*") || essence.ends_with("+json")
}

/// A name as it is escaped between the quotes of a form (RFC 7578 follows HTML).
fn quoted(name: &str) -> String {
    name.replace('"', "%22").replace('\r', "%0D").replace('\n', "%0A")
}

fn is_file((root, schema): (&Value, &Value), name: &str, depth: usize) -> bool {
    let of = |schema: &Value| schema["format"] == "binary" || schema["contentEncoding"] == "binary";
    let own = &schema["properties"][name];
    let target = schema["$ref"].as_str().and_then(|reference| resolve_local(reference, root));
    let unions = ["allOf", "anyOf", "oneOf"].into_iter().flat_map(|word| schema[word].as_array()).flatten();
    of(own)
        || of(&own["items"])
        || (depth < 8 && unions.chain(target).any(|schema| is_file((root, schema), name, depth + 1)))
}

// The answer of a server.

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

async fn content(mut response: Response, max_bytes: usize, wait: impl Fn() -> Duration) -> Content {
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
    Content { bytes, ended }
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
    let body = content(response, MAX_ERROR, || longest_silence).await.bytes;
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

/// The error of a request without an answer in time.
pub(super) fn too_slow(name: &str) -> BackendError {
    let message = format!("the server `{name}` did not answer in time; it may have run the call");
    BackendError::timed_out(message)
}

/// The error of a success with a body that cannot be read.
fn unreadable(name: &str) -> BackendError {
    let message = format!(
        "the server `{name}` answered with something else than the JSON that its head promises; it may have run the call"
    );
    BackendError::connection_lost(message)
}

/// The error of a request whose connection broke.
pub(super) fn connection_lost(name: &str) -> BackendError {
    let message =
        format!("the connection to the server `{name}` broke after the call was sent; it may have been run");
    BackendError::connection_lost(message)
}
