//! The cost of each tool: in full, deferred, and as a page.

use std::collections::HashMap;

use rayon::prelude::*;
use serde::Serialize;
use serde_json::json;

use super::meter::{Meter, with_modes};
use crate::payload::selection::READ_TOOL_DOC;
use toolcrib_catalog::Profile;
use toolcrib_catalog::config::{Deferred, Mode};
use toolcrib_render::{Docs, TemplateError};

/// The cost of one tool.
#[derive(Debug, Serialize)]
pub struct ToolReport {
    /// Its canonical name.
    pub name: String,
    /// The name of its doc, which is also its name for most providers.
    pub safe_name: String,
    /// Tokens bound in full.
    pub full: usize,
    /// Tokens deferred with the smallest schema; `None` where it cannot be deferred, since one of our functions has
    /// its name.
    pub stub: Option<usize>,
    /// Tokens deferred with a compact schema; `None` where it cannot be deferred.
    pub compact: Option<usize>,
    pub doc: usize,
    /// Tokens of its doc, and of the call that reads it.
    pub read: usize,
}

/// The cost of each tool of a profile, the largest first, and the names of those that cannot be bound.
pub(super) fn tool_rows(
    meter: &mut Meter<'_>,
    profile: &Profile<'_>,
) -> Result<(Vec<ToolReport>, Vec<String>), TemplateError> {
    let full = meter.whole(profile);
    let stub = meter.deferred(profile, Mode::Hybrid, Deferred::Stub);
    let compact = meter.deferred(profile, Mode::Hybrid, Deferred::Compact);
    let docs = Docs::new(meter.catalog, with_modes(profile, |entry| entry.mode), meter.templates);
    let docs: Result<Vec<String>, _> = profile.tools.par_iter().map(|entry| docs.tool(*entry)).collect();
    let mut reports = Vec::new();
    let mut left_out = Vec::new();
    for (tool, doc) in profile.tools.iter().map(|entry| entry.tool).zip(docs?) {
        let of = |entries: &HashMap<String, usize>| entries.get(&tool.names.canonical).copied();
        let Some(full) = of(&full) else {
            left_out.push(tool.names.canonical.clone());
            continue;
        };
        let call = json!({"name": READ_TOOL_DOC, "arguments": {"names": [tool.names.safe]}}).to_string();
        let doc = meter.counter.count(&doc);
        let read = doc + meter.counter.count(&call);
        reports.push(ToolReport {
            name: tool.names.canonical.clone(),
            safe_name: tool.names.safe.clone(),
            full,
            stub: of(&stub),
            compact: of(&compact),
            doc,
            read,
        });
    }
    reports.sort_by(|a, b| (b.full, &a.name).cmp(&(a.full, &b.name)));
    Ok((reports, left_out))
}
