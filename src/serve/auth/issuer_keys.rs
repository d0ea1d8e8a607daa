//! The keys of one issuer as they are now: read on the first use, again after a while, and when a token has an unknown key.
//! The last good keys stay while the issuer is away.

use std::path::PathBuf;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use arc_swap::ArcSwapOption;
use reqwest::Client;
use serde::Deserialize;
use tokio::sync::{Mutex, Semaphore};
use tokio::time::timeout;

use super::jwt::UnverifiedJwt;
use super::key_set::KeySet;
use crate::config::{ServeIssuer, is_safe_address};

/// Age at which keys are read again: the issuer may have withdrawn one.
const MAX_AGE: Duration = Duration::from_secs(10 * 60);
/// The same for keys in a file, which cost nothing to read.
const MAX_AGE_OF_FILE: Duration = Duration::from_secs(30);
/// Shortest time between two readings for unknown keys, of which strangers can invent any number.
const UNKNOWN_EVERY: Duration = Duration::from_secs(10);
/// Shortest time between two readings while there are no keys.
const FAILED_EVERY: Duration = Duration::from_secs(5);
/// Longest time of a reading, with the metadata before the keys, and of one request.
const READING: Duration = Duration::from_secs(8);
const REQUEST: Duration = Duration::from_secs(5);
/// Most requests that wait for the keys of one issuer, so that a slow one does not hold all connections.
const MAX_WAITING: usize = 64;
/// Longest document of an issuer, in bytes.
const MAX_BYTES: usize = 256 * 1024;

/// The keys of an issuer.
#[derive(Clone, Debug)]
pub struct IssuerKeys(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    issuer: String,
    place: Place,
    client: OnceLock<Result<Client, String>>,
    current: ArcSwapOption<Current>,
    readings: Mutex<Readings>,
    waiting: Semaphore,
}

#[derive(Debug)]
struct Current {
    keys: Arc<KeySet>,
    since: Instant,
}

/// The place of the keys.
#[derive(Debug)]
enum Place {
    File(PathBuf),
    Address(String),
    Discovered,
}

/// The keys cannot be read now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeysUnavailable;

/// The times of the last readings, by reason.
#[derive(Debug, Default)]
struct Readings {
    for_unknown: Option<Instant>,
    failed: Option<Instant>,
}

impl Readings {
    /// Whether the keys may be read now.
    fn is_due(&self, has_keys: bool, now: Instant) -> bool {
        let (last, pause) =
            if has_keys { (self.for_unknown, UNKNOWN_EVERY) } else { (self.failed, FAILED_EVERY) };
        last.is_none_or(|last| now.saturating_duration_since(last) >= pause)
    }
}

impl IssuerKeys {
    /// The keys of a configured issuer. Its file is relative to `root`.
    pub fn new(configured: &ServeIssuer, root: &std::path::Path) -> Self {
        let place = match (&configured.jwks, configured.jwks_url()) {
            (_, Some(url)) => Place::Address(url.to_string()),
            (Some(file), None) => Place::File(root.join(file)),
            (None, None) => Place::Discovered,
        };
        Self(Arc::new(Shared {
            issuer: configured.issuer.clone(),
            place,
            client: OnceLock::new(),
            current: ArcSwapOption::empty(),
            readings: Mutex::default(),
            waiting: Semaphore::new(MAX_WAITING),
        }))
    }

    /// Reads the keys ahead of the first token.
    pub fn warm_up(&self) {
        if self.0.current.load().is_none() {
            tokio::spawn(Arc::clone(&self.0).renewed(None));
        }
    }

    /// The keys for a token: those at hand where one of them may have signed it, else the keys as the issuer has them now.
    pub async fn for_token(&self, token: &UnverifiedJwt<'_>) -> Result<Arc<KeySet>, KeysUnavailable> {
        let current = self.0.current.load_full();
        if let Some(current) = &current
            && token.is_known_to(&current.keys)
        {
            if current.since.elapsed() >= self.0.max_age() {
                tokio::spawn(Arc::clone(&self.0).renewed(Some(current.since)));
            }
            return Ok(Arc::clone(&current.keys));
        }
        self.renewed(current).await
    }

