//! Docs, pages for people, and files about the whole catalog. `/tools/NAME.md` is a doc, `/tools/NAME.html` a page, and `/tools/NAME`
//! the form that the client prefers; `/registry.json` and `/llms.txt` are about all tools. Pages that `site` makes
//! are made anew for each request, since people read few of them; docs are cached.

use std::borrow::Cow;
use std::sync::Arc;

use bytes::Bytes;
use http::header::ALLOW;
use http::request::Parts;
use http::{HeaderValue, Method, StatusCode};
use serde_json::{Value, json};

use super::address::{decoded_address, redirect};
use super::browser::Visitor;
use super::request_context::{OpenRequest, RequestContext};
use crate::RequestCatalog;
use crate::response::{Media, Problem, ProblemCode, Response, Tagged, by_accept, no_store, preferred};
use crate::site::{Attempt, Connect, MAX_QUERY, Site, asset_type};
use toolcrib_catalog::{Record, Tool};
use toolcrib_definition::finding::Finding;
use toolcrib_gateway::functions::{CatalogView, Function, QueryHits, Reply};
use toolcrib_render::llms_txt;

/// The endings of an address: markdown, a page, and the form that the client prefers.
const MARKDOWN: &str = ".md";
const PAGE: &str = ".html";
const NEGOTIATED: &str = "";

/// Most hits on a search page.
const MAX_HITS: usize = 20;

/// A doc, a page for people, and every address without content. What is not cached is made when its turn comes.
pub(super) async fn page(context: RequestContext) -> Result<Response, Problem> {
    let path = context.request.uri.path().strip_prefix('/').unwrap_or_default();
    if is_read(&context.request.method)
        && let Some(cached) = context.catalog.served.cached(path)
    {
        return Ok(cached);
    }
    let shared = Arc::clone(&context.shared);
    let caller = Arc::clone(&context.catalog.caller.name);
    let pages = Pages::of(context).await?;
    shared.slowly(&caller, move || pages.answer()).await?
}

/// `GET /`: the home page, or `llms.txt` for a client that prefers Markdown or plain text.
pub(super) async fn home(context: RequestContext) -> Result<Response, Problem> {
    let answer = match preferred(&context.request.headers, &[Media::Html, Media::Markdown, Media::Text]) {
        Some(media @ (Media::Markdown | Media::Text)) => llms_txt_as(context, media).await,
        _ => page(context).await,
    };
    answer.map(by_accept)
}

/// A file that pages load, such as their style sheet. The answer for any other name shows nothing of the catalog, since the
/// request needs no token.
pub(super) async fn asset(context: OpenRequest) -> Result<Response, Problem> {
    let path = address(&context.request)?;
    let snapshot = context.shared.live.current();
    let body = snapshot.unrestricted_view().templates().assets().get(&*path);
    let missing = || Problem::new(ProblemCode::NotFound, "there is no such asset");
    let body = Bytes::from(body.ok_or_else(missing)?.clone());
    Ok(Tagged::of_type(body, asset_type(&path)).answer())
}

/// The path, from the root of the site.
fn address(request: &Parts) -> Result<Cow<'_, str>, Problem> {
    decoded_address(request.uri.path().trim_start_matches('/'))
}

fn is_read(method: &Method) -> bool {
    method == Method::GET || method == Method::HEAD
}

/// Docs and pages as one caller sees them, and what a page needs beside the catalog.
pub(super) struct Pages {
    catalog: RequestCatalog,
    request: Parts,
    connect: Connect,
    /// The value in the forms of the page; empty where it has none.
    csrf: String,
    pub(super) attempt: Attempt,
    /// The query of a search page, and its hits.
    search: Option<(String, QueryHits)>,
}

impl Pages {
    pub(super) async fn of(context: RequestContext) -> Result<Self, Problem> {
        let browser = context.browser();
        let RequestContext { shared, catalog, request } = &context;
        let path = request.uri.path();
        // Without state, a page is shown without its form.
        let csrf = if path.starts_with("/tools/") {
            browser.csrf(&catalog.caller).await.unwrap_or_default()
        } else {
            String::new()
        };
        let http = format!("{}{}", browser.address(), catalog.root());
        let connect =
            Connect { mcp: format!("{http}/mcp"), http, needs_token: !shared.authenticator.is_open() };
        let is_search = is_read(&request.method) && path.starts_with("/search.");
        let query = if is_search { request.uri.query().and_then(searched).transpose()? } else { None };
        let search = match query.filter(|query| !query.trim().is_empty()) {
            Some(query) => {
                let function = Function::tool_search();
                let limit: String = query.chars().take(MAX_QUERY).collect();
                let call = json!({"query": limit, "format": "json", "limit": MAX_HITS});
                let place = shared.call_limiter.acquire(function, &catalog.caller.name)?;
                let answer = place.call(&catalog.context(), call).await?;
                let hits = match answer.reply {
                    Ok(Reply::Hits(hits)) => hits.results.into_iter().next(),
                    _ => None,
                };
                let failed = || Problem::new(ProblemCode::Internal, "the search has failed");
                Some((query, hits.ok_or_else(failed)?))
            }
            None => None,
        };
        let RequestContext { catalog, request, .. } = context;
        Ok(Self { catalog, request, connect, csrf, attempt: Attempt::default(), search })
    }

