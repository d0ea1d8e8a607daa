//! The groups of tools that a section lists: all of them with some of their content, or the largest that there is room
//! for.

use indexmap::{IndexMap, IndexSet};

use crate::markdown::{code, name};
use toolcrib_catalog::{Catalog, Tool};
use toolcrib_definition::clipped;

/// Most groups listed; the others are named, or counted.
const MAX_GROUPS: usize = 40;
/// Names in all groups together, where each has room for two.
const NAMES: usize = 40;
/// The most names in one group.
const MAX_NAMED: usize = 12;
/// Most groups beyond [`MAX_GROUPS`] that are named without their content.
const MAX_NAMES_ALONE: usize = 120;
/// Groups that a short list tells the content of before it names others.
const LEADING: usize = 8;
/// The most characters of a name in a short list, and of a content.
const MAX_NAME: usize = 40;
const MAX_CONTENT: usize = 90;

/// A group of tools with its name.
pub(super) struct Group<'t> {
    name: &'t str,
    tools: Vec<&'t Tool>,
    /// Its content; the first few are named.
    holds: IndexSet<&'t str>,
}

/// Groups in the order of the tools, from each tool with its group and its place in it.
pub(super) fn grouped<'t>(tools: impl Iterator<Item = (&'t Tool, &'t str, &'t str)>) -> Vec<Group<'t>> {
    let mut groups: IndexMap<&str, Group<'t>> = IndexMap::new();
    for (tool, group, what) in tools {
        let entry = groups.entry(group);
        let entry = entry.or_insert_with(|| Group { name: group, tools: Vec::new(), holds: IndexSet::new() });
        entry.tools.push(tool);
        entry.holds.insert(what);
    }
    groups.into_values().collect()
}

/// One line a group.
pub(super) fn listed(groups: &[Group<'_>]) -> String {
    let room = room(groups);
    let line = |group: &Group<'_>| {
        let named: Vec<String> = group.holds.iter().take(room).map(|what| name(what)).collect();
        let more = if group.holds.len() > room { ", …" } else { "" };
        format!("- {} ({}): {}{more}", code(group.name), group.tools.len(), named.join(", "))
    };
    let mut lines: Vec<String> = groups.iter().take(MAX_GROUPS).map(line).collect();
    let rest: Vec<String> = groups.iter().skip(MAX_GROUPS).map(|group| code(group.name)).collect();
    if !rest.is_empty() {
        let more = rest.len().saturating_sub(MAX_NAMES_ALONE);
        let more = if more > 0 { format!(", and {more} more") } else { String::new() };
        lines.push(format!("- also {}{more}", rest[..rest.len().min(MAX_NAMES_ALONE)].join(", ")));
    }
    lines.join("\n")
}

/// Names in each group.
fn room(groups: &[Group<'_>]) -> usize {
    (NAMES / groups.len().max(1)).clamp(2, MAX_NAMED)
}

/// The largest groups first: some with their content, some named, the others counted.
pub(super) struct ShortList {
    /// Each group with its content, as far as a list could have room.
    lines: Vec<String>,
    names: Vec<String>,
    /// Number of tools in each group.
    tools: Vec<usize>,
}

impl ShortList {
    pub(super) fn of(catalog: &Catalog, mut groups: Vec<Group<'_>>) -> Self {
        groups.sort_by_key(|group| std::cmp::Reverse(group.tools.len()));
        let room = room(&groups);
        let names = groups.iter().take(MAX_GROUPS + MAX_NAMES_ALONE);
        Self {
            lines: groups.iter().take(MAX_GROUPS).map(|group| group.line(room, catalog)).collect(),
            names: names.map(|group| code(&clipped(group.name, MAX_NAME))).collect(),
            tools: groups.iter().map(|group| group.tools.len()).collect(),
        }
    }

    /// As much of the list as fits, and whether every group is named in it.
    pub(super) fn fitted<E>(&self, fits: &dyn Fn(&str) -> Result<bool, E>) -> Result<(String, bool), E> {
        let lines = most(0, LEADING.min(self.lines.len()), &|lines| fits(&self.text(lines, 0)))?;
        let names = most(0, self.names.len() - lines, &|names| fits(&self.text(lines, names)))?;
        if lines + names < self.tools.len() {
            return Ok((self.text(lines, names), false));
        }
        let all = self.tools.len();
        let lines = most(lines, self.lines.len(), &|lines| fits(&self.text(lines, all - lines)))?;
        Ok((self.text(lines, all - lines), true))
    }

    /// So many groups with their content, and so many more by name.
    fn text(&self, lines: usize, names: usize) -> String {
        let mut text: Vec<String> = self.lines[..lines].to_vec();
        let named = &self.names[lines..lines + names];
        if !named.is_empty() {
            text.push(format!("- also {}", named.join(", ")));
        }
        let rest = &self.tools[lines + names..];
        if !rest.is_empty() {
            let count = rest.len();
            let tools = rest.iter().sum::<usize>();
            text.push(if text.is_empty() {
                format!("- {count} groups with {tools} tools")
            } else {
                format!("- and {count} smaller groups with {tools} tools")
            });
        }
        text.join("\n")
    }
}

impl Group<'_> {
    /// Its content by name, or its purpose where it has more than there is room for.
    fn line(&self, room: usize, catalog: &Catalog) -> String {
        let named = || self.holds.iter().take(room).map(|what| name(&clipped(what, MAX_NAME)));
        let names = || named().collect::<Vec<_>>().join(", ");
        let content = if self.holds.len() <= room {
            names()
        } else {
            Some(catalog.purpose(self.name, &self.tools))
                .filter(|purpose| !purpose.is_empty())
                .map_or_else(|| names() + ", …", |purpose| name(&clipped(&purpose, MAX_CONTENT)))
        };
        format!("- {} ({}): {content}", code(&clipped(self.name, MAX_NAME)), self.tools.len())
    }
}

/// The largest number from `least` on for which it holds; `least` itself is not asked.
fn most<E>(least: usize, most: usize, holds: &dyn Fn(usize) -> Result<bool, E>) -> Result<usize, E> {
    let mut known = least;
    let mut limit = most;
    while known < limit {
        let middle = known + (limit - known).div_ceil(2);
        if holds(middle)? { known = middle } else { limit = middle - 1 }
    }
    Ok(known)
}
