//! Finds secret values that are written down in a configuration or in a backend, where a reference such as `${NAME}` belongs.

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::Regex;
use serde_json::Value;

use super::SecretPolicy;
use crate::finding::pointer_join;

/// Tables whose entries are named by what they hold.
const NAMED: [&str; 3] = ["env", "headers", "arguments"];
/// Settings that are secret whatever they hold.
const SECRET: [&str; 1] = ["client_secret"];
/// Lists that are the command line of a program.
const COMMANDS: [&str; 2] = ["command", "argv"];
/// Prose for people and models, which is published anyway.
const PROSE: [&str; 6] = ["description", "short_description", "summary", "title", "reason", "notes"];

/// A reference without a text of its own: `${NAME}`, `${NAME:-}` or `${caller:NAME}`; in a URL, with the user whose
/// password it is.
static REFERENCE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let reference = r"\$\{(?:caller:)?[A-Za-z_][A-Za-z0-9_-]*(?::-)?\}";
    Regex::new(&format!(r"(?:[^\s/@:]*:)?{reference}@|{reference}")).ok()
});

impl SecretPolicy<'_> {
    /// Pointers to the secrets that are written down in a value.
    pub fn literals(self, value: &Value) -> Vec<String> {
        let mut found = Vec::new();
        self.collect(value, &mut Vec::new(), &mut found);
        found
    }

    fn collect<'v>(self, value: &'v Value, path: &mut Vec<Cow<'v, str>>, found: &mut Vec<String>) {
        let name = path.last().map_or("", |name| &**name);
        match value {
            Value::String(text) if self.is_literal(path, text) => found.push(pointer(path)),
            Value::Array(items) if COMMANDS.contains(&name) => {
                let items: Vec<String> =
                    items.iter().map(|item| item.as_str().unwrap_or_default().to_string()).collect();
                let shown = self.command_line(&items);
                let hidden = items.iter().zip(shown).enumerate();
                for (at, _) in hidden.filter(|(_, (item, shown))| *item != shown && !is_reference(item)) {
                    found.push(format!("{}/{at}", pointer(path)));
                }
            }
            Value::Array(items) => {
                for (at, item) in items.iter().enumerate() {
                    path.push(at.to_string().into());
                    self.collect(item, path, found);
                    path.pop();
                }
            }
            Value::Object(fields) => {
                let is_prose =
                    |name: &str, field: &Value| PROSE.contains(&name) && !matches!(field, Value::Object(_));
                for (name, field) in fields.iter().filter(|(name, field)| !is_prose(name, field)) {
                    path.push(name.into());
                    self.collect(field, path, found);
                    path.pop();
                }
            }
            _ => {}
        }
    }

    fn is_literal(self, path: &[Cow<'_, str>], text: &str) -> bool {
        let up = |levels: usize| path.len().checked_sub(levels).map_or("", |at| &*path[at]);
        let named = if up(1) == "value" { (up(2), up(3)) } else { (up(1), up(2)) };
        let is_named = SECRET.contains(&up(1)) || (NAMED.contains(&named.1) && self.is_secret(named.0));
        let own = without_references(text);
        let is_own = own == text && !text.is_empty();
        (is_named && is_own) || self.text(&own) != own
    }
}

/// Whether a text has a reference, and beside it nothing that looks like a secret.
fn is_reference(text: &str) -> bool {
    without_references(text) != text
}

fn without_references(text: &str) -> Cow<'_, str> {
    REFERENCE.as_ref().map_or(text.into(), |reference| reference.replace_all(text, ""))
}

fn pointer(path: &[Cow<'_, str>]) -> String {
    path.iter().fold(String::new(), |pointer, name| pointer_join(&pointer, name))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn values_that_are_secret_are_told_from_references() {
        let literals = |value: Value| SecretPolicy::default().literals(&value);
        for (value, place) in [
            (
                json!({"server": {"notes": {"headers": {"Authorization": "Bearer abc"}}}}),
                "/server/notes/headers/Authorization",
            ),
            (json!({"source": [{"mcp": {"env": {"API_KEY": "x"}}}]}), "/source/0/mcp/env/API_KEY"),
            (json!({"env": {"API_KEY": "${API_KEY:-fallback}"}}), "/env/API_KEY"),
            (json!({"auth": {"client_secret": "x"}}), "/auth/client_secret"),
            (json!({"command": ["srv", "--token", "abc"]}), "/command/2"),
            (json!({"argv": ["srv", "--token=abc"]}), "/argv/1"),
            (json!({"state": {"url": "postgres://me:pw@db/x"}}), "/state/url"),
            (
                json!({"overlay": [{"arguments": {"api_key": {"value": "x"}}}]}),
                "/overlay/0/arguments/api_key/value",
            ),
            (json!({"env": {"PLAIN": "ghp_0123456789abcdef0123"}}), "/env/PLAIN"),
        ] {
            assert_eq!(literals(value), [place]);
        }
        for value in [
            json!({"headers": {"Authorization": "Bearer ${TOKEN}", "X-Team": "blue"}}),
            json!({"headers": {"X-Api-Key": "${caller:X-Api-Key}"}, "env": {"API_KEY": "${A:-}", "LOG": "debug"}}),
            json!({"auth": {"client_secret": "${S}", "client_authentication": "client_secret_basic"}}),
            json!({"command": ["srv", "--token", "${TOKEN}"], "serve": {"token": [{"env": "TOKEN", "name": "ann"}]}}),
            json!({"state": {"url": "postgres://me:${PW}@db/x", "redact": ["password"]}}),
            json!({"repair": {"api_key_env": "OPENAI_API_KEY"}, "exec": {"trust_hints": {"secret-server": "never"}}}),
            json!({"description": "Send `Authorization: Bearer 0123456789abcdef0123`."}),
        ] {
            assert_eq!(literals(value.clone()), [""; 0], "{value}");
        }
    }
}
