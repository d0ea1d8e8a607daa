//! `list`: the content of a category. Without a query and tags its direct content, with them everything below it.

use serde::Deserialize;
use serde_json::Map;

use super::search::{fitting_categories, nothing, search_in_scope};
use super::{CategoryHit, Scope, category, category_fields, place, query, segments, tool_fields};
use crate::functions::function::Arguments;
use crate::functions::{Answer, CatalogView, ErrorCode, Function, FunctionContext, ToolError};
use toolcrib_definition::quoted;
use toolcrib_search::semantic::SemanticStatus;
use toolcrib_search::{Hit, Verdict};

/// Most categories before the tools that fit a query.
const FITTING_NODES: usize = 3;

/// Arguments of `list`.
#[derive(Deserialize)]
pub(in crate::functions) struct List {
    #[serde(default)]
    path: Vec<String>,
    #[serde(default)]
    tags: Vec<String>,
    query: Option<String>,
    #[serde(default = "default_limit")]
    limit: usize,
    cursor: Option<String>,
}

fn default_limit() -> usize {
    10
}

/// One line of a list, with its score where there was a query.
#[derive(Clone)]
enum Line {
    Node(usize, Option<CategoryHit>),
    Tool(usize, Option<Hit>),
}

/// Some lines of a list, with the cursor of the rest.
struct Page {
    lines: Vec<Line>,
    next: Option<String>,
    /// Whether a search used meaning.
    semantic: Option<SemanticStatus>,
}

impl Arguments for List {
    async fn answer(self, function: &Function, context: &FunctionContext) -> Result<Answer, ToolError> {
        let view = &context.view;
        // An unknown path is answered by a search.
        if self.query.is_some() || !self.path.is_empty() {
            view.wait_for_indexes().await;
        }
        let scope = Scope { node: category(view, &self.path)?, tags: &self.tags };
        let node = view.tree().node(scope.node);
        let query = self.query.as_deref().and_then(query);
        let origin = CursorScope::of(
            function.name(),
            &[&node.path, &scope.tags.join("\n"), query.unwrap_or_default()],
        );
        let page = match query {
            Some(query) => fitting(context, &self, scope, query, &origin).await?,
            None if self.tags.is_empty() => {
                let tools = node.tools.iter().map(|&tool| Line::Tool(tool, None));
                let lines = node.children.iter().map(|&node| Line::Node(node, None)).chain(tools);
                browsed(view, &self, &origin, lines)?
            }
            None => tagged(view, &self, scope, &origin)?,
        };
        let is_direct = self.tags.is_empty() && query.is_none();
        let semantic = page.semantic.clone();
        let answer = answer(view, scope, is_direct, page);
        Ok(match semantic {
            Some(semantic) => answer.with_semantic_status(&semantic),
            None => answer,
        })
    }
}

/// Sort key of a list: categories by name, then tools by op.
fn key(view: &CatalogView, line: &Line) -> String {
    match line {
        Line::Node(node, _) => {
            let node = view.tree().node(*node);
            format!("0{} {}", node.name.to_lowercase(), node.path)
        }
        Line::Tool(tool, _) => format!("1{}", view.catalog().tools[*tool].op),
    }
}

/// The page after the last listed key.
fn browsed(
    view: &CatalogView,
    asked: &List,
    origin: &CursorScope,
    lines: impl Iterator<Item = Line>,
) -> Result<Page, ToolError> {
    let after = origin.key(asked.cursor.as_deref())?;
    let mut keyed: Vec<(String, Line)> = lines.map(|line| (key(view, &line), line)).collect();
    keyed.sort_by(|(one, _), (other, _)| one.cmp(other));
    let from = after.map_or(0, |last| keyed.partition_point(|(key, _)| key.as_str() <= last));
    let to = keyed.len().min(from + asked.limit);
    let next = keyed[from..to].last().filter(|_| to < keyed.len()).map(|(last, _)| origin.after_key(last));
    Ok(Page { lines: keyed[from..to].iter().map(|(_, line)| line.clone()).collect(), next, semantic: None })
}

