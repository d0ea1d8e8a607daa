//! Values of the configuration with secrets filled in, from the environment and from the caller.

use std::sync::{Arc, LazyLock, Mutex};

use http::HeaderMap;
use indexmap::IndexMap;
use regex::{Captures, Regex};
use serde_json::Value;

use crate::credentials::SecretToken;
use crate::long_work::apart;
use toolcrib_catalog::config::{Environment, MissingVariable};
use toolcrib_definition::clean_line;
use toolcrib_definition::guard::locked;
use toolcrib_definition::secret::{Echo, REDACTED, SecretPolicy};

/// Most characters of untrusted text in a message.
const MAX_EXCERPT: usize = 300;
/// Bytes from which a value counts as a secret: shorter ones are found everywhere.
const MIN_SECRET: usize = 4;
/// Bytes from which a header without a variable is one, whatever its name: `true` and `v2` are found everywhere as well.
const MIN_HEADER: usize = 8;
/// Bytes from which a value is redacted in results too: shorter values, such as a tenant name, occur in ordinary text.
const MIN_CREDENTIAL: usize = 12;

/// Most tokens that are redacted: those of the last hours, since an answer may come late.
const MAX_TOKENS: usize = 16;

/// Secret values that were filled in, to be redacted in answers.
#[derive(Clone, Default)]
pub struct FilledSecrets {
    filled: Vec<Secret>,
    /// Tokens that requests were sent with; all clones share them.
    tokens: Arc<Mutex<Vec<Secret>>>,
}

#[derive(Clone)]
struct Secret {
    text: String,
    /// Whether results may contain it: a header of the caller, or one that is no secret by its name, such as `Accept`.
    is_for_results: bool,
}

impl Secret {
    /// Whether a server that echoes it in a result gives something away. Results link to addresses.
    fn is_credential(&self) -> bool {
        let is_address =
            self.text.starts_with("http") && self.text.contains("://") && !self.text.contains('@');
        !self.is_for_results && !is_address && self.text.len() >= MIN_CREDENTIAL
    }
}

/// A value that is needed and missing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Missing {
    /// An environment variable.
    #[error(transparent)]
    Variable(MissingVariable),
    /// A header of the caller.
    #[error("the caller's header `{0}` is missing")]
    Header(String),
}

/// `${caller:NAME}`, `${NAME}`, or `${NAME:-text}` with a text for a variable that is not set.
static PLACEHOLDER: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"\$\{(?:caller:([A-Za-z0-9_-]+)|([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?)\}").ok()
});

impl FilledSecrets {
    /// The texts among these values, and within them.
    pub fn of(values: impl IntoIterator<Item = Value>) -> Self {
        let mut texts = Vec::new();
        let mut left: Vec<Value> = values.into_iter().collect();
        while let Some(value) = left.pop() {
            match value {
                Value::String(text) => texts.push(text),
                Value::Number(number) => texts.push(number.to_string()),
                Value::Array(items) => left.extend(items),
                Value::Object(fields) => left.extend(fields.into_iter().map(|(_, field)| field)),
                _ => {}
            }
        }
        let filled = texts.into_iter().map(|text| Secret { text, is_for_results: false });
        Self { filled: filled.collect(), ..Self::default() }
    }

    /// Adds the token of a request.
    pub fn add_token(&self, token: &SecretToken) {
        let mut tokens = locked(&self.tokens);
        if !tokens.iter().any(|known| known.text == token.expose()) {
            if tokens.len() == MAX_TOKENS {
                tokens.remove(0);
            }
            tokens.push(Secret { text: token.expose().into(), is_for_results: false });
        }
    }

    /// The values and tokens of this kind, the longest first: one secret may be a part of another.
    fn texts(&self, is_meant: impl Fn(&Secret) -> bool) -> Vec<String> {
        let tokens = locked(&self.tokens);
        let all = self.filled.iter().chain(tokens.iter()).filter(|secret| is_meant(secret));
        let mut texts: Vec<String> = all.map(|secret| secret.text.clone()).collect();
        texts.sort_by_key(|text| std::cmp::Reverse(text.len()));
        texts
    }

