//! A model behind an OpenAI-compatible API: one question, one answer. Used only where the configuration names one.

use std::io::Read;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::config;
use crate::tool::clean_line;

/// The most bytes of an answer that are read.
const MAX_ANSWER: usize = 1 << 20;
/// The most characters that are shown of why an API refuses.
const MAX_TOLD: usize = 200;

/// Something that answers a question in text.
pub trait Model: Sync {
    /// The answer, or why there is none.
    fn answer(&self, instructions: &str, question: &str) -> Result<String, ModelError>;
}

/// Why a model gave no answer. Never holds the key.
#[derive(Debug, thiserror::Error)]
pub enum ModelError {
    /// The configuration cannot be used.
    #[error("{0}")]
    Configuration(String),
    /// Nobody answered, or not in time.
    #[error("no answer from {url}: {reason}")]
    Unreachable {
        /// Who was asked.
        url: String,
        /// Why.
        reason: String,
    },
    /// The API refused, or answered in another form.
    #[error("{url} answered {status}{reason}")]
    Refused {
        /// Who was asked.
        url: String,
        /// The HTTP status.
        status: u16,
        /// What else it said.
        reason: String,
    },
}

/// A chat completions endpoint.
#[derive(Debug)]
pub struct Endpoint {
    client: reqwest::blocking::Client,
    url: String,
    model: String,
    key: Option<String>,
    timeout: Duration,
}

impl Endpoint {
    /// The endpoint that a configuration names, with the key for it.
    pub fn new(repair: &config::Repair, key: Option<String>) -> Result<Self, ModelError> {
        let base = repair.url.trim_end_matches('/');
        if !base.starts_with("http://") && !base.starts_with("https://") {
            let message = format!("`repair.url` is \"{base}\"; it must start with http:// or https://");
            return Err(ModelError::Configuration(message));
        }
        let timeout = Duration::from_secs(repair.timeout_seconds.max(1));
        // One provider of cryptography for the whole program; a second call changes nothing.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let client = reqwest::blocking::Client::builder()
            .timeout(timeout)
            .redirect(reqwest::redirect::Policy::none())
            .user_agent(concat!("toolcrib/", env!("CARGO_PKG_VERSION")))
            .build()
            .map_err(|error| ModelError::Configuration(error.to_string()))?;
        let url = if base.ends_with("/chat/completions") {
            base.into()
        } else {
            format!("{base}/chat/completions")
        };
        Ok(Self { client, url, model: repair.model.clone(), key, timeout })
    }

    fn unreachable(&self, error: &reqwest::Error) -> ModelError {
        let reason = match (error.is_timeout(), error.is_connect()) {
            (true, _) => "it took too long",
            (_, true) => "no connection",
            _ => "the connection broke",
        };
        ModelError::Unreachable { url: self.url.clone(), reason: reason.into() }
    }
}

/// What arrives until a moment, and whether that is all; the client's own timeout begins anew with each piece.
fn read_until(mut response: impl Read, deadline: Instant) -> (String, bool) {
    let (mut bytes, mut piece) = (Vec::new(), [0; 8192]);
    let is_whole = loop {
        match response.read(&mut piece) {
            Ok(0) => break true,
            Ok(count) => bytes.extend_from_slice(&piece[..count]),
            Err(_) => break false,
        }
        if Instant::now() > deadline || bytes.len() > MAX_ANSWER {
            break false;
        }
    };
    (String::from_utf8_lossy(&bytes).into_owned(), is_whole)
}

impl Endpoint {
    /// What an API says about its refusal: its first words, without the key.
    fn told(&self, body: &str) -> String {
        let answer: Value = serde_json::from_str(body).unwrap_or_default();
        let message = ["/error/message", "/message", "/error"]
            .into_iter()
            .find_map(|pointer| answer.pointer(pointer).and_then(Value::as_str))
            .unwrap_or_default();
        let hidden = match &self.key {
            Some(key) if !key.is_empty() => message.replace(key.as_str(), "..."),
            _ => message.to_string(),
        };
        let told: String = clean_line(&hidden).chars().take(MAX_TOLD).collect();
        if told.is_empty() { String::new() } else { format!(": {told}") }
    }
}

impl Model for Endpoint {
    fn answer(&self, instructions: &str, question: &str) -> Result<String, ModelError> {
        let body = json!({
            "model": self.model,
            "messages": [
                {"role": "system", "content": instructions},
                {"role": "user", "content": question},
            ],
        });
        let mut request =
            self.client.post(&self.url).header("content-type", "application/json").body(body.to_string());
        if let Some(key) = &self.key {
            request = request.bearer_auth(key);
        }
        let response = request.send().map_err(|error| self.unreachable(&error))?;
        let status = response.status();
        let refused = |reason: &str| ModelError::Refused {
            url: self.url.clone(),
            status: status.as_u16(),
            reason: reason.into(),
        };
        let (text, is_whole) = read_until(response, Instant::now() + self.timeout);
        if !status.is_success() {
            return Err(refused(&self.told(&text)));
        }
        if !is_whole {
            return Err(refused(", and the answer broke off or took too long"));
        }
        let answer: Value =
            serde_json::from_str(&text).map_err(|_| refused(", and the answer is not JSON"))?;
        let content = answer.pointer("/choices/0/message/content").and_then(Value::as_str);
        content.map(ToString::to_string).ok_or_else(|| refused(" without `choices[0].message.content`"))
    }
}
