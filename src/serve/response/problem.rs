//! Errors of requests that reach no function: a stable code, the next step, and links back, as JSON or as a page.

use axum::body::Body;
use axum::response::IntoResponse;
use http::header::{CACHE_CONTROL, CONTENT_TYPE, RETRY_AFTER, VARY};
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use serde_json::{Map, Value, json};

use super::negotiate::{Media, preferred};

/// An answer.
pub(crate) type Response = http::Response<Body>;

/// Code of a problem; stable, and documented in `docs/errors.md`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProblemCode {
    /// The request is malformed.
    BadRequest,
    /// A header is invalid.
    ValidationError,
    /// The body is not JSON.
    MalformedJson,
    /// The token is missing or unknown.
    Unauthorized,
    /// This server does not have the requested host name.
    HostNotAllowed,
    /// A page of another origin asks.
    OriginNotAllowed,
    /// There is nothing at this address.
    NotFound,
    /// Several tools have this name.
    Ambiguous,
    /// The method is not allowed here.
    MethodNotAllowed,
    /// The client accepts none of the available media types.
    NotAcceptable,
    /// The body did not arrive in time.
    RequestTimeout,
    /// The content does not match `If-Match`.
    PreconditionFailed,
    /// The body is too long.
    ContentTooLarge,
    /// The address is too long.
    UriTooLong,
    /// The body is not declared as JSON.
    UnsupportedMediaType,
    /// The range is outside of the body.
    RangeNotSatisfiable,
    /// A mistake in toolcrib, or in a template.
    Internal,
    /// Too many requests at once.
    Overloaded,
    /// There is no catalog to serve.
    NotReady,
    /// The answer took too long.
    Timeout,
    /// The tool exists, but not for this caller.
    NotAuthorized,
    /// State cannot be read.
    StateUnavailable,
}

/// Code, status, and next step.
const TABLE: [(ProblemCode, &str, u16, &str); 22] = [
    (ProblemCode::BadRequest, "BAD_REQUEST", 400, "correct the request"),
    (ProblemCode::ValidationError, "VALIDATION_ERROR", 400, "correct the request"),
    (ProblemCode::MalformedJson, "MALFORMED_JSON", 400, "send one JSON object, at most 100 levels deep"),
    (ProblemCode::Unauthorized, "UNAUTHORIZED", 401, "send `Authorization: Bearer TOKEN`"),
    (
        ProblemCode::HostNotAllowed,
        "HOST_NOT_ALLOWED",
        403,
        "use the address that the server listens on, or have its operator add the name with --public-host",
    ),
    (
        ProblemCode::OriginNotAllowed,
        "ORIGIN_NOT_ALLOWED",
        403,
        "send the request from a page of this server, or without `Origin`",
    ),
    (ProblemCode::NotFound, "NOT_FOUND", 404, "find the tool by what it does in /tools/README.md"),
    (ProblemCode::Ambiguous, "AMBIGUOUS", 409, "ask for one of `nearest`"),
    (ProblemCode::MethodNotAllowed, "METHOD_NOT_ALLOWED", 405, "use a method that `Allow` names"),
    (
        ProblemCode::NotAcceptable,
        "NOT_ACCEPTABLE",
        406,
        "accept text/markdown, text/html or application/json",
    ),
    (ProblemCode::RequestTimeout, "REQUEST_TIMEOUT", 408, "send the request again, faster"),
    (ProblemCode::PreconditionFailed, "PRECONDITION_FAILED", 412, "read it again without `If-Match`"),
    (ProblemCode::ContentTooLarge, "CONTENT_TOO_LARGE", 413, "send less"),
    (ProblemCode::UriTooLong, "URI_TOO_LONG", 414, "shorten the address; arguments belong in the body"),
    (
        ProblemCode::UnsupportedMediaType,
        "UNSUPPORTED_MEDIA_TYPE",
        415,
        "send JSON, with `Content-Type: application/json`",
    ),
    (ProblemCode::RangeNotSatisfiable, "RANGE_NOT_SATISFIABLE", 416, "ask for a range that there is"),
    (ProblemCode::Internal, "INTERNAL", 500, "tell the operator of this server"),
    (ProblemCode::Overloaded, "OVERLOADED", 503, "try again in a second"),
    (ProblemCode::NotReady, "NOT_READY", 503, "try again when the catalog has been put right"),
    (ProblemCode::Timeout, "TIMEOUT", 504, "ask for less, or try again"),
    (
        ProblemCode::NotAuthorized,
        "NOT_AUTHORIZED",
        403,
        "do without this tool, or show a token that may use it",
    ),
    (ProblemCode::StateUnavailable, "STATE_UNAVAILABLE", 503, "try again later, or tell the operator"),
];

impl ProblemCode {
    /// Every code with its name and its HTTP status.
    pub fn all() -> impl Iterator<Item = (ProblemCode, &'static str, u16)> {
        TABLE.into_iter().map(|(code, name, status, _)| (code, name, status))
    }

