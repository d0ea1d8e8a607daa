//! Environment variables, for values of the configuration.

use std::sync::{Arc, LazyLock};

use regex::{Captures, Regex};

/// Name of a variable that is not set.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the environment variable {0} is not set")]
pub struct MissingVariable(pub String);

/// Source of environment variables. Values go to servers only, and are never printed.
#[derive(Clone)]
pub struct Environment(Arc<Variables>);

type Variables = dyn Fn(&str) -> Option<String> + Send + Sync;

/// `${NAME}`, or `${NAME:-text}` with a text for a variable that is not set.
static VARIABLE: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}").ok());

impl Environment {
    /// Creates an environment that looks up variables with this function.
    pub fn new(variable: impl Fn(&str) -> Option<String> + Send + Sync + 'static) -> Self {
        Self(Arc::new(variable))
    }

    /// The value of a variable.
    pub fn get(&self, name: &str) -> Option<String> {
        (self.0)(name)
    }

    /// Fills in the variables of a text. The error names the first variable that is not set.
    pub fn filled(&self, text: &str) -> Result<String, MissingVariable> {
        let Some(variable) = &*VARIABLE else { return Ok(text.into()) };
        let mut missing = None;
        let filled = variable.replace_all(text, |found: &Captures<'_>| {
            let name = &found[1];
            let otherwise = found.get(2);
            let value = self.get(name).filter(|value| otherwise.is_none() || !value.is_empty());
            value.or_else(|| otherwise.map(|text| text.as_str().to_string())).unwrap_or_else(|| {
                missing.get_or_insert_with(|| name.to_string());
                String::new()
            })
        });
        let filled = filled.into_owned();
        missing.map_or(Ok(filled), |name| Err(MissingVariable(name)))
    }
}

impl Default for Environment {
    /// No variables at all.
    fn default() -> Self {
        Self::new(|_| None)
    }
}

impl std::fmt::Debug for Environment {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str("Environment")
    }
}