    /// The texts that are redacted everywhere.
    fn long_texts(&self) -> Vec<String> {
        self.texts(|secret| secret.text.len() >= MIN_SECRET)
    }

    /// Headers of a server, filled in. A header without a variable is secret as a whole.
    pub fn fill_headers(
        &mut self,
        headers: &IndexMap<String, String>,
        environment: &Environment,
        caller: Option<&HeaderMap>,
    ) -> Result<Vec<(String, String)>, Missing> {
        for (name, value) in headers.iter().filter(|(_, value)| !value.contains("${")) {
            let is_credential = SecretPolicy::default().is_secret(name);
            let (min, scheme) =
                if is_credential { (MIN_SECRET, value.split_once(' ')) } else { (MIN_HEADER, None) };
            let texts = [value.as_str()].into_iter().chain(scheme.map(|(_, credentials)| credentials.trim()));
            let secret = |text: &str| Secret { text: text.into(), is_for_results: !is_credential };
            self.filled.extend(texts.filter(|text| text.len() >= min).map(secret));
        }
        self.fill(headers, environment, caller)
    }

    /// Adds the values of variables that are secret by their name or form.
    pub(super) fn add_variables(&mut self, variables: &[(String, String)]) {
        let is_secret =
            |(name, value): &&(String, String)| SecretPolicy::default().is_secret_value(name, value);
        let secret = |(_, value): &(String, String)| Secret { text: value.clone(), is_for_results: false };
        self.filled.extend(variables.iter().filter(is_secret).map(secret));
    }

    /// Fills in environment variables, and headers of the caller. A value with such a header is left out when there
    /// is no caller.
    pub fn fill(
        &mut self,
        values: &IndexMap<String, String>,
        environment: &Environment,
        caller: Option<&HeaderMap>,
    ) -> Result<Vec<(String, String)>, Missing> {
        let mut filled = Vec::with_capacity(values.len());
        for (name, value) in values {
            match self.fill_text(value, environment, caller) {
                Ok(value) => filled.push((name.clone(), value)),
                Err(Missing::Header(_)) if caller.is_none() => {}
                Err(missing) => return Err(missing),
            }
        }
        Ok(filled)
    }

    /// A text with environment variables and headers of the caller filled in.
    pub(super) fn fill_text(
        &mut self,
        value: &str,
        environment: &Environment,
        caller: Option<&HeaderMap>,
    ) -> Result<String, Missing> {
        let Some(placeholder) = PLACEHOLDER.as_ref() else { return Ok(value.to_string()) };
        let mut missing = None;
        let filled = placeholder.replace_all(value, |found: &Captures<'_>| {
            let [header, variable, otherwise] =
                [1, 2, 3].map(|group| found.get(group).map(|part| part.as_str()));
            let value = match (header, variable.unwrap_or_default()) {
                (Some(name), _) => {
                    let value = caller.and_then(|headers| headers.get(name)?.to_str().ok());
                    let value = value.filter(|value| !value.trim().is_empty()).map(str::to_string);
                    value.ok_or_else(|| Missing::Header(name.to_string()))
                }
                (None, name) => match (environment.get(name), otherwise) {
                    (value, Some(otherwise)) if value.as_ref().is_none_or(|value| value.is_empty()) => {
                        return otherwise.to_string();
                    }
                    (value, _) => value.ok_or_else(|| Missing::Variable(MissingVariable(name.to_string()))),
                },
            };
            match value {
                // Results are full of paths below the home folder, and the folder is no secret.
                Ok(text) if matches!(variable, Some("HOME" | "USERPROFILE")) => text,
                Ok(text) => {
                    self.filled.push(Secret { text: text.clone(), is_for_results: header.is_some() });
                    text
                }
                Err(what) => {
                    missing.get_or_insert(what);
                    String::new()
                }
            }
        });
        missing.map_or(Ok(filled.into_owned()), Err)
    }

    /// A text with these secrets redacted.
    pub fn hide(&self, text: &str) -> String {
        redacted_text(text.to_string(), &self.long_texts(), &mut false)
    }

    /// A text without the credentials.
    pub(super) fn hide_credentials(&self, text: String) -> String {
        redacted_text(text, &self.texts(Secret::is_credential), &mut false)
    }

    /// A result without the credentials, and the warning that one stood in it.
    pub fn hide_in_result(&self, result: Value) -> (Value, Option<String>) {
        let mut occurs = false;
        let result = redacted(result, &self.texts(Secret::is_credential), &mut occurs);
        let warning =
            || format!("a credential of the configuration stood in the result; it is `{REDACTED}` now");
        (result, occurs.then(warning))
    }

    /// A value with these secrets redacted, wherever they occur.
    pub fn hide_in(&self, value: Value) -> Value {
        redacted(value, &self.long_texts(), &mut false)
    }

    /// An untrusted text on one line, with these secrets redacted.
    pub fn line(&self, text: &str) -> String {
        excerpt(&clean_line(&self.hide(text)))
    }
}

