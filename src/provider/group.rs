//! Tools by category: the toolsets that an agent loads, the namespaces of a provider, the groups named in a prompt.

use std::collections::{HashMap, HashSet};

use indexmap::IndexMap;

use super::PayloadError;
use super::function::Function;
use crate::catalog::{Profile, Tool};
use crate::finding::nearest;
use crate::tool::{CategoryPath, DescriptionMode, slug};

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

/// Some functions of one category, under a name of their own.
#[derive(Debug)]
pub(super) struct Namespace<'a> {
    /// Unlike that of any function.
    pub(super) name: String,
    /// The category, and the names of its functions.
    pub(super) description: String,
    /// Its functions, in catalog order.
    pub(super) functions: Vec<&'a Function<'a>>,
}

/// Fewer than ten functions each (formats.md, section 3), where the catalog allows.
const NAMESPACE_SIZE: usize = 9;
/// Functions named in the description of a namespace.
const NAMED: usize = 12;

/// Functions in at most `room` namespaces: by category, else by top category, else in catalog order; larger ones only
/// when there is no room for small ones. A function more only adds to the end of a namespace, or one namespace.
pub(super) fn namespaces<'a>(
    functions: &[&'a Function<'a>],
    room: usize,
    taken: impl Iterator<Item = &'a str>,
) -> Vec<Namespace<'a>> {
    let keys: [fn(&Tool) -> String; 3] = [
        |tool| tool.categories.first().map(|path| path.as_str().to_string()).unwrap_or_default(),
        |tool| {
            tool.categories.first().and_then(|path| path.segments().next()).unwrap_or_default().to_string()
        },
        |_| "Tools".to_string(),
    ];
    let room = room.max(1);
    let larger = functions.len().div_ceil(room).max(NAMESPACE_SIZE);
    let sizes = [NAMESPACE_SIZE, larger, larger * 2];
    let layouts = keys.iter().flat_map(|key| sizes.map(|size| (key, size)));
    let chunks = layouts
        .map(|(key, size)| chunked(functions, key, size))
        .find(|chunks| chunks.len() <= room)
        .unwrap_or_else(|| chunked(functions, &keys[2], larger));
    let mut taken: HashSet<String> = taken.map(str::to_lowercase).collect();
    chunks.into_iter().map(|(category, functions)| named(&category, functions, &mut taken)).collect()
}

fn chunked<'a>(
    functions: &[&'a Function<'a>],
    key: &dyn Fn(&Tool) -> String,
    size: usize,
) -> Vec<(String, Vec<&'a Function<'a>>)> {
    let mut chunks: Vec<(String, Vec<&'a Function<'a>>)> = Vec::new();
    let mut open: HashMap<String, usize> = HashMap::new();
    for &function in functions {
        let category = key(function.tool);
        match open.get(&category).map(|&index| &mut chunks[index].1) {
            Some(chunk) if chunk.len() < size => chunk.push(function),
            _ => {
                open.insert(category.clone(), chunks.len());
                chunks.push((category, vec![function]));
            }
        }
    }
    chunks
}

fn named<'a>(category: &str, functions: Vec<&'a Function<'a>>, taken: &mut HashSet<String>) -> Namespace<'a> {
    let base: String = slug(category).replace('-', "_").chars().filter(char::is_ascii).take(48).collect();
    let base = base.trim_matches('_');
    let starts_well = base.starts_with(|c: char| c.is_ascii_alphabetic());
    let base = if starts_well {
        base.to_string()
    } else {
        format!("tools_{base}").trim_end_matches('_').to_string()
    };
    let numbered = |number: usize| if number < 2 { base.clone() } else { format!("{base}_{number}") };
    let name = (1..).map(numbered).find(|name| taken.insert(name.clone())).unwrap_or_default();
    let names: Vec<&str> = functions.iter().take(NAMED).map(|function| function.name.as_str()).collect();
    let more = if functions.len() > NAMED { ", …" } else { "" };
    Namespace { name, description: format!("{category}: {}{more}", names.join(", ")), functions }
}
