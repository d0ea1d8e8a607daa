//! The discovery protocol: `list`, `search_nodes`, `search_tool_by_category`, `expand_tool`, exactly as specified, with
//! our `ok` and `meta` next to its fields. `call_tool` is with the other functions that run tools.
//!
//! 1. [`category`] finds the category of a path and [`named_tool`] the tool of a name; an unknown name is an error with
//!    hints. Lists show enough of both to choose, without schemas.
//! 2. [`search`] ranks tools and categories.
//! 3. [`mod@list`] shows the content of a category, and [`ExpandTool`] one tool.

mod list;
mod search;

use std::collections::HashSet;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use self::search::by_words;
use super::function::Arguments;
use super::{Answer, CatalogView, ErrorCode, Function, FunctionContext, ToolError};
use toolcrib_catalog::{Callable, CategoryNode, Resolved, Tool};
use toolcrib_definition::finding::nearest;
use toolcrib_definition::{Effect, NoSchemaMode, Schema, clean_line, quoted};
use toolcrib_search::Hit;

pub(super) use list::List;
pub(super) use search::{Scope, SearchNodes, SearchToolByCategory, near_categories, ranked, read_part};

/// Next step where nothing fits and a source could not be read: the tool may be in it.
pub(super) const UNREAD: &str = "not all sources of the catalog could be read, and the tool may be in one of those: ask again \
                                 in other words, and if nothing fits, say that not all tools could be searched";

/// A query without surrounding white space; `None` if nothing is left.
fn query(text: &str) -> Option<&str> {
    Some(text.trim()).filter(|query| !query.is_empty())
}

/// The error for an argument that is only white space.
pub(super) fn blank(argument: &str) -> ToolError {
    let message = format!("`{argument}` is only white space");
    let next = format!("say in `{argument}` what you want to do: an action and an object, in a few words");
    ToolError::invalid(message, next).field(&format!("/{argument}"), "this is only white space")
}

/// Most segments and bytes of a path that are read. No category has more.
const MAX_SEGMENTS: usize = 32;
const MAX_PATH: usize = 8_192;
/// Most categories that an error suggests.
const SUGGESTED: usize = 3;
/// Most roots that an error lists when no category is near.
const MAX_ROOTS: usize = 12;

/// Position of the category of a path; the root if the path is empty. Letter case is ignored if only one category then
/// fits. A group of ops, such as `onto.task`, stands for the smallest category with all of its tools.
pub(super) fn category<S: AsRef<str>>(view: &CatalogView, path: &[S]) -> Result<usize, ToolError> {
    let segments = path.iter().flat_map(|segment| segment.as_ref().split('/')).map(clean_line);
    let segments: Vec<String> = segments.filter(|segment| !segment.is_empty()).take(MAX_SEGMENTS).collect();
    if segments.is_empty() {
        return Ok(0);
    }
    let path = segments.join("/");
    if path.len() > MAX_PATH {
        return Err(unknown_category(view, &quoted(&path)));
    }
    let found = view.tree().find(&path).or_else(|| group(view, &segments));
    found.ok_or_else(|| unknown_category(view, &path))
}

/// The smallest category with all tools whose ops begin with these segments.
fn group(view: &CatalogView, segments: &[String]) -> Option<usize> {
    let tree = view.tree();
    let tools = &view.catalog().tools;
    let group = format!("{}.", segments.join(".").to_lowercase());
    let ops = tools.iter().enumerate().filter(|(_, tool)| tool.op.starts_with(&group));
    let members: Vec<usize> = ops.map(|(index, _)| index).collect();
    if members.is_empty() {
        return None;
    }
    let has_all = |node: usize| {
        let below = &tree.node(node).descendant_tools;
        members.iter().all(|member| below.binary_search(member).is_ok())
    };
    let mut smallest = 0;
    while let Some(&child) = tree.node(smallest).children.iter().find(|&&child| has_all(child)) {
        smallest = child;
    }
    (smallest != 0 || members.len() == tools.len()).then_some(smallest)
}

