//! Any template, places and arguments of an HTTP backend: what a call would send goes to a valid URI below the base of the
//! server, into no other path than the template's, and brings the query that was given.

use serde_json::{Map, Value, json};
use toolcrib::functions::CatalogView;

const BASE: &str = "https://api.example/v1";
/// The text in place of a secret, as a URI may contain it.
const REDACTED: &str = "redacted";
const CONFIG: &str = "[server.api]\nurl = \"https://api.example/v1/\"\n";

pub fn check(bytes: &[u8]) {
    let Ok(given) = serde_json::from_slice::<Value>(bytes) else { return };
    let text = |name: &str| given[name].as_str().unwrap_or_default();
    let mut backend = json!({ "type": "http", "server": "api", "method": "GET", "path": text("path") });
    for name in ["method", "content_type", "arguments"] {
        if let Some(value) = given.get(name) {
            backend[name] = value.clone();
        }
    }
    let tool = json!({ "name": "t", "description": "Does it.", "effect": "read", "backend": backend,
        "parameters": { "type": "object" } });
    let checked =
        super::open(&[("toolcrib.toml", CONFIG.as_bytes()), ("a.json", tool.to_string().as_bytes())]);
    let Some(tool) = checked.catalog.tools.first() else { return };
    let view = CatalogView::new(&checked.catalog, None, None, super::templates()).expect("a catalog view");
    let call = json!({ "op": tool.names.op, "args": given["args"], "dry_run": true });
    let answer = super::exec(&view.into(), &call);
    let would = &answer["result"]["would"];
    let shown = |part: &str| would[part].as_str().map(|text| text.replace("[redacted]", REDACTED));
    let (Some(path), query) = (shown("path"), shown("query")) else { return };
    let (path, query) = (path.as_str(), query.as_deref());
    let uri = query.map_or(format!("{BASE}{path}"), |query| format!("{BASE}{path}?{query}"));
    assert!(is_valid(path, "/") && is_valid(query.unwrap_or_default(), "/?"), "{uri} of {given}");
    assert!(uri.parse::<http::Uri>().is_ok(), "{uri} of {given}");
    let is_dots = |step: &str| matches!(step.to_ascii_lowercase().replace("%2e", ".").as_str(), "." | "..");
    assert!(path.starts_with('/') && !path.split('/').any(is_dots), "{path} of {given}");
    if let (Some(args), None) = (given["args"].as_object(), given.get("arguments")) {
        arrives(text("path"), query.unwrap_or_default(), args, would["body"].is_null());
    }
}

/// Whether a part of a URI is written as RFC 3986 has it: characters of a path, these, and whole triplets.
fn is_valid(part: &str, others: &str) -> bool {
    let mut pieces = part.split('%');
    let plain = |text: &str| {
        text.chars()
            .all(|c| c.is_ascii_alphanumeric() || "-._~!$&'()*+,;=:@".contains(c) || others.contains(c))
    };
    pieces.next().is_none_or(plain)
        && pieces.all(|piece| {
            let digits = piece.as_bytes().get(..2);
            digits.is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit)) && plain(&piece[2..])
        })
}

/// Plain values of the query arrive as they were given.
fn arrives(template: &str, query: &str, args: &Map<String, Value>, is_in_query: bool) {
    let found: Vec<(String, String)> = form_urlencoded::parse(query.as_bytes()).into_owned().collect();
    if !is_in_query || template.contains('?') {
        return;
    }
    for (name, value) in args.iter().filter(|(name, _)| !template.contains(name.as_str())) {
        let Some(text) = value.as_str() else { continue };
        let is_there =
            found.iter().any(|(found, value)| found == name && (value == text || value == REDACTED));
        assert!(is_there, "{name}={text:?} is not in {query}");
    }
}
