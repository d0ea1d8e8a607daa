//! Text that nearly all tools of a server, or of a category, repeat: arguments such as retry options, paragraphs about
//! authentication. Docs refer to one page that tells it.

use std::collections::{HashMap, HashSet};

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::schema::properties;
use super::{Catalog, Tool};
use crate::tool::slug;

/// Fewest tools that share a text.
const MIN_TOOLS: usize = 5;
/// Fewest tools in ten that have it.
const MIN_TENTHS: usize = 8;
/// Shortest description and paragraph that are told once, in bytes: a name with its type says the rest.
const MIN_TEXT: usize = 40;
const MIN_PARAGRAPH: usize = 80;
/// Fewest bytes that a doc saves: a reference takes a third of them.
const MIN_SAVED: usize = 300;

/// The shared texts of a catalog.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct SharedTexts {
    groups: Vec<SharedGroup>,
    /// The group of each tool, by position.
    of_tool: Vec<Option<usize>>,
}

/// Tools that share text.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct SharedGroup {
    /// The server or the category.
    pub name: String,
    /// File name of its page, without an ending; unique in the catalog.
    pub stem: String,
    arguments: Map<String, Value>,
    paragraphs: Vec<String>,
}

impl SharedGroup {
    /// The shared arguments, as properties of a schema.
    pub fn arguments(&self) -> &Map<String, Value> {
        &self.arguments
    }

    /// The shared paragraphs, in the order of the first tool that has them.
    pub fn paragraphs(&self) -> &[String] {
        &self.paragraphs
    }

    /// The shared arguments of one of its tools that are optional there: no call is made without reading about
    /// required ones.
    pub fn arguments_of<'a>(&'a self, tool: &'a Tool) -> impl Iterator<Item = &'a str> {
        let schema = tool.parameters.schema();
        let required = schema.get("required").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        let own = properties(schema).into_iter().flatten();
        let own = own.filter(|(name, schema)| self.arguments.get(*name) == Some(schema));
        own.map(|(name, _)| name.as_str()).filter(|name| !required.iter().any(|other| other == name))
    }

    /// The description of one of its tools, without shared paragraphs.
    pub fn without_paragraphs(&self, text: &str) -> String {
        let own = |paragraph: &&str| !self.paragraphs.iter().any(|shared| shared == paragraph);
        paragraphs(text).filter(own).collect::<Vec<_>>().join("\n\n")
    }

    /// Bytes that the doc of a tool saves.
    fn saved(&self, tool: &Tool) -> usize {
        let described = |name: &str| described(&self.arguments[name]).map_or(0, str::len);
        let arguments: usize = self.arguments_of(tool).map(described).sum();
        arguments + tool.long.len().saturating_sub(self.without_paragraphs(&tool.long).len())
    }
}

impl Catalog {
    /// The group that shares text of this tool with it, where that makes its doc shorter.
    pub fn shared_group(&self, tool: &Tool) -> Option<&SharedGroup> {
        let position = self.position(&tool.name)?;
        if !std::ptr::eq(&*self.tools[position], tool) {
            return None;
        }
        let texts = self.shared_texts();
        texts.of_tool.get(position).copied().flatten().map(|group| &texts.groups[group])
    }
}

impl Catalog {
    /// The texts that its tools share; those of a bundle hold for a catalog with all of its tools.
    pub(super) fn shared_texts(&self) -> &SharedTexts {
        self.shared_texts.get_or_init(|| {
            let stored = self.stored_texts.as_ref().and_then(|stored| stored.read(self));
            stored.unwrap_or_else(|| SharedTexts::of(self))
        })
    }
}

impl SharedTexts {
    /// Whether it is about so many tools.
    pub(super) fn fits(&self, tools: usize) -> bool {
        self.of_tool.len() == tools && self.of_tool.iter().flatten().all(|group| *group < self.groups.len())
    }

    fn of(catalog: &Catalog) -> Self {
        let mut texts = Self { groups: Vec::new(), of_tool: vec![None; catalog.tools.len()] };
        texts.groups_by(catalog, |tool| tool.server.as_deref().unwrap_or(&tool.place.file));
        texts.groups_by(catalog, Tool::category);
        texts.name_pages(catalog);
        texts
    }

    /// Adds the groups of tools with one key; a tool that is in a group stays there.
    fn groups_by<'c>(&mut self, catalog: &'c Catalog, key: impl Fn(&'c Tool) -> &'c str) {
        let mut members: IndexMap<&str, Vec<usize>> = IndexMap::new();
        for (position, tool) in catalog.tools.iter().enumerate() {
            if self.of_tool[position].is_none() {
                members.entry(key(tool)).or_default().push(position);
            }
        }
        for (name, positions) in members {
            let tools: Vec<&Tool> = positions.iter().map(|&position| &*catalog.tools[position]).collect();
            let group = SharedGroup {
                name: name.to_string(),
                arguments: shared_arguments(&tools),
                paragraphs: shared_paragraphs(&tools),
                ..SharedGroup::default()
            };
            if group.arguments.is_empty() && group.paragraphs.is_empty() {
                continue;
            }
            let gains = |position: &usize| group.saved(&catalog.tools[*position]) >= MIN_SAVED;
            let gaining: Vec<usize> = positions.into_iter().filter(gains).collect();
            if gaining.len() >= MIN_TOOLS {
                gaining.into_iter().for_each(|position| self.of_tool[position] = Some(self.groups.len()));
                self.groups.push(group);
            }
        }
    }