/// The beginning of an untrusted text.
pub(super) fn excerpt(text: &str) -> String {
    text.chars().take(MAX_EXCERPT).collect()
}

/// A value without these secrets; notes whether one occurs.
fn redacted(value: Value, secrets: &[String], occurs: &mut bool) -> Value {
    match value {
        _ if secrets.is_empty() => value,
        Value::String(text) => redacted_text(text, secrets, occurs).into(),
        Value::Array(items) => items.into_iter().map(|item| redacted(item, secrets, occurs)).collect(),
        Value::Object(fields) => {
            let fields = fields.into_iter().map(|(name, field)| {
                (redacted_text(name, secrets, occurs), redacted(field, secrets, occurs))
            });
            fields.collect()
        }
        plain => plain,
    }
}

fn redacted_text(mut text: String, secrets: &[String], occurs: &mut bool) -> String {
    apart(text.len(), || {
        for secret in secrets.iter().map(|secret| Echo::of(secret)) {
            if secret.occurs_in(&text) {
                text = secret.hidden_in(&text);
                *occurs = true;
            }
        }
        text
    })
}

/// The caller's headers that these values contain.
pub(super) fn wanted(values: &IndexMap<String, String>, caller: &HeaderMap) -> Result<HeaderMap, Missing> {
    let mut wanted = HeaderMap::new();
    let Some(placeholder) = PLACEHOLDER.as_ref() else { return Ok(wanted) };
    for found in values.values().flat_map(|value| placeholder.captures_iter(value)) {
        let Some(name) = found.get(1).map(|name| name.as_str()) else { continue };
        let missing = || Missing::Header(name.to_string());
        let header = http::HeaderName::try_from(name).map_err(|_| missing())?;
        let value = caller.get(&header).ok_or_else(missing)?;
        wanted.insert(header, value.clone());
    }
    Ok(wanted)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn results_keep_their_words_and_lose_credentials() {
        let environment = Environment::new(|name| {
            Some(if name == "KEY" { "a-long-enough-key" } else { "eu-west" }.to_string())
        });
        let caller = HeaderMap::from_iter([(
            http::HeaderName::from_static("x-tenant"),
            http::HeaderValue::from_static("a-tenant-of-some-length"),
        )]);
        let wanted = [("A", "${KEY}"), ("B", "${REGION}"), ("C", "${caller:X-Tenant}")];
        let wanted = wanted.map(|(name, value)| (name.to_string(), value.to_string()));
        let mut secrets = FilledSecrets::default();
        secrets.fill(&IndexMap::from(wanted), &environment, Some(&caller)).unwrap();
        let plain = json!({"region": "eu-west", "of": ["a-tenant-of-some-length"]});
        assert_eq!(secrets.hide_in_result(plain.clone()), (plain, None));
        let home = Environment::new(|_| Some("/home/somebody-else".to_string()));
        secrets.fill_text("${HOME}/logs", &home, None).unwrap();
        let path = json!("/home/somebody-else/logs");
        assert_eq!(secrets.hide_in_result(path.clone()), (path, None));
        let (result, warning) = secrets.hide_in_result(json!({"echo": "key: a-long-enough-key"}));
        assert_eq!(result, json!({"echo": "key: [redacted]"}));
        let list = r#"{"name": "get", "description": "a-long-enough-key of eu-west"}"#;
        assert_eq!(secrets.hide_credentials(list.into()), list.replace("a-long-enough-key", "[redacted]"));
        assert!(warning.unwrap().contains("credential"));
    }
}
