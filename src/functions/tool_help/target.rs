//! The target of a path: an op by any of its names, a group of ops, a category, a beginning of ops, or the session.

use indexmap::IndexSet;

use crate::catalog::Resolved;
use crate::finding::nearest;
use crate::functions::help_cache::HelpTarget;
use crate::functions::{CatalogView, ErrorCode, Function, Refusal};
use crate::tool::quoted;

/// Most paths that a refusal names.
const SUGGESTED: usize = 4;

/// The target of a path for this caller. An op comes before a group of the same path, which then ends in a dot; a
/// group comes before other names of tools.
pub(super) fn find(view: &CatalogView, path: &str) -> Result<HelpTarget, Refusal> {
    let (name, catalog) = (path.trim(), view.catalog());
    let groups = view.groups();
    let op = |name: &str| catalog.find(name).and_then(|tool| Some((tool, catalog.position(&tool.name)?)));
    if let Some((tool, index)) = op(name)
        && (tool.op == name || groups.named(name).is_none())
    {
        return Ok(HelpTarget::Op(index));
    }
    if let Some((group, only)) = groups.find(name) {
        return Ok(HelpTarget::Group(group, only));
    }
    if let Some((_, index)) = op(&name.replace('/', ".").to_lowercase()) {
        return Ok(HelpTarget::Op(index));
    }
    match (name, catalog.resolve(name)) {
        (_, found @ Resolved::Ambiguous(_)) => {
            let unresolved = catalog.explain(name, found);
            let message = unresolved.message;
            let mut refusal = Refusal::new(ErrorCode::Ambiguous, message, "ask for one of `nearest`");
            refusal.nearest = unresolved.near.iter().map(|tool| tool.op.clone()).collect();
            Err(refusal)
        }
        ("session", _) => Ok(HelpTarget::Session),
        _ if name.trim_end_matches(".read").trim_end_matches(".write").ends_with('*') => {
            Ok(HelpTarget::Beginning(name.to_string()))
        }
        _ => {
            let own = Function::spelled(name).map(|own| HelpTarget::Function(own.name()));
            own.ok_or_else(|| unknown(view, name))
        }
    }
}

/// The refusal of an unknown path, with near ones.
pub(super) fn unknown(view: &CatalogView, path: &str) -> Refusal {
    let (catalog, groups) = (view.catalog(), view.groups());
    let name = path.trim().trim_end_matches('*');
    let names = catalog.tools.iter().flat_map(|tool| [tool.name.as_str(), tool.op.as_str()]);
    let paths = groups.all().iter().map(|group| group.path.as_str());
    let op = |name: &str| catalog.find(name).map_or(name.to_string(), |tool| tool.op.clone());
    let near = nearest(name, names.chain(paths)).into_iter().map(op);
    let above = groups.above(name).map(|group| group.path.clone());
    let near: IndexSet<String> = near.chain(above).take(SUGGESTED).collect();
    let next = match near.is_empty() {
        true => "find the op by what it does with tool_search, or begin with the path `root`",
        false => "ask for one of `nearest`, or find the op by what it does with tool_search",
    };
    let message = format!("there is no op or group `{}`", quoted(path));
    let mut refusal = Refusal::new(ErrorCode::NotFound, message, next);
    refusal.nearest = near.into_iter().collect();
    refusal
}
