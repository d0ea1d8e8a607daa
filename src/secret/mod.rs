//! The one answer to "is this secret?". Dry runs, traces, errors, examples and approvals all ask here.
//!
//! 1. [`schema`] reads the marks of a JSON Schema: `format: password`, `writeOnly`, `x-secret`.
//! 2. [`name`] judges names, [`shape`] finds secrets within texts.
//! 3. [`Echo`] finds a secret that a server repeats, however it was encoded on its way.
//! 4. [`SecretPolicy`] is all of that, with the operator's rules; [`walk`] applies it to a value.

mod name;
mod schema;
mod shape;
mod walk;

use std::borrow::Cow;

use serde_json::{Map, Value};

use crate::finding::{Violation, pointer_join, pointer_unescape};
use schema::Place;
pub use schema::declared_names;
pub(crate) use shape::Echo;
pub use walk::Hidden;
use walk::{Reach, Walk, read_json};

/// The text in place of a secret.
pub const REDACTED: &str = "[redacted]";

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
        name::is_secret(name) || self.is_ruled(name)
    }

    /// A text with secrets redacted.
    pub fn text(self, text: &str) -> Cow<'_, str> {
        shape::masked(text)
    }

    /// A value with secrets redacted, otherwise whole.
    pub fn redacted(self, schema: &Value, value: &Value) -> Value {
        self.split(schema, value).0
    }

    /// A value with secrets redacted, and the secrets.
    pub fn split(self, schema: &Value, value: &Value) -> (Value, Vec<Hidden>) {
        Walk::new(self, Reach::Everything).run(schema, value)
    }

    /// A value with secrets redacted and long texts cut, for a trace.
    pub fn noted(self, schema: &Value, value: &Value) -> Value {
        Walk::new(self, Reach::Everything).briefly().run(schema, value).0
    }

    /// A value with `null` in place of everything that the schema or the operator declares secret, and these secrets.
    /// Names and texts that a caller chose hide nothing.
    pub fn declared(self, schema: &Value, value: &Value) -> (Value, Vec<Hidden>) {
        Walk::new(self, Reach::Declared).run(schema, value)
    }

    /// The items of a command line with secrets redacted: `--token=x`, and the item after `--token`.
    pub fn command_line(self, items: &[String]) -> Vec<String> {
        let mut is_next = false;
        let shown = items.iter().map(|item| {
            let hides = std::mem::take(&mut is_next) && !item.starts_with('-');
            is_next = item.starts_with('-') && !item.contains('=') && self.is_secret(item);
            if hides { REDACTED.into() } else { self.text(item).into_owned() }
        });
        shown.collect()
    }

    /// A violation whose message repeats no secret.
    pub fn conceal(self, schema: &Value, value: &Value, mut violation: Violation) -> Violation {
        if !violation.unknown && self.covers(schema, value, &violation.pointer) {
            violation.message = match &violation.expected {
                Some(expected) => format!("expected {expected}"),
                None if value.pointer(&violation.pointer).is_some() => "this value does not fit".into(),
                None => violation.message,
            };
        }
        violation = violation.requoted(|text| self.redacted(&Value::Null, &text.into()));
        if let Cow::Owned(masked) = self.text(&violation.message) {
            violation.message = masked;
        }
        violation
    }

    /// Whether the value at a place is secret, or is part of a secret.
    pub fn covers(self, schema: &Value, value: &Value, pointer: &str) -> bool {
        let mut place = Place::root(schema);
        let mut here = Some(Cow::Borrowed(value));
        for token in pointer.split('/').skip(1) {
            let token = pointer_unescape(token);
            // Arguments that are text may have been read as the JSON that they say.
            let read = here.as_deref().and_then(Value::as_str).and_then(read_json).map(Cow::Owned);
            let outer = read.or(here);
            let fields = outer.as_deref().and_then(Value::as_object);
            place = match outer.as_deref() {
                Some(Value::Array(_)) => place.item(Some(token.parse().unwrap_or(0))),
                _ => place.property(&token).0,
            };
            let beside_a_name = fields.is_some_and(|fields| self.names_a_secret(fields));
            here = outer.and_then(|outer| step(outer, &token));
            if place.is_secret() || self.is_named(&token, here.as_deref(), beside_a_name) {
                return true;
            }
        }
        here.map_or(place.is_secret(), |value| place.hides(&value))
    }

    /// Whether a field is secret by its name, or by what the field beside it names.
    fn is_named(self, name: &str, value: Option<&Value>, beside_a_name: bool) -> bool {
        let can_be = value.is_none_or(|value| name::can_hold(name, value));
        (name::is_secret(name) && can_be)
            || self.is_ruled(name)
            || (beside_a_name && name::is_word(name, "value"))
    }

    /// Lists of headers and variables have the form `{"name": "Authorization", "value": "..."}`.
    fn names_a_secret(self, fields: &Map<String, Value>) -> bool {
        let is_naming =
            |name: &str| ["name", "key", "header"].iter().any(|naming| name::is_word(name, naming));
        let mut named =
            fields.iter().filter(|(name, _)| is_naming(name)).filter_map(|(_, named)| named.as_str());
        named.any(|name| self.is_secret(name))
    }

    /// Whether the operator's rules name it.
    fn is_ruled(self, name: &str) -> bool {
        !self.rules.is_empty() && {
            let name = name.to_lowercase();
            self.rules.iter().any(|glob| name::matches(&glob.to_lowercase(), &name))
        }
    }
}

/// The field or the item of a value that a part of a pointer names.
fn step<'v>(value: Cow<'v, Value>, token: &str) -> Option<Cow<'v, Value>> {
    let pointer = pointer_join("", token);
    match value {
        Cow::Borrowed(value) => value.pointer(&pointer).map(Cow::Borrowed),
        Cow::Owned(mut value) => value.pointer_mut(&pointer).map(|inner| Cow::Owned(inner.take())),
    }
}

#[cfg(test)]
mod tests;
