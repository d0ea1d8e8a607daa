//! Search, docs and help for the tools of one profile, or of the whole catalog. For a profile nothing else exists: its index is made
//! of its own tools, and a tool outside of it is unknown.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use serde_json::{Map, Value};

use super::{Catalog, Error, Found, FoundTool, summary};
use crate::catalog::{self, CategoryTree, Resolved, Tool};
use crate::help::{self, Format, Groups, HelpOptions, beginning, directory, of_tool};
use crate::render::Doc;
use crate::search::{Hit, Index, IndexEntry, SearchRequest, Verdict};

/// The tools of a profile with their index, by the name of the profile. Made at the first question.
#[derive(Debug, Default)]
pub(super) struct Profiles(Mutex<HashMap<String, Arc<OfProfile>>>);

#[derive(Debug)]
struct OfProfile {
    catalog: catalog::Catalog,
    index: OnceLock<Index>,
}

impl Catalog {
    /// The tools of a profile that fit what somebody wants, by words; without a profile, [`Catalog::search`].
    ///
    /// ```
    /// let catalog = toolcrib::Catalog::open("examples/github")?;
    /// let found = catalog.search_in(Some("core"), "open a pull request", 3)?;
    /// assert_eq!(found.hits[0].tool.name, "create_pull_request");
    /// # Ok::<(), toolcrib::Error>(())
    /// ```
    pub fn search_in(&self, profile: Option<&str>, query: &str, limit: usize) -> Result<Found, Error> {
        let Some(name) = profile else { return Ok(self.search(query, limit)) };
        let of_profile = self.of_profile(name)?;
        let index = of_profile.index.get_or_init(|| index_of(&of_profile.catalog));
        Ok(found(&of_profile.catalog, index, query, limit))
    }

    /// The doc of one tool of a profile, in markdown; without a profile, [`Catalog::doc`].
    pub fn doc_in(&self, profile: Option<&str>, name: &str) -> Result<String, Error> {
        let doc = |tool: &Tool| {
            let catalog = &self.checked.catalog;
            Ok(Doc::of(tool, catalog).render(&self.templates, &catalog.version)?)
        };
        match profile {
            Some(profile) => doc(tool_of(&self.of_profile(profile)?.catalog, name)?),
            None => doc(tool_of(&self.checked.catalog, name)?),
        }
    }

    /// Help on one tool or group of a profile, as JSON; without a profile, [`Catalog::help`].
    pub fn help_in(&self, profile: Option<&str>, path: &str) -> Result<Map<String, Value>, Error> {
        match profile {
            Some(profile) => help_of(&self.of_profile(profile)?.catalog, path),
            None => help_of(&self.checked.catalog, path),
        }
    }

    fn of_profile(&self, name: &str) -> Result<Arc<OfProfile>, Error> {
        let known = || self.profiles.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(of_profile) = known().get(name) {
            return Ok(Arc::clone(of_profile));
        }
        let whole = &self.checked.catalog;
        let mode = whole.modes(Some(name))?;
        let tools = whole.tools.iter().filter(|tool| mode(tool).is_some()).cloned().collect();
        let of_profile = Arc::new(OfProfile { catalog: whole.with_tools(tools), index: OnceLock::new() });
        Ok(Arc::clone(known().entry(name.to_string()).or_insert(of_profile)))
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
    let is_match = found.verdict == Verdict::Match;
    let unmet = if is_match { Vec::new() } else { index.unmet(query, &found.hits) };
    let hit = |hit: Hit| {
        let tool = summary(catalog.tools.get(hit.entry)?);
        Some(FoundTool { tool, confidence: hit.confidence, reason: hit.reason })
    };
    let hits = found.hits.into_iter().filter_map(hit).collect();
    Found { is_match, is_complete: catalog.complete, unmet, hits }
}

fn help_of(catalog: &catalog::Catalog, path: &str) -> Result<Map<String, Value>, Error> {
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

fn tool_of<'a>(catalog: &'a catalog::Catalog, name: &str) -> Result<&'a Tool, Error> {
    let nearest = match catalog.resolve(name) {
        Resolved::Tool(tool) => return Ok(tool),
        Resolved::Ambiguous(tools) => tools.into_iter().map(|tool| tool.name.clone()).collect(),
        Resolved::Unknown(nearest) => nearest.into_iter().map(String::from).collect(),
    };
    Err(Error::UnknownTool { name: name.to_string(), nearest })
}
