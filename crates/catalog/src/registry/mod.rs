//! `registry.json`: the catalog's content written down, and the version that is its hash.

mod record;
pub(crate) mod version;

pub use record::Record;

use rayon::prelude::*;
use serde_json::Value;

use crate::catalog::Catalog;
use crate::profile::{Profile, ProfileTool};

/// The text of `registry.json` for a profile: one tool a line, so that a change shows as a line.
pub fn registry(catalog: &Catalog, profile: &Profile<'_>) -> String {
    let lines: Vec<String> = profile.tools.par_iter().map(line).collect();
    let name = profile.name.map_or("null".into(), |name| Value::from(name).to_string());
    format!(
        "{{\"registry_version\":\"{}\",\"profile\":{name},\"tools\":[\n{}\n]}}\n",
        catalog.version,
        lines.join(",\n")
    )
}

/// The line of one tool.
fn line(entry: &ProfileTool<'_>) -> String {
    let record = Record::of(entry.tool, Some(entry.mode));
    let line = serde_json::to_string(&record).unwrap_or_default();
    if line.contains('\n') { line.replace('\n', " ") } else { line }
}