    fn answer(&self) -> Result<Response, Problem> {
        let request = &self.request;
        if let Some(path) = request.uri.path().strip_prefix("/tools/") {
            return self.doc(&decoded_address(path)?);
        }
        let found = self.page(&address(request)?)?;
        if !is_read(&request.method) && found.is_some() {
            let allow = [(ALLOW, HeaderValue::from_static("GET,HEAD"))];
            return Err(Problem::new(ProblemCode::MethodNotAllowed, "pages are read").header(allow));
        }
        found.ok_or_else(|| Problem::new(ProblemCode::NotFound, "there is nothing at this address"))
    }

    /// The answer at a path below `/tools/`.
    fn doc(&self, path: &str) -> Result<Response, Problem> {
        let cache = &self.catalog.served;
        let path = if path.is_empty() { "README.md" } else { path };
        if path == "README.md" || path.starts_with("categories/") {
            return cache.answer(&format!("tools/{path}"), || {
                let pages = cache.view.index().as_ref().map_err(Problem::internal)?;
                let page = pages.iter().find(|page| page.path == path);
                let missing = || Problem::new(ProblemCode::NotFound, "there is no such page of the index");
                Ok(Tagged::new(page.ok_or_else(missing)?.markdown.clone(), Media::Markdown))
            });
        }
        let mut forms = [MARKDOWN, PAGE].into_iter();
        let named = forms.find_map(|form| Some((form, path.strip_suffix(form)?)));
        let (form, name) = named.unwrap_or((NEGOTIATED, path));
        let (form, index) = match find(&cache.view, name) {
            Ok(index) => (form, index),
            Err(problem) if form == NEGOTIATED => return Err(problem),
            // The ending may be part of the name.
            Err(problem) => (NEGOTIATED, find(&cache.view, path).map_err(|_| problem)?),
        };
        let Some(tool) = cache.view.catalog().tools.get(index) else { return Err(no_place()) };
        if tool.names.safe != name {
            return Ok(redirect(&format!("{}/tools/{}{}", self.catalog.root(), tool.names.safe, form)));
        }
        if cache.view.is_forbidden(index) {
            return Err(Problem::forbidden(&tool.names.safe));
        }
        match form {
            MARKDOWN => self.markdown(index, tool, Media::Markdown),
            PAGE => self.page_of(tool),
            _ => self.negotiated(index, tool).map(by_accept),
        }
    }

    fn markdown(&self, index: usize, tool: &Tool, media: Media) -> Result<Response, Problem> {
        let make = || {
            let page = self.catalog.view().page(index).ok_or_else(no_place)?;
            Ok(Tagged::new(page.as_ref().map_err(Problem::internal)?.markdown.clone(), media))
        };
        match media {
            Media::Markdown => self.catalog.served.answer(&format!("tools/{}.md", tool.names.safe), make),
            _ => Ok(make()?.answer()),
        }
    }

    pub(super) fn page_of(&self, tool: &Tool) -> Result<Response, Problem> {
        let page = self.page(&format!("tools/{}.html", tool.names.safe))?;
        page.ok_or_else(|| Problem::new(ProblemCode::NotFound, "this tool has no page"))
    }

    fn negotiated(&self, index: usize, tool: &Tool) -> Result<Response, Problem> {
        let offered = [Media::Markdown, Media::Html, Media::Json, Media::Text];
        match preferred(&self.request.headers, &offered) {
            None => Err(Problem::new(ProblemCode::NotAcceptable, "docs are markdown, pages and JSON")),
            Some(Media::Json) => {
                let view = self.catalog.view();
                let mut record = serde_json::to_value(Record::of(tool, view.mode(index))).unwrap_or_default();
                if let (Value::Object(fields), Some(Ok(page))) = (&mut record, view.page(index)) {
                    fields.insert("doc_version".into(), page.version.as_str().into());
                    fields.insert("registry_version".into(), view.catalog().version.as_str().into());
                }
                Ok(Tagged::new(format!("{record}\n"), Media::Json).answer())
            }
            Some(Media::Html) => self.page_of(tool),
            Some(media) => self.markdown(index, tool, media),
        }
    }

