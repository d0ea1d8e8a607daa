//! What is about the whole catalog: `/registry.json`, `/llms.txt`, `/llms-full.txt`.

use std::sync::Arc;

use axum::Extension;
use axum::extract::{Request, State};

use super::kept::Varies;
use super::negotiate::Media;
use super::problem::{Problem, ProblemCode};
use super::shelf::{Index, Shelf};
use super::{Response, Shared, stream};
use crate::catalog::{ProfileTool, registry_head, registry_line};
use crate::exec::Caller;
use crate::serve::Seen;
use crate::tool::DescriptionMode;

/// `GET /registry.json`: kept, and to be had in ranges, unless there are very many tools.
pub(super) async fn registry(
    State(shared): State<Arc<Shared>>,
    Extension(seen): Extension<Seen>,
    Extension(caller): Extension<Caller>,
    request: Request,
) -> Result<Response, Problem> {
    let (asked, _) = request.into_parts();
    let shelf = Arc::clone(seen.shelf(&caller));
    if !shelf.has_registry() {
        let own = Arc::clone(&shelf);
        shared.heavy.run(move || own.registry().is_some()).await?;
    }
    if let Some(kept) = shelf.registry() {
        return kept.answer(&asked, Varies::Encoding);
    }
    let version = format!("r{}", index(&shared, &shelf).await?.version);
    let pieces = (0..=shelf.edition().catalog().tools.len()).map(move |piece| registry_piece(&shelf, piece));
    stream::answer(&asked, &shared.heavy, &version, Media::Json, pieces).await
}

/// The same text as [`crate::catalog::registry`], in pieces: the head, then a tool each.
fn registry_piece(shelf: &Shelf, piece: usize) -> String {
    let edition = shelf.edition();
    let tools = &edition.catalog().tools;
    let end = if piece == tools.len() {
        "\n]}\n"
    } else if piece == 0 {
        ""
    } else {
        ",\n"
    };
    let Some((index, tool)) = piece.checked_sub(1).and_then(|index| Some((index, tools.get(index)?))) else {
        return format!("{}{end}", registry_head(&edition.catalog().version, edition.profile_name()));
    };
    let mode = edition.mode(index).unwrap_or(DescriptionMode::Deferred);
    format!("{}{end}", registry_line(&ProfileTool { tool, mode }))
}

/// `GET /llms.txt`.
pub(super) async fn llms(
    State(shared): State<Arc<Shared>>,
    Extension(seen): Extension<Seen>,
    Extension(caller): Extension<Caller>,
    request: Request,
) -> Result<Response, Problem> {
    let (asked, _) = request.into_parts();
    let shelf = Arc::clone(seen.shelf(&caller));
    let index = index(&shared, &shelf).await?;
    let (version, pieces) = (format!("l{}", index.version), 0..index.llms.brief_pieces());
    let piece = move |piece| {
        let index = shelf.index().ok()?;
        Some(index.llms.brief(shelf.edition().catalog(), piece))
    };
    stream::answer(&asked, &shared.heavy, &version, Media::Text, pieces.filter_map(piece)).await
}

/// `GET /llms-full.txt`.
pub(super) async fn llms_full(
    State(shared): State<Arc<Shared>>,
    Extension(seen): Extension<Seen>,
    Extension(caller): Extension<Caller>,
    request: Request,
) -> Result<Response, Problem> {
    let (asked, _) = request.into_parts();
    let shelf = Arc::clone(seen.shelf(&caller));
    let index = index(&shared, &shelf).await?;
    let (version, pieces) = (format!("f{}", index.version), 0..index.llms.full_pieces());
    let piece = move |piece| {
        let doc = |index| shelf.edition().markdown(index);
        Some(shelf.index().ok()?.llms.full(doc, piece))
    };
    stream::answer(&asked, &shared.heavy, &version, Media::Text, pieces.filter_map(piece)).await
}

/// What is laid out from all tools, which is done once.
async fn index<'s>(shared: &Shared, shelf: &'s Arc<Shelf>) -> Result<&'s Index, Problem> {
    if !shelf.is_laid_out() {
        let own = Arc::clone(shelf);
        shared.heavy.run(move || own.index().is_ok()).await?;
    }
    shelf.index().map_err(|problem| Problem::new(ProblemCode::Internal, problem))
}
