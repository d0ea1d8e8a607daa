//! Files at the addresses where agents and crawlers look first: `robots.txt` and a sitemap, a skill for the whole server and
//! the list of all skills (<https://github.com/cloudflare/agent-skills-discovery-rfc>, 0.1 and 0.2), and the card of the
//! MCP server (SEP-2127), which a catalog of cards names.

use std::sync::Arc;

use bytes::Bytes;
use http::header::ACCESS_CONTROL_ALLOW_ORIGIN;
use http::{HeaderValue, Uri};
use rmcp::model::ProtocolVersion;
use serde_json::{Value, json};

use super::address::{decoded_address, redirect};
use super::browser::Browser;
use super::request_context::{OpenRequest, RequestContext};
use crate::response::{Media, Problem, ProblemCode, Response, Tagged};
use toolcrib_gateway::functions::{CatalogView, ServedSkill};
use toolcrib_render::overview_skill;

const XML: &str = "application/xml";
const CARD: &str = "application/mcp-server-card+json";
const CARDS: &str = "application/ai-catalog+json";

const SERVER: &str = "Tool documentation, read when it is needed";

/// Most addresses in a sitemap (<https://www.sitemaps.org/protocol.html>).
const MAX_ADDRESSES: usize = 50_000;

/// `GET /robots.txt`. Pages may be read; calls and what people do here are nothing for crawlers.
pub(super) async fn robots(context: OpenRequest) -> Response {
    let sitemap = format!("{}/sitemap.xml", context.browser().address());
    let text = format!(
        "User-agent: *\nDisallow: /v1\nDisallow: /mcp$\nDisallow: /approvals\nDisallow: /sessions\nDisallow: /usage.html\n\
         Sitemap: {sitemap}\n"
    );
    Tagged::new(text, Media::Text).answer()
}

/// `GET /sitemap.xml`: the pages for people.
pub(super) async fn sitemap(context: RequestContext) -> Result<Response, Problem> {
    let address = address(&context);
    let shared = Arc::clone(&context.shared);
    let caller = Arc::clone(&context.catalog.caller.name);
    let make = move || {
        let site = context.catalog.site(None);
        let pages = site.paths().into_iter().filter(|path| path.ends_with(".html") && path != "404.html");
        let urls = pages.take(MAX_ADDRESSES).map(|path| {
            let path = if path == "index.html" { "" } else { &path };
            format!("<url><loc>{address}/{path}</loc></url>\n")
        });
        let urls: String = urls.collect();
        format!(
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
             <urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">\n{urls}</urlset>\n"
        )
    };
    let xml = shared.slowly(&caller, make).await?;
    Ok(Tagged::of_type(Bytes::from(xml), XML).answer())
}

/// `GET /.well-known/llms.txt`. The links in `llms.txt` begin at the root.
pub(super) async fn llms(context: RequestContext) -> Response {
    redirect(&format!("{}/llms.txt", context.catalog.root()))
}

/// `GET /skill.md`: how to find and call the tools, and the skills of their categories.
pub(super) async fn skill(context: RequestContext) -> Result<Response, Problem> {
    let mcp = format!("{}/mcp", address(&context));
    with_skills(context, move |view, skills| {
        let named = skills.iter().map(|skill| (&*skill.name, &*skill.description));
        let text = overview_skill(view.catalog(), &view.profile(), &mcp, named);
        Ok(Tagged::new(text, Media::Markdown).answer())
    })
    .await
}

