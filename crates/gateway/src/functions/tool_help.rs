//! `tool_help`: help on ops, groups and entities, short or full. The help on each of them is made once for each
//! catalog view, and sent unchanged from then on.

use std::collections::HashSet;
use std::sync::Arc;

use indexmap::{IndexMap, IndexSet};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use serde_with::skip_serializing_none;

use super::arguments::Arguments;
use super::discovery::not_authorized;
use super::read_tool_doc::ReadPage;
use crate::context::{CatalogView, FunctionContext, HelpTarget};
use crate::state::{EventKind, EventQuery};
use crate::tool_error::{ErrorCode, ROOT, Result, ToolError};
use toolcrib_catalog::{Resolved, functions};
use toolcrib_definition::finding::nearest;
use toolcrib_definition::{is_respelled, quoted};
use toolcrib_render::help::{self, Format, HelpOptions, usage};

/// Arguments of `tool_help`.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct ToolHelp {
    path: Option<String>,
    paths: Vec<String>,
    format: Format,
    include_examples: Option<bool>,
    include_schemas: bool,
    known_version: Option<String>,
}

impl Arguments for ToolHelp {
    type Reply = Help;

    async fn answer(self, context: &FunctionContext) -> Result<Help> {
        let wanted = HelpOptions {
            format: self.format,
            examples: self.include_examples.unwrap_or(true),
            schemas: self.include_schemas,
            short_tokens: help::SHORT_TOKENS,
        };
        if !self.paths.is_empty() {
            return several(context, self.path.into_iter().chain(self.paths), wanted).await;
        }
        let view = &context.view;
        let path = self.path.unwrap_or_default();
        let target = find(view, &path)?;
        let help = match self.known_version {
            Some(known) if is_current(view, &target, &known) => unchanged(&path, &known).into(),
            _ => help_now(context, &target, wanted).await?,
        };
        Ok(Help::Alone(help))
    }
}

/// Help on one target, or on several.
#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
pub enum Help {
    Alone(HelpEntry),
    Several { results: Vec<HelpEntry> },
}

/// Help on one target.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, Serialize)]
pub struct HelpEntry {
    /// The requested path, among several.
    asked: Option<String>,
    #[serde(flatten)]
    fields: Arc<Map<String, Value>>,
    #[serde(flatten)]
    page: Option<HelpPage>,
    /// The reason why calls of an op fail now.
    unavailable: Option<String>,
    error: Option<Box<ToolError>>,
}

/// The page of an op that help stands for.
#[derive(Clone, Debug, Serialize)]
struct HelpPage {
    #[serde(skip)]
    op: String,
    doc_version: String,
    receipt: String,
}

impl Help {
    pub(super) fn pages(&self) -> Vec<ReadPage<'_>> {
        let entries = match self {
            Help::Alone(entry) => std::slice::from_ref(entry),
            Help::Several { results } => results,
        };
        let pages = entries.iter().filter_map(|entry| entry.page.as_ref());
        pages.map(|page| ReadPage { op: &page.op, version: &page.doc_version, proves: true }).collect()
    }
}

impl From<Map<String, Value>> for HelpEntry {
    fn from(fields: Map<String, Value>) -> Self {
        Self { fields: Arc::new(fields), ..Self::default() }
    }
}

/// Each path by itself: a wrong path does not affect the others.
async fn several(
    context: &FunctionContext,
    paths: impl Iterator<Item = String>,
    wanted: HelpOptions,
) -> Result<Help> {
    let mut results = Vec::new();
    let mut errors = Vec::new();
    let mut seen = HashSet::new();
    for path in paths {
        let help = match find(&context.view, &path) {
            Ok(target) if !seen.insert(target.clone()) => continue,
            Ok(target) => help_now(context, &target, wanted).await,
            Err(error) => Err(error),
        };
        let help = help.unwrap_or_else(|error| {
            let error = error.or_help_path(ROOT);
            errors.push(error.clone());
            HelpEntry { error: Some(Box::new(error)), ..HelpEntry::default() }
        });
        results.push(HelpEntry { asked: Some(path), ..help });
    }
    if results.len() == errors.len() {
        let all = errors.into_iter().reduce(ToolError::and);
        return Err(all.unwrap_or_else(|| ToolError::internal("no path was given")));
    }
    Ok(Help::Several { results })
}

