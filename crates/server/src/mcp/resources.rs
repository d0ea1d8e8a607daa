//! The docs as resources, at `toolcrib://tools/...`: the index, its pages, then each tool, in an order that does not
//! depend on their sources. And the rests of long results, at `toolcrib://results/...`.

use std::borrow::Cow;

use percent_encoding::percent_decode_str;
use rmcp::ErrorData;
use rmcp::model::{
    ErrorCode, JsonObject, ListResourceTemplatesResult, ListResourcesResult, MetaObject, ReadResourceResult,
    Resource, ResourceContents, ResourceTemplate,
};
use serde_json::{Value, json};

use super::cursor::{ROOT, page_of};
use super::requester::{McpResult, Requester, cacheable};
use toolcrib_definition::clean_line;
use toolcrib_gateway::exec::Results;
use toolcrib_gateway::functions::{CatalogView, DocPage, IndexPage};
use toolcrib_render::TemplateError;

/// The address of the doc of a tool whose name stands for `{name}`.
pub(super) const TEMPLATE: &str = "toolcrib://tools/{name}.md";

/// The beginning of the addresses of rests of long results; a cursor follows.
const RESULTS: &str = "toolcrib://results/";

/// Most resources in one answer.
const PER_PAGE: usize = 200;

pub(super) const MARKDOWN: &str = "text/markdown";

/// Whether an address is one of a doc.
pub(super) fn is_ours(uri: &str) -> bool {
    uri.starts_with(ROOT)
}

/// Target of an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DocResource {
    /// A page of the index, by its position; the first is the index itself.
    Index(usize),
    /// The doc of a tool, by the tool's position in the catalog.
    Doc(usize),
}

/// The doc at an address, if there is one, by any name of the tool.
fn lookup(view: &CatalogView, uri: &str) -> Option<DocResource> {
    let path = uri.strip_prefix(ROOT)?;
    let pages = index_pages(view).ok()?;
    let index = pages.iter().position(|page| page.path == path).map(DocResource::Index);
    index.or_else(|| {
        let tool = view.catalog().find(&decoded(path.strip_suffix(".md").unwrap_or(path)))?;
        view.catalog().position(&tool.names.canonical).map(DocResource::Doc)
    })
}

/// The doc at an address; the error has the nearest names.
pub(super) fn find(view: &CatalogView, uri: &str) -> McpResult<DocResource> {
    if let Some(place) = lookup(view, uri) {
        return Ok(place);
    }
    let path = uri.strip_prefix(ROOT).ok_or_else(|| unknown(uri, Vec::new()))?;
    index_pages(view)?;
    let name = path.strip_suffix(".md").unwrap_or(path);
    view.resolve(&decoded(name)).map(DocResource::Doc).map_err(|found| {
        let near = view.catalog().explain(name, found).near;
        unknown(uri, near.iter().map(|tool| address(&tool.names.safe)).collect())
    })
}

/// The address of the doc of the tool with this safe name.
pub(super) fn address(safe_name: &str) -> String {
    format!("{ROOT}{safe_name}.md")
}

/// The error for an address without a resource, with the code of the older protocol; the SDK sends the newer one where it
/// applies.
pub(super) fn unknown(uri: &str, near: Vec<String>) -> ErrorData {
    let shown: String = uri.chars().take(200).collect();
    let shown = clean_line(&shown);
    let mut message = format!("there is no resource {shown}");
    if let Some(first) = near.first() {
        message.push_str(&format!("; did you mean {first}?"));
    }
    ErrorData::new(ErrorCode::RESOURCE_NOT_FOUND, message, Some(json!({"uri": shown, "nearest": near})))
}

/// The index and its pages.
fn index_pages(view: &CatalogView) -> McpResult<&[IndexPage]> {
    view.index().as_ref().map(Vec::as_slice).map_err(broken)
}

/// The doc of a tool.
fn page(view: &CatalogView, index: usize) -> McpResult<&DocPage> {
    match view.page(index) {
        Some(Ok(page)) => Ok(page),
        Some(Err(problem)) => Err(broken(problem)),
        None => Err(ErrorData::internal_error("the catalog changed under us", None)),
    }
}

/// The error for a template of the operator that does not render.
pub(super) fn broken(problem: &TemplateError) -> ErrorData {
    ErrorData::internal_error(format!("the docs cannot be written: {problem}"), None)
}

/// Text with percent-encoding decoded, such as `%2F`.
pub fn decoded(text: &str) -> Cow<'_, str> {
    percent_decode_str(text).decode_utf8().unwrap_or(Cow::Borrowed(text))
}

/// One page of the list.
pub(super) fn list(requester: &Requester, after: Option<&str>) -> McpResult<ListResourcesResult> {
    let view = requester.view();
    let places = places(view)?;
    let from = after.map_or(0, |after| {
        let last = key(after);
        places.partition_point(|(address, _)| key(address) <= last)
    });
    let (shown, next_cursor) = page_of(&places, from, PER_PAGE, |_, (address, _)| address.clone());
    let resources: McpResult<Vec<Resource>> =
        shown.iter().map(|(address, place)| resource(view, address, *place)).collect();
    let result = ListResourcesResult { next_cursor, ..ListResourcesResult::with_all_items(resources?) };
    Ok(cacheable!(result, requester))
}