    /// The keys as the issuer has them now, for a token whose signature fits none of `tried`: keys without ids are replaced
    /// unseen, and an id may get another key. `None` if there are no newer ones.
    pub async fn newer_than(&self, tried: &Arc<KeySet>) -> Option<Arc<KeySet>> {
        let current = self.0.current.load_full();
        let is_tried = |keys: &Arc<KeySet>| Arc::ptr_eq(keys, tried);
        if let Some(current) = current.as_ref().filter(|current| !is_tried(&current.keys)) {
            return Some(Arc::clone(&current.keys));
        }
        self.renewed(current).await.ok().filter(|keys| !is_tried(keys))
    }

    async fn renewed(&self, current: Option<Arc<Current>>) -> Result<Arc<KeySet>, KeysUnavailable> {
        let _waiting = self.0.waiting.try_acquire().map_err(|_| KeysUnavailable)?;
        // The reading goes on when the client has gone: otherwise clients that leave early could use up the readings.
        let reading = tokio::spawn(Arc::clone(&self.0).renewed(current.map(|current| current.since)));
        reading.await.ok().flatten().ok_or(KeysUnavailable)
    }
}

impl Shared {
    fn max_age(&self) -> Duration {
        if matches!(self.place, Place::File(_)) { MAX_AGE_OF_FILE } else { MAX_AGE }
    }

    /// The keys, read again unless another request has done so since `known`, or it is too early.
    async fn renewed(self: Arc<Self>, known: Option<Instant>) -> Option<Arc<KeySet>> {
        let mut readings = self.readings.lock().await;
        let current = self.current.load_full();
        let (now, since) = (Instant::now(), current.as_ref().map(|current| current.since));
        if since == known && readings.is_due(known.is_some(), now) {
            if known.is_some() {
                readings.for_unknown = Some(now);
            }
            let read = timeout(READING, self.read()).await;
            match read.unwrap_or_else(|_| Err("there was no answer in time".into())) {
                Ok(keys) => {
                    let keys = Arc::new(keys);
                    self.current.store(Some(Arc::new(Current { keys, since: Instant::now() })));
                }
                Err(problem) => {
                    readings.failed = Some(Instant::now());
                    let issuer = self.issuer.as_str();
                    tracing::warn!(issuer, problem, "the keys of an issuer cannot be read");
                }
            }
        }
        self.current.load_full().map(|current| Arc::clone(&current.keys))
    }

    async fn read(&self) -> Result<KeySet, String> {
        let text = match &self.place {
            Place::File(file) => read_file(file.clone()).await?,
            Place::Address(url) => self.fetched(url).await?,
            Place::Discovered => {
                let url = self.discovered().await?;
                self.fetched(&url).await?
            }
        };
        KeySet::read(&text)
    }

    /// The address of the keys in the metadata of the issuer (OpenID Connect discovery, RFC 8414). Its own name has to be in it,
    /// so that no other issuer answers for it.
    async fn discovered(&self) -> Result<String, String> {
        let mut problem = None;
        for place in places(&self.issuer) {
            match self.fetched(&place).await.and_then(|text| named_keys(&text, &self.issuer)) {
                Ok(url) => return Ok(url),
                // The first place is the usual one; another one is missing as a rule.
                Err(other) => problem = problem.or(Some(other)),
            }
        }
        Err(format!("its metadata cannot be read: {}", problem.unwrap_or_default()))
    }

    /// The document at an address, within a time and a size, without redirects. The error names neither the address nor
    /// anything that was sent.
    async fn fetched(&self, url: &str) -> Result<Vec<u8>, String> {
        let client = self.client.get_or_init(|| {
            // The program has one cryptography provider; a second call changes nothing.
            let _ = rustls::crypto::ring::default_provider().install_default();
            let client = Client::builder().redirect(reqwest::redirect::Policy::none()).no_proxy();
            let client = client.timeout(REQUEST).user_agent(concat!("toolcrib/", env!("CARGO_PKG_VERSION")));
            client.build().map_err(|error| error.to_string())
        });
        let answer = client.as_ref().map_err(Clone::clone)?.get(url).send().await;
        let mut answer = answer.map_err(|error| match error.is_timeout() {
            true => "there was no answer in time",
            false => "there was no connection",
        })?;
        if !answer.status().is_success() {
            return Err(format!("the answer has status {}", answer.status().as_u16()));
        }
        let mut bytes = Vec::new();
        while let Some(piece) = answer.chunk().await.map_err(|_| "the answer broke off")? {
            bytes.extend_from_slice(&piece);
            if bytes.len() > MAX_BYTES {
                return Err("the answer is too long".into());
            }
        }
        Ok(bytes)
    }
}

