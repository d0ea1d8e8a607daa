//! Issuers of tokens. Their keys are read on the first use, again after a while, and when a token has an unknown key. The
//! last good keys stay while the issuer is away.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use arc_swap::ArcSwapOption;
use tokio::sync::{Mutex, Semaphore};
use tokio::time::timeout;

use super::error::{AuthError, JwtProblem};
use super::jwt::{Claims, UnverifiedJwt};
use super::key_set::KeySet;
use super::signature::PROVIDER;
use toolcrib_catalog::config::ServeIssuer;
use toolcrib_front::credentials::{document, issuer_metadata};

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

/// An issuer, with its keys as they were read last.
#[derive(Debug)]
pub(super) struct Issuer {
    pub(super) settings: ServeIssuer,
    /// The file of its keys, where they are in one.
    file: Option<PathBuf>,
    keys: ArcSwapOption<KeySet>,
    /// The last reading that failed or was for an unknown key.
    last_reading: Mutex<Option<Instant>>,
    waiting: Semaphore,
}

impl Issuer {
    /// A configured issuer. Its file of keys is relative to `root`.
    pub(super) fn new(settings: ServeIssuer, root: &Path) -> Arc<Self> {
        // A program that holds us may have chosen the cryptography already.
        let _ = PROVIDER.install_default();
        let file = if settings.jwks_url().is_none() { settings.jwks.as_ref() } else { None };
        Arc::new(Self {
            file: file.map(|file| root.join(file)),
            settings,
            keys: ArcSwapOption::empty(),
            last_reading: Mutex::default(),
            waiting: Semaphore::new(MAX_WAITING),
        })
    }

    /// Reads the keys ahead of the first token.
    pub(super) fn warm_up(self: &Arc<Self>) {
        tokio::spawn(Arc::clone(self).read_again(None));
    }

    /// The claims of a token, when everything holds: type, algorithm, signature, issuer, times, and an audience that is ours.
    pub(super) async fn verified(
        self: &Arc<Self>,
        token: &UnverifiedJwt<'_>,
        is_ours: impl Fn(&str) -> bool,
    ) -> Result<Claims, AuthError> {
        token.precheck()?;
        let issuer = self.settings.issuer.as_str();
        let known = self.keys.load_full();
        let max_age = if self.file.is_some() { MAX_AGE_OF_FILE } else { MAX_AGE };
        if known.as_ref().is_some_and(|keys| keys.since.elapsed() >= max_age) {
            tokio::spawn(Arc::clone(self).read_again(known.clone()));
        }
        let verified = match &known {
            Some(keys) => token.verified(issuer, keys, &is_ours),
            None => Err(JwtProblem::UnknownKey),
        };
        // The issuer may have another key by now. Keys without ids are replaced unseen, and an id may get another key.
        if matches!(verified, Err(JwtProblem::UnknownKey | JwtProblem::Signature)) {
            let keys = self.renewed(known.clone()).await?;
            if known.is_none_or(|known| !Arc::ptr_eq(&known, &keys)) {
                return Ok(token.verified(issuer, &keys, &is_ours)?);
            }
        }
        Ok(verified?)
    }

    /// The keys as the issuer has them now, as far as they may be read again.
    async fn renewed(self: &Arc<Self>, known: Option<Arc<KeySet>>) -> Result<Arc<KeySet>, AuthError> {
        let _waiting = self.waiting.try_acquire().map_err(|_| AuthError::IssuerAway)?;
        // The reading goes on when the client has gone: otherwise clients that leave early could use up the readings.
        let reading = tokio::spawn(Arc::clone(self).read_again(known));
        reading.await.ok().flatten().ok_or(AuthError::IssuerAway)
    }

    /// The keys, read again unless another request has done so since `known`, or it is too early.
    async fn read_again(self: Arc<Self>, known: Option<Arc<KeySet>>) -> Option<Arc<KeySet>> {
        let mut last = self.last_reading.lock().await;
        let current = self.keys.load_full();
        let is_known = current.as_ref().map(Arc::as_ptr) == known.as_ref().map(Arc::as_ptr);
        if is_known && is_due(*last, known.is_some(), Instant::now()) {
            let read = timeout(READING, self.read()).await;
            let read = read.unwrap_or_else(|_| Err("there was no answer in time".into()));
            if known.is_some() || read.is_err() {
                *last = Some(Instant::now());
            }
            match read {
                Ok(keys) => self.keys.store(Some(Arc::new(keys))),
                Err(problem) => {
                    let issuer = self.settings.issuer.as_str();
                    tracing::warn!(issuer, problem, "the keys of an issuer cannot be read");
                }
            }
        }
        self.keys.load_full()
    }

    async fn read(&self) -> Result<KeySet, String> {
        let text = match (&self.file, self.settings.jwks_url()) {
            (Some(file), _) => read_file(file.clone()).await?,
            (None, Some(url)) => document(url).await.map_err(|error| error.to_string())?,
            (None, None) => {
                let found = issuer_metadata(&self.settings.issuer, "jwks_uri").await;
                let (url, _) =
                    found.map_err(|problem| format!("its metadata cannot be read: {}", problem.reason))?;
                document(&url).await.map_err(|error| error.to_string())?
            }
        };
        KeySet::read(&text)
    }
}

/// Whether keys may be read again now.
fn is_due(last: Option<Instant>, has_keys: bool, now: Instant) -> bool {
    let pause = if has_keys { UNKNOWN_EVERY } else { FAILED_EVERY };
    last.is_none_or(|last| now.saturating_duration_since(last) >= pause)
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
        let after = |seconds: u64| start + Duration::from_secs(seconds);
        assert!(is_due(None, true, start) && is_due(None, false, start));
        assert!(!is_due(Some(start), true, after(9)) && is_due(Some(start), true, after(10)));
        assert!(!is_due(Some(start), false, after(4)) && is_due(Some(start), false, after(5)));
    }

    #[test]
    fn a_file_of_keys_is_read_and_the_last_good_keys_stay() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("keys.json");
        let keys = r#"{"keys": [{"kty": "OKP", "crv": "Ed25519", "x": "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}]}"#;
        std::fs::write(&file, keys).unwrap();
        let configured = ServeIssuer { jwks: Some("keys.json".into()), ..ServeIssuer::default() };
        let issuer = Issuer::new(configured, folder.path());
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let read_again = |known| runtime.block_on(Arc::clone(&issuer).read_again(known));
        let first = read_again(None);
        assert!(first.is_some());
        std::fs::remove_file(&file).unwrap();
        assert!(read_again(first).is_some());
    }
}
