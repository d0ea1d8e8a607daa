//! Looking up the name of a tool: one tool, several, or none and the names that are near.

use std::collections::BTreeSet;

use indexmap::IndexSet;

use crate::catalog::Catalog;
use crate::names::without_client_prefix;
use crate::tool::Tool;
use toolcrib_definition::finding::nearest;
use toolcrib_definition::{Effect, quoted, words};

/// The longest unknown name, in bytes, whose words are compared.
const LONGEST_NAME: usize = 200;

/// Result of looking up a name.
#[derive(Debug)]
pub enum Resolved<'a> {
    /// One tool.
    Tool(&'a Tool),
    /// Several tools have this name; these are their canonical names.
    Ambiguous(Vec<&'a Tool>),
    /// No tool has this name; these names are nearest.
    Unknown(Vec<&'a str>),
}

/// A name that means no tool, or several.
#[derive(Clone, Debug)]
pub struct UnresolvedName<'c> {
    /// The reason, in one sentence.
    pub message: String,
    /// Whether several tools go by the name.
    pub is_ambiguous: bool,
    /// The tools that go by it, or those with a name like it, each once.
    pub near: Vec<&'c Tool>,
}

impl Catalog {
    /// Looks up a canonical name, op, safe name or alias. An exact canonical name always wins.
    pub fn resolve(&self, name: &str) -> Resolved<'_> {
        match self.by_name.get(name).map(Vec::as_slice) {
            Some([index]) => Resolved::Tool(&self.tools[*index]),
            Some(several) => Resolved::Ambiguous(several.iter().map(|&index| &*self.tools[index]).collect()),
            None => match without_client_prefix(name).map(|bare| self.resolve(bare)) {
                Some(found @ (Resolved::Tool(_) | Resolved::Ambiguous(_))) => found,
                _ => Resolved::Unknown(self.near(name)),
            },
        }
    }

    /// Names of tools near an unknown one, best first, at most three: those with its words, then those with nearly its letters.
    /// The name of a read is near to reads alone.
    fn near(&self, name: &str) -> Vec<&str> {
        let is_read = Effect::of_name(name) == Effect::Read;
        let tools = || self.tools.iter().filter(|tool| !is_read || tool.rules.effect == Effect::Read);
        let set = |name: &str| -> BTreeSet<String> { words(name).into_iter().collect() };
        let wanted = if name.len() > LONGEST_NAME { BTreeSet::new() } else { set(name) };
        let has = |all: &BTreeSet<String>, some: &BTreeSet<String>| some.len() > 1 && some.is_subset(all);
        let differing = |tool: &Tool| {
            let known = set(&tool.names.canonical);
            let own = set(tool.names.canonical.rsplit("__").next().unwrap_or_default());
            let is_alike = has(&known, &wanted) || has(&wanted, &own);
            is_alike.then(|| known.symmetric_difference(&wanted).count())
        };
        let mut near: Vec<(usize, &str)> =
            tools().filter_map(|tool| Some((differing(tool)?, tool.names.canonical.as_str()))).collect();
        near.sort_unstable();
        let mut near: Vec<&str> = near.into_iter().map(|(_, name)| name).collect();
        let names = tools().flat_map(|tool| [tool.names.canonical.as_str(), tool.names.op.as_str()]);
        for name in nearest(name, names) {
            let tool = self.find(name).map_or(name, |tool| &tool.names.canonical);
            if !near.iter().any(|known| self.find(known).is_some_and(|known| known.names.canonical == tool)) {
                near.push(name);
            }
        }
        near.truncate(3);
        near
    }

    /// Explains what was found for a name that means no single tool.
    pub fn explain<'c>(&'c self, name: &str, found: Resolved<'c>) -> UnresolvedName<'c> {
        let unknown = |near| {
            let message = format!("there is no tool `{}`", quoted(name));
            UnresolvedName { message, is_ambiguous: false, near }
        };
        match found {
            Resolved::Tool(_) => unknown(Vec::new()),
            Resolved::Unknown(near) => unknown(self.tools_named(near)),
            Resolved::Ambiguous(near) => {
                let message = format!("{} tools go by the name `{}`", near.len(), quoted(name));
                UnresolvedName { message, is_ambiguous: true, near }
            }
        }
    }

    /// The tools of these names, each once: the name of a tool and its op are often near together.
    pub fn tools_named<'n>(&self, names: impl IntoIterator<Item = &'n str>) -> Vec<&Tool> {
        let tools = names.into_iter().filter_map(|name| self.find(name));
        let places: IndexSet<usize> = tools.filter_map(|tool| self.position(&tool.names.canonical)).collect();
        places.into_iter().map(|place| &*self.tools[place]).collect()
    }
}
