//! Registries at addresses: a `registry.json` is fetched, checked before it is used, and asked for again by its ETag.
//!
//! Content that cannot be fetched, or is no registry, changes nothing: the last good one stays.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use reqwest::redirect::{Attempt, Policy};
use reqwest::{Client, StatusCode};

use toolcrib_catalog::config::{FetchError, Source, Workspace, is_safe_address, shown_address};
use toolcrib_catalog::sources::{collect, registry_version};
use toolcrib_definition::document::{Document, Format, MAX_BYTES};
use toolcrib_definition::finding::Severity;
use toolcrib_definition::guard::{MISTAKE, guarded_now, locked};

/// Longest time of a request with its answer.
const TIMEOUT: Duration = Duration::from_secs(20);
/// Most redirects that are followed.
const REDIRECTS: usize = 3;

/// The registries at the addresses of a catalog. Clones share them.
#[derive(Clone, Debug, Default)]
pub struct Addresses(Arc<Mutex<BTreeMap<String, Registry>>>);

/// The last good registry at one address.
#[derive(Clone, Debug, Default)]
struct Registry {
    /// `None` until there was one.
    text: Option<Arc<str>>,
    etag: Option<String>,
    /// Reason why the last request failed.
    problem: Option<FetchError>,
}

/// The state of one address.
#[derive(Clone, Debug)]
pub struct AddressState {
    /// The address, without its query.
    pub address: String,
    /// Reason why the last request failed.
    pub problem: Option<String>,
}

/// A registry with its ETag.
type Fetched = (Arc<str>, Option<String>);

impl Addresses {
    /// The registry at each address of a workspace, or why it could not be fetched. Asks only new addresses.
    pub fn registries(&self, workspace: &Workspace) -> BTreeMap<String, Result<Arc<str>, FetchError>> {
        let named = || workspace.config.sources.iter().filter_map(Source::address);
        self.known().retain(|address, _| named().any(|named| named == address));
        let known = self.known().clone();
        let new = named().filter(|address| !known.contains_key(*address));
        self.ask(new.map(|address| (address.to_string(), Registry::default())).collect());
        let result = |(address, registry): (String, Registry)| {
            let problem = || registry.problem.unwrap_or_else(|| FetchError::NoAnswer(String::new()));
            (address, registry.text.ok_or_else(problem))
        };
        self.known().clone().into_iter().map(result).collect()
    }

    /// Asks all addresses again. Returns true if one has another registry.
    pub fn refresh(&self) -> bool {
        let known = self.known().clone();
        self.ask(known)
    }

    /// The state of each address.
    pub fn states(&self) -> Vec<AddressState> {
        let state = |(address, registry): (&String, &Registry)| AddressState {
            address: shown_address(address),
            problem: registry.problem.as_ref().map(ToString::to_string),
        };
        self.known().iter().map(state).collect()
    }

    /// Asks addresses at the same time, each on its own thread, since a caller may be within a runtime.
    fn ask(&self, asked: BTreeMap<String, Registry>) -> bool {
        let ask = |(address, before): (String, Registry)| {
            let fetched = guarded_now(|| fetch(&address, before.etag.as_deref()));
            self.take(address, before, fetched.unwrap_or_else(|_| Err(no_answer(MISTAKE))))
        };
        std::thread::scope(|scope| {
            let threads: Vec<_> = asked.into_iter().map(|entry| scope.spawn(|| ask(entry))).collect();
            threads.into_iter().filter_map(|thread| thread.join().ok()).filter(|is_new| *is_new).count() > 0
        })
    }

    /// Keeps an answer. Returns true if it is another registry than before.
    fn take(&self, address: String, before: Registry, fetched: Result<Option<Fetched>, FetchError>) -> bool {
        let from = shown_address(&address);
        let registry = match fetched {
            Ok(Some((text, etag))) => Registry { text: Some(text), etag, problem: None },
            Ok(None) => Registry { problem: None, ..before.clone() },
            Err(problem) => Registry { problem: Some(problem), ..before.clone() },
        };
        let is_new = registry.text != before.text;
        match (&registry.problem, &before.problem) {
            (Some(now), last) if last.as_ref() != Some(now) && before.text.is_some() => {
                tracing::warn!(from, "cannot fetch the registry, and the last good one is served: {now}");
            }
            (None, Some(_)) => tracing::info!(from, "the registry can be fetched again"),
            (None, None) if is_new && before.text.is_some() => {
                tracing::info!(from, "there is another registry")
            }
            _ => {}
        }
        self.known().insert(address, registry);
        is_new
    }

    fn known(&self) -> MutexGuard<'_, BTreeMap<String, Registry>> {
        locked(&self.0)
    }
}

