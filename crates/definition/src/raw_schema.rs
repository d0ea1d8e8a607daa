//! A JSON Schema as its author wrote it, byte for byte, next to its parsed form.

use std::borrow::Cow;
use std::sync::{Arc, OnceLock};

use schemars::{JsonSchema, SchemaGenerator};
use serde::{Deserialize, Serialize};
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Map, Value};

use crate::schema::Node;

/// A schema: the author's bytes, and the value they stand for. Never changed; every other form is derived.
#[derive(Clone, Debug)]
pub struct Schema {
    /// Written at its first use where there are no author's bytes.
    text: Arc<OnceLock<Box<RawValue>>>,
    value: Arc<Value>,
}

impl Schema {
    /// Keeps `text` as the verbatim form of `value`. The caller vouches that one is the other.
    pub fn verbatim(text: &str, value: Arc<Value>) -> Self {
        let raw = RawValue::from_string(text.to_string());
        raw.map_or_else(|_| Self::shared_value(Arc::clone(&value)), |raw| Self::raw(raw, Arc::clone(&value)))
    }

    /// Keeps a text that is known to be JSON as the verbatim form of `value`.
    pub fn raw(text: Box<RawValue>, value: Arc<Value>) -> Self {
        Self { text: Arc::new(OnceLock::from(text)), value }
    }

    /// A schema without a text of its own, such as one from YAML or an OpenAPI operation.
    pub fn from_value(value: Value) -> Self {
        Self::shared_value(Arc::new(compact(value)))
    }

    /// The same of a value that has no spare capacity, as a document that was just read has none.
    pub fn shared_value(value: Arc<Value>) -> Self {
        Self { text: Arc::default(), value }
    }

    /// The author's bytes.
    pub fn text(&self) -> &str {
        self.raw_text().get()
    }

    /// The author's bytes, known to be JSON.
    pub fn raw_text(&self) -> &RawValue {
        self.text.get_or_init(|| to_raw_value(&self.value).unwrap_or_default())
    }

    /// The parsed form.
    pub fn value(&self) -> &Value {
        &self.value
    }

    /// The parsed form, read.
    pub fn root(&self) -> Node<'_> {
        Node::root(&self.value)
    }

    /// The parsed form, shared.
    pub fn shared(&self) -> Arc<Value> {
        Arc::clone(&self.value)
    }
}

/// The same value without spare capacity. Maps that grew or were cloned have room for twice their content, and
/// schemas are most of the memory of a large catalog.
pub fn compact(value: Value) -> Value {
    match value {
        Value::Object(fields) => {
            let mut compacted = Map::with_capacity(fields.len());
            compacted.extend(fields.into_iter().map(|(name, field)| (name, compact(field))));
            Value::Object(compacted)
        }
        Value::Array(items) => Value::Array(items.into_iter().map(compact).collect()),
        other => other,
    }
}

impl PartialEq for Schema {
    fn eq(&self, other: &Self) -> bool {
        self.text() == other.text()
    }
}

impl Serialize for Schema {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.raw_text().serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Schema {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Value::deserialize(deserializer).map(Self::from_value)
    }
}

impl JsonSchema for Schema {
    fn schema_name() -> Cow<'static, str> {
        "JsonSchema".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "type": ["object", "boolean"], "description": "A JSON Schema." })
    }
}
