//! Copies a value with secrets redacted, whole or shortened for a trace.

use serde_json::{Map, Value};

use super::credentials::REDACTED;
use super::policy::SecretPolicy;
use super::secret_names::{can_hold_secret, is_secret_name};
use crate::document::pointer_join;
use crate::schema::applied::Place;

impl SecretPolicy<'_> {
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
        Walk { room: Some(ALL), ..Walk::new(self, Reach::Everything) }.run(schema, value).0
    }

    /// A value with `null` in place of everything that the schema or the operator declares secret, and these secrets.
    /// Names and texts that a caller chose hide nothing.
    pub fn declared(self, schema: &Value, value: &Value) -> (Value, Vec<Hidden>) {
        Walk::new(self, Reach::Declared).run(schema, value)
    }
}

/// Longest string in a trace, in bytes.
pub(super) const STRING: usize = 2 << 10;

/// Most bytes of one call in a trace.
pub(super) const ALL: usize = 16 << 10;

/// Longest name in a trace, in bytes.
const NAME: usize = 256;

/// Most levels of JSON text within JSON text that are read.
const NESTED: u8 = 3;

/// Longest text that is read as JSON, in bytes.
const READ: usize = 1 << 20;

/// Secrets that are redacted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reach {
    /// All secrets.
    Everything,
    /// Secrets that the schema or the operator declares.
    Declared,
}

/// A redacted value.
#[derive(Clone, Debug, PartialEq)]
pub struct Hidden {
    /// JSON Pointer to it.
    pub pointer: String,
    pub value: Value,
}

/// One pass over a value.
struct Walk<'p> {
    policy: SecretPolicy<'p>,
    reach: Reach,
    /// Bytes by which a shortened value may still grow; `None` for a whole value.
    room: Option<usize>,
    path: String,
    nested: u8,
    found: Vec<Hidden>,
}

impl<'p> Walk<'p> {
    fn new(policy: SecretPolicy<'p>, reach: Reach) -> Self {
        Self { policy, reach, room: None, path: String::new(), nested: 0, found: Vec::new() }
    }

    fn run(mut self, schema: &Value, value: &Value) -> (Value, Vec<Hidden>) {
        let place = Place::root(schema);
        let kept = if place.hides(value) { self.hide(value) } else { self.of(value, &place) };
        (kept, self.found)
    }

    fn of(&mut self, value: &Value, place: &Place<'_>) -> Value {
        match value {
            Value::String(text) => self.text(text, place),
            Value::Array(items) => self.items(items, place),
            Value::Object(fields) => self.fields(fields, place),
            plain => {
                self.spend(8);
                plain.clone()
            }
        }
    }

    fn hide(&mut self, value: &Value) -> Value {
        self.found.push(Hidden { pointer: self.path.clone(), value: value.clone() });
        if self.reach == Reach::Declared { Value::Null } else { REDACTED.into() }
    }

    fn text(&mut self, text: &str, place: &Place<'_>) -> Value {
        if self.reach == Reach::Declared {
            return text.into();
        }
        let nested = self.within(text, place);
        let text = nested.as_deref().unwrap_or(text);
        let masked = self.policy.text(text);
        if masked != text && nested.is_none() {
            self.found.push(Hidden { pointer: self.path.clone(), value: text.into() });
        }
        let Some(room) = self.room else { return masked.into_owned().into() };
        let kept = cut(&masked, STRING.min(room));
        self.spend(written(kept));
        match masked.len() - kept.len() {
            0 => kept.into(),
            more => format!("{kept}… [{more} bytes more]").into(),
        }
    }

    /// Returns a JSON text with its secrets redacted; `None` if it has no secrets.
    fn within(&mut self, text: &str, place: &Place<'_>) -> Option<String> {
        let inner = if self.nested < NESTED { read_json(text) } else { None }?;
        let mut walk = Walk::new(self.policy, self.reach);
        walk.nested = self.nested + 1;
        let kept = walk.of(&inner, place);
        if walk.found.is_empty() {
            return None;
        }
        // A server may repeat the whole text, or only a secret in it.
        let whole = Hidden { pointer: String::new(), value: text.into() };
        let found = std::iter::once(whole).chain(walk.found);
        self.found.extend(found.map(|hidden| Hidden { pointer: self.path.clone(), ..hidden }));
        Some(kept.to_string())
    }

    fn items(&mut self, items: &[Value], place: &Place<'_>) -> Value {
        let mut kept = Vec::new();
        for (index, item) in items.iter().enumerate() {
            if self.room == Some(0) {
                kept.push(format!("… [{} more]", items.len() - index).into());
                break;
            }
            let inner = place.item(Some(index));
            kept.push(self.at(&index.to_string(), |walk| {
                if inner.hides(item) { walk.hide(item) } else { walk.of(item, &inner) }
            }));
            self.spend(1);
        }
        kept.into()
    }

    fn fields(&mut self, fields: &Map<String, Value>, place: &Place<'_>) -> Value {
        let mut kept = Map::new();
        let beside_a_name = self.reach == Reach::Everything && self.policy.names_a_secret(fields);
        for (index, (name, value)) in fields.iter().enumerate() {
            if self.room == Some(0) {
                kept.insert("…".into(), format!("{} more", fields.len() - index).into());
                break;
            }
            let (inner, is_declared) = place.property(name);
            let is_named = match self.reach {
                Reach::Everything => self.policy.is_named(name, Some(value), beside_a_name),
                Reach::Declared => {
                    let is_secret = is_declared && is_secret_name(name) && can_hold_secret(name, value);
                    is_secret || self.policy.is_ruled(name)
                }
            };
            let short = if self.room.is_some() { cut(name, NAME) } else { name };
            self.spend(written(short) + 4);
            let value = self.at(name, |walk| {
                if is_named || inner.hides(value) { walk.hide(value) } else { walk.of(value, &inner) }
            });
            let short = if self.reach == Reach::Declared { short.into() } else { self.policy.text(short) };
            kept.insert(short.into_owned(), value);
        }
        kept.into()
    }

    /// Continues below a name.
    fn at<T>(&mut self, name: &str, below: impl FnOnce(&mut Self) -> T) -> T {
        let length = self.path.len();
        self.path.push_str(&pointer_join("", name));
        let done = below(self);
        self.path.truncate(length);
        done
    }

    fn spend(&mut self, bytes: usize) {
        self.room = self.room.map(|room| room.saturating_sub(bytes));
    }
}

/// Parses a text that is a JSON list or object.
pub(super) fn read_json(text: &str) -> Option<Value> {
    let begins = text.trim_start().starts_with(['{', '[']);
    if begins && text.len() <= READ { serde_json::from_str(text).ok() } else { None }
}

/// The length of a text when written as JSON, in bytes.
fn written(text: &str) -> usize {
    serde_json::to_string(text).map_or(text.len(), |json| json.len())
}

fn cut(text: &str, bytes: usize) -> &str {
    &text[..text.floor_char_boundary(bytes)]
}
