//! One question to an API over HTTP: a JSON body out, a JSON body in, within a time and a size.

use std::io::Read;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::{ChatModel, EmbeddingModel, ModelError};
use toolcrib_catalog::config;
use toolcrib_definition::clean_line;
use toolcrib_definition::finding::has_too_many_values;

/// Most characters of an API's refusal that are printed.
const MAX_EXCERPT: usize = 200;

/// An address that answers questions, with the key for it.
#[derive(Debug)]
pub(super) struct Api {
    client: reqwest::blocking::Client,
    url: reqwest::Url,
    key: Option<Key>,
}

/// An API key, which is never printed.
struct Key(String);

impl std::fmt::Debug for Key {
    fn fmt(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        to.write_str("...")
    }
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
        Ok(Self { client, url, key: key.map(Key) })
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
        if let Some(Key(key)) = &self.key {
            request = request.bearer_auth(key);
        }
        let response = request.send().map_err(|error| self.unreachable(&error))?;
        let status = response.status();
        let refused = |reason: &str| self.refused(status.as_u16(), reason);
        let (text, end) = read_until(response, deadline, max_bytes);
        if status.is_redirection() {
            return Err(refused(", which leads elsewhere; name the address itself"));
        }
        if !status.is_success() {
            return Err(refused(&self.error_text(&text)));
        }
        match end {
            End::Whole if has_too_many_values(text.as_bytes()) => {
                Err(refused(", and the answer has too many values"))
            }
            End::Whole => serde_json::from_str(&text).map_err(|_| refused(", and the answer is not JSON")),
            End::TooLong => Err(refused(", and the answer is too long")),
            End::Broken => Err(refused(", and the answer broke off or took too long")),
        }
    }

    /// The error for an answer that has another form.
    pub(super) fn refused(&self, status: u16, reason: &str) -> ModelError {
        ModelError::Refused { url: self.address(), status, reason: reason.into() }
    }

    fn unreachable(&self, error: &reqwest::Error) -> ModelError {
        let reason = match (error.is_timeout(), error.is_connect()) {
            (true, _) => "it took too long",
            (_, true) => "no connection",
            _ => "the connection broke",
        };
        ModelError::Unreachable { url: self.address(), reason: reason.into() }
    }

    /// The first words of an API's refusal, without the key.
    fn error_text(&self, body: &str) -> String {
        let answer: Value = serde_json::from_str(body).unwrap_or_default();
        let message = ["/error/message", "/message", "/error"]
            .into_iter()
            .find_map(|pointer| answer.pointer(pointer).and_then(Value::as_str))
            .unwrap_or_default();
        let hidden = match &self.key {
            Some(Key(key)) => message.replace(key.as_str(), "..."),
            None => message.to_string(),
        };
        let error_text: String = clean_line(&hidden).chars().take(MAX_EXCERPT).collect();
        if error_text.is_empty() { String::new() } else { format!(": {error_text}") }
    }
}

/// The way in which reading an answer ended.
enum End {
    Whole,
    TooLong,
    Broken,
}

/// Reads until a deadline; the client's own timeout starts anew with each piece.
fn read_until(mut response: impl Read, deadline: Instant, max_bytes: usize) -> (String, End) {
    let mut bytes = Vec::new();
    let mut piece = [0; 8192];
    let end = loop {
        match response.read(&mut piece) {
            Ok(0) => break End::Whole,
            Ok(count) => bytes.extend_from_slice(&piece[..count]),
            Err(_) => break End::Broken,
        }
        if bytes.len() > max_bytes {
            break End::TooLong;
        }
        if Instant::now() > deadline {
            break End::Broken;
        }
    };
    (String::from_utf8_lossy(&bytes).into_owned(), end)
}

// A chat model: one question, one answer in text.

/// Most bytes of an answer that are read.
const MAX_ANSWER: usize = 1 << 20;

/// A chat completions endpoint.
#[derive(Debug)]
pub struct ChatEndpoint {
    api: Api,
    model: String,
    timeout: Duration,
}

impl ChatEndpoint {
    /// The endpoint that repairs calls, with its key.
    pub fn new(repair: &config::Repair, key: Option<String>) -> Result<Self, ModelError> {
        let api = Api::new("repair.url", &repair.url, "/chat/completions", key)?;
        let timeout = Duration::from_secs(repair.timeout_seconds.max(1));
        Ok(Self { api, model: repair.model.clone(), timeout })
    }