/// Categories and tools with all of the tags, anywhere below.
fn tagged(
    view: &CatalogView,
    asked: &List,
    scope: Scope<'_>,
    origin: &CursorScope,
) -> Result<Page, ToolError> {
    let nodes = tagged_nodes(view, scope).map(|node| Line::Node(node, None));
    let tools = scope.tools(view).map(|tool| Line::Tool(tool, None));
    let lines: Vec<Line> = nodes.chain(tools).collect();
    if lines.is_empty() {
        return Err(untagged(view, scope));
    }
    browsed(view, asked, origin, lines.into_iter())
}

/// The categories below that have all of the tags.
fn tagged_nodes<'e>(view: &'e CatalogView, scope: Scope<'e>) -> impl Iterator<Item = usize> {
    let tree = view.tree();
    let is_inside = move |&node: &usize| node != scope.node && tree.holds(scope.node, node);
    (1..tree.nodes().len()).filter(is_inside).filter(move |&node| scope.has_tags(&tree.node(node).tags))
}

/// The error where tags leave nothing, with the tags that exist.
fn untagged(view: &CatalogView, scope: Scope<'_>) -> ToolError {
    let node = view.tree().node(scope.node);
    let place = if node.path.is_empty() { "here".into() } else { format!("in {}", node.path) };
    let message = match scope.tags {
        [tag] => format!("nothing {place} has the tag {}", quoted(tag)),
        tags => format!("nothing {place} has all of the tags {}", quoted(&tags.join(", "))),
    };
    let next = "take one of `hints.tags`, or leave `tags` out; a tool must have all of them";
    ToolError::new(ErrorCode::NoMatchInCategory, message, next)
        .hint("tags", node.tags.iter().map(|tag| tag.as_str().into()).collect())
}

/// Categories and tools that fit a query, anywhere below: the best categories, then tools.
async fn fitting(
    context: &FunctionContext,
    asked: &List,
    scope: Scope<'_>,
    query: &str,
    origin: &CursorScope,
) -> Result<Page, ToolError> {
    let view = &*context.view;
    let tree = view.tree();
    let version = &view.catalog().version;
    let from = origin.offset(asked.cursor.as_deref(), version)?;
    let to = from.saturating_add(asked.limit);
    let is_excluded = scope.tools(view).next().is_none() && tagged_nodes(view, scope).next().is_none();
    if !scope.tags.is_empty() && is_excluded {
        return Err(untagged(view, scope));
    }
    let (found, semantic) = search_in_scope(context, query, scope, to.saturating_add(1)).await;
    let fits = found.verdict != Verdict::NoMatch;
    let (near, _) = fitting_categories(context, query, tree.nodes().len()).await;
    // Without a tool that fits, a category fits only when the query names it.
    let counts = |hit: &CategoryHit| {
        let node = tree.node(hit.node);
        let is_inside = tree.holds(scope.node, hit.node);
        hit.node != scope.node && is_inside && scope.has_tags(&node.tags) && (fits || hit.is_named)
    };
    let categories = near.hits.into_iter().filter(|hit| near.fits && counts(hit)).take(FITTING_NODES);
    let mut lines: Vec<Line> = categories.map(|hit| Line::Node(hit.node, Some(hit))).collect();
    if fits {
        lines.extend(found.hits.into_iter().map(|hit| Line::Tool(hit.entry, Some(hit))));
    }
    if lines.is_empty() {
        return Err(nothing(context, scope, query).await);
    }
    let next = (lines.len() > to).then(|| origin.at_offset(to, version));
    let lines = lines.into_iter().skip(from).take(asked.limit).collect();
    Ok(Page { lines, next, semantic: Some(semantic) })
}

