//! The addresses of docs: `toolcrib://tools/README.md`, `toolcrib://tools/NAME.md`.

use std::borrow::Cow;

use percent_encoding::percent_decode_str;
use rmcp::ErrorData;
use rmcp::model::{
    CompleteRequestParams, CompleteResult, CompletionInfo, ErrorCode, PaginatedRequestParams, Reference,
};
use serde_json::json;

use crate::functions::{CatalogView, IndexPage};
use crate::render::TemplateError;
use crate::tool::clean_line;

/// The root of all docs.
pub(super) const ROOT: &str = "toolcrib://tools/";

/// The root of all files of skills.
pub(super) const SKILLS: &str = "skill://";

/// The address of the doc of a tool whose name stands for `{name}`.
pub(super) const TEMPLATE: &str = "toolcrib://tools/{name}.md";

/// Target of an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DocResource {
    /// A page of the index, by its position; the first is the index itself.
    Index(usize),
    /// The doc of a tool, by the tool's position in the catalog.
    Doc(usize),
}

/// The doc at an address, if there is one, by any name of the tool.
pub(super) fn lookup(view: &CatalogView, uri: &str) -> Option<DocResource> {
    let path = uri.strip_prefix(ROOT)?;
    let pages = index_pages(view).ok()?;
    let index = pages.iter().position(|page| page.path == path).map(DocResource::Index);
    index.or_else(|| {
        let tool = view.catalog().find(&decoded(path.strip_suffix(".md").unwrap_or(path)))?;
        view.catalog().position(&tool.name).map(DocResource::Doc)
    })
}

/// The doc at an address; the error has the nearest names.
pub(super) fn find(view: &CatalogView, uri: &str) -> Result<DocResource, ErrorData> {
    if let Some(place) = lookup(view, uri) {
        return Ok(place);
    }
    let path = uri.strip_prefix(ROOT).ok_or_else(|| unknown(uri, Vec::new()))?;
    index_pages(view)?;
    let name = path.strip_suffix(".md").unwrap_or(path);
    view.resolve(&decoded(name)).map(DocResource::Doc).map_err(|found| {
        let near = view.catalog().explain(name, found).near;
        unknown(uri, near.iter().map(|tool| address(&tool.safe_name)).collect())
    })
}

/// The address of the doc of the tool with this safe name.
pub(super) fn address(safe_name: &str) -> String {
    format!("{ROOT}{safe_name}.md")
}

/// The code of the older wire; the SDK sends the newer one where it applies.
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
pub(super) fn index_pages(view: &CatalogView) -> Result<&[IndexPage], ErrorData> {
    view.index().as_ref().map(Vec::as_slice).map_err(broken)
}

/// The error for a template of the operator that does not render.
pub(super) fn broken(problem: &TemplateError) -> ErrorData {
    ErrorData::internal_error(format!("the docs cannot be written: {problem}"), None)
}

/// Text with percent-encoding decoded, such as `%2F`.
fn decoded(text: &str) -> Cow<'_, str> {
    percent_decode_str(text).decode_utf8().unwrap_or(Cow::Borrowed(text))
}

/// The address after which a list continues; `None` at its beginning.
pub(super) fn after_cursor(request: Option<PaginatedRequestParams>) -> Result<Option<String>, ErrorData> {
    match request.and_then(|request| request.cursor) {
        None => Ok(None),
        Some(cursor) if cursor.is_empty() => Ok(None),
        Some(cursor) => read_cursor(&cursor).map(Some).ok_or_else(invalid_cursor),
    }
}

/// Refuses a cursor for a list that has one page.
pub(super) fn one_page(request: Option<PaginatedRequestParams>) -> Result<(), ErrorData> {
    match request.and_then(|request| request.cursor) {
        Some(cursor) if !cursor.is_empty() => Err(invalid_cursor()),
        _ => Ok(()),
    }
}

/// The cursor of the entries after this address.
pub(super) fn cursor_after(address: &str) -> String {
    address.bytes().map(|byte| format!("{byte:02x}")).collect()
}

fn read_cursor(cursor: &str) -> Option<String> {
    let digits = cursor.as_bytes();
    if digits.len() > 8_192 || !digits.len().is_multiple_of(2) {
        return None;
    }
    let byte = |pair: &[u8]| match pair {
        [high, low] => {
            let digit = |byte: u8| char::from(byte).to_digit(16);
            Some((digit(*high)? * 16 + digit(*low)?) as u8)
        }
        _ => None,
    };
    let bytes: Option<Vec<u8>> = digits.chunks(2).map(byte).collect();
    String::from_utf8(bytes?)
        .ok()
        .filter(|address| [ROOT, SKILLS].iter().any(|root| address.starts_with(root)))
}

pub(super) fn invalid_cursor() -> ErrorData {
    ErrorData::invalid_params("this cursor is not one of ours; start again without a cursor", None)
}

/// Names that begin with what was typed, then names that contain it.
pub(super) fn complete(view: &CatalogView, request: &CompleteRequestParams) -> CompleteResult {
    let is_name = matches!(&request.r#ref, Reference::Resource(resource) if resource.uri == TEMPLATE)
        && request.argument.name == "name";
    let typed = request.argument.value.to_lowercase();
    let mut found: Vec<(bool, &str)> = Vec::new();
    if is_name {
        let names = view.catalog().tools.iter().map(|tool| tool.safe_name.as_str());
        let places = names.filter_map(|name| Some((name.to_lowercase().find(&typed)? > 0, name)));
        found.extend(places);
        found.sort_unstable();
    }
    let total = found.len();
    let shown: Vec<String> =
        found.into_iter().take(CompletionInfo::MAX_VALUES).map(|(_, name)| name.to_string()).collect();
    let has_more = shown.len() < total;
    let info = CompletionInfo::with_pagination(shown, u32::try_from(total).ok(), has_more);
    CompleteResult::new(info.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::decoded;

    #[test]
    fn escapes_are_read_and_what_is_none_stays() {
        assert_eq!(decoded("files%2Fread"), "files/read");
        assert_eq!(decoded("100%"), "100%");
        assert_eq!(decoded("%zz%4"), "%zz%4");
        assert_eq!(decoded("%ff"), "%ff");
        assert_eq!(decoded("%E9%95%BF"), "长");
    }
}

#[cfg(test)]
mod cursor_tests {
    use super::*;

    #[test]
    fn a_cursor_is_read_back_and_a_made_up_one_is_refused() {
        let address = "toolcrib://tools/math_factorial.md";
        let cursor = cursor_after(address);
        assert_eq!(read_cursor(&cursor).as_deref(), Some(address));
        for bad in ["x", "zz", "0", "ff", "6869", "\u{e9}\u{e9}", &"66".repeat(9_000)] {
            assert_eq!(read_cursor(bad), None, "{bad}");
        }
    }
}
