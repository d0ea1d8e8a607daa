//! Search and help for the tools of a catalog or of one profile. For a profile nothing else exists: its index is made of its own
//! tools, and a tool outside of it is unknown.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock};

use serde_json::{Map, Value};

use super::error::Error;
use super::values::{Found, FoundTool, summary};
use toolcrib_catalog::{self as catalog, CategoryTree, Resolved, Tool};
use toolcrib_definition::guard::locked;
use toolcrib_render::help::{self, Format, Groups, HelpOptions, beginning, directory, of_tool};
use toolcrib_search::{Hit, Index, IndexEntry, SearchRequest, Verdict};

/// The tools of each profile, and all tools, with their index. Made at the first question.
#[derive(Debug, Default)]
pub(super) struct Profiles(Mutex<HashMap<Option<String>, Arc<OfProfile>>>);

#[derive(Debug)]
pub(super) struct OfProfile {
    pub(super) catalog: catalog::Catalog,
    pub(super) index: OnceLock<Index>,
}

impl Profiles {
    /// The tools of one profile of the whole catalog; without a name, all.
    pub(super) fn of(&self, whole: &catalog::Catalog, name: Option<&str>) -> Result<Arc<OfProfile>, Error> {
        let known = || locked(&self.0);
        let key = name.map(str::to_string);
        if let Some(of_profile) = known().get(&key) {
            return Ok(Arc::clone(of_profile));
        }
        let mode = whole.modes(name)?;
        let tools = whole.tools.iter().filter(|tool| mode(tool).is_some()).cloned().collect();
        let of_profile = Arc::new(OfProfile { catalog: whole.with_tools(tools), index: OnceLock::new() });
        Ok(Arc::clone(known().entry(key).or_insert(of_profile)))
    }
}

/// The index of the tools of a catalog.
pub(super) fn index_of(catalog: &catalog::Catalog) -> Index {
    let entries: Vec<IndexEntry> = catalog.tools.iter().map(|tool| IndexEntry::from(&**tool)).collect();
    Index::configured(&entries, &catalog.config.search)
}

/// The tools of a catalog that fit a query; `index` is theirs.
pub(super) fn found(catalog: &catalog::Catalog, index: &Index, query: &str, limit: usize) -> Found {
    let found = index.find(SearchRequest { query, within: None, limit });
    let verdict = found.verdict.without_hits(found.hits.is_empty());
    let unmet = if verdict == Verdict::Match { Vec::new() } else { index.unmet(query, &found.hits) };
    let hit = |hit: Hit| {
        let tool = summary(catalog.tools.get(hit.entry)?);
        Some(FoundTool { tool, confidence: hit.confidence, reason: hit.reason })
    };
    let hits = found.hits.into_iter().filter_map(hit).collect();
    Found { verdict, is_complete: catalog.complete, unmet, hits }
}

pub(super) fn help_of(catalog: &catalog::Catalog, path: &str) -> Result<Map<String, Value>, Error> {
    let options = HelpOptions {
        format: Format::Short,
        examples: false,
        schemas: false,
        short_tokens: help::SHORT_TOKENS,
    };
    let unknown = match tool_of(catalog, path) {
        Ok(tool) => return Ok(of_tool(tool, options)),
        Err(unknown) => unknown,
    };
    let groups = Groups::of(catalog, &CategoryTree::of(catalog));
    match groups.find(path) {
        Some((group, only)) => Ok(directory(catalog, &groups, group, only, Format::Short)),
        None => beginning(catalog, path, Format::Short).ok_or(unknown),
    }
}

pub(super) fn tool_of<'a>(catalog: &'a catalog::Catalog, name: &str) -> Result<&'a Tool, Error> {
    let nearest = match catalog.resolve(name) {
        Resolved::Tool(tool) => return Ok(tool),
        Resolved::Ambiguous(tools) => tools.into_iter().map(|tool| tool.names.canonical.clone()).collect(),
        Resolved::Unknown(nearest) => nearest.into_iter().map(String::from).collect(),
    };
    Err(Error::UnknownTool { name: name.to_string(), nearest })
}
