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
    let lines: Vec<String> = profile.tools.par_iter().map(registry_line).collect();
    registry_of(&catalog.version, profile.name, &lines)
}

/// The same text, of lines that are there already.
pub fn registry_of<L: AsRef<str>>(version: &str, profile: Option<&str>, lines: &[L]) -> String {
    let mut text = registry_head(version, profile);
    text.reserve_exact(lines.iter().map(|line| line.as_ref().len() + 2).sum::<usize>() + 4);
    for (index, line) in lines.iter().enumerate() {
        text.push_str(if index == 0 { "" } else { ",\n" });
        text.push_str(line.as_ref());
    }
    text.push_str("\n]}\n");
    text
}

/// The text before the first tool.
pub fn registry_head(version: &str, profile: Option<&str>) -> String {
    let profile = profile.map_or("null".into(), |name| Value::from(name).to_string());
    format!("{{\"registry_version\":\"{version}\",\"profile\":{profile},\"tools\":[\n")
}

/// The line of one tool; a comma and a line break stand between two.
pub fn registry_line(entry: &ProfileTool<'_>) -> String {
    let record = Record::of(entry.tool, Some(entry.mode));
    let line = serde_json::to_string(&record).unwrap_or_default();
    if line.contains('\n') { line.replace('\n', " ") } else { line }
}
