//! The keys of one issuer as they are now: read on the first use, again after a while, and when a token has an unknown key.
//! The last good keys stay while the issuer is away.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use arc_swap::ArcSwapOption;
use tokio::sync::{Mutex, Semaphore};
use tokio::time::timeout;

use super::jwt::{KeySet, UnverifiedJwt};
use crate::config::ServeIssuer;
use crate::credentials::http::{document, issuer_metadata};

/// Age at which keys are read again: the issuer may have withdrawn one.
const MAX_AGE: Duration = Duration::from_secs(10 * 60);
/// The same for keys in a file, which cost nothing to read.
const MAX_AGE_OF_FILE: Duration = Duration::from_secs(30);
/// Shortest time between two readings for unknown keys, of which strangers can invent any number.
const UNKNOWN_EVERY: Duration = Duration::from_secs(10);
/// Shortest time between two readings while there are no keys.
const FAILED_EVERY: Duration = Duration::from_secs(5);
/// Longest time of a reading, with the metadata before the keys.
const READING: Duration = Duration::from_secs(8);
/// Most requests that wait for the keys of one issuer, so that a slow one does not hold all connections.
const MAX_WAITING: usize = 64;
/// Longest file of keys, in bytes.
const MAX_BYTES: u64 = 256 * 1024;

/// The keys of an issuer.
#[derive(Clone, Debug)]
pub struct IssuerKeys(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    issuer: String,
    place: Place,
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
            Place::Address(url) => document(url).await.map_err(|error| error.to_string())?,
            Place::Discovered => {
                let found = issuer_metadata(&self.issuer, "jwks_uri").await;
                let (url, _) =
                    found.map_err(|problem| format!("its metadata cannot be read: {}", problem.reason))?;
                document(&url).await.map_err(|error| error.to_string())?
            }
        };
        KeySet::read(&text)
    }
}

async fn read_file(file: PathBuf) -> Result<Vec<u8>, String> {
    let reading = move || {
        let size = std::fs::metadata(&file).map_err(|error| error.to_string())?.len();
        if size > MAX_BYTES {
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