fn unknown_category(view: &CatalogView, path: &str) -> ToolError {
    let tree = view.tree();
    let last = path.rsplit('/').next().unwrap_or(path);
    let by_path = nearest(path, tree.nodes().iter().map(|node| node.path.as_str()));
    let by_name = nearest(last, tree.nodes().iter().map(|node| node.name.as_str()));
    let named = |name: &&str| {
        (0..tree.nodes().len()).filter(|&node| tree.node(node).name == *name).collect::<Vec<_>>()
    };
    let mut close: Vec<usize> = by_path.into_iter().filter_map(|path| tree.find(path)).collect();
    close.extend(by_name.iter().flat_map(named));
    // The existing beginning of the path.
    let mut above = path;
    while let Some((shorter, _)) = above.rsplit_once('/') {
        above = shorter;
        close.extend(tree.find(above));
    }
    if close.is_empty() {
        close.extend(by_words(view, &path.replace('/', " "), SUGGESTED).hits.iter().map(|hit| hit.node));
    }
    let mut seen = HashSet::new();
    close.retain(|&node| node != 0 && seen.insert(node));
    close.truncate(SUGGESTED);
    let first = path.split('/').next().unwrap_or_default();
    let root_names = || tree.node(0).children.iter().map(|&root| tree.node(root).name.as_str());
    let closest_root = nearest(first, root_names()).first().and_then(|name| tree.find(name));
    let closest_root = closest_root.or_else(|| {
        let root = |&node: &usize| tree.ancestors(node).filter(|&above| above != 0).last().unwrap_or(node);
        close.first().map(root)
    });
    let roots: Vec<usize> = match closest_root {
        Some(root) => vec![root],
        None => tree.node(0).children.iter().copied().take(MAX_ROOTS).collect(),
    };
    let next = match close.first().or(roots.first()) {
        Some(&node) => format!(
            "list one of `hints`, such as {}, or find a category by what it is for with search_nodes",
            segments(tree.node(node))
        ),
        None => "call list without a path: there is no category".into(),
    };
    let message = format!("there is no category `{}`", quoted(path));
    let mut error = ToolError::new(ErrorCode::UnknownPath, message, next);
    error.nearest = close.iter().map(|&node| tree.node(node).path.clone()).collect();
    error.hint("categories", category_hints(view, &close)).hint("roots", category_hints(view, &roots))
}

// Resolves a name to a tool, by any of its names.

/// The tool with its position, if it exists and the caller may use it.
pub(super) fn named_tool<'e>(view: &'e CatalogView, name: &str) -> Result<(usize, &'e Tool), ToolError> {
    let index = view.resolve(name.trim()).map_err(|unresolved| unknown_tool(view, name, unresolved))?;
    if view.is_forbidden(index) {
        return Err(not_authorized(name));
    }
    let tool = view.catalog().tools.get(index);
    tool.map(|tool| (index, &**tool)).ok_or_else(|| unknown_tool(view, name, Resolved::Unknown(Vec::new())))
}

/// The error for a tool that exists, but not for this caller.
pub(super) fn not_authorized(name: &str) -> ToolError {
    ToolError::new(
        ErrorCode::NotAuthorized,
        format!("you may not use `{}`: it needs a role that you do not have", quoted(name)),
        "do without it, or say that this task needs it; asking again changes nothing",
    )
}

