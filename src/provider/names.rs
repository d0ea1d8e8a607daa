//! Names that a provider takes, one for each tool of a catalog, and the way back.
//!
//! A tool has its safe name, which is also the name of its doc file, wherever a provider takes that. Tools that would have
//! one name on a wire get a hash, except the tool whose safe name it is.

use std::collections::HashMap;

use super::bound_function::SelectedTool;
use super::rules::NameRule;
use super::{PayloadError, Provider};
use crate::catalog::{Catalog, Tool, functions};
use crate::tool::hashed_name;

/// The names of a catalog's tools on one wire. They do not depend on the tools of a request.
pub(super) struct WireNames<'a> {
    rule: NameRule,
    /// Names with a hash, by safe name.
    hashed: HashMap<&'a str, String>,
}

impl<'a> WireNames<'a> {
    /// The names by a rule.
    pub(super) fn of(catalog: &'a Catalog, rule: NameRule) -> Self {
        let hashed = match rule {
            NameRule::Underscores => {
                hashed(&catalog.tools.iter().map(|tool| &**tool).collect::<Vec<_>>(), rule)
            }
            NameRule::Safe | NameRule::Mcp => HashMap::new(), // unique already
        };
        Self { rule, hashed }
    }

    /// The name of a tool, or of a function of toolcrib.
    pub(super) fn name(&self, tool: &Tool) -> String {
        self.hashed.get(tool.safe_name.as_str()).cloned().unwrap_or_else(|| self.rule.name(tool))
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
                let (first, second) = (first.name.clone(), chosen.tool.name.clone());
                return Err(PayloadError::Clash { provider, name, first, second });
            }
            names.push(name);
        }
        Ok(names)
    }
}

/// Names with a hash for tools whose names are equal only on this wire, by safe name.
fn hashed<'a>(tools: &[&'a Tool], rule: NameRule) -> HashMap<&'a str, String> {
    let folded = |name: &str| name.to_ascii_lowercase();
    // Whether tools with several safe names share a name.
    let mut shared: HashMap<String, (&str, bool)> = HashMap::with_capacity(tools.len());
    for tool in tools.iter().copied().chain(functions().tools.iter().map(|tool| &**tool)) {
        let (first, is_shared) = shared.entry(folded(&rule.name(tool))).or_insert((&tool.safe_name, false));
        *is_shared |= *first != tool.safe_name;
    }
    let mut hashed = HashMap::new();
    for tool in tools {
        let name = folded(&rule.name(tool));
        if shared.get(&name).is_some_and(|(_, is_shared)| *is_shared) && folded(&tool.safe_name) != name {
            let is_free = |name: &String| !shared.contains_key(&folded(name));
            let candidates = (0..).map(|salt| hashed_name(&tool.safe_name, salt).replace('-', "_"));
            hashed.extend(candidates.into_iter().find(is_free).map(|name| (tool.safe_name.as_str(), name)));
        }
    }
    hashed
}
