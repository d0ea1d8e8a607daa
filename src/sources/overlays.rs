//! The OpenAPI Overlay documents that a source names, applied in their order to each of its OpenAPI documents.
//!
//! They are read like files that a `$ref` leads to: only in the folder of the catalog. A document is served only with all of
//! its overlays, since an overlay may remove what must not be served.

use serde_json::Value;

use super::openapi::overlay;
use super::parts::References;
use crate::finding::{Code, Document, Finding, Place};
use crate::tool::quoted;

/// Help with an overlay that is an error, of whatever kind.
const HELP: &str = "correct it, or remove it from the `openapi_overlays` of the source; until then the documents that it is for are not served";

/// Applies the overlays in these files, which are relative to the catalog. `is_of_source` says whether a file is a document of
/// the source.
pub(super) fn apply(
    files: &[String],
    is_of_source: &dyn Fn(&str) -> bool,
    document: &mut Document,
    references: &mut References<'_>,
) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut left = None;
    for file in files {
        let target = match references.file(file, &document.file) {
            Ok(target) => target,
            Err(reason) => {
                let message = format!("the OpenAPI Overlay `{}` {}", quoted(file), reason.told().0);
                findings.push(invalid(file, String::new(), message));
                continue;
            }
        };
        let Some(value) = references.part(&target).map(|read| &read.value) else { continue };
        if let Some((field, message)) = overlay::mistake(value) {
            findings.push(invalid(&target, field.to_string(), message));
            continue;
        }
        match extended(value, &target, references) {
            Some(extended) if !is_of_source(&extended) => {
                let message = format!(
                    "the OpenAPI Overlay extends `{}`, which is no document of the source that names the overlay",
                    quoted(&extended)
                );
                findings.push(invalid(&target, "/extends".into(), message));
            }
            Some(extended) if extended != document.file => {}
            _ => {
                let left = left.get_or_insert_with(|| overlay::Allowance::of(&document.value));
                let changes = overlay::apply(value, &target, &mut document.value, left);
                findings.extend(changes.into_iter().map(|finding| match finding.code {
                    Code::OpenapiOverlayInvalid => finding.help(HELP),
                    _ => finding,
                }));
            }
        }
    }
    findings
}

/// Whether a document must not be served, since one of its overlays was not applied whole.
pub(super) fn withhold(findings: &[Finding]) -> bool {
    findings.iter().any(|finding| finding.code == Code::OpenapiOverlayInvalid)
}

fn invalid(file: &str, pointer: String, message: String) -> Finding {
    Finding::new(Code::OpenapiOverlayInvalid, message).at(Place::new(file, pointer)).help(HELP)
}

/// The file that an overlay is for alone. One that extends an address is for every document, since it is not known where that
/// comes from.
fn extended(overlay: &Value, file: &str, references: &References<'_>) -> Option<String> {
    references.named(overlay.get("extends")?.as_str()?, file)
}
