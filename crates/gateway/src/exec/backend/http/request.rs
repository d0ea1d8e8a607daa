//! One HTTP request, built from a call: method, address, headers and body.

use http::header::{ACCEPT, ACCEPT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, COOKIE};
use http::{HeaderMap, HeaderName, HeaderValue, Method};
use reqwest::Url;
use serde_json::{Map, Value, json};

use super::body::Body;
use super::parts::{Part, Parts, argument_of, location};
use super::query::{cookie, form, pairs, query_string, simple};
use super::template::Template;
use super::text::encode;
use crate::exec::backend::backend_error::{BackendError, Result};
use crate::exec::backend::request::BackendRequest;
use crate::fields::fields;
use toolcrib_catalog::config::Server;
use toolcrib_definition::secret::REDACTED;
use toolcrib_definition::{HttpBackend, Location, RESERVED_HEADERS};
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
    ) -> Result<Self> {
        let method = Method::from_bytes(backend.method.to_ascii_uppercase().as_bytes());
        let method =
            method.map_err(|_| BackendError::unconfigured("its backend has an invalid HTTP method"))?;
        let template = Template::parse(&backend.path)?;
        let parts = Parts::new(backend, &template, call.arguments)?;
        let expanded =
            template.expand(&parts.path, &|variable| argument_of(backend, variable).to_string())?;
        let asked = parts.query.iter().flat_map(|part| pairs(part.name, part.value, part.place));
        let asked = form(&asked.collect::<Vec<_>>());
        let whole = parts.query_string.as_ref().map(|part| query_string(part.value, part.place));
        let query = [expanded.query.as_str(), &asked, whole.as_deref().unwrap_or_default()];
        let query: Vec<&str> = query.into_iter().filter(|part| !part.is_empty()).collect();
        let is_in_body = |name: &str| location(backend, &template, name) == Location::Body;
        let is_expected = !backend.optional_body && call.tool.input.parameters.root().names().any(is_in_body);
        Ok(Self {
            method,
            query: query.join("&"),
            headers: parts.headers.iter().map(header).collect::<Result<_, _>>()?,
            cookies: {
                let all = parts.cookies.iter().map(|part| cookie(part.name, part.value, part.place));
                all.filter(|cookie| !cookie.is_empty()).collect::<Vec<_>>().join("; ")
            },
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
    ) -> Result<String> {
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
    pub(super) fn url(&self, base_query: &str) -> Result<Url> {
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
    ) -> Result<HeaderMap> {
        let mut headers = HeaderMap::new();
        headers.insert(ACCEPT, HeaderValue::from_static("application/json, */*;q=0.5"));
        headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
        headers.extend(self.headers.iter().cloned());
        if let Some(body) = &self.body {
            headers.insert(CONTENT_TYPE, configured("content-type", &body.content_type)?.1);
        } else if matches!(self.method, Method::POST | Method::PUT | Method::PATCH) {
            // Some servers refuse such a request unless it says its length (RFC 9110, 8.6).
            headers.insert(CONTENT_LENGTH, HeaderValue::from_static("0"));
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
        let body = self.body.as_ref().map(|body| &body.preview);
        let preview = fields([
            ("backend", Some("http".into())),
            ("server", Some(server_name.into())),
            ("method", Some(self.method.as_str().into())),
            ("path", Some(readable(&self.path).into())),
            ("query", (!self.query.is_empty()).then(|| readable(&self.query).into())),
            ("headers", (!headers.is_empty()).then(|| headers.into())),
            (
                "body",
                body.map(|body| body.as_str().map_or_else(|| body.clone(), |text| readable(text).into())),
            ),
        ]);
        preview.into()
    }
}

/// Text of a request in which the marker of redacted values is readable.
fn readable(written: &str) -> String {
    written.replace(&encode(REDACTED), REDACTED)
}

/// An argument as a header; a value with a line break is refused.
pub(super) fn header(part: &Part<'_>) -> Result<(HeaderName, HeaderValue)> {
    let wrong = |_| BackendError::unconfigured(format!("\"{}\" is no name of a header", part.name));
    let name = HeaderName::try_from(part.name).map_err(wrong)?;
    if RESERVED_HEADERS.contains(&name.as_str()) {
        return Err(BackendError::unconfigured(format!(
            "its backend takes the header `{name}` from an argument, which is not allowed"
        )));
    }
    let value = HeaderValue::try_from(simple(part.value, part.place)).map_err(|_| {
        let message = format!("`{}` is sent as a header, so it cannot hold line breaks", part.argument);
        BackendError::invalid_argument(part.argument, message)
    })?;
    Ok((name, value))
}

fn configured(name: &str, value: &str) -> Result<(HeaderName, HeaderValue)> {
    let header = HeaderName::try_from(name);
    let header =
        header.map_err(|_| BackendError::unconfigured(format!("\"{name}\" is no name of a header")))?;
    let value = HeaderValue::try_from(value);
    let value =
        value.map_err(|_| BackendError::unconfigured(format!("the header {name} has an invalid value")))?;
    Ok((header, value))
}
