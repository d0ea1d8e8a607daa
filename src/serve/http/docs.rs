//! `/tools/*`: docs as markdown, and the address that gives a tool in the form that the client likes best.

use std::borrow::Cow;

use axum::body::Body;
use http::header::{CACHE_CONTROL, LOCATION};
use http::request::Parts;
use http::{HeaderMap, HeaderValue, StatusCode};
use serde_json::Value;

use super::Response;
use super::kept::{Kept, Varies, with};
use super::negotiate::{Media, preferred};
use super::problem::{Problem, ProblemCode};
use super::{Shelf, pages};
use crate::catalog::{Record, Resolved, Tool};
use crate::serve::Live;

/// The form that an address asks for by its ending.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    Markdown,
    Page,
    Negotiated,
}

impl Form {
    const ALL: [Form; 3] = [Form::Markdown, Form::Page, Form::Negotiated];

    fn ending(self) -> &'static str {
        match self {
            Form::Markdown => ".md",
            Form::Page => ".html",
            Form::Negotiated => "",
        }
    }
}

/// Answers a GET or HEAD of what is below `/tools/`.
pub(super) fn answer(live: &Live, shelf: &Shelf, asked: &Parts, path: &str) -> Result<Response, Problem> {
    let path = decoded(path)?;
    let path = if path.is_empty() { "README.md".into() } else { path };
    if path == "README.md" || path.starts_with("categories/") {
        let index = shelf.index().map_err(|problem| Problem::new(ProblemCode::Internal, problem))?;
        let missing = || Problem::new(ProblemCode::NotFound, "there is no such page of the index");
        return index.files.get(&*path).ok_or_else(missing)?.answer(asked, Varies::Encoding);
    }
    let forms = Form::ALL.into_iter();
    let mut named = forms.filter_map(|form| Some((form, path.strip_suffix(form.ending())?)));
    let (form, name) = named.next().unwrap_or((Form::Negotiated, &path));
    let (form, index) = match find(shelf, name) {
        Ok(index) => (form, index),
        // The ending may be part of the name.
        Err(problem) => find(shelf, &path).map(|index| (Form::Negotiated, index)).map_err(|_| problem)?,
    };
    let Some(tool) = shelf.edition().catalog().tools.get(index) else {
        return Err(Problem::new(ProblemCode::Internal, "this tool has no place"));
    };
    if tool.safe_name != name {
        return Ok(elsewhere(&format!("/tools/{}{}", tool.safe_name, form.ending())));
    }
    match form {
        Form::Markdown => doc(shelf, index)?.answer(asked, Varies::Encoding),
        Form::Page => page(live, shelf, tool)?.answer(asked, Varies::Encoding),
        Form::Negotiated => negotiated(live, shelf, asked, index, tool),
    }
}

/// The tool that a name means. Here its safe name comes before all others, since addresses are made of it.
fn find(shelf: &Shelf, name: &str) -> Result<usize, Problem> {
    let edition = shelf.edition();
    let unresolved = match edition.resolve(name) {
        Ok(index) => return Ok(index),
        Err(unresolved) => unresolved,
    };
    let shown: String = name.chars().take(80).collect();
    let shown = crate::tool::clean_line(&shown);
    Err(match unresolved {
        Resolved::Ambiguous(tools) => {
            let own = tools.iter().find(|tool| tool.safe_name == name);
            if let Some(index) = own.and_then(|tool| edition.catalog().position(&tool.name)) {
                return Ok(index);
            }
            let message = format!("{} tools go by the name `{shown}`", tools.len());
            Problem::new(ProblemCode::Ambiguous, message)
                .nearest(tools.iter().map(|tool| tool.safe_name.clone()))
        }
        Resolved::Unknown(nearest) => {
            let known = nearest.into_iter().filter_map(|name| edition.resolve(name).ok());
            let safe = known.filter_map(|index| Some(edition.catalog().tools.get(index)?.safe_name.clone()));
            let safe: Vec<String> = safe.collect();
            let next = match safe.first() {
                Some(near) => {
                    format!("read /tools/{near}.md, or find the tool by what it does in /tools/README.md")
                }
                None => "find the tool by what it does in /tools/README.md".into(),
            };
            Problem::new(ProblemCode::NotFound, format!("there is no tool `{shown}`"))
                .nearest(safe)
                .next(next)
        }
        Resolved::Tool(_) => Problem::new(ProblemCode::NotFound, format!("there is no tool `{shown}`")),
    })
}

