//! Toolsets: the tools of a category, which an agent loads together.

use indexmap::IndexSet;

use super::PayloadError;
use crate::catalog::{Profile, Tool};
use crate::finding::nearest;
use crate::tool::{CategoryPath, DescriptionMode};

/// The toolsets of a profile: the first categories of its deferred tools, in the order in which they appear.
pub fn toolsets<'a>(profile: &Profile<'a>) -> Vec<&'a str> {
    let deferred = profile.tools.iter().filter(|entry| entry.mode == DescriptionMode::Deferred);
    let names: IndexSet<&str> =
        deferred.filter_map(|entry| entry.tool.categories.first()).map(CategoryPath::as_str).collect();
    names.into_iter().collect()
}

/// The tools in a category or below it.
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
        let known: Vec<String> = toolsets(profile).into_iter().map(str::to_string).collect();
        let near = nearest(name, known.iter().map(String::as_str)).iter().map(ToString::to_string).collect();
        return Err(PayloadError::UnknownToolset { name: name.into(), nearest: near, known });
    }
    Ok(tools)
}
