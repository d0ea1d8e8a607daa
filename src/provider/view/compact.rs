//! Compact schemas: structure and requirements stay; descriptions go.

use serde_json::Value;

use crate::finding::keyword::{each_mut, is_annotation};

/// Removes the keywords that only describe values. A property may be named `description`; it stays.
pub(super) fn strip(schema: &mut Value) {
    let Some(object) = schema.as_object_mut() else { return };
    object.retain(|key, _| !is_annotation(key));
    each_mut(object, &mut strip);
}
