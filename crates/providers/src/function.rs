//! Functions of a request: which tools a mode binds, each with a name, a text and a schema that the provider takes.
//!
//! Functions of toolcrib come first, then tools in catalog order: a new tool only appends, so that the prompt cache of the
//! text before it holds.
//!
//! A tool has its safe name, which is also the name of its doc file, wherever a provider takes that. Tools that would have
//! one name in a format get a hash, except the tool whose safe name it is.

use std::collections::HashMap;
use std::sync::OnceLock;

use serde_json::{Value, json};

use super::format::{BoundFunction, Extent, Format, NameRule, Stub};
use super::view::{self, ProviderSchema, Renaming, StrictBudget};
use super::{PayloadError, PayloadRequest, Provider};
use toolcrib_catalog::arguments::{WRAPPERS, has_property};
use toolcrib_catalog::config::{Deferred, Mode, SearchBy};
use toolcrib_catalog::{Catalog, Profile, Tool, functions};
use toolcrib_definition::finding::{Code, Finding, Severity};
use toolcrib_definition::{DescriptionMode, hashed_name};

/// The function that reads docs: it comes with tools that are bound in short.
pub const READ_TOOL_DOC: &str = "read_tool_doc";
/// The function that answers searches of a provider that leaves them to its client.
pub(super) const TOOL_SEARCH: &str = "tool_search";
/// The functions of the gateway.
const GATEWAY: [&str; 4] = [TOOL_SEARCH, "tool_help", "tool_exec", "tool_batch"];
/// The same for clients that ask a person before a change.
const SPLIT_GATEWAY: [&str; 4] = [TOOL_SEARCH, "tool_help", "tool_exec_read", "tool_exec_write"];
/// The functions of the discovery protocol.
const DISCOVERY: [&str; 5] = ["list", "search_nodes", "search_tool_by_category", "expand_tool", "call_tool"];

/// End of a stub's text; the description of `read_tool_doc` explains it.
const DOC_FIRST: &str = "Doc first.";

/// A tool that will be bound.
#[derive(Clone, Copy, Debug)]
pub(super) struct SelectedTool<'a> {
    /// The tool.
    tool: &'a Tool,
    /// Whether it is a function of toolcrib.
    ours: bool,
    /// Extent of its binding.
    extent: Extent,
    /// Whether the provider should keep it out of the context.
    deferred: bool,
}

/// The tools that a mode binds.
pub(super) fn select_tools<'a>(request: &PayloadRequest<'a>, mode: Mode) -> Vec<SelectedTool<'a>> {
    let profile: &'a Profile<'a> = request.profile;
    let tools = || profile.tools.iter();
    let whole = |tool: &'a Tool| SelectedTool { tool, ours: false, extent: Extent::Full, deferred: false };
    let any_deferred = || tools().any(|entry| entry.mode == DescriptionMode::Deferred);
    let mut chosen: Vec<SelectedTool<'a>> = Vec::new();
    chosen.extend(ours(if request.options.discovery { &DISCOVERY } else { &[] }));
    match mode {
        Mode::Full => chosen.extend(tools().map(|entry| whole(entry.tool))),
        Mode::Hybrid => {
            let extent = match request.options.deferred {
                Deferred::Stub => Extent::Stub,
                Deferred::Compact => Extent::Compact,
            };
            chosen.extend(ours(if any_deferred() { &[READ_TOOL_DOC] } else { &[] }));
            chosen.extend(tools().map(|entry| match entry.mode {
                DescriptionMode::Full => whole(entry.tool),
                DescriptionMode::Deferred => SelectedTool { extent, ..whole(entry.tool) },
            }));
        }
        Mode::Native => {
            let own_search = any_deferred() && request.options.search == SearchBy::Client;
            chosen.extend(ours(if own_search { &[TOOL_SEARCH] } else { &[] }));
            chosen.extend(tools().map(|entry| SelectedTool {
                deferred: entry.mode == DescriptionMode::Deferred,
                ..whole(entry.tool)
            }));
        }
        Mode::Gateway => {
            let is_split = request.provider == Provider::Mcp && request.catalog.config.serve.split_exec;
            chosen.extend(ours(if is_split { &SPLIT_GATEWAY } else { &GATEWAY }));
            chosen.extend(profile.full().map(whole));
        }
        // Tools that were picked for this request.
        Mode::Files if profile.picked => chosen.extend(profile.full().map(whole)),
        Mode::Files => {}
    }
    chosen
}

