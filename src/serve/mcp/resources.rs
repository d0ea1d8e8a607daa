//! The docs as resources: the index, its pages, then each tool, in an order that does not depend on their sources.

use rmcp::ErrorData;
use rmcp::model::{
    CacheScope, JsonObject, ListResourceTemplatesResult, ListResourcesResult, MetaObject, ReadResourceResult,
    Resource, ResourceContents, ResourceTemplate,
};

use super::uri::{self, DocResource, broken, index_pages};
use super::{FRESH_FOR, meta};
use crate::functions::{CatalogView, DocPage};
use crate::tool::clean_line;

/// Most resources in one answer.
const PER_PAGE: usize = 200;

const MARKDOWN: &str = "text/markdown";

/// One page of the list.
pub(super) fn list(
    view: &CatalogView,
    after: Option<&str>,
    scope: CacheScope,
) -> Result<ListResourcesResult, ErrorData> {
    let places = places(view)?;
    let from = after.map_or(0, |after| {
        let last = key(after);
        places.partition_point(|(address, _)| key(address) <= last)
    });
    let shown = &places[from..places.len().min(from + PER_PAGE)];
    let resources: Result<Vec<Resource>, ErrorData> =
        shown.iter().map(|(address, place)| resource(view, address, *place)).collect();
    let mut result =
        ListResourcesResult::with_all_items(resources?).with_ttl_ms(FRESH_FOR).with_cache_scope(scope);
    let is_last = from + shown.len() >= places.len();
    result.next_cursor = shown.last().filter(|_| !is_last).map(|(address, _)| uri::cursor_after(address));
    result.meta = Some(meta(view));
    Ok(result)
}

/// Every resource: pages of the index first, then docs by address.
fn places(view: &CatalogView) -> Result<Vec<(String, DocResource)>, ErrorData> {
    let pages = index_pages(view)?.iter().enumerate();
    let mut places: Vec<(String, DocResource)> = pages
        .map(|(index, page)| (format!("{}{}", uri::ROOT, page.path), DocResource::Index(index)))
        .collect();
    let tools = view.catalog().tools.iter().enumerate();
    places.extend(tools.map(|(index, tool)| (uri::address(&tool.safe_name), DocResource::Doc(index))));
    places.sort_by(|(left, _), (right, _)| key(left).cmp(&key(right)));
    Ok(places)
}

/// Sort key of the list.
fn key(address: &str) -> (u8, &str) {
    let path = address.strip_prefix(uri::ROOT).unwrap_or(address);
    let rank = match path {
        "README.md" => 0,
        _ if path.contains('/') => 1,
        _ => 2,
    };
    (rank, path)
}

fn resource(view: &CatalogView, address: &str, place: DocResource) -> Result<Resource, ErrorData> {
    let listed = match place {
        DocResource::Index(index) => {
            let page = &index_pages(view)?[index];
            let description = match index {
                0 => "One line per tool, by category: its purpose and its name",
                _ => "The tools of one category, one line each",
            };
            Resource::new(address, page.path.as_str())
                .with_title(clean_line(&page.title))
                .with_description(description)
                .with_size(page.markdown.len() as u64)
        }
        DocResource::Doc(index) => {
            let tool = &view.catalog().tools[index];
            let title = tool.definition.title.as_deref().unwrap_or(&tool.name);
            let listed = Resource::new(address, clean_line(&tool.name))
                .with_title(clean_line(title))
                .with_description(clean_line(&tool.short));
            match view.is_forbidden(index) {
                true => listed,
                false => listed.with_size(page(view, index)?.markdown.len() as u64),
            }
        }
    };
    Ok(listed.with_mime_type(MARKDOWN))
}

/// The one template: the doc of a tool by any of its names.
pub(super) fn templates(view: &CatalogView, scope: CacheScope) -> ListResourceTemplatesResult {
    let template = ResourceTemplate::new(uri::TEMPLATE, "tool documentation")
        .with_title("Documentation of a tool")
        .with_description(
            "By its name, op or alias, as the index lists them: arguments, rules, a ready-made call",
        )
        .with_mime_type(MARKDOWN);
    let mut result = ListResourceTemplatesResult::with_all_items(vec![template])
        .with_ttl_ms(FRESH_FOR)
        .with_cache_scope(scope);
    result.meta = Some(meta(view));
    result
}

/// The resource at an address.
pub(super) fn read(
    view: &CatalogView,
    address: &str,
    scope: CacheScope,
) -> Result<ReadResourceResult, ErrorData> {
    let (markdown, about) = match uri::find(view, address)? {
        DocResource::Index(index) => (&index_pages(view)?[index].markdown, None),
        DocResource::Doc(index) if view.is_forbidden(index) => {
            let message = "you may not use this tool: it needs a role that you do not have";
            let data = serde_json::json!({ "uri": address, "code": "NOT_AUTHORIZED" });
            return Err(ErrorData::invalid_params(message, Some(data)));
        }
        DocResource::Doc(index) => {
            let page = page(view, index)?;
            (&page.markdown, Some(doc_version(page)))
        }
    };
    let text = String::from_utf8_lossy(markdown).into_owned();
    let mut contents = ResourceContents::text(text, address).with_mime_type(MARKDOWN);
    if let Some(about) = about {
        contents = contents.with_meta(about);
    }
    let mut result = ReadResourceResult::new(vec![contents]).with_ttl_ms(FRESH_FOR).with_cache_scope(scope);
    result.meta = Some(meta(view));
    Ok(result)
}

/// The version of the text at an address; `None` where there is no text.
pub(super) fn version(view: &CatalogView, address: &str) -> Option<String> {
    match uri::lookup(view, address)? {
        DocResource::Index(_) => Some(view.catalog().version.clone()),
        DocResource::Doc(index) => page(view, index).ok().map(|page| page.version.clone()),
    }
}

fn doc_version(page: &DocPage) -> MetaObject {
    MetaObject(JsonObject::from_iter([("toolcrib/doc_version".to_string(), page.version.as_str().into())]))
}

fn page(view: &CatalogView, index: usize) -> Result<&DocPage, ErrorData> {
    match view.page(index) {
        Some(Ok(page)) => Ok(page),
        Some(Err(problem)) => Err(broken(problem)),
        None => Err(ErrorData::internal_error("the catalog changed under us", None)),
    }
}