    /// The endpoint that scores tools, with its key.
    pub fn for_search(model: &config::SearchModel, key: Option<String>) -> Result<Self, ModelError> {
        let api = Api::new("search.llm.url", &model.url, "/chat/completions", key)?;
        let timeout = Duration::from_millis(model.timeout_ms.max(1));
        Ok(Self { api, model: model.model.clone(), timeout })
    }
}

impl ChatModel for ChatEndpoint {
    fn answer(&self, instructions: &str, question: &str) -> Result<String, ModelError> {
        let question = json!({
            "model": self.model,
            "messages": [
                {"role": "system", "content": instructions},
                {"role": "user", "content": question},
            ],
        });
        let answer = self.api.ask(&question, self.timeout, MAX_ANSWER)?;
        let content = answer.pointer("/choices/0/message/content").and_then(Value::as_str);
        let missing = || self.api.refused(200, " without `choices[0].message.content`");
        content.map(ToString::to_string).ok_or_else(missing)
    }

    fn name(&self) -> Option<&str> {
        Some(&self.model)
    }
}

// Vectors from an OpenAI-compatible `/v1/embeddings`.

/// Most bytes of an answer that are read, for each text.
const MAX_ANSWER_PER_TEXT: usize = 512 << 10;
/// Most bytes of an answer that are read altogether.
const MAX_VECTORS: usize = 64 << 20;

/// Longest vector that is accepted.
const MAX_DIMENSIONS: usize = 16_384;

/// An embeddings endpoint.
#[derive(Debug)]
pub struct EmbeddingsApi {
    api: Api,
    model: String,
    identity: String,
}

impl EmbeddingsApi {
    /// The model behind the API at `url`, which may be written with or without `/v1/embeddings`.
    pub fn new(url: &str, model: &str, key: Option<String>) -> Result<Self, ModelError> {
        let has_path = url.split_once("://").is_some_and(|(_, rest)| {
            let path = rest.split(['?', '#']).next().unwrap_or_default().trim_end_matches('/');
            path.contains('/')
        });
        let end = if has_path { "/embeddings" } else { "/v1/embeddings" };
        let api = Api::new("search.semantic.url", url, end, key)?;
        let identity = format!("{} {model}", api.address());
        Ok(Self { api, model: model.into(), identity })
    }
}

impl EmbeddingModel for EmbeddingsApi {
    fn identity(&self) -> &str {
        &self.identity
    }

    fn embed(&self, texts: &[String], timeout: Duration) -> Result<Vec<Vec<f32>>, ModelError> {
        let question = json!({ "model": self.model, "input": texts });
        let max_bytes = (texts.len().max(1) * MAX_ANSWER_PER_TEXT).min(MAX_VECTORS);
        let answer = self.api.ask(&question, timeout, max_bytes)?;
        let refused = |reason: &str| self.api.refused(200, reason);
        let data = answer.get("data").and_then(Value::as_array);
        let data = data.ok_or_else(|| refused(" without a list `data`"))?;
        if data.len() != texts.len() {
            return Err(refused(&format!(" with {} vectors for {} texts", data.len(), texts.len())));
        }
        let mut vectors = vec![Vec::new(); texts.len()];
        for (place, entry) in data.iter().enumerate() {
            let place = entry.get("index").and_then(Value::as_u64).map_or(place, |index| index as usize);
            let vector = vectors.get_mut(place).filter(|vector| vector.is_empty());
            let vector = vector.ok_or_else(|| refused(" with an `index` that no text has, or two have"))?;
            let numbers = entry.get("embedding").and_then(Value::as_array);
            let numbers =
                numbers.ok_or_else(|| refused(" with an `embedding` that is no list of numbers"))?;
            // A value that is no number becomes NaN, which no vector may have.
            vector.extend(
                numbers.iter().map(|number| number.as_f64().map_or(f32::NAN, |number| number as f32)),
            );
        }
        match problem_of_vectors(&vectors) {
            Some(problem) => Err(refused(&format!(" {problem}"))),
            None => Ok(vectors),
        }
    }
}

/// The mistake in vectors, if there is one.
fn problem_of_vectors(vectors: &[Vec<f32>]) -> Option<String> {
    let length = vectors.first().map_or(1, Vec::len);
    if length == 0 || length > MAX_DIMENSIONS {
        return Some(format!("with a vector of {length} numbers"));
    }
    if vectors.iter().any(|vector| vector.len() != length) {
        return Some("with vectors of different lengths".into());
    }
    let is_broken = vectors.iter().flatten().any(|number| !number.is_finite());
    is_broken.then(|| "with an invalid number".into())
}