fn ours<'a>(names: &'static [&'static str]) -> impl Iterator<Item = SelectedTool<'a>> {
    names.iter().filter_map(|name| functions().named(name)).map(|tool| SelectedTool {
        tool,
        ours: true,
        extent: Extent::Full,
        deferred: false,
    })
}

/// The functions of the chosen tools. A tool that cannot be bound is left out, with a finding.
pub(super) fn view<'a>(
    chosen: &[SelectedTool<'a>],
    request: &PayloadRequest<'a>,
    findings: &mut Vec<Finding>,
) -> Result<Vec<BoundFunction<'a>>, PayloadError> {
    let format = super::format_of(request.provider);
    let names = FormatNames::of(request.catalog, format.names).of_request(chosen, request.provider)?;
    let wants_examples = format.takes_examples && !chosen.iter().any(|chosen| chosen.deferred);
    let mut room = StrictBudget::default();
    let mut functions = Vec::with_capacity(chosen.len());
    for (chosen, name) in chosen.iter().zip(names) {
        let mut report = |finding: Finding| {
            findings.push(finding.tool(&chosen.tool.name).at(chosen.tool.place.clone()));
        };
        let bound = match bound_schema(chosen, format, &mut room, &mut report) {
            Ok(bound) => bound,
            Err(reason) => {
                let message = format!("left out of the payload for {}: {reason}", request.provider.as_str());
                report(Finding::new(Code::PayloadToolLeftOut, message));
                continue;
            }
        };
        functions.push(BoundFunction {
            tool: chosen.tool,
            ours: chosen.ours,
            name,
            description: text(chosen),
            schema: bound.schema,
            examples: if wants_examples && !bound.strict {
                examples(chosen, format, request)
            } else {
                Vec::new()
            },
            extent: chosen.extent,
            strict: bound.strict,
            deferred: chosen.deferred,
        });
    }
    Ok(functions)
}

/// The schema that a function is bound with. Parts of the tool's own one that it lacks are reported.
fn bound_schema(
    chosen: &SelectedTool<'_>,
    format: &Format,
    room: &mut StrictBudget,
    report: &mut impl FnMut(Finding),
) -> Result<ProviderSchema, String> {
    let tool = chosen.tool;
    if let Some(reason) = tool.not_callable() {
        return Err(format!("it cannot be called, since {reason}"));
    }
    if chosen.extent == Extent::Stub || !tool.parameters.is_checked() {
        let takes_none = tool.parameters.is_checked() && view::takes_no_arguments(tool.parameters.schema());
        return Ok(ProviderSchema {
            schema: stub(format.stub, takes_none, tool),
            ..ProviderSchema::default()
        });
    }
    let schema = written_schema(tool);
    let wants_strict = tool.definition.strict == Some(true) && chosen.extent == Extent::Full;
    let view =
        view::view(schema, &format.schema, chosen.extent == Extent::Compact, wants_strict.then_some(room))?;
    if !view.loosened.is_empty() {
        let message = format!("bound with a looser schema: {}", view.loosened.join(", "));
        report(Finding::new(Code::PayloadSchemaLoosened, message));
    }
    let not_strict = match (wants_strict, format.schema.strict) {
        (true, None) => Some("this provider holds no single function to its schema".to_string()),
        _ => view.not_strict.clone(),
    };
    if let Some(reason) = not_strict {
        let mut finding = Finding::new(Code::PayloadStrictOff, format!("bound without `strict`: {reason}"));
        if format.schema.strict.is_none() {
            finding.severity = Severity::Info;
        }
        report(finding);
    }
    Ok(view)
}

