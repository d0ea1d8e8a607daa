//! The catalog's own tools as a client lists them: all in the modes `full` and `hybrid`, the full ones in `gateway`.
//! The list is in catalog order, and made once for each catalog view. Its policy depends only on the configuration and
//! on the catalog that the server started with, so that every client gets the same kind of list.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use rmcp::model::{JsonObject, Tool};
use serde_json::Value;

use toolcrib_catalog::config::{Mode, ServeMode, ToolList};
use toolcrib_catalog::{self as catalog, Catalog, Profile};
use toolcrib_definition::{Backend, DescriptionMode, Effect, clean_line};
use toolcrib_docs::Templates;
use toolcrib_gateway::exec::backend::Backends;
use toolcrib_gateway::functions::{CatalogView, Function, FunctionList};
use toolcrib_providers::report::{AutoMode, auto_mode};
use toolcrib_providers::{self as provider, PayloadRequest, Provider};

/// What clients list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ListingPolicy {
    /// The catalog's tools, or functions of toolcrib: `full`, `hybrid` or `gateway`.
    pub mode: Mode,
    /// The functions that are listed, unless the mode is `full` or `hybrid`.
    pub tool_list: ToolList,
    /// Whether `tool_exec` is listed as two tools, one that reads and one that changes something.
    pub split_exec: bool,
}

impl Default for ListingPolicy {
    fn default() -> Self {
        Self { mode: Mode::Gateway, tool_list: ToolList::default(), split_exec: false }
    }
}

impl ListingPolicy {
    /// Whether a function is listed.
    pub fn lists(self, function: &Function) -> bool {
        self.function_list().is_some_and(|list| function.is_in(list))
    }

    /// The list of functions for clients.
    fn function_list(self) -> Option<FunctionList> {
        Some(match (self.mode, self.tool_list, self.split_exec) {
            (Mode::Full, ..) => return None,
            (Mode::Hybrid, ..) => FunctionList::Hybrid,
            (_, ToolList::Gateway, false) => FunctionList::Gateway,
            (_, ToolList::Gateway, true) => FunctionList::SplitGateway,
            (_, ToolList::Discovery, _) => FunctionList::Discovery,
            (_, ToolList::All, false) => FunctionList::All,
            (_, ToolList::All, true) => FunctionList::SplitAll,
        })
    }
}

/// Options of the policies. The mode may be `auto`.
#[derive(Clone, Copy, Debug, Default)]
pub struct ListingOptions {
    /// The tool list of a client.
    pub mode: ServeMode,
    /// The functions that are listed, if the operator chose them.
    pub tool_list: Option<ToolList>,
    /// Whether `tool_exec` is listed as two tools, one that reads and one that changes something.
    pub split_exec: bool,
}

/// The policies of all profiles, decided at the start.
#[derive(Debug)]
pub(super) struct Listings {
    policy: ListingPolicy,
    /// The mode of each profile for which `auto` was decided; `None` is the whole catalog.
    decided: BTreeMap<Option<String>, Mode>,
}

impl Listings {
    /// Decides the policy of each profile. Only the tools that could be read count, so that an unreadable source does
    /// not change how other tools are listed. Without tools, or if the operator chose a list of functions, `auto` means
    /// `gateway`.
    pub(super) fn of<'p>(
        options: ListingOptions,
        catalog: &Catalog,
        templates: &Templates,
        profiles: impl Iterator<Item = Option<&'p str>>,
    ) -> Self {
        let ListingOptions { mode, tool_list, split_exec } = options;
        let asks_for_functions = tool_list.is_some();
        let tool_list = tool_list.unwrap_or_default();
        let policy = ListingPolicy { mode: Mode::Gateway, tool_list, split_exec };
        if let Some(mode) = Mode::named(mode) {
            return Self { policy: ListingPolicy { mode, ..policy }, decided: BTreeMap::new() };
        }
        let mut decided = BTreeMap::new();
        for name in profiles.filter(|_| !asks_for_functions) {
            let Some(auto) = decide(catalog, templates, name).filter(|_| !catalog.tools.is_empty()) else {
                continue;
            };
            let profile = name.unwrap_or("the whole catalog");
            tracing::info!(profile, "{}", auto.note());
            decided.insert(name.map(str::to_string), auto.mode);
        }
        Self { policy, decided }
    }

    /// The policy of a profile. With `auto`, a profile that was not there at the start gets `gateway`.
    pub(super) fn policy(&self, profile: Option<&str>) -> ListingPolicy {
        let decided = self.decided.iter().find(|(name, _)| name.as_deref() == profile);
        ListingPolicy { mode: decided.map_or(self.policy.mode, |(_, mode)| *mode), ..self.policy }
    }
}

fn decide(catalog: &Catalog, templates: &Templates, profile: Option<&str>) -> Option<AutoMode> {
    let profile = &catalog.profile(profile).ok()?;
    let provider = Provider::Mcp;
    let options = catalog.config.payload;
    let request = PayloadRequest { catalog, profile, provider, mode: Mode::Full, options };
    Some(auto_mode(&request, templates))
}

/// The catalog's tools that a client lists.
#[derive(Debug, Default)]
pub(crate) struct ListedTools {
    tools: Vec<Tool>,
    /// The position of each tool in the catalog, by the name it is listed under.
    places: HashMap<String, usize>,
}

