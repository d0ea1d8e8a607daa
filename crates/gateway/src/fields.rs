//! Objects of JSON of which some fields may be absent.

use serde_json::{Map, Value};

/// An object of these fields, in their order, without those that are absent.
pub(crate) fn fields<const N: usize>(fields: [(&str, Option<Value>); N]) -> Map<String, Value> {
    fields.into_iter().filter_map(|(name, value)| Some((name.to_string(), value?))).collect()
}
