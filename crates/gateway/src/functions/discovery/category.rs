//! Finds the category of a path. The error of an unknown path names the nearest categories.

use std::collections::HashSet;

use serde_json::json;

use super::category_ranking::by_words;
use super::entries::{category_hints, segments};
use crate::context::CatalogView;
use crate::tool_error::{ErrorCode, ToolError};
use toolcrib_definition::finding::nearest;
use toolcrib_definition::{clean_line, quoted};

/// Most segments and bytes of a path that are read. No category has more.
const MAX_SEGMENTS: usize = 32;

const MAX_PATH: usize = 8_192;

/// Most categories that an error suggests.
const SUGGESTED: usize = 3;

/// Most roots that an error lists when no category is near.
const MAX_ROOTS: usize = 12;

/// Position of the category of a path; the root if the path is empty. Letter case is ignored if only one category then
/// fits. A group of ops, such as `onto.task`, stands for the smallest category with all of its tools.
pub(crate) fn category<S: AsRef<str>>(view: &CatalogView, path: &[S]) -> Result<usize, ToolError> {
    let segments = path.iter().flat_map(|segment| segment.as_ref().split('/')).map(clean_line);
    let segments: Vec<String> = segments.filter(|segment| !segment.is_empty()).take(MAX_SEGMENTS).collect();
    if segments.is_empty() {
        return Ok(0);
    }
    let path = segments.join("/");
    if path.len() > MAX_PATH {
        return Err(unknown_category(view, &quoted(&path)));
    }
    let found = view.tree().find(&path).or_else(|| group(view, &segments));
    found.ok_or_else(|| unknown_category(view, &path))
}

/// The smallest category with all tools whose ops begin with these segments.
fn group(view: &CatalogView, segments: &[String]) -> Option<usize> {
    let tree = view.tree();
    let tools = &view.catalog().tools;
    let group = format!("{}.", segments.join(".").to_lowercase());
    let ops = tools.iter().enumerate().filter(|(_, tool)| tool.names.op.starts_with(&group));
    let members: Vec<usize> = ops.map(|(index, _)| index).collect();
    if members.is_empty() {
        return None;
    }
    let has_all = |node: usize| {
        let below = &tree.node(node).descendant_tools;
        members.iter().all(|member| below.binary_search(member).is_ok())
    };
    let mut smallest = 0;
    while let Some(&child) = tree.node(smallest).children.iter().find(|&&child| has_all(child)) {
        smallest = child;
    }
    (smallest != 0 || members.len() == tools.len()).then_some(smallest)
}

fn unknown_category(view: &CatalogView, path: &str) -> ToolError {
    let tree = view.tree();
    let last = path.rsplit('/').next().unwrap_or(path);
    let by_path = nearest(path, tree.nodes().iter().map(|node| node.path.as_str()));
    let by_name = nearest(last, tree.nodes().iter().map(|node| node.name.as_str()));
    let named = |name: &&str| {
        (0..tree.nodes().len()).filter(|&node| tree.node(node).name == *name).collect::<Vec<_>>()
    };
    let mut close: Vec<usize> = by_path.into_iter().filter_map(|path| tree.find(path)).collect();
    close.extend(by_name.iter().flat_map(named));
    // The existing beginning of the path.
    let mut above = path;
    while let Some((shorter, _)) = above.rsplit_once('/') {
        above = shorter;
        close.extend(tree.find(above));
    }
    if close.is_empty() {
        close.extend(by_words(view, &path.replace('/', " "), SUGGESTED).hits.iter().map(|hit| hit.node));
    }
    let mut seen = HashSet::new();
    close.retain(|&node| node != 0 && seen.insert(node));
    close.truncate(SUGGESTED);
    let first = path.split('/').next().unwrap_or_default();
    let root_names = || tree.node(0).children.iter().map(|&root| tree.node(root).name.as_str());
    let closest_root = nearest(first, root_names()).first().and_then(|name| tree.find(name));
    let closest_root = closest_root.or_else(|| {
        let root = |&node: &usize| tree.ancestors(node).filter(|&above| above != 0).last().unwrap_or(node);
        close.first().map(root)
    });
    let roots: Vec<usize> = match closest_root {
        Some(root) => vec![root],
        None => tree.node(0).children.iter().copied().take(MAX_ROOTS).collect(),
    };
    let next = match close.first().or(roots.first()) {
        Some(&node) => format!(
            "list one of `hints`, such as {}, or find a category by what it is for with search_nodes",
            json!(segments(tree.node(node)))
        ),
        None => "call list without a path: there is no category".into(),
    };
    let message = format!("there is no category `{}`", quoted(path));
    let mut error = ToolError::new(ErrorCode::UnknownPath, message, next);
    error.nearest = close.iter().map(|&node| tree.node(node).path.clone()).collect();
    error.hint("categories", category_hints(view, &close)).hint("roots", category_hints(view, &roots))
}
