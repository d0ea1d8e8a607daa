//! The registry version: a hash of everything that a caller of the tools can notice.

use std::collections::HashSet;

use super::record::Record;
use crate::config::Category;
use crate::tool::Tool;
use toolcrib_definition::{CategoryPath, Definition};

/// The hash of the record of a tool and of its definition, which names its backend.
pub(crate) fn digest(tool: &Tool, definition: &Definition) -> [u8; 32] {
    let content = (Record::of(tool, None), definition);
    let content = if definition.mcp.is_empty() {
        serde_json::to_string(&content)
    } else {
        serde_json::to_string(&(content, &definition.mcp))
    };
    *blake3::hash(content.unwrap_or_default().as_bytes()).as_bytes()
}

/// Hash of everything that a caller of these tools can notice: the record and the backend of each tool, in order, and
/// the configured texts of their categories.
pub(crate) fn version(tools: &[&Tool], categories: &[Category]) -> String {
    let mut hasher = blake3::Hasher::new();
    hasher.update(b"toolcrib registry 1\n");
    for tool in tools {
        hasher.update(&tool.digest);
    }
    let described = described(tools, categories);
    if !described.is_empty() {
        hasher.update(serde_json::to_string(&described).unwrap_or_default().as_bytes());
    }
    hasher.finalize().to_hex()[..16].to_string()
}

/// The configured categories that hold one of these tools.
fn described<'c>(tools: &[&Tool], categories: &'c [Category]) -> Vec<&'c Category> {
    if categories.is_empty() {
        return Vec::new();
    }
    let paths = tools.iter().flat_map(|tool| &tool.labels.categories);
    let held: HashSet<&str> = paths.flat_map(CategoryPath::with_parents).collect();
    let is_held = |category: &&Category| {
        CategoryPath::parse(&category.path).is_some_and(|path| held.contains(path.as_str()))
    };
    categories.iter().filter(is_held).collect()
}
