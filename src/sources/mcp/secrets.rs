//! Values of the configuration with secrets in their places, from the environment and from whoever calls.

use std::sync::LazyLock;

use http::HeaderMap;
use indexmap::IndexMap;
use regex::{Captures, Regex};
use serde_json::Value;

use super::Environment;
use crate::tool::clean_line;

/// The most characters that are told of what a stranger says.
const MAX_TOLD: usize = 300;
/// The text that stands for a secret.
const HIDDEN: &str = "[redacted]";
/// What is shorter is no secret, and is found everywhere.
const MIN_SECRET: usize = 4;

/// Bytes from which a value is hidden in results too: shorter ones, such as the name of a tenant, stand there by
/// themselves.
const MIN_CREDENTIAL: usize = 12;

/// Values that were filled in, and are shown to nobody.
#[derive(Clone, Default)]
pub(crate) struct Secrets(Vec<Secret>);

#[derive(Clone)]
struct Secret {
    text: String,
    is_of_caller: bool,
}

impl Secret {
    /// Whether a server that echoes it gives something away. Callers know their own headers, and results link to addresses.
    fn is_credential(&self) -> bool {
        let is_address =
            self.text.starts_with("http") && self.text.contains("://") && !self.text.contains('@');
        !self.is_of_caller && !is_address && self.text.len() >= MIN_CREDENTIAL
    }
}

/// What is wanted, and not there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Missing {
    /// A variable of the environment.
    Variable(String),
    /// A header of whoever calls.
    Header(String),
}

impl std::fmt::Display for Missing {
    fn fmt(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Missing::Variable(name) => write!(to, "the environment variable {name} is not set"),
            Missing::Header(name) => write!(to, "the header `{name}` of whoever calls is missing"),
        }
    }
}

/// `${caller:NAME}` or `${NAME}`.
static PLACEHOLDER: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"\$\{(?:caller:([A-Za-z0-9_-]+)|([A-Za-z_][A-Za-z0-9_]*))\}").ok());

impl Secrets {
    /// The texts among these values, and within them.
    pub(crate) fn of(values: impl IntoIterator<Item = Value>) -> Self {
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
        Self(texts.into_iter().map(|text| Secret { text, is_of_caller: false }).collect())
    }

    /// Puts variables, and headers of whoever calls, in their places. What wants such a header is left out when nobody
    /// calls.
    pub(crate) fn fill(
        &mut self,
        values: &IndexMap<String, String>,
        environment: &Environment,
        caller: Option<&HeaderMap>,
    ) -> Result<Vec<(String, String)>, Missing> {
        let mut filled = Vec::with_capacity(values.len());
        for (name, value) in values {
            match self.filled(value, environment, caller) {
                Ok(value) => filled.push((name.clone(), value)),
                Err(Missing::Header(_)) if caller.is_none() => {}
                Err(missing) => return Err(missing),
            }
        }
        Ok(filled)
    }

    fn filled(
        &mut self,
        value: &str,
        environment: &Environment,
        caller: Option<&HeaderMap>,
    ) -> Result<String, Missing> {
        let Some(placeholder) = PLACEHOLDER.as_ref().filter(|_| value.contains("${")) else {
            return Ok(value.to_string());
        };
        let mut missing = None;
        let filled = placeholder.replace_all(value, |found: &Captures<'_>| {
            let header = found.get(1);
            let value = match (header, found.get(2)) {
                (Some(header), _) => of_caller(caller, header.as_str()),
                (_, variable) => of_environment(environment, variable.map_or("", |name| name.as_str())),
            };
            match value {
                Ok(text) => {
                    self.0.push(Secret { text: text.clone(), is_of_caller: header.is_some() });
                    text
                }
                Err(what) => {
                    missing.get_or_insert(what);
                    String::new()
                }
            }
        });
        let filled = filled.into_owned();
        missing.map_or(Ok(filled), Err)
    }

    /// A text without the secrets.
    pub(crate) fn hide(&self, text: &str) -> String {
        let secrets = self.0.iter().filter(|secret| secret.text.len() >= MIN_SECRET);
        secrets.fold(text.to_string(), |text, secret| text.replace(secret.text.as_str(), HIDDEN))
    }

    /// A result without the credentials, and the warning that one stood in it.
    pub(crate) fn hide_in_result(&self, result: Value) -> (Value, Option<String>) {
        let credentials: Vec<Secret> =
            self.0.iter().filter(|secret| secret.is_credential()).cloned().collect();
        if !credentials.iter().any(|secret| stands_in(&result, &secret.text)) {
            return (result, None);
        }
        let warning = format!("a credential of the configuration stood in the result; it is `{HIDDEN}` now");
        (Self(credentials).hide_in(result), Some(warning))
    }

    /// A value without the secrets, wherever they stand in it.
    pub(crate) fn hide_in(&self, value: Value) -> Value {
        if self.0.iter().all(|secret| secret.text.len() < MIN_SECRET) {
            return value;
        }
        match value {
            Value::String(text) => self.hide(&text).into(),
            Value::Array(items) => items.into_iter().map(|item| self.hide_in(item)).collect(),
            Value::Object(fields) => {
                fields.into_iter().map(|(name, field)| (self.hide(&name), self.hide_in(field))).collect()
            }
            plain => plain,
        }
    }

    /// A text of a stranger's in one line, without the secrets.
    pub(crate) fn line(&self, text: &str) -> String {
        clean_line(&self.hide(text)).chars().take(MAX_TOLD).collect()
    }
}

/// Whether a text stands anywhere in a value.
fn stands_in(value: &Value, text: &str) -> bool {
    match value {
        Value::String(string) => string.contains(text),
        Value::Array(items) => items.iter().any(|item| stands_in(item, text)),
        Value::Object(fields) => {
            fields.iter().any(|(name, field)| name.contains(text) || stands_in(field, text))
        }
        _ => false,
    }
}

fn of_caller(caller: Option<&HeaderMap>, name: &str) -> Result<String, Missing> {
    let value = caller.and_then(|headers| headers.get(name)).and_then(|value| value.to_str().ok());
    let value = value.filter(|value| !value.trim().is_empty()).map(str::to_string);
    value.ok_or_else(|| Missing::Header(name.to_string()))
}

fn of_environment(environment: &Environment, name: &str) -> Result<String, Missing> {
    environment.get(name).ok_or_else(|| Missing::Variable(name.to_string()))
}

/// The headers of whoever calls that these values want.
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