/// The address of the keys in a metadata document of this issuer.
fn named_keys(text: &[u8], issuer: &str) -> Result<String, String> {
    #[derive(Deserialize)]
    struct Metadata {
        issuer: String,
        jwks_uri: String,
    }
    let metadata: Metadata =
        serde_json::from_slice(text).map_err(|_| "it names no `issuer` and `jwks_uri`")?;
    match metadata.issuer == issuer {
        false => Err("it is of another issuer".into()),
        true if !is_safe_address(&metadata.jwks_uri) => Err("it names an address that is not https".into()),
        true => Ok(metadata.jwks_uri),
    }
}

/// The places of the metadata: as OpenID Connect has it, then as RFC 8414 has it, with the path of the issuer at the end.
fn places(issuer: &str) -> [String; 2] {
    let issuer = issuer.trim_end_matches('/');
    let start = issuer.find("://").map_or(0, |at| at + 3);
    let (origin, path) = issuer.split_at(issuer[start..].find('/').map_or(issuer.len(), |at| start + at));
    [
        format!("{issuer}/.well-known/openid-configuration"),
        format!("{origin}/.well-known/oauth-authorization-server{path}"),
    ]
}

async fn read_file(file: PathBuf) -> Result<Vec<u8>, String> {
    let reading = move || {
        let size = std::fs::metadata(&file).map_err(|error| error.to_string())?.len();
        if size > MAX_BYTES as u64 {
            return Err("the file is too long".to_string());
        }
        std::fs::read(&file).map_err(|error| error.to_string())
    };
    tokio::task::spawn_blocking(reading).await.map_err(|error| error.to_string())?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metadata_is_at_its_usual_places_and_of_its_issuer() {
        assert_eq!(
            places("https://a.example/t/"),
            [
                "https://a.example/t/.well-known/openid-configuration",
                "https://a.example/.well-known/oauth-authorization-server/t",
            ]
        );
        let text = |keys: &str| format!(r#"{{"issuer": "https://a.example", "jwks_uri": "{keys}"}}"#);
        assert!(named_keys(text("https://a.example/keys").as_bytes(), "https://a.example").is_ok());
        assert!(named_keys(text("http://a.example/keys").as_bytes(), "https://a.example").is_err());
        assert!(named_keys(text("https://a.example/keys").as_bytes(), "https://a.example/").is_err());
        assert!(named_keys(b"[]", "https://a.example").is_err());
    }

    #[test]
    fn unknown_keys_are_looked_up_every_ten_seconds() {
        let start = Instant::now();
        let mut readings = Readings::default();
        assert!(readings.is_due(true, start) && readings.is_due(false, start));
        readings.for_unknown = Some(start);
        assert!(!readings.is_due(true, start + Duration::from_secs(9)));
        assert!(readings.is_due(true, start + Duration::from_secs(10)));
        readings.failed = Some(start);
        assert!(!readings.is_due(false, start + Duration::from_secs(4)));
        assert!(readings.is_due(false, start + Duration::from_secs(5)));
    }

    #[test]
    fn a_file_of_keys_is_read_and_the_last_good_keys_stay() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("keys.json");
        let keys = r#"{"keys": [{"kty": "OKP", "crv": "Ed25519", "x": "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}]}"#;
        std::fs::write(&file, keys).unwrap();
        let configured = ServeIssuer { jwks: Some("keys.json".into()), ..ServeIssuer::default() };
        let keys = IssuerKeys::new(&configured, folder.path());
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let renewed = |known| runtime.block_on(Arc::clone(&keys.0).renewed(known));
        assert!(renewed(None).is_some());
        std::fs::remove_file(&file).unwrap();
        let since = keys.0.current.load_full().map(|current| current.since);
        assert!(renewed(since).is_some());
    }
}
