//! Errors of requests that reach no function: a stable code, the next step, and links back, as JSON.

use axum::body::Body;
use axum::response::IntoResponse;
use http::header::RETRY_AFTER;
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use serde_json::{Value, json};
use strum::{IntoStaticStr, VariantArray};

use super::headers::{Response, negotiated, no_store};
use super::media::Media;
use toolcrib_definition::quoted;
use toolcrib_gateway::state::StateError;

/// Stands in a next step for the path below which the profile of the request is served.
const ROOT: &str = "{root}";

/// Writes the codes of problems, each with its HTTP status and the next step.
macro_rules! problem_codes {
    ($($(#[$about:meta])* $code:ident = $status:literal, $next:literal;)*) => {
        /// Code of a problem; stable, and documented in `docs/errors.md`.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, IntoStaticStr, VariantArray)]
        #[strum(serialize_all = "SCREAMING_SNAKE_CASE")]
        pub enum ProblemCode {
            $($(#[$about])* $code,)*
        }

        impl ProblemCode {
            /// Status, and next step.
            fn row(self) -> (u16, &'static str) {
                match self {
                    $(Self::$code => ($status, $next),)*
                }
            }
        }
    };
}

problem_codes! {
    /// The request is malformed.
    BadRequest = 400, "correct the request";
    /// A header is invalid.
    ValidationError = 400, "correct the request";
    /// The body is not JSON.
    MalformedJson = 400, "send one JSON object, at most 100 levels deep";
    /// The token is missing or unknown.
    Unauthorized = 401, "send `Authorization: Bearer TOKEN`";
    /// The token is valid, and gives no right here.
    InsufficientScope = 403, "get a token with the scopes that `WWW-Authenticate` names";
    /// The issuer of the token does not answer.
    IssuerUnavailable = 503, "try again in a few seconds";
    /// This server does not have the requested host name.
    HostNotAllowed = 403, "use the address that the server listens on, or have its operator add the name with --public-host";
    /// A page of another origin asks.
    OriginNotAllowed = 403, "send the request from a page of this server, or without `Origin`";
    /// There is nothing at this address.
    NotFound = 404, "find the tool by what it does in {root}/tools/README.md";
    /// Several tools have this name.
    Ambiguous = 409, "ask for one of `nearest`";
    /// The method is not allowed here.
    MethodNotAllowed = 405, "use a method that `Allow` names";
    /// The client accepts no available media type.
    NotAcceptable = 406, "accept text/markdown, text/html or application/json";
    /// The body did not arrive in time.
    RequestTimeout = 408, "send the request again, faster";
    /// The body is too long.
    ContentTooLarge = 413, "send less";
    /// The address is too long.
    UriTooLong = 414, "shorten the address; arguments belong in the body";
    /// The body is not declared as JSON.
    UnsupportedMediaType = 415, "send JSON, with `Content-Type: application/json`";
    /// A mistake in toolcrib, or in a template.
    Internal = 500, "tell the operator of this server";
    /// Too many requests at once.
    Overloaded = 503, "try again in a second";
    /// There is no catalog to serve.
    NotReady = 503, "try again when the catalog has been put right";
    /// The answer took too long.
    Timeout = 504, "ask for less, or try again";
    /// The tool exists, but not for this caller.
    NotAuthorized = 403, "do without this tool, or show a token that may use it";
    /// The token is for other profiles.
    ProfileNotAllowed = 403, "ask for a profile of this token, or for none";
    /// No profile of this name can be chosen.
    UnknownProfile = 404, "ask for a profile that this server has, or for none";
    /// State cannot be read.
    StateUnavailable = 503, "try again later, or tell the operator";
    /// A form comes from another page, or from an earlier session.
    FormRefused = 403, "load the page again, and send its form";
    /// The headers name a person as only the proxy may.
    ProxyRefused = 403, "send the request through the proxy, or without the headers that only it sends";
}

impl ProblemCode {
    /// Every code.
    pub const ALL: &[ProblemCode] = Self::VARIANTS;

    /// The code as answers write it.
    pub fn as_str(self) -> &'static str {
        self.into()
    }

    /// The HTTP status of the code.
    pub fn http_status(self) -> u16 {
        self.row().0
    }
}

/// The reason why a request has no answer. Made where the failure is noticed, and written once the root of the profile and the
/// media types that the client accepts are known.
#[derive(Clone, Debug)]
pub(crate) struct Problem {
    pub(crate) code: ProblemCode,
    pub(crate) message: String,
    pub(crate) nearest: Vec<String>,
    next_action: Option<String>,
    /// Headers of its own, such as the challenge to an unknown caller.
    pub(crate) headers: HeaderMap,
}

impl Problem {
    /// A problem with a message.
    pub(crate) fn new(code: ProblemCode, message: impl Into<String>) -> Self {
        let message = message.into();
        let nearest = Vec::new();
        let headers = HeaderMap::new();
        Self { code, message, nearest, next_action: None, headers }
    }

    /// The problem of a mistake in toolcrib, or in a template.
    pub(crate) fn internal(error: impl ToString) -> Self {
        Self::new(ProblemCode::Internal, error.to_string())
    }

    /// The problem of too many requests.
    pub(crate) fn overloaded(message: &str) -> Self {
        let later = [(RETRY_AFTER, HeaderValue::from_static("1"))];
        Self::new(ProblemCode::Overloaded, message).header(later)
    }

    /// The problem of state that cannot be read. The reason is for the log.
    pub(crate) fn of_state(error: &StateError, message: &str) -> Self {
        tracing::warn!(%error, "state cannot be read");
        Self::new(ProblemCode::StateUnavailable, message)
    }

    /// The problem of a parameter that a query has twice.
    pub(crate) fn repeated(name: &str) -> Self {
        let message = format!("`{}` is there twice in the query", quoted(name));
        Self::new(ProblemCode::ValidationError, message).next("send it once")
    }

    /// The problem of a tool that the caller may see but not use.
    pub(crate) fn forbidden(name: &str) -> Self {
        let message = format!("you may not use `{name}`: it needs a role that you do not have");
        Self::new(ProblemCode::NotAuthorized, message)
    }

    /// Adds names that may have been meant.
    pub(crate) fn nearest(mut self, names: impl IntoIterator<Item = String>) -> Self {
        self.nearest = names.into_iter().collect();
        self
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

    /// The error as functions write theirs. Its addresses are below `root`.
    pub(crate) fn error(&self, root: &str) -> Value {
        let mut error = json!({ "code": self.code.as_str(), "message": self.message });
        if !self.nearest.is_empty() {
            error["nearest"] = self.nearest.clone().into();
        }
        error["help_path"] = "root".into();
        error["next_action"] = self.next_action().replace(ROOT, root).into();
        error
    }

    /// The response. Its addresses are below `root`.
    pub(crate) fn answer(&self, root: &str) -> Response {
        let link = |path: &str| format!("{root}{path}");
        let links = json!({ "home": link("/"), "tools": link("/tools/README.md"), "functions": link("/v1") });
        let body = json!({ "ok": false, "error": self.error(root), "links": links }).to_string();
        let mut response = negotiated(self.status(), Media::Json.content_type(), body);
        response.headers_mut().extend(self.headers.clone());
        response
    }

    /// The same as an error of JSON-RPC; without an id, since the message of the request is not read.
    pub(crate) fn rpc_answer(&self) -> Response {
        let code = self.code.as_str();
        let data = json!({ "code": code, "next_action": self.next_action() });
        let error = json!({ "code": -32600, "message": format!("{code}: {}", self.message), "data": data });
        let body = json!({ "jsonrpc": "2.0", "id": null, "error": error }).to_string();
        no_store(self.status(), Media::Json.content_type(), body)
    }

    pub(crate) fn next_action(&self) -> &str {
        self.next_action.as_deref().unwrap_or(self.code.row().1)
    }

    pub(crate) fn status(&self) -> StatusCode {
        StatusCode::from_u16(self.code.http_status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
    }
}

impl IntoResponse for Problem {
    /// A response that carries the problem to the layer that writes it.
    fn into_response(self) -> Response {
        let mut response = Response::new(Body::empty());
        *response.status_mut() = self.status();
        response.extensions_mut().insert(self);
        response
    }
}

/// Writes the problem that a response carries, if it carries one.
pub(crate) fn with_problem(mut response: Response, write: impl FnOnce(Problem) -> Response) -> Response {
    match response.extensions_mut().remove::<Problem>() {
        Some(problem) => write(problem),
        None => response,
    }
}
