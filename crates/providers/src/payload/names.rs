//! The names of tools in a format.
//!
//! A tool has its safe name, which is also the name of its doc file, wherever a provider takes that. Tools that would have
//! one name in a format get a hash, except the tool whose safe name it is.

use std::collections::HashMap;
use std::sync::OnceLock;

use super::error::PayloadError;
use super::selection::SelectedTool;
use crate::format::NameRule;
use toolcrib_catalog::config::Provider;
use toolcrib_catalog::{Catalog, Tool, functions};
use toolcrib_definition::hashed_name;

/// The names of a catalog's tools in one format. They do not depend on the tools of a request.
pub(crate) struct FormatNames<'a> {
    catalog: &'a Catalog,
    rule: NameRule,
    /// Names with a hash, by safe name; made for the first tool whose name is not its safe name.
    hashed: OnceLock<HashMap<&'a str, String>>,
}

impl<'a> FormatNames<'a> {
    /// The names by a rule.
    pub(crate) fn of(catalog: &'a Catalog, rule: NameRule) -> Self {
        Self { catalog, rule, hashed: OnceLock::new() }
    }

    /// The name of a tool, or of a function of toolcrib.
    pub(crate) fn name(&self, tool: &Tool) -> String {
        let name = self.rule.name(tool);
        // The other rules give each tool another name.
        if self.rule != NameRule::Underscores || name == tool.names.safe {
            return name;
        }
        let hashed = self.hashed.get_or_init(|| hashed(self.catalog, self.rule));
        hashed.get(tool.names.safe.as_str()).cloned().unwrap_or(name)
    }

    /// The names of one request. A tool with the name of a function of toolcrib is an error; neither replaces the other.
    pub(super) fn of_request(
        &self,
        chosen: &[SelectedTool<'_>],
        provider: Provider,
    ) -> Result<Vec<String>, PayloadError> {
        let mut owners: HashMap<String, &Tool> = HashMap::with_capacity(chosen.len());
        let mut names = Vec::with_capacity(chosen.len());
        for chosen in chosen {
            let name = self.name(chosen.tool);
            if let Some(first) = owners.insert(name.clone(), chosen.tool) {
                let first = first.names.canonical.clone();
                let second = chosen.tool.names.canonical.clone();
                return Err(PayloadError::Clash { provider, name, first, second });
            }
            names.push(name);
        }
        Ok(names)
    }
}

/// Names with a hash for tools whose names are equal only in this format, by safe name.
fn hashed(catalog: &Catalog, rule: NameRule) -> HashMap<&str, String> {
    let tools = || catalog.tools.iter().map(|tool| &**tool);
    let folded = |name: &str| name.to_ascii_lowercase();
    // Whether tools with several safe names share a name.
    let mut shared: HashMap<String, (&str, bool)> = HashMap::with_capacity(catalog.tools.len());
    for tool in tools().chain(functions().tools.iter().map(|tool| &**tool)) {
        let (first, is_shared) = shared.entry(folded(&rule.name(tool))).or_insert((&tool.names.safe, false));
        *is_shared |= *first != tool.names.safe;
    }
    let mut hashed = HashMap::new();
    for tool in tools() {
        let name = folded(&rule.name(tool));
        if shared.get(&name).is_some_and(|(_, is_shared)| *is_shared) && folded(&tool.names.safe) != name {
            let is_free = |name: &String| !shared.contains_key(&folded(name));
            let candidates = (0..).map(|salt| hashed_name(&tool.names.safe, salt).replace('-', "_"));
            hashed.extend(candidates.into_iter().find(is_free).map(|name| (tool.names.safe.as_str(), name)));
        }
    }
    hashed
}
