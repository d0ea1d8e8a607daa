//! One question to an API over HTTP: a JSON body out, a JSON body in, within a time and a size.

use std::io::Read;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::ModelError;
use toolcrib_definition::clean_line;
use toolcrib_definition::document::has_too_many_values;

/// Most characters of an API's refusal that are printed.
const MAX_EXCERPT: usize = 200;

/// An address that answers questions, with the key for it. No form of it prints the key, so it has no `Debug`.
pub(super) struct Api {
    client: reqwest::blocking::Client,
    url: reqwest::Url,
    key: Option<String>,
}

impl Api {
    /// The API at a base address. `end` is the end of its path; `named` is the configuration field of the address,
    /// for errors.
    pub(super) fn new(named: &str, base: &str, end: &str, key: Option<String>) -> Result<Self, ModelError> {
        let wrong = |what: &str| ModelError::Configuration(format!("`{named}` is \"{base}\"; {what}"));
        if !base.starts_with("http://") && !base.starts_with("https://") {
            return Err(wrong("it must start with http:// or https://"));
        }
        let mut url = reqwest::Url::parse(base).map_err(|_| wrong("that is no address"))?;
        let path = url.path().trim_end_matches('/').to_string();
        if !path.ends_with(end) {
            url.set_path(&format!("{path}{end}"));
        }
        let key = key.map(|key| key.trim().to_string()).filter(|key| !key.is_empty());
        if key.as_ref().is_some_and(|key| !key.bytes().all(|byte| byte.is_ascii_graphic())) {
            let message = format!("the key for `{named}` holds characters that no header may have");
            return Err(ModelError::Configuration(message));
        }
        // The program has one cryptography provider; a second call changes nothing.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let client = reqwest::blocking::Client::builder()
            .timeout(None)
            .redirect(reqwest::redirect::Policy::none())
            .user_agent(concat!("toolcrib/", env!("CARGO_PKG_VERSION")))
            .build()
            .map_err(|error| ModelError::Configuration(error.to_string()))?;
        Ok(Self { client, url, key })
    }

    /// The address without parts that may be secret.
    pub(super) fn address(&self) -> String {
        let mut url = self.url.clone();
        url.set_query(None);
        url.set_fragment(None);
        let _ = url.set_password(None);
        let _ = url.set_username("");
        url.into()
    }

    /// Its answer to a question.
    pub fn ask(&self, question: &Value, timeout: Duration, max_bytes: usize) -> Result<Value, ModelError> {
        let deadline = Instant::now() + timeout;
        let mut request = self.client.post(self.url.clone()).timeout(timeout);
        request = request.header("content-type", "application/json").body(question.to_string());
        if let Some(key) = &self.key {
            request = request.bearer_auth(key);
        }
        let response = request.send().map_err(|error| {
            let reason = match (error.is_timeout(), error.is_connect()) {
                (true, _) => "it took too long",
                (_, true) => "no connection",
                _ => "the connection broke",
            };
            ModelError::Unreachable { url: self.address(), reason: reason.into() }
        })?;
        let status = response.status();
        let refused = |reason: &str| self.refused(status.as_u16(), reason);
        let (text, problem) = read_until(response, deadline, max_bytes);
        if status.is_redirection() {
            return Err(refused(", which leads elsewhere; name the address itself"));
        }
        if !status.is_success() {
            return Err(refused(&self.error_text(&text)));
        }
        match problem {
            Some(problem) => Err(refused(problem)),
            None if has_too_many_values(text.as_bytes()) => {
                Err(refused(", and the answer has too many values"))
            }
            None => serde_json::from_str(&text).map_err(|_| refused(", and the answer is not JSON")),
        }
    }

    /// The error for an answer that has another form.
    pub(super) fn refused(&self, status: u16, reason: &str) -> ModelError {
        ModelError::Refused { url: self.address(), status, reason: reason.into() }
    }

    /// The first words of an API's refusal, without the key.
    fn error_text(&self, body: &str) -> String {
        let answer: Value = serde_json::from_str(body).unwrap_or_default();
        let message = ["/error/message", "/message", "/error"]
            .into_iter()
            .find_map(|pointer| answer.pointer(pointer).and_then(Value::as_str))
            .unwrap_or_default();
        let hidden = self.key.as_ref().map_or(message.into(), |key| message.replace(key, "..."));
        let error_text: String = clean_line(&hidden).chars().take(MAX_EXCERPT).collect();
        if error_text.is_empty() { String::new() } else { format!(": {error_text}") }
    }
}

/// Reads until a deadline, and returns why the answer is incomplete; the client's own timeout starts anew with each
/// piece.
fn read_until(
    mut response: impl Read,
    deadline: Instant,
    max_bytes: usize,
) -> (String, Option<&'static str>) {
    const BROKEN: &str = ", and the answer broke off or took too long";
    let mut bytes = Vec::new();
    let mut piece = [0; 8192];
    let problem = loop {
        match response.read(&mut piece) {
            Ok(0) => break None,
            Ok(count) => bytes.extend_from_slice(&piece[..count]),
            Err(_) => break Some(BROKEN),
        }
        if bytes.len() > max_bytes {
            break Some(", and the answer is too long");
        }
        if Instant::now() > deadline {
            break Some(BROKEN);
        }
    };
    (String::from_utf8_lossy(&bytes).into_owned(), problem)
}
