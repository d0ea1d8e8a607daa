//! A URL as a catalog: the definitions at the address, kept in a folder, or a configuration with the MCP server there.
//!
//! Nothing else fetches: the folder is a catalog like any other.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::Duration;

use reqwest::Url;
use reqwest::blocking::Client;
use serde_json::Value;
use toml_edit::{DocumentMut, Item, Table, value};

use super::{source_table, user_folder};
use crate::config::Server;
use crate::finding::{Document, Format, Limits};
use crate::private_file;
use crate::tool::clean_line;

/// Longest time of a download.
const TIMEOUT: Duration = Duration::from_secs(30);
/// Most redirects that are followed.
const REDIRECTS: usize = 5;
/// The name of a server that has no other.
const API: &str = "api";

/// A tag, and the content that has it.
pub(super) type Tagged = (Option<String>, Box<dyn Read>);

/// Whether a path of the command line is a URL.
pub(super) fn is_url(path: &Path) -> bool {
    let schemes = ["http://", "https://", "s3://"];
    path.to_str().is_some_and(|text| schemes.iter().any(|scheme| text.starts_with(scheme)))
}

/// The folder of the catalog at a URL, or the reason why there is none.
pub(super) fn folder(url: &str) -> Result<PathBuf, String> {
    let parsed = Url::parse(url).map_err(|error| format!("{url} is no address: {error}"))?;
    let shown = shown(&parsed);
    let fetched = fetch(parsed.clone()).map_err(|why| format!("{shown} cannot be fetched: {why}"))?;
    let hash = blake3::hash(url.as_bytes()).to_hex();
    let base = user_folder::state_folder().unwrap_or_else(|| std::env::temp_dir().join("toolcrib"));
    let folder = base.join("fetched").join(&hash[..16]);
    let configuration = match fetched {
        Some((text, format)) => {
            let name = if format == Format::Yaml { "definitions.yaml" } else { "definitions.json" };
            let configuration = of_definitions(name, &text, format, &parsed);
            keep(&folder.join(name), &text)?;
            configuration
        }
        None => of_server(url, &parsed)?,
    };
    keep(&folder.join("toolcrib.toml"), &configuration.to_string())?;
    Ok(folder)
}

fn keep(file: &Path, text: &str) -> Result<(), String> {
    private_file::write(file, text.as_bytes())
        .map_err(|error| format!("cannot write {}: {error}", file.display()))
}

/// The address without parts that may be secret.
pub(super) fn shown(url: &Url) -> String {
    let mut url = url.clone();
    url.set_query(None);
    url.set_fragment(None);
    let _ = url.set_password(None);
    let _ = url.set_username("");
    clean_line(url.as_str())
}

/// A client that gives up after a time; it may be told to use nothing but https.
pub(super) fn client(longest: Duration, https_only: bool) -> Result<Client, String> {
    // The program has one cryptography provider; a second call changes nothing.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let client = Client::builder()
        .timeout(longest)
        .https_only(https_only)
        .redirect(reqwest::redirect::Policy::limited(REDIRECTS))
        .user_agent(concat!("toolcrib/", env!("CARGO_PKG_VERSION")));
    client.build().map_err(|error| error.to_string())
}

/// Reason why there is no answer, without the address.
pub(super) fn unanswered(error: reqwest::Error) -> String {
    match error {
        error if error.is_timeout() => "no answer in time".to_string(),
        error if error.is_connect() => "no connection".to_string(),
        error => error.without_url().to_string(),
    }
}

/// The definitions at an address; `None` where it answers with something else, as an MCP server does.
fn fetch(url: Url) -> Result<Option<(String, Format)>, String> {
    let accepted = "application/json, application/yaml, text/yaml, */*;q=0.5";
    let client = client(TIMEOUT, false)?;
    let answer = client.get(url).header("accept", accepted).send().map_err(unanswered)?;
    let kind = answer.headers().get("content-type").and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    if !answer.status().is_success() || kind.starts_with("text/event-stream") || kind.starts_with("text/html")
    {
        return Ok(None);
    }
    let most = Limits::default().max_bytes;
    let mut text = String::new();
    answer.take(most + 1).read_to_string(&mut text).map_err(|_| "the answer is no text, or broke off")?;
    if text.len() as u64 > most {
        return Err(format!("the answer is over {} MiB", most >> 20));
    }
    Ok(format_of(&text).map(|format| (text, format)))
}

/// The format of definitions; `None` for any other text, and for a message of MCP.
fn format_of(text: &str) -> Option<Format> {
    let begins = text.trim_start_matches('\u{feff}').trim_start();
    if begins.starts_with(['{', '[']) {
        let value: Value = serde_json::from_str(begins).ok()?;
        return value.get("jsonrpc").is_none().then_some(Format::Json);
    }
    let is_api = |line: &str| line.starts_with("openapi:") || line.starts_with("swagger:");
    begins.lines().any(is_api).then_some(Format::Yaml)
}

/// The configuration of fetched definitions. An API that they describe is called where it has the origin of their own address.
fn of_definitions(name: &str, text: &str, format: Format, url: &Url) -> DocumentMut {
    let mut configuration = DocumentMut::new();
    let mut source = Table::new();
    source.insert("path", value(name));
    let document = Document::parse(name, text.as_bytes().to_vec(), format, &Limits::default()).ok();
    let first = document.as_ref().and_then(|document| document.value.pointer("/servers/0/url")?.as_str());
    if let Some(base) =
        first.and_then(|base| url.join(base).ok()).filter(|base| base.origin() == url.origin())
    {
        source.insert("server", value(API));
        let mut server = Table::new();
        server.insert("url", value(base.as_str().trim_end_matches('/')));
        let mut servers = Table::new();
        servers.set_implicit(true);
        servers.insert(API, Item::Table(server));
        configuration.insert("server", Item::Table(servers));
    }
    let mut sources = toml_edit::ArrayOfTables::new();
    sources.push(source);
    configuration.insert("source", Item::ArrayOfTables(sources));
    configuration
}

/// The configuration of an MCP server.
fn of_server(url: &str, parsed: &Url) -> Result<DocumentMut, String> {
    let mut configuration = DocumentMut::new();
    let server = Server { url: Some(url.to_string()), ..Server::default() };
    let name = parsed.host_str().unwrap_or("server").replace(['.', ':', '[', ']'], "-");
    source_table::set(&mut configuration, &name, &server, false)?;
    Ok(configuration)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn definitions_are_told_from_everything_else() {
        assert_eq!(format_of("\u{feff} {\"openapi\": \"3.1.0\"}"), Some(Format::Json));
        assert_eq!(format_of("# an API\nopenapi: 3.1.0\n"), Some(Format::Yaml));
        assert_eq!(format_of("[{\"name\": \"a\"}]"), Some(Format::Json));
        for other in ["", "<html>", "{\"jsonrpc\": \"2.0\"}", "{broken", "event: x\n"] {
            assert_eq!(format_of(other), None, "{other}");
        }
    }

    #[test]
    fn an_api_is_called_only_at_the_origin_of_its_document() {
        let url = Url::parse("https://example.com/docs/openapi.json").unwrap();
        let of = |base: &str| {
            let text = format!("{{\"openapi\": \"3.1.0\", \"servers\": [{{\"url\": \"{base}\"}}]}}");
            of_definitions("d.json", &text, Format::Json, &url).to_string()
        };
        assert!(of("/v1").contains("url = \"https://example.com/v1\""), "{}", of("/v1"));
        assert!(!of("http://169.254.169.254/").contains("url ="));
    }
}
