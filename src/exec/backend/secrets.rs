//! Values of the configuration with secrets in their places, from the environment and from whoever calls.

use std::sync::LazyLock;

use http::HeaderMap;
use indexmap::IndexMap;
use regex::{Captures, Regex};

use super::{Fault, FaultKind};
use crate::sources::mcp::Environment;
use crate::tool::clean_line;

/// The most characters that are told of what a stranger says.
const MAX_TOLD: usize = 300;
/// What is shorter is no secret, and would be found everywhere.
const MIN_SECRET: usize = 4;

/// What was filled in, and is shown to nobody.
#[derive(Clone, Default)]
pub(super) struct Secrets(Vec<String>);

/// Where secrets come from.
#[derive(Clone, Copy)]
pub(super) struct Vault<'v> {
    pub(super) environment: &'v Environment,
    pub(super) caller: &'v HeaderMap,
}

impl Vault<'_> {
    /// The values of a table, with `${NAME}` and `${caller:NAME}` filled in.
    pub(super) fn fill(
        &self,
        values: &IndexMap<String, String>,
        secrets: &mut Secrets,
    ) -> Result<Vec<(String, String)>, Fault> {
        values.iter().map(|(name, value)| Ok((name.clone(), self.filled(value, secrets)?))).collect()
    }

    fn filled(&self, value: &str, secrets: &mut Secrets) -> Result<String, Fault> {
        let Some(variable) = VARIABLE.as_ref().filter(|_| value.contains("${")) else {
            return Ok(value.to_string());
        };
        let mut fault = None;
        let filled = variable.replace_all(value, |found: &Captures<'_>| {
            let secret = match (found.get(1), found.get(2)) {
                (Some(header), _) => self.of_caller(header.as_str()),
                (_, name) => self.of_environment(name.map_or("", |name| name.as_str())),
            };
            secret.inspect(|secret| secrets.0.push(secret.clone())).unwrap_or_else(|missing| {
                fault.get_or_insert(missing);
                String::new()
            })
        });
        let filled = filled.into_owned();
        fault.map_or(Ok(filled), Err)
    }

    fn of_caller(&self, header: &str) -> Result<String, Fault> {
        let value = self.caller.get(header).and_then(|value| value.to_str().ok());
        value.map(str::to_string).filter(|value| !value.trim().is_empty()).ok_or_else(|| {
            Fault::new(
                FaultKind::Missing,
                format!("the server wants the header `{header}` of whoever calls, and this call has none"),
                format!("whoever connects to toolcrib has to send `{header}` with its requests"),
            )
        })
    }

    fn of_environment(&self, name: &str) -> Result<String, Fault> {
        let missing = || Fault::unconfigured(format!("the environment variable {name} is not set"));
        self.environment.get(name).ok_or_else(missing)
    }
}

static VARIABLE: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"\$\{(?:caller:([A-Za-z0-9_-]+)|([A-Za-z_][A-Za-z0-9_]*))\}").ok());

impl Secrets {
    /// A text without the secrets.
    pub(super) fn hide(&self, text: &str) -> String {
        let secrets = self.0.iter().filter(|secret| secret.len() >= MIN_SECRET);
        secrets.fold(text.to_string(), |text, secret| text.replace(secret.as_str(), "***"))
    }

    /// A text of a stranger's in one line, without the secrets.
    pub(super) fn line(&self, text: &str) -> String {
        clean_line(&self.hide(text)).chars().take(MAX_TOLD).collect()
    }
}

/// A configured value as people may see it.
pub(super) fn masked(name: &str, value: &str) -> String {
    let name = name.to_ascii_lowercase();
    let is_secret = ["auth", "cookie", "key", "token", "secret", "password", "session"];
    let masks = value.contains("${") || is_secret.iter().any(|word| name.contains(word));
    if masks { "***".into() } else { value.into() }
}
