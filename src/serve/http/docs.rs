//! `/tools/*`: docs as markdown, and the address that gives a tool in the form that the client prefers. Files about the whole
//! catalog: `/registry.json`, `/llms.txt`, `/llms-full.txt`.

use std::borrow::Cow;
use std::sync::Arc;

use axum::body::Body;
use http::header::{CACHE_CONTROL, LOCATION};
use http::request::Parts;
use http::{HeaderMap, HeaderValue, StatusCode};
use serde_json::Value;

use super::address::decoded;
use super::pages::PageContext;
use super::{RequestContext, Response};
use crate::catalog::{Record, Tool};
use crate::serve::response::ResponseCache;
use crate::serve::response::problem::{Problem, ProblemCode, reads_pages};
use crate::serve::response::{Media, preferred};
use crate::serve::response::{Tagged, by_accept, with};

/// The endings of an address: markdown, a page, and the form that the client prefers.
const MARKDOWN: &str = ".md";
const PAGE: &str = ".html";
const NEGOTIATED: &str = "";

/// The path below `/tools/`.
pub(super) fn path(request: &Parts) -> Result<Cow<'_, str>, Problem> {
    let path = decoded(request.uri.path().strip_prefix("/tools/").unwrap_or_default())?;
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
        let own = [tool.name.as_str(), &tool.op, &tool.safe_name, tool.written_name()];
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
