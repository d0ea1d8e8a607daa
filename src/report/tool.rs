//! What one tool costs: in full, deferred, and as a doc.

use std::collections::HashMap;

use rayon::prelude::*;
use serde::Serialize;
use serde_json::json;

use super::cost::{Price, reads_to_break_even};
use super::meter::Meter;
use super::with_modes;
use crate::catalog::{Profile, ProfileTool};
use crate::config::{Deferred, Surface};
use crate::provider::{self, Request};
use crate::render::{Docs, TemplateError};
use crate::tokens::Count;
use crate::tool::DescriptionMode;

/// What one tool costs.
#[derive(Debug, Serialize)]
pub struct ToolReport {
    /// Its canonical name.
    pub name: String,
    /// The name of its doc, and what most providers call it.
    pub safe_name: String,
    /// Bound in full.
    pub full: Count,
    /// Deferred, with the smallest schema.
    pub stub: Count,
    /// Deferred, with a schema without texts.
    pub compact: Count,
    /// Its doc.
    pub doc: Count,
    /// Its doc, and the call that asks for it.
    pub read: Count,
    /// From how many reads in one job on it is cheaper to bind it in full; in o200k.
    pub reads_to_break_even: u64,
    /// The same with a prompt cache.
    pub reads_to_break_even_cached: u64,
}

/// The tools of a profile.
pub(super) struct Tools {
    /// Dearest first.
    pub(super) reports: Vec<ToolReport>,
    /// Tools that cannot be bound.
    pub(super) left_out: Vec<String>,
}

/// What each tool of a profile costs.
pub(super) fn tools(meter: &mut Meter<'_>, profile: &Profile<'_>) -> Result<Tools, TemplateError> {
    let full = entries(meter, profile, None);
    let stub = entries(meter, profile, Some(Deferred::Stub));
    let compact = entries(meter, profile, Some(Deferred::Compact));
    let docs = Docs::new(meter.catalog, with_modes(profile, |entry| Some(*entry)), meter.templates);
    let docs: Result<Vec<String>, _> = profile.tools.par_iter().map(|entry| docs.tool(*entry)).collect();
    let mut tools = Tools { reports: Vec::new(), left_out: Vec::new() };
    for (tool, doc) in profile.tools.iter().map(|entry| entry.tool).zip(docs?) {
        let of = |entries: &HashMap<String, Count>| entries.get(&tool.name).copied();
        let (Some(full), Some(stub), Some(compact)) = (of(&full), of(&stub), of(&compact)) else {
            tools.left_out.push(tool.name.clone());
            continue;
        };
        let call = json!({"name": "read_tool_doc", "arguments": {"names": [tool.safe_name]}}).to_string();
        let doc = meter.counter.count(&doc);
        let read = doc + meter.counter.count(&call);
        let deferred = match meter.options.payload.deferred {
            Deferred::Stub => stub,
            Deferred::Compact => compact,
        };
        let reads = |price| {
            reads_to_break_even(full.o200k, deferred.o200k, read.o200k, meter.options.iterations, price)
        };
        let (plain, cached) = (reads(Price::Plain), reads(Price::Cached));
        tools.reports.push(ToolReport {
            name: tool.name.clone(),
            safe_name: tool.safe_name.clone(),
            full,
            stub,
            compact,
            doc,
            read,
            reads_to_break_even: plain,
            reads_to_break_even_cached: cached,
        });
    }
    tools.reports.sort_by(|a, b| (b.full.o200k, &a.name).cmp(&(a.full.o200k, &b.name)));
    Ok(tools)
}

/// What each tool costs when all of them are bound alike: deferred, or in full. Nothing when no payload can be made.
fn entries(
    meter: &mut Meter<'_>,
    profile: &Profile<'_>,
    deferred: Option<Deferred>,
) -> HashMap<String, Count> {
    let mode = if deferred.is_some() { DescriptionMode::Deferred } else { DescriptionMode::Full };
    let profile = with_modes(profile, |entry| Some(ProfileTool { mode, ..*entry }));
    let provider = meter.options.provider;
    let mut options = meter.options.payload;
    options.deferred = deferred.unwrap_or_default();
    let request = Request {
        catalog: meter.catalog,
        profile: &profile,
        provider,
        surface: if deferred.is_some() { Surface::Hybrid } else { Surface::Full },
        options,
        load: &[],
    };
    let Ok(payload) = provider::payload_of_any_size(request) else { return HashMap::new() };
    payload
        .functions
        .iter()
        .filter(|function| !function.ours)
        .map(|function| {
            let entry = payload.entry(provider, function).to_string();
            (function.tool.name.clone(), meter.counter.count(&entry))
        })
        .collect()
}
