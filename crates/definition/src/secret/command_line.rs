//! Command lines and settings with secrets redacted.

use std::sync::LazyLock;

use regex::{Captures, Regex};

use super::credentials::{REDACTED, is_generated, is_key, is_opaque};
use super::policy::SecretPolicy;
use super::secret_names::{is_one_of, words_of};

/// What can hold a secret in an argument: a field of JSON, an option of a command line, and a segment of a path.
static PARTS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(concat!(
        r#"(?i)(?P<begin>\\?")(?P<field>[a-z][a-z0-9_.-]{0,60})(?P<between>\\?"\s*:\s*\\?")(?-i:(?P<value>[^"\\]+))"#,
        r#"|(?P<option>\B--?[a-z][a-z0-9_-]{0,60})(?P<gap>\s+["']?)(?-i:(?P<word>[^\s"']+))"#,
        r"|/(?P<segment>[a-z0-9_-]{20,})",
    ))
    .ok()
});

impl SecretPolicy<'_> {
    /// The items of a command line with secrets redacted: `--token=x`, and the item after `--token`.
    pub fn command_line(self, items: &[String]) -> Vec<String> {
        let mut after = "";
        let shown = items.iter().map(|item| {
            let option = std::mem::take(&mut after);
            after = if item.starts_with('-') && !item.contains('=') { item } else { "" };
            let is_value = !option.is_empty() && !item.starts_with('-');
            if is_value && (self.is_secret(option) || (is_key(option) && is_generated(item))) {
                return REDACTED.into();
            }
            // `--env=NAME=VALUE` has the name of the value after the option.
            let begin = item.find('=').filter(|at| item.starts_with('-') && item[at + 1..].contains('='));
            let (begin, pair) = item.split_at(begin.map_or(0, |at| at + 1));
            match pair.split_once('=') {
                Some((name, value)) if !value.contains("${") && self.is_pair(name, value) => {
                    format!("{begin}{name}={REDACTED}")
                }
                _ => self.argument(item),
            }
        });
        shown.collect()
    }

    /// An argument or an address with secrets redacted, also in JSON, in a command line within it, and in the path of an address.
    fn argument(self, item: &str) -> String {
        let shown = self.text(item);
        let Some(parts) = &*PARTS else { return shown.into_owned() };
        let is_address = item.contains("://");
        let redacted = |found: &Captures<'_>| {
            let part = |name: &str| found.name(name).map_or("", |part| part.as_str());
            let begin = part("begin");
            let name = part("field").to_string() + part("option");
            let between = part("between").to_string() + part("gap");
            let value = part("value").to_string() + part("word");
            if let Some(segment) = found.name("segment") {
                let is_host = shown[segment.end()..].starts_with(['.', ':', '@']);
                let is_secret = is_address && !is_host && is_opaque(segment.as_str());
                return if is_secret { format!("/{REDACTED}") } else { found[0].to_string() };
            }
            let is_value = !value.starts_with(['-', '[', '$']);
            let is_secret = is_value && (self.is_secret(&name) || (is_key(&name) && is_generated(&value)));
            format!("{begin}{name}{between}{}", if is_secret { REDACTED } else { &value })
        };
        parts.replace_all(&shown, redacted).into_owned()
    }

    /// Whether the value of a setting is secret, by its name or its looks.
    pub fn is_secret_value(self, name: &str, value: &str) -> bool {
        self.is_pair(name, value) || self.is_secret(name) || self.argument(value) != value
    }

    /// Whether a value looks like the key that its name may stand for.
    fn is_pair(self, name: &str, value: &str) -> bool {
        let may_be =
            words_of(name).iter().any(|word| is_one_of(word, &["key", "api", "auth", "pat", "access"]));
        is_opaque(value) || ((may_be || is_key(name)) && is_generated(value))
    }
}
