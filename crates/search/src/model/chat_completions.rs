//! A chat model behind an OpenAI-compatible `/v1/chat/completions`: one question, one answer in text.

use std::time::Duration;

use serde_json::{Value, json};

use super::api::Api;
use super::{ChatModel, ModelError};
use toolcrib_catalog::config;

/// Most bytes of an answer that are read.
const MAX_ANSWER: usize = 1 << 20;

/// A chat completions endpoint.
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
