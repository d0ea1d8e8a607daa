//! Serves the pages for people, which `site` makes, anew for each request, since people read few of them. Their
//! assets, such as style sheets, are cached.

use std::sync::Arc;

use bytes::Bytes;
use http::StatusCode;

use super::Response;
use super::address::decoded;
use super::sign_in::Visitor;
use crate::exec::Caller;
use crate::finding::Finding;
use crate::render::TemplateError;
use crate::serve::RequestCatalog;
use crate::serve::response::ResponseCache;
use crate::serve::response::problem::{Problem, ProblemCode};
use crate::serve::response::{Tagged, negotiated};
use crate::site::{Page, Person, Site};

/// The site as one caller sees it.
#[derive(Clone, Copy)]
pub(super) struct PageContext<'v> {
    pub(super) catalog: &'v RequestCatalog,
    pub(super) caller: &'v Caller,
    /// The person who has signed in.
    pub(super) visitor: Option<&'v Visitor>,
}

impl<'v> PageContext<'v> {
    /// The cache of the caller.
    pub(super) fn cache(self) -> &'v ResponseCache {
        self.catalog.cache(self.caller)
    }

    /// The page at a path such as `tools/NAME.html`; `query` is that of the address.
    pub(super) fn page(self, path: &str, query: Option<&str>) -> Result<Option<Arc<Tagged>>, Problem> {
        let cache = self.cache();
        if let Some(kept) = cache.file(path).and_then(|place| place.get()) {
            return Ok(Some(Arc::clone(kept)));
        }
        self.refuse_forbidden(path)?;
        let notice = self.catalog.notice().filter(|_| self.caller.sees_everything());
        let listed = self.listed(path);
        let site = self.personal(cache.site()).with_notice(notice.as_deref());
        let site = listed.as_deref().map_or(site, |findings| site.with_findings(findings));
        let searched = query.filter(|_| path == "search.html").and_then(searched).transpose()?;
        let made = match searched {
            Some(words) => Some(site.search(&words)),
            None => site.page(path),
        };
        let page = made.transpose().map_err(internal)?;
        Ok(page.map(|page| match cache.file(path) {
            Some(place) => Arc::clone(place.get_or_init(|| kept(page))),
            None => kept(page),
        }))
    }

    /// The site with the name of the person who reads it.
    fn personal<'s>(self, site: Site<'s>) -> Site<'s>
    where
        'v: 's,
    {
        site.with_person(self.visitor.map(|visitor| Person { name: &visitor.name, csrf: &visitor.csrf }))
    }

    /// Refuses the payloads of a tool that the caller may see but not use.
    fn refuse_forbidden(self, path: &str) -> Result<(), Problem> {
        let Some(name) = path.strip_prefix("payloads/").and_then(|file| file.strip_suffix(".json")) else {
            return Ok(());
        };
        let view = self.cache().view();
        let mut tools = view.catalog().tools.iter().enumerate();
        match tools.find(|(index, tool)| tool.safe_name == name && view.is_forbidden(*index)) {
            Some((_, tool)) => Err(Problem::forbidden(&tool.safe_name)),
            None => Ok(()),
        }
    }

    /// Findings of a broken catalog on disk, before the findings of the served one, for callers who may see both.
    fn listed(self, path: &str) -> Option<Vec<Finding>> {
        let stale =
            self.catalog.live.stale().filter(|_| path == "findings.html" && self.caller.sees_everything())?;
        let shown = self.cache().findings();
        let mut listed = stale.to_vec();
        listed.extend(shown.iter().filter(|known| !stale.contains(known)).cloned());
        Some(listed)
    }

    /// The page for an address without content.
    pub(super) fn missing(self, path: &str) -> Result<Response, Problem> {
        let page = self.personal(self.cache().site()).not_found(path).map_err(internal)?;
        Ok(negotiated(StatusCode::NOT_FOUND, page.content_type, page.body))
    }
}

fn kept(page: Page) -> Arc<Tagged> {
    Arc::new(Tagged::of_type(Bytes::from(page.body), page.content_type))
}

/// The value of `q=`.
fn searched(query: &str) -> Option<Result<String, Problem>> {
    let words = query.split('&').find_map(|pair| pair.strip_prefix("q="))?;
    Some(decoded(&words.replace('+', " ")).map(|words| words.into_owned()))
}

fn internal(error: TemplateError) -> Problem {
    Problem::new(ProblemCode::Internal, error.to_string())
}
