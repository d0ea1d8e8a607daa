//! The cost of one tool: in full, deferred, and as a doc.

use std::collections::HashMap;

use rayon::prelude::*;
use serde::Serialize;
use serde_json::json;

use super::context::entry_in_context;
use super::meter::Meter;
use super::with_modes;
use crate::catalog::{Profile, ProfileTool};
use crate::config::{self, Deferred, Mode};
use crate::provider::{self, PayloadRequest, Provider, READ_TOOL_DOC};
use crate::render::{Docs, TemplateError};
use crate::tokens::Count;
use crate::tool::DescriptionMode;

/// The cost of one tool.
#[derive(Debug, Serialize)]
pub struct ToolReport {
    /// Its canonical name.
    pub name: String,
    /// The name of its doc, which is also its name for most providers.
    pub safe_name: String,
    /// Tokens bound in full.
    pub full: Count,
    /// Tokens deferred with the smallest schema; `None` where it cannot be deferred, since one of our functions has
    /// its name.
    pub stub: Option<Count>,
    /// Tokens deferred with a compact schema; `None` where it cannot be deferred.
    pub compact: Option<Count>,
    /// Its doc.
    pub doc: Count,
    /// Tokens of its doc, and of the call that reads it.
    pub read: Count,
}

/// The tools of a profile.
pub(super) struct Tools {
    /// The tools, the largest first.
    pub(super) reports: Vec<ToolReport>,
    /// Tools that cannot be bound.
    pub(super) left_out: Vec<String>,
}

/// The cost of each tool of a profile.
pub(super) fn tools(meter: &mut Meter<'_>, profile: &Profile<'_>) -> Result<Tools, TemplateError> {
    let full = whole(meter, profile);
    let stub = deferred(meter, profile, Mode::Hybrid, Deferred::Stub);
    let compact = deferred(meter, profile, Mode::Hybrid, Deferred::Compact);
    let docs = Docs::new(meter.catalog, with_modes(profile, |entry| Some(*entry)), meter.templates);
    let docs: Result<Vec<String>, _> = profile.tools.par_iter().map(|entry| docs.tool(*entry)).collect();
    let mut tools = Tools { reports: Vec::new(), left_out: Vec::new() };
    for (tool, doc) in profile.tools.iter().map(|entry| entry.tool).zip(docs?) {
        let of = |entries: &HashMap<String, Count>| entries.get(&tool.name).copied();
        let Some(full) = of(&full) else {
            tools.left_out.push(tool.name.clone());
            continue;
        };
        let (stub, compact) = (of(&stub), of(&compact));
        let call = json!({"name": READ_TOOL_DOC, "arguments": {"names": [tool.safe_name]}}).to_string();
        let doc = meter.counter.count(&doc);
        let read = doc + meter.counter.count(&call);
        tools.reports.push(ToolReport {
            name: tool.name.clone(),
            safe_name: tool.safe_name.clone(),
            full,
            stub,
            compact,
            doc,
            read,
        });
    }
    tools.reports.sort_by(|a, b| (b.full.o200k, &a.name).cmp(&(a.full.o200k, &b.name)));
    Ok(tools)
}

/// Tokens of each tool in full.
pub(super) fn whole(meter: &mut Meter<'_>, profile: &Profile<'_>) -> HashMap<String, Count> {
    let profile = all_in(DescriptionMode::Full, profile);
    entries(meter, &profile, Mode::Full, meter.options.payload)
}

/// Tokens in the context of each tool when all are deferred in a mode.
pub(super) fn deferred(
    meter: &mut Meter<'_>,
    profile: &Profile<'_>,
    mode: Mode,
    deferred: Deferred,
) -> HashMap<String, Count> {
    let profile = all_in(DescriptionMode::Deferred, profile);
    entries(meter, &profile, mode, config::Payload { deferred, ..meter.options.payload })
}

fn all_in<'a>(mode: DescriptionMode, profile: &Profile<'a>) -> Profile<'a> {
    with_modes(profile, |entry| Some(ProfileTool { mode, ..*entry }))
}

/// Tokens in the context of each tool. When names collide, no payload of all tools is possible: then each is bound by
/// itself.
fn entries(
    meter: &mut Meter<'_>,
    profile: &Profile<'_>,
    mode: Mode,
    options: config::Payload,
) -> HashMap<String, Count> {
    let mut counts = HashMap::with_capacity(profile.tools.len());
    if !add_entries(meter, profile, mode, options, &mut counts) {
        for one in &profile.tools {
            let alone = Profile { tools: vec![*one], ..*profile };
            add_entries(meter, &alone, mode, options, &mut counts);
        }
    }
    counts
}

/// Whether a payload can be made, whose tools are then counted.
fn add_entries(
    meter: &mut Meter<'_>,
    profile: &Profile<'_>,
    mode: Mode,
    options: config::Payload,
    counts: &mut HashMap<String, Count>,
) -> bool {
    let provider = meter.options.provider;
    let request = PayloadRequest { catalog: meter.catalog, profile, provider, mode, options };
    let Ok(payload) = provider::payload_of_any_size(request) else { return false };
    for function in payload.functions.iter().filter(|function| !function.ours) {
        let entry = payload.entry(provider, function);
        let count = match entry_in_context(entry) {
            Some(entry) => meter.counter.count(&entry.to_string()),
            // The namespace names the tool.
            None if provider == Provider::OpenAiResponses => meter.counter.count(&function.name),
            None => Count::default(),
        };
        counts.insert(function.tool.name.clone(), count);
    }
    true
}