fn answer(view: &CatalogView, scope: Scope<'_>, is_direct: bool, page: Page) -> Answer {
    let tree = view.tree();
    let mut nodes = Vec::new();
    let mut tools = Vec::new();
    for line in page.lines {
        match line {
            Line::Node(node, hit) => nodes.push(category_fields(tree.node(node), hit.as_ref())),
            Line::Tool(tool, hit) => {
                let node = if is_direct { scope.node } else { place(view, tool, scope.node) };
                tools.push(tool_fields(view, tool, node, hit.as_ref()));
            }
        }
    }
    let fields = Map::from_iter([
        ("path".to_string(), segments(tree.node(scope.node))),
        ("nodes".to_string(), nodes.into()),
        ("tools".to_string(), tools.into()),
        ("next_cursor".to_string(), page.next.into()),
    ]);
    Answer::new(fields, None)
}

// Cursors of lists. A cursor of a list holds the last listed key, so that the next page is right
// even when the catalog has changed in between. A cursor of a ranking holds the number of listed results, and is
// valid as long as the catalog is the same.

/// The request that a cursor belongs to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct CursorScope(String);

impl CursorScope {
    /// Hash of a function and of all arguments that decide the content of the list.
    pub(super) fn of(function: &str, arguments: &[&str]) -> Self {
        let mut hasher = blake3::Hasher::new();
        for text in std::iter::once(&function).chain(arguments) {
            hasher.update(text.as_bytes()).update(b"\0");
        }
        Self(hasher.finalize().to_hex()[..12].to_string())
    }

    /// The cursor of the entries after a key.
    pub(super) fn after_key(&self, key: &str) -> String {
        format!("k{}{key}", self.0)
    }

    /// The cursor of the entries after the first `count` of a ranking of this registry version.
    pub(super) fn at_offset(&self, count: usize, registry_version: &str) -> String {
        format!("r{}{count} {registry_version}", self.0)
    }

    /// The key after which a list continues; `None` at its beginning.
    pub(super) fn key<'c>(&self, cursor: Option<&'c str>) -> Result<Option<&'c str>, ToolError> {
        given(cursor).map(|cursor| self.rest(cursor, 'k')).transpose()
    }

    /// Number of results of a ranking that were listed before.
    pub(super) fn offset(&self, cursor: Option<&str>, registry_version: &str) -> Result<usize, ToolError> {
        let Some(cursor) = given(cursor) else { return Ok(0) };
        let (count, version) = self.rest(cursor, 'r')?.split_once(' ').ok_or_else(foreign)?;
        if version != registry_version {
            return Err(expired());
        }
        count.parse().map_err(|_| foreign())
    }

    fn rest<'c>(&self, cursor: &'c str, kind: char) -> Result<&'c str, ToolError> {
        cursor.strip_prefix(kind).and_then(|text| text.strip_prefix(&self.0)).ok_or_else(foreign)
    }
}

fn given(cursor: Option<&str>) -> Option<&str> {
    cursor.filter(|cursor| !cursor.is_empty())
}

fn foreign() -> ToolError {
    let message = "this cursor is not one of ours, or belongs to another request";
    let next = "send `next_cursor` as it was given, with the same arguments; or ask again without a cursor";
    ToolError::invalid(message, next).field("/cursor", message)
}

fn expired() -> ToolError {
    let message = "the catalog has changed since this cursor was given";
    ToolError::new(ErrorCode::CursorExpired, message, "ask again without a cursor")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_is_read_back_by_its_own_request_only() {
        let own = CursorScope::of("list", &["Storage"]);
        let other = CursorScope::of("list", &["Coding"]);
        let key = own.after_key("1storage.put Ünï");
        let count = own.at_offset(10, "0123");
        assert_eq!(own.key(Some(&key)).unwrap(), Some("1storage.put Ünï"));
        assert_eq!(own.offset(Some(&count), "0123").unwrap(), 10);
        assert_eq!(own.offset(Some(&count), "4567").unwrap_err().code, ErrorCode::CursorExpired);
        assert_eq!((own.key(None).unwrap(), own.offset(Some(""), "0123").unwrap()), (None, 0));
        for wrong in ["x", "é", "00000000", &count] {
            assert_eq!(own.key(Some(wrong)).unwrap_err().code, ErrorCode::ValidationError, "{wrong}");
        }
        assert_eq!(other.key(Some(&key)).unwrap_err().code, ErrorCode::ValidationError);
    }
}