/// `GET /.well-known/agent-skills/PATH`, and at the address of the first draft: the list of all skills in `index.json`, and
/// their files.
pub(super) async fn skills(context: RequestContext) -> Result<Response, Problem> {
    let path = decoded_address(context.request.uri.path())?.into_owned();
    let path = path.split('/').skip(3).collect::<Vec<_>>().join("/");
    let address = address(&context);
    with_skills(context, move |_, skills| {
        if path == "index.json" {
            let index = json!({
                "$schema": "https://schemas.agentskills.io/discovery/0.2.0/schema.json",
                "skills": skills.iter().map(|skill| entry(skill, &address)).collect::<Vec<_>>(),
            });
            return Ok(Tagged::new(format!("{index:#}\n"), Media::Json).answer());
        }
        let (name, file) = path.split_once('/').unwrap_or((&path, ""));
        let skill = skills.iter().find(|skill| skill.name == name);
        let file = skill.and_then(|skill| skill.files.iter().find(|known| known.path == file));
        let missing = || {
            Problem::new(ProblemCode::NotFound, "there is no such file of a skill")
                .next("read {root}/.well-known/agent-skills/index.json, which lists all")
        };
        let file = file.ok_or_else(missing)?;
        let media = if file.path.ends_with(".md") { Media::Markdown } else { Media::Json };
        Ok(Tagged::new(file.content.clone(), media).answer())
    })
    .await
}

/// A skill in the list. The first draft reads `files`, the second one the other fields.
fn entry(skill: &ServedSkill, address: &str) -> Value {
    let first = &skill.files[0];
    json!({
        "name": skill.name,
        "type": "skill-md",
        "description": skill.description,
        "url": format!("{address}/.well-known/agent-skills/{}/{}", skill.name, first.path),
        "digest": first.digest,
        "files": skill.files.iter().map(|file| &file.path).collect::<Vec<_>>(),
    })
}

/// `GET /mcp/server-card`: the address and the revisions of the MCP server, and nothing of its tools.
pub(super) async fn server_card(context: OpenRequest) -> Response {
    let (publisher, mcp) = publisher(context.browser());
    let card = json!({
        "$schema": "https://static.modelcontextprotocol.io/schemas/v1/server-card.schema.json",
        "name": format!("{}/toolcrib", publisher.rsplit('.').collect::<Vec<_>>().join(".")),
        "title": "toolcrib",
        "version": env!("CARGO_PKG_VERSION"),
        "description": SERVER,
        "remotes": [{
            "type": "streamable-http",
            "url": mcp,
            "supportedProtocolVersions": ProtocolVersion::KNOWN_VERSIONS,
        }],
    });
    discoverable(&card, CARD)
}

/// `GET /.well-known/ai-catalog.json`, which names the card.
pub(super) async fn cards(context: OpenRequest) -> Response {
    let (publisher, mcp) = publisher(context.browser());
    let cards = json!({
        "specVersion": "1.0",
        "host": { "displayName": publisher },
        "entries": [{
            "identifier": format!("urn:air:{publisher}:mcp:toolcrib"),
            "displayName": "toolcrib",
            "description": SERVER,
            "type": CARD,
            "url": format!("{mcp}/server-card"),
        }],
    });
    discoverable(&cards, CARDS)
}

/// A document that clients in any page may read (SEP-2127): it says the same to everybody.
fn discoverable(document: &Value, media: &'static str) -> Response {
    let mut response = Tagged::of_type(Bytes::from(format!("{document:#}\n")), media).answer();
    response.headers_mut().insert(ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
    response
}

/// The address of a profile, or of the whole server, as its caller reaches it.
fn address(context: &RequestContext) -> String {
    format!("{}{}", context.browser().address(), context.catalog.root())
}

/// The host name of the server, and the address of its MCP endpoint.
fn publisher(browser: Browser<'_>) -> (String, String) {
    let address = browser.address();
    let uri: Option<Uri> = address.parse().ok();
    let host = uri.as_ref().and_then(Uri::host).unwrap_or("localhost");
    (host.trim_matches(['[', ']']).to_string(), format!("{}/mcp", address.trim_end_matches('/')))
}

/// Answers with the skills of the caller's tools, on another thread.
async fn with_skills(
    context: RequestContext,
    answer: impl FnOnce(&CatalogView, &[ServedSkill]) -> Result<Response, Problem> + Send + 'static,
) -> Result<Response, Problem> {
    let RequestContext { shared, catalog, .. } = context;
    let caller = Arc::clone(&catalog.caller.name);
    let work = move || {
        let view = catalog.view();
        answer(view, view.skills().as_ref().map_err(Problem::internal)?)
    };
    shared.slowly(&caller, work).await?
}
