//! Output of toolcrib that was fed back as a source: a payload has stubs and functions of its own, and no definitions;
//! a `registry.json` has the definitions, and may stand beside those that it was made from.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use crate::own_functions::functions;
use crate::sources::RawTool;
use toolcrib_definition::finding::{Code, Finding, Place};

/// Removes the tools of payloads, and reports each file. The list of a live server stays: it may be a toolcrib too.
pub(super) fn refuse_own_output(tools: Vec<RawTool>, findings: &mut Vec<Finding>) -> Vec<RawTool> {
    let is_of_file = |tool: &RawTool| tool.origin.path.is_some();
    let of_payloads = tools.iter().filter(|tool| is_of_file(tool) && (is_function(tool) || is_of_page(tool)));
    let payloads: BTreeSet<String> = of_payloads.map(|tool| tool.place.file.clone()).collect();
    for file in &payloads {
        let message = "this is a payload that toolcrib made: it has stubs, and no definitions to document";
        let finding = Finding::new(Code::OwnOutput, message).at(Place::new(file, ""));
        findings.push(finding.help("name the catalog that it was made from, or its registry.json"));
    }
    tools.into_iter().filter(|tool| !payloads.contains(&tool.place.file)).collect()
}

/// Removes the tools of each `registry.json` that repeats other sources, and reports each that is read.
pub(super) fn without_copies(
    mut tools: Vec<RawTool>,
    registries: &BTreeMap<String, String>,
    findings: &mut Vec<Finding>,
) -> Vec<RawTool> {
    let is_in = |file: &str, tool: &&RawTool| tool.place.file == file;
    let mut known: HashSet<String> = HashSet::new();
    if !registries.is_empty() {
        let others = tools.iter().filter(|tool| !registries.contains_key(&tool.place.file));
        known.extend(others.map(|tool| tool.definition.name.clone()));
    }
    for file in registries.keys() {
        // A name that several servers share is qualified by server in a registry.
        let own = |name: &str| name.split_once("__").map_or(name, |(_, name)| name).to_string();
        let is_known = |tool: &&RawTool| {
            known.contains(&tool.definition.name) || known.contains(&own(&tool.definition.name))
        };
        let of_file = || tools.iter().filter(|tool| is_in(file, tool));
        let count = of_file().count();
        let repeated = of_file().filter(is_known).count();
        let message = if repeated * 2 > count {
            let others = count - repeated;
            tools.retain(|tool| !is_in(file, &tool));
            let others = if others > 0 { format!(", and {others} that only it has") } else { String::new() };
            format!(
                "this is a registry.json that toolcrib wrote; {repeated} of its tools are read from their own source, so it was left out{others}"
            )
        } else {
            known.extend(of_file().map(|tool| tool.definition.name.clone()));
            format!(
                "this is a registry.json that toolcrib wrote; its tools are read ({count}), and have no backends"
            )
        };
        findings.push(Finding::new(Code::RegistryRead, message).at(Place::new(file, "")));
    }
    tools
}

/// Whether a tool is from the payloads of a web page, which has a tool once for each provider.
fn is_of_page(tool: &RawTool) -> bool {
    matches!(tool.place.pointer.split('/').nth(1), Some("openai-responses" | "gemini-interactions"))
}

/// Whether a tool is one of our functions by name and text.
fn is_function(tool: &RawTool) -> bool {
    /// Characters that are compared: a provider may shorten or lengthen the rest.
    const COMPARED: usize = 24;
    let begins_alike = |own: &str| {
        let own: String = own.chars().take(COMPARED).collect();
        tool.definition.description.trim_start().starts_with(&own)
    };
    let own = functions().named(&tool.definition.name);
    own.is_some_and(|own| begins_alike(&own.texts.description) || begins_alike(&own.texts.short))
}
