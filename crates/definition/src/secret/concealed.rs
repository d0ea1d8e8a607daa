//! Messages about a value that repeat no secret of it.

use std::borrow::Cow;

use serde_json::Value;

use super::policy::SecretPolicy;
use super::redacted::read_json;
use crate::document::{pointer_join, pointer_unescape};
use crate::finding::Violation;
use crate::schema::applied::Place;

impl SecretPolicy<'_> {
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
}

/// The field or the item of a value that a part of a pointer names.
fn step<'v>(value: Cow<'v, Value>, token: &str) -> Option<Cow<'v, Value>> {
    let pointer = pointer_join("", token);
    match value {
        Cow::Borrowed(value) => value.pointer(&pointer).map(Cow::Borrowed),
        Cow::Owned(mut value) => value.pointer_mut(&pointer).map(|inner| Cow::Owned(inner.take())),
    }
}