impl ListedTools {
    /// The listed tools of a catalog view. In the mode `gateway`, these are its full tools.
    pub(crate) fn of(view: &CatalogView, shown: ListingPolicy) -> Self {
        let mut profile = view.profile();
        let mode = match shown.mode {
            Mode::Full | Mode::Hybrid => shown.mode,
            Mode::Gateway => {
                profile.tools.retain(|entry| entry.mode == DescriptionMode::Full);
                Mode::Full
            }
            _ => return Self::default(),
        };
        if profile.tools.is_empty() {
            return Self::default();
        }
        let catalog = view.catalog();
        let names = || catalog.tools.iter().enumerate().map(|(index, tool)| (tool, index));
        let canonical = names().map(|(tool, index)| (tool.name.as_str(), index));
        let place: HashMap<&str, usize> =
            names().map(|(tool, index)| (tool.safe_name.as_str(), index)).chain(canonical).collect();
        let mut bound = Self::default();
        for mut tool in written(view, &profile, mode) {
            let name = tool.get("name").and_then(Value::as_str).unwrap_or_default();
            let Some(&index) = place.get(name) else { continue };
            let is_whole = mode == Mode::Full || view.mode(index) == Some(DescriptionMode::Full);
            let own = &catalog.tools[index];
            if is_whole {
                as_its_server_lists_it(&mut tool, own);
            }
            let Ok(mut tool) = serde_json::from_value::<Tool>(tool) else { continue };
            // A result may be cut, or only describe a dry run, and clients reject results that break an output schema.
            // Results of MCP servers are passed on whole.
            if !is_passed_on(own, catalog) {
                tool.output_schema = None;
            }
            bound.places.insert(tool.name.to_string(), index);
            bound.tools.push(tool);
        }
        bound
    }

    /// The tools, in the order of the catalog.
    pub(crate) fn tools(&self) -> &[Tool] {
        &self.tools
    }

    /// The schema of results of the tool that is listed under this name.
    pub(crate) fn output_schema(&self, listed: &str) -> Option<&Arc<JsonObject>> {
        self.tools.iter().find(|tool| tool.name == listed)?.output_schema.as_ref()
    }

    /// The position in the catalog of the tool that is listed under this name.
    pub(crate) fn place(&self, listed: &str) -> Option<usize> {
        self.places.get(listed).copied()
    }
}

/// Whether calls of a tool are answered with the results of an MCP server.
fn is_passed_on(tool: &catalog::Tool, catalog: &Catalog) -> bool {
    let backend = Backends::of(tool, &catalog.config);
    matches!(backend.as_deref(), Some(Backend::Mcp { .. })) && tool.definition.dry_run != Some(true)
}

/// The tools of a payload, without the functions of toolcrib.
fn written(view: &CatalogView, profile: &Profile<'_>, mode: Mode) -> Vec<Value> {
    let payload = |mode: Mode| {
        let options = view.catalog().config.payload;
        let request =
            PayloadRequest { catalog: view.catalog(), profile, provider: Provider::Mcp, mode, options };
        provider::payload(request)
    };
    let is_own =
        |name: &str| view.catalog().tools.iter().any(|tool| tool.name == name || tool.safe_name == name);
    let is_ours = |tool: &Value| {
        let name = tool.get("name").and_then(Value::as_str).unwrap_or_default();
        Function::named(name).is_some() && !is_own(name)
    };
    // The mode `hybrid` fails if a tool has the name of a function that is listed too.
    let payload = payload(mode).or_else(|_| payload(Mode::Full));
    let mut body = payload.map(|payload| payload.body).unwrap_or_default();
    let mut tools =
        body.get_mut("tools").and_then(Value::as_array_mut).map(std::mem::take).unwrap_or_default();
    tools.retain(|tool| !is_ours(tool));
    tools
}

/// Lists a tool as its live server does, since the server's answers are passed on unchanged too.
fn as_its_server_lists_it(listed: &mut Value, tool: &catalog::Tool) {
    let (Some(fields), definition) = (listed.as_object_mut(), &tool.definition) else { return };
    if !tool.place.file.starts_with("mcp:") {
        return;
    }
    let schema = definition.parameters.as_ref().and_then(|schema| serde_json::from_str(schema.text()).ok());
    fields.extend(schema.map(|schema: Value| ("inputSchema".to_string(), schema)));
    // A tool without annotations is a write anyway.
    if definition.effect.is_none_or(|effect| effect == Effect::Write) {
        fields.shift_remove("annotations");
    }
    fields.shift_remove("title");
    fields.extend(definition.mcp.clone());
    if let Some(title) = fields.get_mut("title") {
        *title = clean_line(title.as_str().unwrap_or_default()).into();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_gateway_shows_four_functions() {
        let shown =
            |shown: ListingPolicy| Function::all().iter().filter(|function| shown.lists(function)).count();
        assert_eq!(shown(ListingPolicy::default()), 4);
        assert_eq!(shown(ListingPolicy { split_exec: true, ..ListingPolicy::default() }), 4);
        assert_eq!(shown(ListingPolicy { tool_list: ToolList::Discovery, ..ListingPolicy::default() }), 6);
        assert_eq!(shown(ListingPolicy { mode: Mode::Hybrid, ..ListingPolicy::default() }), 2);
        assert_eq!(shown(ListingPolicy { mode: Mode::Full, ..ListingPolicy::default() }), 0);
    }
}
