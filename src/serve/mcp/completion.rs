//! Completion of the name in the template of docs.

use rmcp::model::{CompleteRequestParams, CompleteResult, CompletionInfo, Reference};

use super::uri;
use crate::functions::CatalogView;

/// Names that begin with what was typed, then names that contain it.
pub(super) fn complete(view: &CatalogView, request: &CompleteRequestParams) -> CompleteResult {
    let is_name = matches!(&request.r#ref, Reference::Resource(resource) if resource.uri == uri::TEMPLATE)
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