    /// The page at a path such as `tools/NAME.html`.
    fn page(&self, path: &str) -> Result<Option<Response>, Problem> {
        self.refuse_forbidden(path)?;
        let notice = self.catalog.notice();
        let listed = self.listed(path);
        let site = self.catalog.site(Visitor::person_of(&self.request));
        let site = Site {
            notice: notice.as_deref(),
            connect: Some(&self.connect),
            attempt: (!self.csrf.is_empty()).then_some((&*self.csrf, &self.attempt)),
            findings: listed.as_deref().unwrap_or(site.findings),
            ..site
        };
        let made = match &self.search {
            Some((_, hits)) if path == "search.json" => {
                let body = format!("{}\n", site.results(hits));
                return Ok(Some(no_store(StatusCode::OK, Media::Json.content_type(), body)));
            }
            Some((query, hits)) if path == "search.html" => Some(site.search(query, Some(hits))),
            _ => site.page(path),
        };
        let Some(page) = made.transpose().map_err(Problem::internal)? else { return Ok(None) };
        Ok(Some(Tagged::of_type(Bytes::from(page.body), page.content_type).answer()))
    }

    /// Refuses the payloads of a tool that the caller may see but not use.
    fn refuse_forbidden(&self, path: &str) -> Result<(), Problem> {
        let view = self.catalog.view();
        if let Some(name) = path.strip_prefix("payloads/").and_then(|file| file.strip_suffix(".json"))
            && let Some(index) = view.catalog().tools.iter().position(|tool| tool.names.safe == name)
            && view.is_forbidden(index)
        {
            return Err(Problem::forbidden(name));
        }
        Ok(())
    }

    /// Findings of a broken catalog on disk, before the findings of the served one, for callers who may see both.
    fn listed(&self, path: &str) -> Option<Vec<Finding>> {
        if path != "findings.html" || !self.catalog.caller.sees_everything() {
            return None;
        }
        let stale = self.catalog.live.stale()?;
        let shown = self.catalog.served.findings();
        let mut listed = stale.to_vec();
        listed.extend(shown.iter().filter(|known| !stale.contains(known)).cloned());
        Some(listed)
    }
}

/// The tool of a name. Here its safe name comes before all others, since addresses are made of it.
pub(super) fn find(view: &CatalogView, name: &str) -> Result<usize, Problem> {
    let found = match view.resolve(name) {
        Ok(index) => return Ok(index),
        Err(found) => found,
    };
    let unresolved = view.catalog().explain(name, found);
    let own = unresolved.near.iter().find(|tool| unresolved.is_ambiguous && tool.names.safe == name);
    if let Some(index) = own.and_then(|tool| view.catalog().position(&tool.names.canonical)) {
        return Ok(index);
    }
    let code = if unresolved.is_ambiguous { ProblemCode::Ambiguous } else { ProblemCode::NotFound };
    let near = unresolved.near.iter().map(|tool| tool.names.safe.clone());
    let problem = Problem::new(code, unresolved.message).nearest(near);
    Err(match unresolved.near.first() {
        _ if unresolved.is_ambiguous => problem,
        Some(near) => problem.next(format!(
            "read {{root}}/tools/{}.md, or find the tool by what it does in {{root}}/tools/README.md",
            near.names.safe
        )),
        None => problem.next("find the tool by what it does in {root}/tools/README.md"),
    })
}

/// `GET /registry.json`.
pub(super) async fn registry(context: RequestContext) -> Result<Response, Problem> {
    made(context, |view| {
        Tagged::new(toolcrib_catalog::registry(view.catalog(), &view.profile()), Media::Json)
    })
    .await
}

/// `GET /llms.txt`.
pub(super) async fn llms(context: RequestContext) -> Result<Response, Problem> {
    llms_txt_as(context, Media::Text).await
}

/// `llms.txt`, whose links have the address by which the client reached this server.
async fn llms_txt_as(context: RequestContext, media: Media) -> Result<Response, Problem> {
    let root = format!("{}{}/", context.browser().address(), context.catalog.root());
    made(context, move |view| Tagged::new(llms_txt(view.catalog(), &view.profile(), &root), media)).await
}

async fn made(
    RequestContext { shared, catalog, .. }: RequestContext,
    make: impl FnOnce(&CatalogView) -> Tagged + Send + 'static,
) -> Result<Response, Problem> {
    let caller = Arc::clone(&catalog.caller.name);
    shared.slowly(&caller, move || make(catalog.view()).answer()).await
}

/// The value of `q=`.
fn searched(query: &str) -> Option<Result<String, Problem>> {
    let words = query.split('&').find_map(|pair| pair.strip_prefix("q="))?;
    Some(decoded_address(&words.replace('+', " ")).map(|words| words.into_owned()))
}

fn no_place() -> Problem {
    Problem::internal("this tool has no place")
}