/// The help on one target, with the reason why calls of an op fail now.
async fn help_now(context: &FunctionContext, target: &HelpTarget, wanted: HelpOptions) -> Result<HelpEntry> {
    let view = &context.view;
    let HelpTarget::Op(index) = target else {
        return match target {
            HelpTarget::Session => known_ops(context).await.map(HelpEntry::from),
            _ => view
                .help(target, wanted, || fields(view, target, wanted))
                .map(|fields| HelpEntry { fields, ..HelpEntry::default() }),
        };
    };
    let (Some(tool), Some(page)) = (view.catalog().tools.get(*index), view.page(*index)) else {
        return Err(ToolError::internal("this tool has no place"));
    };
    if view.is_forbidden(*index) {
        return Err(not_authorized(&tool.names.op));
    }
    let page = page.as_ref().map_err(ToolError::internal)?;
    let op = tool.names.op.clone();
    let page = HelpPage { op, doc_version: page.version.clone(), receipt: page.receipt.clone() };
    Ok(HelpEntry {
        fields: view.help(target, wanted, || Ok(help::of_tool(tool, wanted)))?,
        page: Some(page),
        unavailable: context.services.backends.problem(tool, &view.catalog().config),
        ..HelpEntry::default()
    })
}

/// Whether a caller with this version has the current help: the version of the registry, or of the doc of an op.
fn is_current(view: &CatalogView, place: &HelpTarget, known: &str) -> bool {
    let has_doc = |index: &usize| match view.page(*index) {
        Some(Ok(page)) => !view.is_forbidden(*index) && page.version == known,
        _ => false,
    };
    match place {
        HelpTarget::Op(index) => {
            has_doc(index) || (known == view.catalog().version && !view.is_forbidden(*index))
        }
        HelpTarget::Session => false,
        _ => known == view.catalog().version,
    }
}

/// The answer for a caller that has the current help. It has no receipt: a version alone proves no reading.
fn unchanged(path: &str, known: &str) -> Map<String, Value> {
    crate::fields::fields([
        ("path", Some(path.into())),
        ("unchanged", Some(true.into())),
        ("known_version", Some(known.into())),
    ])
}

/// The fields of the help on anything but an op.
fn fields(view: &CatalogView, place: &HelpTarget, wanted: HelpOptions) -> Result<Map<String, Value>> {
    let catalog = view.catalog();
    match place {
        HelpTarget::Group(group, only) => {
            Ok(help::directory(catalog, view.groups(), *group, *only, wanted.format))
        }
        HelpTarget::Beginning(path) => {
            help::beginning(catalog, path, wanted.format).ok_or_else(|| unknown(view, path))
        }
        HelpTarget::Function(name) => {
            let tool = functions()
                .named(name)
                .ok_or_else(|| ToolError::internal("this function has no definition"))?;
            Ok(help::of_tool(tool, wanted))
        }
        HelpTarget::Op(_) | HelpTarget::Session => Err(ToolError::internal("this help is read by itself")),
    }
}

/// Most paths that an error names.
const SUGGESTED: usize = 4;

/// Longest path that is looked up, in bytes. No op or group has a longer one.
const LONGEST_PATH: usize = 4 << 10;