    fn row(self) -> (&'static str, StatusCode, &'static str) {
        let row = TABLE.into_iter().find(|(code, ..)| *code == self);
        let (_, name, status, next) = row.unwrap_or(TABLE[16]);
        (name, StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR), next)
    }
}

/// The reason why a request has no answer. Made where the failure is noticed, turned into a response by the door.
#[derive(Clone, Debug)]
pub(crate) struct Problem {
    code: ProblemCode,
    message: String,
    nearest: Vec<String>,
    /// Whether `nearest` are tools, which have pages.
    is_about_tools: bool,
    next_action: Option<String>,
    headers: HeaderMap,
}

impl Problem {
    /// A problem with a message.
    pub(crate) fn new(code: ProblemCode, message: impl Into<String>) -> Self {
        let (message, nearest, headers) = (message.into(), Vec::new(), HeaderMap::new());
        Self { code, message, nearest, is_about_tools: false, next_action: None, headers }
    }

    /// The problem of too many requests.
    pub(crate) fn overloaded(message: &str) -> Self {
        let later = [(RETRY_AFTER, HeaderValue::from_static("1"))];
        Self::new(ProblemCode::Overloaded, message).header(later)
    }

    /// Adds names that may have been meant.
    pub(crate) fn nearest(mut self, names: impl IntoIterator<Item = String>) -> Self {
        self.nearest = names.into_iter().collect();
        self
    }

    /// Adds safe names of tools that may have been meant.
    pub(crate) fn nearest_tools(mut self, names: impl IntoIterator<Item = String>) -> Self {
        self.is_about_tools = true;
        self.nearest(names)
    }

    /// Sets the next step, where it is not the code's usual one.
    pub(crate) fn next(mut self, action: impl Into<String>) -> Self {
        self.next_action = Some(action.into());
        self
    }

    /// Adds a header.
    pub(crate) fn header(mut self, header: impl IntoIterator<Item = (HeaderName, HeaderValue)>) -> Self {
        self.headers.extend(header);
        self
    }

    /// Whether a browser asks for a page that does not exist.
    pub(crate) fn is_missing_page(&self, request: &HeaderMap) -> bool {
        self.code == ProblemCode::NotFound && reads_pages(request)
    }

    /// The response, as JSON or as a page, whichever the client prefers.
    pub(crate) fn answer(&self, request: &HeaderMap) -> Response {
        let (name, status, next) = self.code.row();
        let next = self.next_action.as_deref().unwrap_or(next);
        let (media, text) = match reads_pages(request) {
            true => (Media::Html, self.page(name, status, next)),
            false => (Media::Json, self.json(name, next)),
        };
        let mut response = Response::new(Body::from(text));
        *response.status_mut() = status;
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(media.content_type()));
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
        headers.insert(VARY, HeaderValue::from_static("accept"));
        headers.extend(self.headers.clone());
        response
    }

    fn json(&self, name: &str, next: &str) -> String {
        let mut error = Map::new();
        error.insert("code".into(), name.into());
        error.insert("message".into(), self.message.as_str().into());
        if !self.nearest.is_empty() {
            error.insert("nearest".into(), self.nearest.clone().into());
        }
        error.insert("next_action".into(), next.into());
        let links = json!({ "home": "/", "tools": "/tools/README.md", "functions": "/v1" });
        json!({ "ok": false, "error": Value::Object(error), "links": links }).to_string()
    }

    fn page(&self, name: &str, status: StatusCode, next: &str) -> String {
        let nearest: Vec<String> = self.nearest.iter().map(|name| self.near(&escaped(name))).collect();
        let nearest = match nearest.as_slice() {
            [] => String::new(),
            list => format!("<p>Nearest names:</p>\n<ul>{}</ul>\n", list.concat()),
        };
        format!(
            "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" \
             content=\"width=device-width, initial-scale=1\">\n<title>{status}</title>\n<main>\n<h1>{status}</h1>\n\
             <p>{}</p>\n{nearest}<p>What to do: {}.</p>\n<p>Code: <code>{name}</code></p>\n\
             <nav><a href=\"/\">All tools</a>, <a href=\"/tools/README.md\">as markdown</a></nav>\n</main>\n</html>\n",
            escaped(&self.message),
            escaped(next),
        )
    }

    fn near(&self, name: &str) -> String {
        match self.is_about_tools {
            true => format!("<li><a href=\"/tools/{name}\"><code>{name}</code></a></li>"),
            false => format!("<li><code>{name}</code></li>"),
        }
    }
}

impl IntoResponse for Problem {
    /// The door writes it once it knows the media types that the client accepts.
    fn into_response(self) -> Response {
        let mut response = Response::new(Body::empty());
        *response.status_mut() = self.code.row().1;
        response.extensions_mut().insert(self);
        response
    }
}

/// Whether the client prefers a page to JSON.
pub(crate) fn reads_pages(request: &HeaderMap) -> bool {
    preferred(request, &[Media::Json, Media::Html]) == Some(Media::Html)
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
