//! The OpenAPI Overlay documents that a source names, applied in their order to each of its OpenAPI documents.
//!
//! They are read like files that a `$ref` leads to: only in the folder of the catalog.

use serde_json::Value;

use super::openapi::overlay;
use super::parts::References;
use crate::finding::{Code, Document, Finding, Place};

/// Applies the overlays in these files, which are relative to the catalog.
pub(super) fn apply(
    files: &[String],
    document: &mut Document,
    references: &mut References<'_>,
) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in files {
        let target = match references.file(file, &document.file) {
            Ok(target) => target,
            Err(reason) => {
                let (what, help) = reason.told();
                let finding = Finding::new(Code::OpenapiOverlayInvalid, format!("the overlay {what}"));
                findings.push(finding.at(Place::new(file.clone(), "")).help(help));
                continue;
            }
        };
        let value = references.part(&target).map(|read| read.value.clone()).unwrap_or_default();
        if is_for(&value, &target, document, references) {
            findings.extend(overlay::apply(&value, &target, &mut document.value));
        }
    }
    findings
}

/// Whether an overlay is for a document. One that extends a file is for that alone; one that extends an address is for
/// every document, since it is not known where that comes from.
fn is_for(overlay: &Value, file: &str, document: &Document, references: &References<'_>) -> bool {
    let extends = overlay.get("extends").and_then(Value::as_str);
    match extends.and_then(|extends| references.named(extends, file)) {
        Some(extended) => extended == document.file,
        None => true,
    }
}
