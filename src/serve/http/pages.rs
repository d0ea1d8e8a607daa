//! The pages for people, which `site` makes: one path in, one body out.

use std::collections::HashMap;

use super::Shelf;
use super::kept::Kept;
use super::negotiate::Media;
use super::problem::{Problem, ProblemCode};
use crate::render::TemplateError;
use crate::site::{Page, PageKind, Site, SiteIndex};

/// The page at a path such as `tools/NAME.html`; nothing where there is none. `query` is that of the address, `notice`
/// what every page says at its top.
pub(super) fn page<'s>(
    shelf: &'s Shelf,
    path: &str,
    query: Option<&str>,
    notice: Option<&str>,
) -> Result<Option<Answered<'s>>, Problem> {
    if let Some(kept) = shelf.asset(path)? {
        return Ok(Some(Answered::Kept(kept)));
    }
    let site = site(shelf, shelf.site()).with_notice(notice);
    let made = match (path, query.and_then(searched)) {
        ("search.html", Some(words)) => Some(site.search(&words)),
        _ => site.page(path),
    };
    made.map(|page| page.map(|page| Answered::Made(kept(page))).map_err(broken)).transpose()
}

/// The page that says that there is nothing.
pub(super) fn missing(shelf: &Shelf, path: &str) -> Option<String> {
    site(shelf, shelf.site()).not_found(path).ok().map(|page| page.body)
}

/// A page that is kept, or one that was made for this request.
#[derive(Debug)]
pub(super) enum Answered<'s> {
    Kept(&'s Kept),
    Made(Kept),
}

impl std::ops::Deref for Answered<'_> {
    type Target = Kept;

    fn deref(&self) -> &Kept {
        match self {
            Answered::Kept(kept) => kept,
            Answered::Made(kept) => kept,
        }
    }
}

/// What all pages need: the style, the scripts, and what the search box searches in.
pub(super) fn assets(shelf: &Shelf, index: &SiteIndex) -> Result<HashMap<String, Kept>, String> {
    let site = site(shelf, index);
    let paths =
        site.paths().into_iter().filter(|(_, kind)| matches!(kind, PageKind::Asset | PageKind::SearchIndex));
    let made = paths.filter_map(|(path, _)| {
        let page = site.page(&path)?;
        Some(page.map(|page| (path, kept(page))).map_err(|error| error.to_string()))
    });
    made.collect()
}

fn site<'s>(shelf: &'s Shelf, index: &'s SiteIndex) -> Site<'s> {
    let edition = shelf.edition();
    Site::new(index, edition.catalog(), shelf.findings(), edition.templates()).served()
}

fn kept(page: Page) -> Kept {
    Kept::new(page.body, Media::Of(page.content_type))
}

fn broken(error: TemplateError) -> Problem {
    Problem::new(ProblemCode::Internal, error.to_string())
}

/// The words of `?q=`.
fn searched(query: &str) -> Option<String> {
    let value = query.split('&').find_map(|pair| pair.strip_prefix("q="))?;
    let spaced = value.replace('+', " ");
    Some(super::docs::decoded(&spaced).map(std::borrow::Cow::into_owned).unwrap_or_default())
}