    /// Gives each group its name and the file name of its page.
    fn name_pages(&mut self, catalog: &Catalog) {
        /// Most characters of a file name before its ending.
        const MAX: usize = 60;
        let mut taken: HashSet<String> = HashSet::new();
        let files: HashSet<&str> = catalog.tools.iter().map(|tool| tool.place.file.as_str()).collect();
        for group in &mut self.groups {
            if files.contains(group.name.as_str()) {
                let file = group.name.rsplit('/').next().unwrap_or_default();
                let file = file.split('.').next().unwrap_or_default();
                group.name = catalog.config.title.clone().unwrap_or_else(|| file.to_string());
            }
            let stem: String = slug(&group.name).chars().take(MAX).collect();
            let stem = if stem.is_empty() { "tools".to_string() } else { stem };
            let numbered = (2..).map(|count| format!("{stem}_{count}"));
            let free =
                std::iter::once(stem.clone()).chain(numbered).find(|stem| taken.insert(stem.to_lowercase()));
            group.stem = free.unwrap_or(stem);
        }
    }
}

/// The arguments that nearly all of these tools have, with the same schema and a description worth telling once.
fn shared_arguments(tools: &[&Tool]) -> Map<String, Value> {
    if tools.len() < MIN_TOOLS {
        return Map::new();
    }
    let is_told =
        |(_, schema): &(&String, &Value)| described(schema).is_some_and(|text| text.len() >= MIN_TEXT);
    let all =
        || tools.iter().filter_map(|tool| properties(tool.parameters.schema())).flatten().filter(is_told);
    let most = majorities(all());
    let mut counts: IndexMap<&str, (&Value, usize)> = IndexMap::new();
    for (name, schema) in all().filter(|(name, schema)| most.get(name.as_str()) == Some(schema)) {
        counts.entry(name).or_insert((schema, 0)).1 += 1;
    }
    let shared =
        counts.into_iter().filter(|(_, (schema, count))| is_shared(*count, tools.len()) && !refers(schema));
    shared.map(|(name, (schema, _))| (name.to_string(), schema.clone())).collect()
}

/// For each name the schema that more than half of the arguments with this name have, if there is one: a vote by
/// Boyer and Moore, which compares and neither hashes nor copies.
fn majorities<'a>(arguments: impl Iterator<Item = (&'a String, &'a Value)>) -> HashMap<&'a str, &'a Value> {
    let mut votes: HashMap<&str, (&Value, usize)> = HashMap::new();
    for (name, schema) in arguments {
        let (leader, lead) = votes.entry(name).or_insert((schema, 0));
        match (*lead, *leader == schema) {
            (0, _) => (*leader, *lead) = (schema, 1),
            (_, true) => *lead += 1,
            (_, false) => *lead -= 1,
        }
    }
    votes.into_iter().map(|(name, (leader, _))| (name, leader)).collect()
}

/// The paragraphs that nearly all of these tools have in their descriptions.
fn shared_paragraphs(tools: &[&Tool]) -> Vec<String> {
    if tools.len() < MIN_TOOLS {
        return Vec::new();
    }
    let mut counts: IndexMap<&str, usize> = IndexMap::new();
    for tool in tools {
        let mut seen: HashSet<&str> = HashSet::new();
        let own = paragraphs(&tool.long).filter(|text| text.len() >= MIN_PARAGRAPH && seen.insert(text));
        own.for_each(|text| *counts.entry(text).or_default() += 1);
    }
    counts.retain(|_, count| is_shared(*count, tools.len()));
    counts.into_keys().map(str::to_string).collect()
}

fn is_shared(count: usize, tools: usize) -> bool {
    count >= MIN_TOOLS && count * 10 >= tools * MIN_TENTHS
}

/// The paragraphs of a text; one with code is one paragraph, since code may have blank lines.
fn paragraphs(text: &str) -> impl Iterator<Item = &str> {
    let blank = if text.contains("```") { "\0" } else { "\n\n" };
    text.split(blank).filter(|paragraph| !paragraph.trim().is_empty())
}

fn described(schema: &Value) -> Option<&str> {
    schema.get("description").and_then(Value::as_str)
}

/// Whether a schema means something only in its own tool.
fn refers(schema: &Value) -> bool {
    match schema {
        Value::Object(part) => part.contains_key("$ref") || part.values().any(refers),
        Value::Array(parts) => parts.iter().any(refers),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_schema_that_more_than_half_have_wins_the_vote_whatever_the_order() {
        let name = "limit".to_string();
        let (one, other, third) = (json!({ "maximum": 1 }), json!({ "maximum": 2 }), json!({ "maximum": 3 }));
        for order in [
            [&one, &other, &one, &third, &one],
            [&other, &third, &one, &one, &one],
            [&one, &one, &one, &other, &third],
        ] {
            assert_eq!(majorities(order.into_iter().map(|schema| (&name, schema)))["limit"], &one);
        }
    }
}