fn unknown_tool(view: &CatalogView, name: &str, found: Resolved<'_>) -> ToolError {
    let is_tool = matches!(found, Resolved::Tool(_));
    let unresolved = view.catalog().explain(name, found);
    let (code, next) = match (unresolved.is_ambiguous, unresolved.near.is_empty()) {
        (true, _) => (ErrorCode::Ambiguous, "ask for one of `nearest`"),
        (false, _) if is_tool => (ErrorCode::ToolNotFound, "start with list"),
        (false, true) => (
            ErrorCode::ToolNotFound,
            "find the tool by what it does, with search_tool_by_category or tool_search",
        ),
        (false, false) => (
            ErrorCode::ToolNotFound,
            "ask for one of `nearest`, or find the tool by what it does with search_tool_by_category",
        ),
    };
    let hint = |tool: &&Tool| json!({ "tool_id": tool.op, "summary": tool.short });
    let hints: Vec<Value> = unresolved.near.iter().map(hint).collect();
    let mut error = ToolError::new(code, unresolved.message, next).hint("tools", hints);
    error.nearest = unresolved.near.iter().map(|tool| tool.op.clone()).collect();
    error
}

// Categories and tools as lists show them.

/// A category that may fit.
#[derive(Clone)]
struct CategoryHit {
    node: usize,
    confidence: f32,
    /// Order among categories with the same best tool.
    evidence: f32,
    /// Whether the query contains its name.
    is_named: bool,
    /// Reason for the fit, in words.
    reason: String,
}

/// The path of a category.
fn segments(node: &CategoryNode) -> Value {
    node.segments().into()
}

/// A category, with the reason for its fit if there was a query.
fn category_fields(node: &CategoryNode, hit: Option<&CategoryHit>) -> Value {
    let mut fields =
        json!({ "name": node.name, "path": segments(node), "summary": node.summary, "tags": node.tags });
    if let Some(hit) = hit {
        fields["confidence"] = hundredths(hit.confidence).into();
        fields["reason"] = hit.reason.as_str().into();
    }
    fields
}

/// A tool in the category at `place`, with confidence and reason if there was a query.
fn tool_fields(view: &CatalogView, index: usize, place: usize, hit: Option<&Hit>) -> Value {
    let Some(tool) = view.catalog().tools.get(index) else { return Value::Null };
    let mut fields = Map::with_capacity(7);
    fields.insert("tool_id".into(), tool.op.as_str().into());
    fields.insert("path".into(), segments(view.tree().node(place)));
    fields.insert("summary".into(), tool.short.as_str().into());
    fields.insert("tags".into(), tool.tags().into());
    fields.insert("confidence".into(), hit.map(|hit| hundredths(hit.confidence)).into());
    if let Some(hit) = hit {
        fields.insert("reason".into(), hit.reason.as_str().into());
    }
    if view.is_forbidden(index) {
        fields.insert("forbidden".into(), true.into());
    }
    Value::Object(fields)
}

/// The first category below `scope` that holds a tool.
fn place(view: &CatalogView, index: usize, scope: usize) -> usize {
    let tree = view.tree();
    let places = tree.places(index);
    places.iter().copied().find(|&place| tree.holds(scope, place)).unwrap_or(scope)
}

/// Categories to look into instead.
pub(super) fn category_hints(view: &CatalogView, nodes: &[usize]) -> Vec<Value> {
    let node = |&node: &usize| view.tree().node(node);
    nodes.iter().map(node).map(|node| json!({ "path": segments(node), "summary": node.summary })).collect()
}

/// Rounds a confidence to two decimal places.
pub(super) fn hundredths(confidence: f32) -> f64 {
    (f64::from(confidence) * 100.0).round() / 100.0
}

// `expand_tool`: the schemas of one tool, with further facts for its callers. No other operation returns schemas.

/// Arguments of `expand_tool`.
#[derive(Deserialize)]
pub(super) struct ExpandTool {
    tool_id: String,
}

/// The fields of a tool.
#[derive(Serialize)]
struct Expanded<'e> {
    ok: bool,
    tool_id: &'e str,
    path: Vec<&'e str>,
    /// Its other categories.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    also_in: Vec<Vec<&'e str>>,
    name: &'e str,
    summary: &'e str,
    args_schema: Option<Box<RawValue>>,
    result_schema: Option<Box<RawValue>>,
    effect: Effect,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    approval: bool,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    deprecated: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    replaced_by: Option<&'e str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cost: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    not_callable: Option<&'e str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    example: Option<Value>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    fill_in: Vec<String>,
    doc_version: &'e str,
    #[serde(skip_serializing_if = "Option::is_none")]
    schema_version: Option<String>,
    meta: Value,
}

