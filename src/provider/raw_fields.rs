//! Fields of a JSON object as text, so that no number loses digits on the way from an event to a body.

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};
use serde_json::value::{RawValue, to_raw_value};

/// The fields of an object, each as it was written.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub(in crate::provider) struct RawFields(IndexMap<String, Box<RawValue>>);

impl RawFields {
    /// The fields of a text.
    pub(in crate::provider) fn read(text: &str) -> serde_json::Result<Self> {
        serde_json::from_str(text)
    }

    /// An object with one field.
    pub(in crate::provider) fn of(key: &str, value: impl Serialize) -> Self {
        let mut fields = Self::default();
        fields.set(key, value);
        fields
    }

    /// The first field, if it is an object.
    pub(in crate::provider) fn first(&self) -> Option<(&str, RawFields)> {
        let (key, _) = self.0.first()?;
        Some((key, self.object(key)?))
    }

    /// The object as one text.
    pub(in crate::provider) fn as_raw(&self) -> Box<RawValue> {
        to_raw_value(self).unwrap_or_default()
    }

    /// A field as text; `None` when it is absent or null.
    pub(in crate::provider) fn raw(&self, key: &str) -> Option<&RawValue> {
        self.0.get(key).map(|raw| &**raw).filter(|raw| raw.get() != "null")
    }

    pub(in crate::provider) fn has(&self, key: &str) -> bool {
        self.raw(key).is_some()
    }

    /// A field that is an object.
    pub(in crate::provider) fn object(&self, key: &str) -> Option<RawFields> {
        serde_json::from_str(self.raw(key)?.get()).ok()
    }

    /// The object at the end of a path of objects.
    pub(in crate::provider) fn object_at(&self, path: &[&str]) -> Option<RawFields> {
        let (first, rest) = path.split_first()?;
        rest.iter().try_fold(self.object(first)?, |fields, key| fields.object(key))
    }

    /// The objects of a field that is a list; `None` when it is no list.
    pub(in crate::provider) fn objects(&self, key: &str) -> Option<Vec<RawFields>> {
        let items: Vec<Box<RawValue>> = serde_json::from_str(self.raw(key)?.get()).ok()?;
        Some(items.iter().filter_map(|item| serde_json::from_str(item.get()).ok()).collect())
    }

    /// A field that is text.
    pub(in crate::provider) fn text(&self, key: &str) -> Option<String> {
        serde_json::from_str(self.raw(key)?.get()).ok()
    }

    /// Whether a field is this text.
    pub(in crate::provider) fn is(&self, key: &str, text: &str) -> bool {
        self.text(key).is_some_and(|value| value == text)
    }

    /// Sets a field.
    pub(in crate::provider) fn set(&mut self, key: &str, value: impl Serialize) {
        if let Ok(raw) = to_raw_value(&value) {
            self.0.insert(key.into(), raw);
        }
    }

    /// Takes a field out; `None` when it is absent or null.
    pub(in crate::provider) fn take(&mut self, key: &str) -> Option<Box<RawValue>> {
        self.0.shift_remove(key).filter(|raw| raw.get() != "null")
    }

    /// Adds the fields that are not there yet.
    pub(super) fn add(&mut self, other: RawFields) {
        for (key, value) in other.0 {
            let is_new = !self.has(&key);
            if is_new {
                self.0.insert(key, value);
            }
        }
    }

    /// Only these fields.
    pub(in crate::provider) fn only(mut self, keys: &[&str]) -> Self {
        self.0.retain(|key, _| keys.contains(&key.as_str()));
        self
    }
}

/// A value as JSON text.
pub(in crate::provider) fn written(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap_or_default()
}