fn doc(shelf: &Shelf, index: usize) -> Result<&Kept, Problem> {
    match shelf.doc(index) {
        Some(Ok(kept)) => Ok(kept),
        Some(Err(problem)) => Err(Problem::new(ProblemCode::Internal, problem)),
        None => Err(Problem::new(ProblemCode::Internal, "this tool has no place")),
    }
}

fn negotiated(
    live: &Live,
    shelf: &Shelf,
    asked: &Parts,
    index: usize,
    tool: &Tool,
) -> Result<Response, Problem> {
    let offered = [Media::Markdown, Media::Html, Media::Json, Media::Text];
    match preferred(&asked.headers, &offered) {
        None => Err(Problem::new(ProblemCode::NotAcceptable, "docs are markdown, pages and JSON")),
        Some(Media::Json) => {
            let mode = shelf.edition().mode(index);
            let mut record = serde_json::to_value(Record::of(tool, mode)).unwrap_or_default();
            if let (Value::Object(fields), Some(Ok(page))) = (&mut record, shelf.edition().page(index)) {
                fields.insert("doc_version".into(), page.version.as_str().into());
                fields.insert("registry_version".into(), shelf.edition().catalog().version.as_str().into());
            }
            Kept::new(format!("{record}\n"), Media::Json).answer(asked, Varies::MediaAndEncoding)
        }
        Some(Media::Html) => page(live, shelf, tool)?.answer(asked, Varies::MediaAndEncoding),
        Some(Media::Text) => {
            doc(shelf, index)?.answer_as(Media::Text.content_type(), asked, Varies::MediaAndEncoding)
        }
        Some(_) => doc(shelf, index)?.answer(asked, Varies::MediaAndEncoding),
    }
}

fn page(live: &Live, shelf: &Shelf, tool: &Tool) -> Result<Kept, Problem> {
    let page = pages::page(live, shelf, &format!("tools/{}.html", tool.safe_name), None)?;
    page.ok_or_else(|| Problem::new(ProblemCode::NotFound, "this tool has no page"))
}

/// The tool has an address of its own. Temporary, since another tool may take the name that was asked for.
fn elsewhere(path: &str) -> Response {
    let mut headers = HeaderMap::new();
    headers.extend(HeaderValue::from_str(path).ok().map(|path| (LOCATION, path)));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    with(StatusCode::TEMPORARY_REDIRECT, headers, Body::empty())
}

/// A path without its percent signs.
pub(super) fn decoded(path: &str) -> Result<Cow<'_, str>, Problem> {
    if !path.contains('%') {
        return Ok(Cow::Borrowed(path));
    }
    let mut bytes = Vec::with_capacity(path.len());
    let mut rest = path.bytes();
    while let Some(byte) = rest.next() {
        let mut digit = || (rest.next()? as char).to_digit(16);
        let decoded =
            if byte == b'%' { digit().zip(digit()).map(|(a, b)| (a * 16 + b) as u8) } else { Some(byte) };
        bytes.extend(Some(decoded.ok_or_else(badly_encoded)?));
    }
    String::from_utf8(bytes).map(Cow::Owned).map_err(|_| badly_encoded())
}

fn badly_encoded() -> Problem {
    Problem::new(ProblemCode::BadRequest, "the address is not encoded as UTF-8 with percent signs")
}