/// Arguments of the author's examples, which fit the bound schema and have no secrets.
fn examples(chosen: &SelectedTool<'_>, format: &Format, request: &PayloadRequest<'_>) -> Vec<Value> {
    let tool = chosen.tool;
    let is_bound_as_written = chosen.extent == Extent::Full && tool.definition.provider_schema.is_none();
    if tool.examples.is_empty() || !is_bound_as_written || !tool.parameters.is_checked() {
        return Vec::new();
    }
    let schema = tool.parameters.schema();
    if Renaming::of(schema, format.schema.keys).is_some() {
        return Vec::new();
    }
    let arguments = tool.examples.iter().map(|example| Value::Object(example.arguments.clone()));
    arguments
        .filter(|arguments| request.catalog.secrets().redacted(schema, arguments) == *arguments)
        .collect()
}

/// The schema that views are derived from: the author's own for providers, where there is one.
pub(super) fn written_schema(tool: &Tool) -> &Value {
    match &tool.definition.provider_schema {
        Some(schema) => schema.value(),
        None => tool.parameters.schema(),
    }
}

fn stub(stub: Stub, takes_none: bool, tool: &Tool) -> Option<Value> {
    match stub {
        Stub::Bare => Some(json!({"type": "object"})),
        Stub::Empty => Some(json!({"type": "object", "properties": {}})),
        Stub::Args if takes_none => None,
        Stub::Args => Some(view::below(stub_key(tool))),
    }
}

fn text(chosen: &SelectedTool<'_>) -> String {
    let tool = chosen.tool;
    match chosen.extent {
        Extent::Full if !tool.description.trim().is_empty() => whole_text(tool).to_string(),
        Extent::Full | Extent::Compact => tool.short.clone(),
        Extent::Stub if tool.short.ends_with(['.', '!', '?', '…', '。']) => {
            format!("{} {DOC_FIRST}", tool.short)
        }
        Extent::Stub => format!("{}. {DOC_FIRST}", tool.short),
    }
}

/// The description, without text about arguments that the bound schema has.
fn whole_text(tool: &Tool) -> &str {
    let shorter = tool.without_arguments.as_deref().filter(|text| !text.trim().is_empty());
    match shorter {
        Some(text) if tool.definition.provider_schema.is_none() => text,
        _ => &tool.description,
    }
}

/// The key below which a stub takes arguments where it cannot take them at the root: no property of the tool.
pub(super) fn stub_key(tool: &Tool) -> &'static str {
    WRAPPERS.into_iter().find(|key| !has_property(tool, key)).unwrap_or("args")
}

/// The names of a catalog's tools in one format. They do not depend on the tools of a request.
pub(super) struct FormatNames<'a> {
    catalog: &'a Catalog,
    rule: NameRule,
    /// Names with a hash, by safe name; made for the first tool whose name is not its safe name.
    hashed: OnceLock<HashMap<&'a str, String>>,
}

impl<'a> FormatNames<'a> {
    /// The names by a rule.
    pub(super) fn of(catalog: &'a Catalog, rule: NameRule) -> Self {
        Self { catalog, rule, hashed: OnceLock::new() }
    }

    /// The name of a tool, or of a function of toolcrib.
    pub(super) fn name(&self, tool: &Tool) -> String {
        let name = self.rule.name(tool);
        // The other rules give each tool another name.
        if self.rule != NameRule::Underscores || name == tool.safe_name {
            return name;
        }
        let hashed = self.hashed.get_or_init(|| hashed(self.catalog, self.rule));
        hashed.get(tool.safe_name.as_str()).cloned().unwrap_or(name)
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
                let first = first.name.clone();
                let second = chosen.tool.name.clone();
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
        let (first, is_shared) = shared.entry(folded(&rule.name(tool))).or_insert((&tool.safe_name, false));
        *is_shared |= *first != tool.safe_name;
    }
    let mut hashed = HashMap::new();
    for tool in tools() {
        let name = folded(&rule.name(tool));
        if shared.get(&name).is_some_and(|(_, is_shared)| *is_shared) && folded(&tool.safe_name) != name {
            let is_free = |name: &String| !shared.contains_key(&folded(name));
            let candidates = (0..).map(|salt| hashed_name(&tool.safe_name, salt).replace('-', "_"));
            hashed.extend(candidates.into_iter().find(is_free).map(|name| (tool.safe_name.as_str(), name)));
        }
    }
    hashed
}