/// Every resource: pages of the index first, then docs by address.
fn places(view: &CatalogView) -> McpResult<Vec<(String, DocResource)>> {
    let pages = index_pages(view)?.iter().enumerate();
    let mut places: Vec<(String, DocResource)> =
        pages.map(|(index, page)| (format!("{ROOT}{}", page.path), DocResource::Index(index))).collect();
    let tools = view.catalog().tools.iter().enumerate();
    places.extend(tools.map(|(index, tool)| (address(&tool.names.safe), DocResource::Doc(index))));
    places.sort_by(|(left, _), (right, _)| key(left).cmp(&key(right)));
    Ok(places)
}

/// Sort key of the list.
fn key(address: &str) -> (u8, &str) {
    let path = address.strip_prefix(ROOT).unwrap_or(address);
    let rank = match path {
        "README.md" => 0,
        _ if path.contains('/') => 1,
        _ => 2,
    };
    (rank, path)
}

fn resource(view: &CatalogView, address: &str, place: DocResource) -> McpResult<Resource> {
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
            let title = tool.names.title.as_deref().unwrap_or(&tool.names.canonical);
            let listed = Resource::new(address, clean_line(&tool.names.canonical))
                .with_title(clean_line(title))
                .with_description(clean_line(&tool.texts.short));
            if view.is_forbidden(index) {
                listed
            } else {
                listed.with_size(page(view, index)?.markdown.len() as u64)
            }
        }
    };
    Ok(listed.with_mime_type(MARKDOWN))
}

/// The one template: the doc of a tool by any of its names.
pub(super) fn templates(requester: &Requester) -> ListResourceTemplatesResult {
    let template = ResourceTemplate::new(TEMPLATE, "tool documentation")
        .with_title("Documentation of a tool")
        .with_description(
            "By its name, op or alias, as the index lists them: arguments, rules, a ready-made call",
        )
        .with_mime_type(MARKDOWN);
    cacheable!(ListResourceTemplatesResult::with_all_items(vec![template]), requester)
}

/// The resource at an address.
pub(super) fn read(requester: &Requester, address: &str) -> McpResult<ReadResourceResult> {
    let view = requester.view();
    let (markdown, about) = match find(view, address)? {
        DocResource::Index(index) => (&index_pages(view)?[index].markdown, None),
        DocResource::Doc(index) if view.is_forbidden(index) => {
            let message = "you may not use this tool: it needs a role that you do not have";
            let data = json!({ "uri": address, "code": "NOT_AUTHORIZED" });
            return Err(ErrorData::invalid_params(message, Some(data)));
        }
        DocResource::Doc(index) => {
            let page = page(view, index)?;
            let version = ("toolcrib/doc_version".to_string(), page.version.as_str().into());
            (&page.markdown, Some(MetaObject(JsonObject::from_iter([version]))))
        }
    };
    let text = String::from_utf8_lossy(markdown).into_owned();
    let mut contents = ResourceContents::text(text, address).with_mime_type(MARKDOWN);
    if let Some(about) = about {
        contents = contents.with_meta(about);
    }
    Ok(cacheable!(ReadResourceResult::new(vec![contents]), requester))
}

/// Whether an address is that of the rest of a long result.
pub(super) fn is_result(uri: &str) -> bool {
    uri.starts_with(RESULTS)
}

/// The link to the rest of a long result, for clients that read it without their model.
pub(super) fn result_link(cursor: &str) -> Value {
    json!({
        "type": "resource_link", "uri": format!("{RESULTS}{cursor}"), "name": "rest of the result",
        "description": "What was cut; read_result with the cursor gives it in parts",
    })
}

/// The rest of a long result of this caller.
pub(super) async fn read_rest(requester: &Requester, uri: &str) -> McpResult<ReadResourceResult> {
    let cursor = uri.strip_prefix(RESULTS).unwrap_or_default();
    let results =
        Results { state: &requester.services().state, caller: &requester.caller.name, limit: usize::MAX };
    let (text, media_type) = results.rest(cursor).await.map_err(|error| {
        let data = json!({ "uri": clean_line(uri), "code": error.code });
        ErrorData::new(ErrorCode::RESOURCE_NOT_FOUND, error.message, Some(data))
    })?;
    Ok(ReadResourceResult::new(vec![ResourceContents::text(text, uri).with_mime_type(media_type)]))
}

/// The version of the text at an address; `None` where there is no text.
pub(super) fn version(view: &CatalogView, address: &str) -> Option<String> {
    match lookup(view, address)? {
        DocResource::Index(_) => Some(view.catalog().version.clone()),
        DocResource::Doc(index) => page(view, index).ok().map(|page| page.version.clone()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_are_read_and_what_is_none_stays() {
        assert_eq!(decoded("files%2Fread"), "files/read");
        assert_eq!(decoded("100%"), "100%");
        assert_eq!(decoded("%zz%4"), "%zz%4");
        assert_eq!(decoded("%ff"), "%ff");
        assert_eq!(decoded("%E9%95%BF"), "长");
    }
}
