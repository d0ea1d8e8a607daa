//! `/tools/*`: docs as markdown, and the address that gives a tool in the form that the client prefers. Files about the whole
//! catalog: `/registry.json`, `/llms.txt`, `/llms-full.txt`.

use std::borrow::Cow;
use std::sync::Arc;

use axum::body::Body;
use bytes::Bytes;
use http::header::{CACHE_CONTROL, LOCATION};
use http::request::Parts;
use http::{HeaderMap, HeaderValue, StatusCode};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use serde_json::Value;

use super::sign_in::Visitor;
use super::{RequestContext, Response};
use crate::catalog::{Record, Tool};
use crate::exec::Caller;
use crate::finding::Finding;
use crate::render::TemplateError;
use crate::serve::response::problem::{Problem, ProblemCode, reads_pages};
use crate::serve::response::{Media, ResponseCache, Tagged, by_accept, preferred, with};
use crate::serve::{RequestCatalog, response};
use crate::site::{Page, Person, Site};

/// The endings of an address: markdown, a page, and the form that the client prefers.
const MARKDOWN: &str = ".md";
const PAGE: &str = ".html";
const NEGOTIATED: &str = "";

/// The path below `/tools/`.
pub(super) fn path(request: &Parts) -> Result<Cow<'_, str>, Problem> {
    let path = decoded_address(request.uri.path().strip_prefix("/tools/").unwrap_or_default())?;
    Ok(if path.is_empty() { "README.md".into() } else { path })
}

/// Whether the answer may be a page for people, or an index that is still to be laid out.
pub(super) fn is_slow(cache: &ResponseCache, request: &Parts, path: &str) -> bool {
    if is_of_index(path) {
        return !cache.is_laid_out();
    }
    path.ends_with(PAGE) || (!path.ends_with(MARKDOWN) && preferred_media(request) == Some(Media::Html))
}

fn is_of_index(path: &str) -> bool {
    path == "README.md" || path.starts_with("categories/")
}

/// Answers a GET or HEAD below `/tools/`.
pub(super) fn answer(context: PageContext<'_>, request: &Parts, path: &str) -> Result<Response, Problem> {
    let cache = context.cache();
    if is_of_index(path) {
        let index = cache.index().map_err(|problem| Problem::new(ProblemCode::Internal, problem))?;
        let missing = || Problem::new(ProblemCode::NotFound, "there is no such page of the index");
        return index.files.get(path).ok_or_else(missing).map(Tagged::answer);
    }
    let mut forms = [MARKDOWN, PAGE].into_iter();
    let named = forms.find_map(|form| Some((form, path.strip_suffix(form)?)));
    let (form, name) = named.unwrap_or((NEGOTIATED, path));
    if is_unknown(cache, request, name, path) {
        return Err(Problem::new(ProblemCode::NotFound, "there is no such tool"));
    }
    let (form, index) = match find(cache, name) {
        Ok(index) => (form, index),
        // The ending may be part of the name.
        Err(_) if name.len() < path.len() && is_name(cache, path) => (NEGOTIATED, find(cache, path)?),
        Err(problem) => return Err(problem),
    };
    let Some(tool) = cache.view().catalog().tools.get(index) else {
        return Err(Problem::new(ProblemCode::Internal, "this tool has no place"));
    };
    if tool.safe_name != name {
        return Ok(redirect(&format!("{}/tools/{}{}", context.catalog.root(), tool.safe_name, form)));
    }
    if cache.view().is_forbidden(index) {
        return Err(Problem::forbidden(&tool.safe_name));
    }
    match form {
        MARKDOWN => Ok(doc(cache, index)?.answer()),
        PAGE => Ok(page(context, tool)?.answer()),
        _ => negotiated(context, request, index, tool),
    }
}

/// Whether a browser asks for a tool that does not exist. It gets a page that searches for similar names.
fn is_unknown(cache: &ResponseCache, request: &Parts, name: &str, path: &str) -> bool {
    let is_common = cache.view().catalog().named(name).is_some();
    !is_common && reads_pages(&request.headers) && !is_name(cache, name) && !is_name(cache, path)
}

/// Whether any tool has this name: unlike [`find`], it does not search for near names, which takes longer.
fn is_name(cache: &ResponseCache, name: &str) -> bool {
    let mut tools = cache.view().catalog().tools.iter();
    tools.any(|tool| {
        let own = [tool.name.as_str(), &tool.op, &tool.safe_name, &tool.definition.name];
        own.contains(&name) || tool.aliases.iter().any(|alias| alias == name)
    })
}

/// The tool of a name. Here its safe name comes before all others, since addresses are made of it.
fn find(cache: &ResponseCache, name: &str) -> Result<usize, Problem> {
    let view = cache.view();
    let found = match view.resolve(name) {
        Ok(index) => return Ok(index),
        Err(found) => found,
    };
    let unresolved = view.catalog().explain(name, found);
    let own = unresolved.near.iter().find(|tool| unresolved.is_ambiguous && tool.safe_name == name);
    if let Some(index) = own.and_then(|tool| view.catalog().position(&tool.name)) {
        return Ok(index);
    }
    let code = if unresolved.is_ambiguous { ProblemCode::Ambiguous } else { ProblemCode::NotFound };
    let near = unresolved.near.iter().map(|tool| tool.safe_name.clone());
    let problem = Problem::new(code, unresolved.message).nearest(near);
    Err(match unresolved.near.first() {
        _ if unresolved.is_ambiguous => problem,
        Some(near) => problem.next(format!(
            "read {{root}}/tools/{}.md, or find the tool by what it does in {{root}}/tools/README.md",
            near.safe_name
        )),
        None => problem.next("find the tool by what it does in {root}/tools/README.md"),
    })
}

