//! Files about the whole catalog: `/registry.json`, `/llms.txt`, `/llms-full.txt`.

use std::sync::Arc;

use super::request_context::RequestContext;
use super::{Response, Shared, stream};
use crate::catalog::{ProfileTool, registry_head, registry_line};
use crate::serve::response::cached_body::Vary;
use crate::serve::response::negotiate::Media;
use crate::serve::response::problem::{Problem, ProblemCode};
use crate::serve::response::response_cache::{IndexFiles, ResponseCache};
use crate::tool::DescriptionMode;

/// `GET /registry.json`: cached, and available in ranges, unless there are very many tools.
pub(super) async fn registry(context: RequestContext) -> Result<Response, Problem> {
    let RequestContext { shared, catalog, caller, request, .. } = context;
    let cache = Arc::clone(catalog.cache(&caller));
    if !cache.has_registry() {
        let own = Arc::clone(&cache);
        shared.blocking_pool.run(move || own.registry().is_some()).await?;
    }
    if let Some(kept) = cache.registry() {
        return kept.answer(&request, Vary::Encoding);
    }
    let version = format!("r{}", index(&shared, &cache).await?.version);
    let pieces = (0..=cache.view().catalog().tools.len()).map(move |piece| registry_piece(&cache, piece));
    stream::answer(&request, &shared.blocking_pool, &version, Media::Json, pieces).await
}

/// The same text as [`crate::catalog::registry`], in pieces: the head, then a tool each.
fn registry_piece(cache: &ResponseCache, piece: usize) -> String {
    let view = cache.view();
    let tools = &view.catalog().tools;
    let end = if piece == tools.len() {
        "\n]}\n"
    } else if piece == 0 {
        ""
    } else {
        ",\n"
    };
    let Some((index, tool)) = piece.checked_sub(1).and_then(|index| Some((index, tools.get(index)?))) else {
        return format!("{}{end}", registry_head(&view.catalog().version, view.profile_name()));
    };
    let mode = view.mode(index).unwrap_or(DescriptionMode::Deferred);
    format!("{}{end}", registry_line(&ProfileTool { tool, mode }))
}

/// `GET /llms.txt`.
pub(super) async fn llms(context: RequestContext) -> Result<Response, Problem> {
    let RequestContext { shared, catalog, caller, request, .. } = context;
    let cache = Arc::clone(catalog.cache(&caller));
    let index = index(&shared, &cache).await?;
    let (version, pieces) = (format!("l{}", index.version), 0..index.llms.brief_pieces());
    let piece = move |piece| {
        let index = cache.index().ok()?;
        Some(index.llms.brief(cache.view().catalog(), piece))
    };
    stream::answer(&request, &shared.blocking_pool, &version, Media::Text, pieces.filter_map(piece)).await
}

/// `GET /llms-full.txt`.
pub(super) async fn llms_full(context: RequestContext) -> Result<Response, Problem> {
    let RequestContext { shared, catalog, caller, request, .. } = context;
    let cache = Arc::clone(catalog.cache(&caller));
    let index = index(&shared, &cache).await?;
    let (version, pieces) = (format!("f{}", index.version), 0..index.llms.full_pieces());
    let piece = move |piece| {
        let doc = |index| cache.view().markdown(index);
        Some(cache.index().ok()?.llms.full(doc, piece))
    };
    stream::answer(&request, &shared.blocking_pool, &version, Media::Text, pieces.filter_map(piece)).await
}

/// The files that are laid out from all tools, made once.
async fn index<'s>(shared: &Shared, cache: &'s Arc<ResponseCache>) -> Result<&'s IndexFiles, Problem> {
    if !cache.is_laid_out() {
        let own = Arc::clone(cache);
        shared.blocking_pool.run(move || own.index().is_ok()).await?;
    }
    cache.index().map_err(|problem| Problem::new(ProblemCode::Internal, problem))
}