impl Arguments for ExpandTool {
    async fn answer(self, _: &Function, context: &FunctionContext) -> Result<Answer, ToolError> {
        let view = &context.view;
        let (index, tool) = named_tool(view, &self.tool_id)?;
        Ok(Answer::from_json(made(view, index, tool)?.into()))
    }
}

/// The ready-made call; for a destructive tool, a dry run.
fn called(tool: &Tool) -> Option<Value> {
    let mut call = json!({ "tool_id": tool.op, "arguments": tool.call.as_ref()? });
    if tool.effect == Effect::Destructive {
        call["dry_run"] = true.into();
    }
    Some(call)
}

fn made(view: &CatalogView, index: usize, tool: &Tool) -> Result<String, ToolError> {
    let page = view.page(index).ok_or_else(|| ToolError::internal("this tool has no place"))?;
    let page = page.as_ref().map_err(ToolError::internal)?;
    let definition = &tool.definition;
    let tree = view.tree();
    let mut places = tree.places(index).iter().map(|&place| tree.node(place).segments());
    let (not_callable, unchecked) = match tool.parameters.callable() {
        Callable::No(reason) => (Some(reason.as_str()), false),
        Callable::Unchecked(mode) => (None, *mode == NoSchemaMode::HumanApproval),
        Callable::Checked => (None, false),
    };
    let mut expanded = Expanded {
        ok: true,
        tool_id: &tool.op,
        path: places.next().unwrap_or_default(),
        also_in: places.collect(),
        name: &tool.name,
        summary: &tool.short,
        args_schema: definition.parameters.as_ref().and_then(verbatim),
        result_schema: definition.result_schema.as_ref().and_then(verbatim),
        effect: tool.effect,
        approval: definition.approval == Some(true) || unchecked,
        deprecated: definition.deprecated == Some(true),
        replaced_by: definition.replaced_by.as_deref(),
        cost: definition.cost,
        not_callable,
        example: called(tool),
        fill_in: tool.fill_in.iter().map(|pointer| format!("/arguments{pointer}")).collect(),
        doc_version: &page.version,
        schema_version: None,
        meta: Value::Null,
    };
    // The version belongs to the whole answer, not to the catalog.
    let json = serde_json::to_string(&expanded).map_err(ToolError::internal)?;
    expanded.schema_version = Some(blake3::hash(json.as_bytes()).to_hex()[..VERSION].to_string());
    expanded.meta = json!({ "registry_version": view.catalog().version });
    serde_json::to_string(&expanded).map_err(ToolError::internal)
}

/// Characters of a version.
const VERSION: usize = 10;

/// The author's schema without white space between tokens.
fn verbatim(schema: &Schema) -> Option<Box<RawValue>> {
    let mut text = String::with_capacity(schema.text().len());
    let mut quoted = false;
    let mut escaped = false;
    for c in schema.text().chars() {
        match c {
            ' ' | '\n' | '\r' | '\t' if !quoted => continue,
            '"' if !escaped => quoted = !quoted,
            _ => {}
        }
        escaped = c == '\\' && !escaped;
        text.push(c);
    }
    RawValue::from_string(text).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_schema_loses_its_blanks_and_nothing_else() {
        let text = "{ \"a \\\" b\" :\n [1.00, 1e400,\t\"x\\\\\" ] }";
        let schema = Schema::verbatim(text, std::sync::Arc::new(json!({})));
        assert_eq!(verbatim(&schema).unwrap().get(), r#"{"a \" b":[1.00,1e400,"x\\"]}"#);
    }
}
