//! The catalog's own tools as a client lists them: all in the modes `full` and `hybrid`, the full ones in `gateway`.
//! The list is in catalog order, and made once for each catalog view.

use rmcp::model::Tool;
use serde::Deserialize;
use serde_json::{Map, Value};
use std::collections::HashMap;

use crate::ListingPolicy;
use toolcrib_catalog as catalog;
use toolcrib_catalog::config::{Mode, live_server};
use toolcrib_catalog::{Catalog, Profile};
use toolcrib_definition::{Backend, DescriptionMode, Effect, clean_line, is_hidden};
use toolcrib_gateway::exec::backend::Backends;
use toolcrib_gateway::functions::{CatalogView, Function};
use toolcrib_providers as provider;
use toolcrib_providers::{PayloadRequest, Provider};

/// The fields of tools in MCP. Texts in others may not look like something else.
const KNOWN: [&str; 9] = [
    "name", "title", "description", "inputSchema", "outputSchema", "annotations", "icons", "execution",
    "_meta",
];

/// The fields of them that no model reads.
const FOR_PEOPLE: [&str; 3] = ["title", "icons", "_meta"];

/// The catalog's tools that a client lists.
#[derive(Debug, Default)]
pub(crate) struct ListedTools {
    tools: Vec<Value>,
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
        let listed: Vec<_> = catalog.tools.iter().map(|tool| tool.listed_name()).collect();
        let shortened = listed.iter().enumerate().map(|(index, name)| (&**name, index));
        let canonical = names().map(|(tool, index)| (tool.names.canonical.as_str(), index));
        let safe = names().map(|(tool, index)| (tool.names.safe.as_str(), index));
        let place: HashMap<&str, usize> = shortened.chain(safe).chain(canonical).collect();
        let mut bound = Self::default();
        let mut short_names = Vec::new();
        for mut tool in written(view, &profile, mode) {
            let name = name_of(&tool);
            let Some(&index) = place.get(name) else { continue };
            let is_whole = mode == Mode::Full || view.mode(index) == Some(DescriptionMode::Full);
            let own = &catalog.tools[index];
            if name != own.names.canonical && name != own.names.safe {
                short_names.push(format!("{} as {name}", own.names.canonical));
            }
            as_its_server_lists_it(&mut tool, own, is_whole);
            let is_read = Tool::deserialize(&tool).is_ok();
            let Some(fields) = tool.as_object_mut().filter(|_| is_read) else { continue };
            // A result may be cut, or only describe a dry run, and clients reject results that break an output schema.
            // Results of MCP servers are passed on whole.
            if !is_passed_on(own, catalog) {
                fields.shift_remove("outputSchema");
            }
            fields.retain(|key, value| {
                KNOWN.contains(&key.as_str()) || (!key.contains(is_hidden) && is_plain(value))
            });
            if let Some(annotations) = fields.get_mut("annotations").and_then(Value::as_object_mut) {
                annotations.retain(|key, value| !key.contains(is_hidden) && is_plain(value));
            }
            bound.places.insert(name_of(&tool).to_string(), index);
            bound.tools.push(tool);
        }
        if !short_names.is_empty() {
            tracing::info!(tools = short_names.join(", "), "long names are listed shortened");
        }
        bound
    }

    /// The tools, in the order of the catalog.
    pub(crate) fn tools(&self) -> &[Value] {
        &self.tools
    }

    /// The schema of results of the tool that is listed under this name.
    pub(crate) fn output_schema(&self, listed: &str) -> Option<&Map<String, Value>> {
        self.tools.iter().find(|tool| name_of(tool) == listed)?.get("outputSchema")?.as_object()
    }

    /// The position in the catalog of the tool that is listed under this name.
    pub(crate) fn place(&self, listed: &str) -> Option<usize> {
        self.places.get(listed).copied()
    }
}

/// The name that a tool is listed under.
pub(crate) fn name_of(tool: &Value) -> &str {
    tool.get("name").and_then(Value::as_str).unwrap_or_default()
}

/// Returns true if no text of a value has hidden characters.
fn is_plain(value: &Value) -> bool {
    match value {
        Value::String(text) => !text.contains(is_hidden),
        Value::Array(items) => items.iter().all(is_plain),
        Value::Object(fields) => {
            fields.iter().all(|(key, value)| !key.contains(is_hidden) && is_plain(value))
        }
        _ => true,
    }
}

/// Whether calls of a tool are answered with the results of an MCP server.
fn is_passed_on(tool: &catalog::Tool, catalog: &Catalog) -> bool {
    let backend = Backends::of(tool, &catalog.config);
    matches!(backend.as_deref(), Some(Backend::Mcp { .. })) && tool.rules.dry_run != Some(true)
}

/// The tools of a payload, without the functions of toolcrib.
fn written(view: &CatalogView, profile: &Profile<'_>, mode: Mode) -> Vec<Value> {
    let payload = |mode: Mode| {
        let options = view.catalog().config.payload;
        let request =
            PayloadRequest { catalog: view.catalog(), profile, provider: Provider::Mcp, mode, options };
        provider::payload(request)
    };
    let is_own = |name: &str| {
        view.catalog().tools.iter().any(|tool| tool.names.canonical == name || tool.names.safe == name)
    };
    let is_ours = |tool: &Value| {
        let name = name_of(tool);
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

/// Lists a tool as its live server does, since the server's answers are passed on unchanged too. A shortened one keeps what its
/// client shows to people.
fn as_its_server_lists_it(listed: &mut Value, tool: &catalog::Tool, is_whole: bool) {
    let Some(fields) = listed.as_object_mut() else { return };
    if live_server(&tool.origin.place.file).is_none() {
        return;
    }
    if is_whole {
        let schema = tool.input.schema.as_ref().and_then(|schema| serde_json::from_str(schema.text()).ok());
        fields.extend(schema.map(|schema: Value| ("inputSchema".to_string(), schema)));
        // A tool without annotations is a write anyway.
        if tool.rules.known_effect().is_none_or(|effect| effect == Effect::Write) {
            fields.shift_remove("annotations");
        }
        fields.shift_remove("title");
    }
    let is_shown = |key: &String| is_whole || FOR_PEOPLE.contains(&key.as_str());
    let of_server = tool.origin.mcp.iter().filter(|(key, _)| is_shown(key));
    fields.extend(of_server.map(|(key, value)| (key.clone(), value.clone())));
    if let Some(title) = fields.get_mut("title") {
        *title = clean_line(title.as_str().unwrap_or_default()).into();
    }
}
