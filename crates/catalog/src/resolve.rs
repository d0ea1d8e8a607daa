//! Looking up the name of a tool: one tool, several, or none and the names that are near.

use std::collections::BTreeSet;

use indexmap::IndexSet;

use crate::catalog::Catalog;
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

/// A name that a model may mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CalledName<'n> {
    pub name: &'n str,
    /// The server that is named before it.
    pub server: Option<&'n str>,
}

/// What formats put before the name of a function.
const LISTS: [&str; 4] = ["functions", "default_api", "tools", "toolcrib"];

/// What clients put before the name of a server and its tool.
const MCP: &str = "mcp__";

/// The names that a model may mean: the one that it wrote; without the tail of a format (`X<|channel|>commentary`, `X:0`); and
/// without what formats and clients put before names (`functions.X`, `mcp__SERVER__X`).
pub fn called_names(written: &str) -> Vec<CalledName<'_>> {
    let mut name = written.trim();
    let mut names = vec![CalledName { name, server: None }];
    if let Some((before, _)) = name.split_once("<|") {
        name = before.trim();
        names.push(CalledName { name, server: None });
    }
    if let Some((before, number)) = name.rsplit_once(':')
        && !number.is_empty()
        && number.bytes().all(|digit| digit.is_ascii_digit())
    {
        name = before;
        names.push(CalledName { name, server: None });
    }
    if let Some((list, rest)) = name.split_once(['.', ':', '/']).or_else(|| name.split_once("__"))
        && LISTS.iter().any(|known| known.eq_ignore_ascii_case(list))
    {
        name = rest;
        names.push(CalledName { name, server: None });
    }
    if let Some((prefix, rest)) = name.split_at_checked(MCP.len())
        && prefix.eq_ignore_ascii_case(MCP)
    {
        names.push(CalledName { name: rest, server: None });
        names.extend(rest.split_once("__").map(|(server, name)| CalledName { name, server: Some(server) }));
    }
    names
}

impl Catalog {
    /// Looks up a canonical name, op, safe name or alias, also behind what formats and clients put before names. An exact canonical
    /// name always wins.
    pub fn resolve(&self, name: &str) -> Resolved<'_> {
        let tools = called_names(name).into_iter().map(|called| self.exactly(called));
        match tools.into_iter().find(|tools| !tools.is_empty()).as_deref() {
            Some([tool]) => Resolved::Tool(tool),
            Some(several) => Resolved::Ambiguous(several.to_vec()),
            None => Resolved::Unknown(self.near(name)),
        }
    }

    /// The tools with exactly this name.
    fn exactly(&self, called: CalledName<'_>) -> Vec<&Tool> {
        let tools = self.by_name.get(called.name).into_iter().flatten().map(|&index| &*self.tools[index]);
        tools.filter(|tool| self.may_be_of(tool, called.server)).collect()
    }

    /// The one tool that a model means by a name ([`called_names`]), among those that `is_known`; in another case, or with other
    /// separators for a tool that is not destructive. An error has the tools that share the name.
    pub fn called(&self, written: &str, is_known: &dyn Fn(&Tool) -> bool) -> Result<&Tool, Vec<&Tool>> {
        for CalledName { name, server } in called_names(written) {
            let is_it = |tool: &&Tool| is_known(tool) && self.may_be_of(tool, server);
            let exact = self.by_name.get(name).or_else(|| self.by_name.get(&name.to_lowercase()));
            let exact: Vec<&Tool> =
                exact.into_iter().flatten().map(|&index| &*self.tools[index]).filter(is_it).collect();
            match exact[..] {
                [tool] => return Ok(tool),
                [] => {}
                _ => return Err(exact),
            }
            let with_server = server.map(|server| format!("{server}_{name}"));
            for name in [Some(name), with_server.as_deref()].into_iter().flatten() {
                let is_same = |tool: &Tool| {
                    tool.names.op.eq_ignore_ascii_case(name)
                        || tool.names.canonical.eq_ignore_ascii_case(name)
                };
                let is_safe = |tool: &&Tool| tool.rules.effect != Effect::Destructive || is_same(tool);
                if let Some(tool) = self.respelled(name).filter(is_it).filter(is_safe) {
                    return Ok(tool);
                }
            }
        }
        Err(Vec::new())
    }

    /// Whether a tool may be one of this server: what a client calls its server may be any name, but not that of another one.
    fn may_be_of(&self, tool: &Tool, server: Option<&str>) -> bool {
        let is_of = |tool: &Tool| tool.origin.server.as_deref() == server;
        server.is_none()
            || tool.origin.server.is_none()
            || is_of(tool)
            || !self.tools.iter().any(|tool| is_of(tool))
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

#[cfg(test)]
mod tests {
    use crate::assemble::assemble;
    use crate::sources::RawTool;
    use toolcrib_definition::Definition;

    #[test]
    fn a_name_with_a_server_is_not_a_tool_of_another_server() {
        let raw = |name: &str, server: &str| {
            let definition = Definition { name: name.into(), ..Definition::default() };
            RawTool { definition, server: Some(server.into()), ..RawTool::default() }
        };
        let tools = vec![raw("list_it", "a"), raw("get_it", "b"), raw("delete_it", "a")];
        let catalog = assemble(Default::default(), tools, Vec::new(), &mut Vec::new()).0;
        let called =
            |name: &str| catalog.called(name, &|_| true).ok().map(|tool| tool.names.canonical.as_str());
        for name in ["mcp__a__list_it", "mcp__toolcrib__list_it", "MCP__A__List-It", "functions.list_it:2"] {
            assert_eq!(called(name), Some("list_it"), "{name}");
        }
        assert_eq!(called("mcp__b__list_it"), None);
        assert_eq!((called("mcp__a__delete_it"), called("delete-it")), (Some("delete_it"), None));
        assert!(catalog.called("get_it", &|tool| tool.names.canonical != "get_it").is_err());
    }
}
