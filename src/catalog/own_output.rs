//! Output of toolcrib that was fed back as a source: a payload has stubs and functions of its own, and no definitions.

use std::collections::BTreeSet;

use super::functions::functions;
use crate::finding::{Code, Finding, Place};
use crate::sources::RawTool;

/// Removes the tools of payloads, and reports each file. The list of a live server stays: it may be a toolcrib too.
pub(super) fn refuse(tools: Vec<RawTool>, findings: &mut Vec<Finding>) -> Vec<RawTool> {
    let is_of_file = |tool: &&RawTool| tool.origin.path.is_some();
    let payloads: BTreeSet<String> = tools
        .iter()
        .filter(is_of_file)
        .filter(|tool| is_function(tool))
        .map(|tool| tool.place.file.clone())
        .collect();
    for file in &payloads {
        let message = "this is a payload that toolcrib made: it has stubs, and no definitions to document";
        let finding = Finding::new(Code::OwnOutput, message).at(Place::new(file, ""));
        findings.push(finding.help("name the catalog that it was made from, or its registry.json"));
    }
    tools.into_iter().filter(|tool| !payloads.contains(&tool.place.file)).collect()
}

/// Whether a tool is one of our functions by name and text.
fn is_function(tool: &RawTool) -> bool {
    /// Characters that are compared: a wire may shorten or lengthen the rest.
    const COMPARED: usize = 24;
    let begins_alike = |own: &str| {
        let own: String = own.chars().take(COMPARED).collect();
        tool.definition.description.trim_start().starts_with(&own)
    };
    let own = functions().named(&tool.definition.name);
    own.is_some_and(|own| begins_alike(&own.description) || begins_alike(&own.short))
}
