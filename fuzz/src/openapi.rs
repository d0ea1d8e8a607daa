//! Any JSON as the paths and components of an OpenAPI document. The first byte chooses the version.

use serde_json::{Value, json};
use toolcrib::sources::openapi;

pub fn check(bytes: &[u8]) {
    let Some((first, text)) = super::chosen(bytes) else { return };
    let Ok(Value::Object(mut document)) = serde_json::from_str(text) else { return };
    let (key, version) =
        [("openapi", "3.0.3"), ("openapi", "3.1.0"), ("swagger", "2.0"), ("openapi", "3.2.0")][first % 4];
    document.insert(key.into(), version.into());
    document.entry("paths").or_insert(json!({}));
    let mut document = Value::Object(document);
    assert!(openapi::recognise(&document), "a version that is not recognised");
    for operation in openapi::import("a.json", &mut document).operations {
        assert!(document.pointer(&operation.pointer).is_some(), "an operation that is nowhere");
        assert!(!operation.definition.name.trim().is_empty(), "an operation without a name");
    }
}
