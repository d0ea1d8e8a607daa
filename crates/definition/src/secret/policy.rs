//! The rules for secrets: the usual names, and those of the operator.

use std::borrow::Cow;

use serde_json::{Map, Value};

use super::credentials::masked;
use super::secret_names::{can_hold_secret, is_secret_name, is_word};

/// The rules for secrets: the usual names, and the operator's own (`[state] redact`).
#[derive(Clone, Copy, Debug, Default)]
pub struct SecretPolicy<'p> {
    /// Globs of names.
    rules: &'p [String],
}

impl<'p> SecretPolicy<'p> {
    /// A policy with the operator's rules: globs of names.
    pub fn new(rules: &'p [String]) -> Self {
        Self { rules }
    }

    /// Whether a name says that its value is secret.
    pub fn is_secret(self, name: &str) -> bool {
        is_secret_name(name) || self.is_ruled(name)
    }

    /// A text with secrets redacted.
    pub fn text(self, text: &str) -> Cow<'_, str> {
        masked(text)
    }

    /// Whether a field is secret by its name, or by what the field beside it names.
    pub(super) fn is_named(self, name: &str, value: Option<&Value>, beside_a_name: bool) -> bool {
        let can_be = value.is_none_or(|value| can_hold_secret(name, value));
        (is_secret_name(name) && can_be) || self.is_ruled(name) || (beside_a_name && is_word(name, "value"))
    }

    /// Lists of headers and variables have the form `{"name": "Authorization", "value": "..."}`.
    pub(super) fn names_a_secret(self, fields: &Map<String, Value>) -> bool {
        let is_naming = |name: &str| ["name", "key", "header"].iter().any(|naming| is_word(name, naming));
        let mut named =
            fields.iter().filter(|(name, _)| is_naming(name)).filter_map(|(_, named)| named.as_str());
        named.any(|name| self.is_secret(name))
    }

    /// Whether the operator's rules name it.
    pub(super) fn is_ruled(self, name: &str) -> bool {
        !self.rules.is_empty() && {
            let name = name.to_lowercase();
            self.rules.iter().any(|glob| crate::matches_glob(&glob.to_lowercase(), &name))
        }
    }
}