fn doc(cache: &ResponseCache, index: usize) -> Result<&Tagged, Problem> {
    match cache.doc(index) {
        Some(Ok(kept)) => Ok(kept),
        Some(Err(problem)) => Err(Problem::new(ProblemCode::Internal, problem)),
        None => Err(Problem::new(ProblemCode::Internal, "this tool has no place")),
    }
}

/// The form of a tool that the client prefers.
fn preferred_media(request: &Parts) -> Option<Media> {
    preferred(&request.headers, &[Media::Markdown, Media::Html, Media::Json, Media::Text])
}

fn negotiated(
    context: PageContext<'_>,
    request: &Parts,
    index: usize,
    tool: &Tool,
) -> Result<Response, Problem> {
    let cache = context.cache();
    let answer = match preferred_media(request) {
        None => return Err(Problem::new(ProblemCode::NotAcceptable, "docs are markdown, pages and JSON")),
        Some(Media::Json) => {
            let mode = cache.view().mode(index);
            let mut record = serde_json::to_value(Record::of(tool, mode)).unwrap_or_default();
            if let (Value::Object(fields), Some(Ok(page))) = (&mut record, cache.view().page(index)) {
                fields.insert("doc_version".into(), page.version.as_str().into());
                fields.insert("registry_version".into(), cache.view().catalog().version.as_str().into());
            }
            Tagged::new(format!("{record}\n"), Media::Json).answer()
        }
        Some(Media::Html) => page(context, tool)?.answer(),
        Some(Media::Text) => doc(cache, index)?.answer_as_text(),
        Some(_) => doc(cache, index)?.answer(),
    };
    Ok(by_accept(answer))
}

fn page(context: PageContext<'_>, tool: &Tool) -> Result<Arc<Tagged>, Problem> {
    let page = context.page(&format!("tools/{}.html", tool.safe_name), None)?;
    page.ok_or_else(|| Problem::new(ProblemCode::NotFound, "this tool has no page"))
}

/// Redirects to the tool's own address. Temporarily, since another tool may take the requested name.
pub(super) fn redirect(path: &str) -> Response {
    let mut headers = HeaderMap::new();
    headers.extend(HeaderValue::from_str(path).ok().map(|path| (LOCATION, path)));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    with(StatusCode::TEMPORARY_REDIRECT, headers, Body::empty())
}

/// `GET /registry.json`.
pub(super) async fn registry(context: RequestContext) -> Result<Response, Problem> {
    made(context, |cache| Ok(cache.registry())).await
}

/// `GET /llms.txt`.
pub(super) async fn llms(context: RequestContext) -> Result<Response, Problem> {
    made(context, |cache| {
        let brief = cache.index()?.llms.brief(cache.view().catalog());
        Ok(Tagged::new(brief, Media::Text).answer())
    })
    .await
}

/// `GET /llms-full.txt`.
pub(super) async fn llms_full(context: RequestContext) -> Result<Response, Problem> {
    made(context, |cache| {
        let full = cache.index()?.llms.full(|index| cache.view().markdown(index));
        Ok(Tagged::new(full, Media::Text).answer())
    })
    .await
}

async fn made(
    RequestContext { shared, catalog, caller, .. }: RequestContext,
    make: fn(&ResponseCache) -> Result<Response, &String>,
) -> Result<Response, Problem> {
    let cache = Arc::clone(catalog.cache(&caller));
    let making = move || make(&cache).map_err(|problem| Problem::new(ProblemCode::Internal, problem));
    shared.slowly(making).await?
}

// Serves the pages for people, which `site` makes, anew for each request, since people read few of them. Their
// assets, such as style sheets, are cached.

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
        Ok(response::negotiated(StatusCode::NOT_FOUND, page.content_type, page.body))
    }
}

fn kept(page: Page) -> Arc<Tagged> {
    Arc::new(Tagged::of_type(Bytes::from(page.body), page.content_type))
}

/// The value of `q=`.
fn searched(query: &str) -> Option<Result<String, Problem>> {
    let words = query.split('&').find_map(|pair| pair.strip_prefix("q="))?;
    Some(decoded_address(&words.replace('+', " ")).map(|words| words.into_owned()))
}

fn internal(error: TemplateError) -> Problem {
    Problem::new(ProblemCode::Internal, error.to_string())
}

// Names in addresses: percent-encoded, and back.

/// Characters to escape in a segment: all but the unreserved ones of RFC 3986.
const RESERVED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~');

/// A name as a segment of an address.
pub(super) fn encoded_address(name: &str) -> String {
    utf8_percent_encode(name, RESERVED).to_string()
}

/// A path without its escapes. Each `%` has two digits after it.
pub(super) fn decoded_address(path: &str) -> Result<Cow<'_, str>, Problem> {
    let is_escape =
        |rest: &str| rest.as_bytes().get(..2).is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit));
    match path.split('%').skip(1).all(is_escape) {
        true => percent_decode_str(path).decode_utf8().map_err(|_| badly_encoded()),
        false => Err(badly_encoded()),
    }
}

fn badly_encoded() -> Problem {
    Problem::new(ProblemCode::BadRequest, "the address is not encoded as UTF-8 with percent signs")
}