/// The target of a path for this caller. An op comes before a group of the same path, which then ends in a dot; a
/// group comes before other names of tools.
fn find(view: &CatalogView, path: &str) -> Result<HelpTarget> {
    let name = path.trim();
    let catalog = view.catalog();
    if name.len() > LONGEST_PATH {
        return Err(unknown(view, &name[..name.floor_char_boundary(LONGEST_PATH)]));
    }
    let groups = view.groups();
    if let Some(index) = catalog.unique_position(name)
        && (catalog.tools[index].names.op == name || groups.named(name).is_none())
    {
        return Ok(HelpTarget::Op(index));
    }
    if let Some((group, only)) = groups.find(name) {
        return Ok(HelpTarget::Group(group, only));
    }
    if let Some(index) = catalog.unique_position(&name.replace('/', ".").to_lowercase()) {
        return Ok(HelpTarget::Op(index));
    }
    match (name, catalog.resolve(name)) {
        (_, found @ Resolved::Ambiguous(_)) => {
            let unresolved = catalog.explain(name, found);
            let message = unresolved.message;
            let mut error = ToolError::new(ErrorCode::Ambiguous, message, "ask for one of `nearest`");
            error.nearest = unresolved.near.iter().map(|tool| tool.names.op.clone()).collect();
            Err(error)
        }
        ("session", _) => Ok(HelpTarget::Session),
        _ if name.trim_end_matches(".read").trim_end_matches(".write").ends_with('*') => {
            Ok(HelpTarget::Beginning(name.to_string()))
        }
        _ => {
            let own = functions().tools.iter().find(|own| is_respelled(name, &own.names.canonical));
            own.map(|own| HelpTarget::Function(&own.names.canonical)).ok_or_else(|| unknown(view, name))
        }
    }
}

/// The error of an unknown path, with near ones.
fn unknown(view: &CatalogView, path: &str) -> ToolError {
    let catalog = view.catalog();
    let groups = view.groups();
    let name = path.trim().trim_end_matches('*');
    let names = catalog.tools.iter().flat_map(|tool| [tool.names.canonical.as_str(), tool.names.op.as_str()]);
    let paths = groups.all().iter().map(|group| group.path.as_str());
    let op = |name: &str| catalog.find(name).map_or(name.to_string(), |tool| tool.names.op.clone());
    let near = nearest(name, names.chain(paths)).into_iter().map(op);
    let above = groups.above(name).map(|group| group.path.clone());
    let near: IndexSet<String> = near.chain(above).take(SUGGESTED).collect();
    let next = if near.is_empty() {
        "find the op by what it does with tool_search, or begin with the path `root`"
    } else {
        "ask for one of `nearest`, or find the op by what it does with tool_search"
    };
    let message = format!("there is no op or group `{}`", quoted(path));
    let mut error = ToolError::new(ErrorCode::NotFound, message, next);
    error.nearest = near.into_iter().collect();
    error
}

/// Most events that are read, and most ops that are listed.
const MAX_EVENTS: usize = 2_000;
const MAX_OPS: usize = 40;

/// The ops of the caller's session, in the order of their first event.
async fn known_ops(context: &FunctionContext) -> Result<Map<String, Value>> {
    let Some(session) = context.caller.session() else { return Err(no_session()) };
    let wanted = EventQuery { limit: MAX_EVENTS, ..EventQuery::of(&session) };
    let events = context.services.state.events(&wanted).await;
    let events = events.map_err(|error| ToolError::internal(format!("the trace cannot be read: {error}")))?;
    let catalog = context.view.catalog();
    let mut ops: IndexMap<&str, String> = IndexMap::new();
    for event in &events {
        let is_known = matches!(event.kind, EventKind::Read | EventKind::Expand | EventKind::Call);
        if !is_known || event.outcome != "ok" {
            continue;
        }
        let tool = event.op.as_deref().and_then(|op| catalog.find(op));
        // A caller that may not use a tool may not see its arguments either.
        let tool = tool.filter(|tool| {
            catalog.position(&tool.names.canonical).is_some_and(|index| !context.view.is_forbidden(index))
        });
        if let Some(tool) = tool {
            ops.entry(&tool.names.op).or_insert_with(|| usage(tool));
        }
    }
    let left_out = ops.len().saturating_sub(MAX_OPS);
    let known = ops.into_iter().skip(left_out).map(|(op, usage)| json!({ "op": op, "usage": usage }));
    Ok(crate::fields::fields([
        ("path", Some("session".into())),
        ("known", Some(known.collect())),
        ("left_out", (left_out > 0).then(|| left_out.into())),
        ("next", Some("call these without asking for help again".into())),
    ]))
}

fn no_session() -> ToolError {
    let next = "send the same `session`, a text of your own, with every call; or ask for an op or a group";
    ToolError::invalid("this call belongs to no session, so that nothing is known of one", next)
}
