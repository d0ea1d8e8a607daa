//! Files of environment variables: `NAME=value` on each line, with comments, `export` and quotes.

use std::sync::{Arc, LazyLock};

use regex::{Captures, Regex};

use crate::finding::from_json;

/// The variables of a file; a line of another form is left out.
pub fn env_variables(text: &str) -> Vec<(String, String)> {
    text.trim_start_matches('\u{feff}').lines().filter_map(variable).collect()
}

fn variable(line: &str) -> Option<(String, String)> {
    let line = line.trim();
    let line = line.strip_prefix("export ").unwrap_or(line);
    let (name, value) = line.split_once('=')?;
    let name = name.trim();
    let is_name = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    is_name.then(|| (name.to_string(), unquoted(value.trim())))
}

/// A value in double quotes is a JSON string; one in single quotes is taken as it stands.
fn unquoted(value: &str) -> String {
    let quoted = || match from_json(value) {
        Ok(serde_json::Value::String(text)) => Some(text),
        _ => None,
    };
    let plain = || value.strip_prefix('\'')?.strip_suffix('\'').map(str::to_string);
    let begins = value.chars().next();
    let read = if begins == Some('"') { quoted() } else { plain() };
    read.unwrap_or_else(|| value.to_string())
}

/// The line of a variable, without its end.
pub fn env_line(name: &str, value: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_graphic() && !matches!(byte, b'"' | b'\'' | b'\\' | b'#');
    match value.bytes().all(is_plain) {
        true => format!("{name}={value}"),
        false => format!("{name}={}", serde_json::Value::from(value)),
    }
}

// Environment variables, for values of the configuration.

/// Name of a variable that is not set.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the environment variable {0} is not set")]
pub struct MissingVariable(String);

/// Source of environment variables. Values go to servers only, and are never printed.
#[derive(Clone)]
pub struct Environment(Arc<Variables>);

type Variables = dyn Fn(&str) -> Option<String> + Send + Sync;

/// `${NAME}`, or `${NAME:-text}` with a text for a variable that is not set.
static VARIABLE: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}").ok());

impl Environment {
    /// The variables that this function knows.
    pub fn new(variable: impl Fn(&str) -> Option<String> + Send + Sync + 'static) -> Self {
        Self(Arc::new(variable))
    }

    /// The value of a variable.
    pub fn get(&self, name: &str) -> Option<String> {
        (self.0)(name)
    }

    /// A text with its variables filled in; the first one that is not set.
    pub fn filled(&self, text: &str) -> Result<String, MissingVariable> {
        let Some(variable) = VARIABLE.as_ref().filter(|_| text.contains("${")) else {
            return Ok(text.into());
        };
        let mut missing = None;
        let filled = variable.replace_all(text, |found: &Captures<'_>| {
            let (name, otherwise) = (&found[1], found.get(2));
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_read_as_it_was_written() {
        for value in ["", "abc", "a b", "a=b", "\"a\" 'b' \\", "line\nline", "é # x", "${X}"] {
            let text = format!("# a comment\n\n{}\nno variable\n", env_line("NAME", value));
            assert_eq!(env_variables(&text), [("NAME".to_string(), value.to_string())], "{text}");
        }
        assert_eq!(
            env_variables("export A='b c'\r\nB = \"x"),
            [("A".into(), "b c".into()), ("B".into(), "\"x".into())]
        );
    }
}
