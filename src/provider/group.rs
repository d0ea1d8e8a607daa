//! Tools by category: the toolsets that an agent loads.

use indexmap::IndexMap;

use super::PayloadError;
use crate::catalog::{Profile, Tool};
use crate::finding::nearest;
use crate::tool::{CategoryPath, DescriptionMode};

/// The tools of one category.
#[derive(Debug)]
pub struct Toolset<'a> {
    /// The category's path.
    pub name: String,
    /// Its tools, in catalog order.
    pub tools: Vec<&'a Tool>,
}

/// The toolsets of a profile: its deferred tools by their first category, in the order in which they appear.
pub fn toolsets<'a>(profile: &Profile<'a>) -> Vec<Toolset<'a>> {
    let deferred = profile.tools.iter().filter(|entry| entry.mode == DescriptionMode::Deferred);
    let mut groups: IndexMap<String, Vec<&'a Tool>> = IndexMap::new();
    for tool in deferred.map(|entry| entry.tool) {
        let name = tool.categories.first().map(|path| path.as_str().to_string()).unwrap_or_default();
        groups.entry(name).or_default().push(tool);
    }
    groups.into_iter().map(|(name, tools)| Toolset { name, tools }).collect()
}

/// The tools that hang on a category or below it.
pub(super) fn toolset<'a>(profile: &Profile<'a>, name: &str) -> Result<Vec<&'a Tool>, PayloadError> {
    let is_below = |category: &CategoryPath| {
        let path = category.as_str();
        let rest = path
            .get(..name.len())
            .filter(|start| start.eq_ignore_ascii_case(name))
            .map(|_| &path[name.len()..]);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    let tools: Vec<&Tool> = profile
        .tools
        .iter()
        .map(|entry| entry.tool)
        .filter(|tool| tool.categories.iter().any(is_below))
        .collect();
    if tools.is_empty() {
        let known: Vec<String> = toolsets(profile).into_iter().map(|set| set.name).collect();
        let near = nearest(name, known.iter().map(String::as_str)).iter().map(ToString::to_string).collect();
        return Err(PayloadError::UnknownToolset { name: name.into(), nearest: near, known });
    }
    Ok(tools)
}
