//! What a path means: an op by any of its names, a group of ops, a category, what ops begin with, or the session.

use indexmap::IndexSet;

use crate::catalog::Resolved;
use crate::finding::nearest;
use crate::functions::discovery::shown;
use crate::functions::{Edition, ErrorCode, Refusal};
use crate::help::Only;

/// How many paths a refusal names.
const SUGGESTED: usize = 4;

/// What there is help on.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Place {
    /// The tool at this place of the catalog.
    Op(usize),
    /// The group at this place of the groups, or some of it.
    Group(usize, Only),
    /// Ops that begin alike.
    Beginning(String),
    /// What was done in the caller's session.
    Session,
}

/// What a path means to this caller. An op comes before a group of the same path, which then ends in a dot; a group comes
/// before other names of tools.
pub(super) fn find(edition: &Edition, path: &str) -> Result<Place, Refusal> {
    let (name, catalog) = (path.trim(), edition.catalog());
    let groups = edition.help().groups(edition);
    let op = |name: &str| catalog.find(name).and_then(|tool| Some((tool, catalog.position(&tool.name)?)));
    if let Some((tool, index)) = op(name)
        && (tool.op == name || groups.named(name).is_none())
    {
        return Ok(Place::Op(index));
    }
    if let Some((group, only)) = groups.find(name) {
        return Ok(Place::Group(group, only));
    }
    if let Some((_, index)) = op(&name.replace('/', ".").to_lowercase()) {
        return Ok(Place::Op(index));
    }
    match (name, catalog.resolve(name)) {
        (_, Resolved::Ambiguous(tools)) => {
            let message = format!("{} ops go by the name `{}`", tools.len(), shown(name));
            let mut refusal = Refusal::new(ErrorCode::Ambiguous, message, "ask for one of `nearest`");
            refusal.nearest = tools.iter().map(|tool| tool.op.clone()).collect();
            Err(refusal)
        }
        ("session", _) => Ok(Place::Session),
        _ if name.trim_end_matches(".read").trim_end_matches(".write").ends_with('*') => {
            Ok(Place::Beginning(name.to_string()))
        }
        _ => Err(unknown(edition, name)),
    }
}

/// There is no such path, but some like it.
pub(super) fn unknown(edition: &Edition, path: &str) -> Refusal {
    let (catalog, groups) = (edition.catalog(), edition.help().groups(edition));
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
    let message = format!("there is no op or group `{}`", shown(path));
    let mut refusal = Refusal::new(ErrorCode::NotFound, message, next);
    refusal.nearest = near.into_iter().collect();
    refusal
}