/// The registry at an address; `None` if it still has this tag.
fn fetch(address: &str, etag: Option<&str>) -> Result<Option<Fetched>, FetchError> {
    if !is_safe_address(address) {
        return Err(FetchError::Unsafe);
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(no_answer)?;
    let got = runtime.block_on(async { tokio::time::timeout(TIMEOUT, get(address, etag)).await });
    let late = || no_answer(format!("no answer within {} seconds", TIMEOUT.as_secs()));
    let got = got.unwrap_or_else(|_| Err(late()))?;
    got.map(|(bytes, etag)| Ok((checked(address, bytes)?, etag))).transpose()
}

async fn get(address: &str, etag: Option<&str>) -> Result<Option<(Vec<u8>, Option<String>)>, FetchError> {
    // The program has one cryptography provider; a second call changes nothing.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let client = Client::builder().redirect(Policy::custom(redirected));
    let client = client.user_agent(concat!("toolcrib/", env!("CARGO_PKG_VERSION"))).build();
    let request = client.map_err(unanswered)?.get(address).header("accept", "application/json");
    let request = etag.into_iter().fold(request, |request, etag| request.header("if-none-match", etag));
    let mut answer = request.send().await.map_err(unanswered)?;
    match answer.status() {
        StatusCode::NOT_MODIFIED if etag.is_some() => return Ok(None),
        StatusCode::OK => {}
        status => return Err(no_answer(format!("the answer is {status}"))),
    }
    let etag = answer.headers().get("etag").and_then(|etag| Some(etag.to_str().ok()?.to_string()));
    let mut bytes = Vec::new();
    while let Some(chunk) = answer.chunk().await.map_err(|_| no_answer("the answer broke off"))? {
        if (bytes.len() + chunk.len()) as u64 > MAX_BYTES {
            return Err(no_answer(format!("it is over {} MiB", MAX_BYTES >> 20)));
        }
        bytes.extend_from_slice(&chunk);
    }
    Ok(Some((bytes, etag)))
}

/// Follows a redirect within the origin, which includes its scheme: the operator has named no other.
fn redirected(attempt: Attempt<'_>) -> reqwest::redirect::Action {
    let is_same = attempt.previous().iter().all(|before| before.origin() == attempt.url().origin());
    match attempt.previous().len() {
        more if more > REDIRECTS => attempt.error("too many redirects"),
        _ if !is_same => {
            attempt.error("a redirect leads to another origin; name the address that it leads to")
        }
        _ => attempt.follow(),
    }
}

fn no_answer(problem: impl std::fmt::Display) -> FetchError {
    FetchError::NoAnswer(problem.to_string())
}

/// Reason why there is no answer, without the address.
fn unanswered(error: reqwest::Error) -> FetchError {
    let cause = std::error::Error::source(&error).map(ToString::to_string);
    match error {
        error if error.is_redirect() => no_answer(cause.unwrap_or_else(|| "too many redirects".into())),
        error if error.is_connect() => no_answer("no connection"),
        error => no_answer(error.without_url()),
    }
}

/// The text of a registry that has tools and no mistakes.
fn checked(address: &str, bytes: Vec<u8>) -> Result<Arc<str>, FetchError> {
    let no_registry = |problem: String| Err(FetchError::NoRegistry(problem));
    let document = match Document::parse(&shown_address(address), bytes, Format::Json) {
        Ok(document) => document,
        Err(finding) => return no_registry(format!("it is no registry.json: {}", finding.message)),
    };
    if registry_version(&document.value).is_none() {
        return no_registry("it is no registry.json: `registry_version` is missing".into());
    }
    let (tools, findings) = collect(&document.file, &document.value);
    if let Some(error) = findings.iter().find(|finding| finding.severity == Severity::Error) {
        return no_registry(format!("it has errors: {}", error.message));
    }
    if tools.is_empty() {
        return no_registry("it has no tools".into());
    }
    if let Some(tool) = tools.iter().find(|tool| tool.definition.backend.is_some()) {
        let name = &tool.definition.name;
        return no_registry(format!("`{name}` names a backend, and a registry.json has none"));
    }
    Ok(document.text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problem(text: &str) -> String {
        checked("https://example.com/registry.json?key=abc", text.into()).unwrap_err().to_string()
    }

    #[test]
    fn only_a_whole_registry_without_backends_is_one() {
        let tool = r#""op": "a.b", "tool_name": "b", "safe_name": "b", "short_description": "Says b.", "description": "Says b.""#;
        let registry =
            |tools: &str| format!(r#"{{"registry_version": "1", "profile": null, "tools": [{tools}]}}"#);
        let good = registry(&format!("{{{tool}}}"));
        assert_eq!(&*checked("https://example.com/", good.clone().into()).unwrap(), good);
        for torn in ["<html></html>", "", &good[..good.len() - 2], r#"{"registry_version": "#] {
            assert!(problem(torn).starts_with("it is no registry.json"), "{torn}");
        }
        assert!(problem(r#"{"tools": [{"name": "a", "inputSchema": {}}]}"#).contains("`registry_version`"));
        assert_eq!(problem(&registry("")), "it has no tools");
        assert!(problem(&registry(&format!(r#"{{{tool}, "effect": 5}}"#))).starts_with("it has errors"));
        for backend in [r#"{"type": "command", "argv": ["rm"]}"#, r#"{"type": "static", "content": 1}"#] {
            assert!(problem(&registry(&format!(r#"{{{tool}, "backend": {backend}}}"#))).contains("backend"));
        }
        let other = format!(
            r#"{{"registry_version": "1", "tools": [{{{tool}}}], "more": {{"tools": [{{"name": "x", "description": "X.", "parameters": {{}}, "backend": {{"type": "command", "argv": ["rm"]}}}}]}}}}"#
        );
        assert!(problem(&other).contains("`x` names a backend"));
    }

    #[test]
    fn other_addresses_are_refused() {
        for address in ["http://example.com/registry.json", "https://ann:secret@example.com/registry.json"] {
            assert!(fetch(address, None).unwrap_err().to_string().contains("use https://"));
        }
    }
}
