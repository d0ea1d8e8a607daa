//! The sign-ins of the operator on disk: one file for each server, for its owner alone, with a lock next to it.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};
use tokio::time::{Instant, sleep};

use super::reasons::SignInError;
use super::token::SecretToken;
use toolcrib_definition::private_file;

/// Most bytes of a file; tokens have a few thousand.
const MAX_FILE: u64 = 256 << 10;
/// Longest wait for another process that refreshes: longer than each of its requests may take.
const LOCK_WAIT: Duration = Duration::from_secs(120);
/// Pause between tries of the lock.
const LOCK_PAUSE: Duration = Duration::from_millis(20);
/// Seconds before its end at which a token is refreshed.
const REFRESH_BEFORE: u64 = 60;

/// A sign-in to one server.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SignIn {
    /// The name of the server in the configuration.
    pub server: String,
    /// The address of the server; its tokens go nowhere else.
    pub url: String,
    /// The authorization server; its refresh token goes nowhere else.
    pub issuer: String,
    /// The client that signed in.
    pub(super) client_id: String,
    /// The address at which the browser came back.
    pub(super) redirect_uri: String,
    /// The scopes that were given.
    pub scopes: Vec<String>,
    /// The scopes that the server has asked for since.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) wanted: Vec<String>,
    /// The second since 1970 at which the token was given, and the seconds that it lives, where that is known.
    pub(super) received_at: u64,
    pub(super) expires_in: Option<u64>,
    /// The tokens; `None` when the sign-in has ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) tokens: Option<Tokens>,
}

/// The secrets of a sign-in.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Tokens {
    pub(super) access: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) refresh: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) client_secret: Option<String>,
}

impl SignIn {
    /// The token; `None` when the sign-in has ended, and where the last answer had no usable token.
    pub(super) fn token(&self) -> Option<SecretToken> {
        let access = &self.tokens.as_ref()?.access;
        (!access.is_empty()).then(|| SecretToken::new(access))
    }

    /// Whether somebody is signed in.
    pub fn is_active(&self) -> bool {
        self.is_refreshable() || (self.tokens.is_some() && self.seconds_left() > 0)
    }

    /// Whether it is prolonged without the operator.
    pub fn is_refreshable(&self) -> bool {
        self.tokens.as_ref().is_some_and(|tokens| tokens.refresh.is_some())
    }

    /// The second since 1970 at which the token ends.
    pub fn ends_at(&self) -> Option<u64> {
        Some(self.received_at.saturating_add(self.expires_in?))
    }

    /// Seconds until the token ends; many, where nothing is known.
    #[expect(clippy::disallowed_methods, reason = "tokens end at a time of the clock")]
    pub(super) fn seconds_left(&self) -> u64 {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
        self.ends_at().map_or(u64::MAX, |end| end.saturating_sub(now))
    }

    /// Whether the token is soon to end, so that it is refreshed first.
    pub(super) fn is_due(&self) -> bool {
        let life = self.expires_in.unwrap_or(u64::MAX);
        self.seconds_left() <= REFRESH_BEFORE.min(life / 2)
    }
}

/// All sign-ins in a folder, by the names of their servers.
pub(super) fn all(folder: &Path) -> Vec<SignIn> {
    let files = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let files = files.filter(|file| file.extension().is_some_and(|ending| ending == "json"));
    let mut found: Vec<SignIn> = files.filter_map(|file| read(&file).ok().flatten()).collect();
    found.sort_by(|one, other| (&one.server, &one.url).cmp(&(&other.server, &other.url)));
    found
}

/// The place of a sign-in.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Place(PathBuf);

/// A file as it was once; a file that was replaced has another version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SignInVersion(SystemTime, u64, u64);

impl Place {
    /// The place of the sign-in to a server in a folder.
    pub(super) fn new(folder: &Path, (name, url): (&str, &str)) -> Self {
        let hash = blake3::hash(format!("{name}\n{url}").as_bytes()).to_hex();
        let is_plain = |letter: &char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_');
        let shown: String = name.chars().filter(is_plain).take(40).collect();
        Self(folder.join(format!("{shown}-{}.json", &hash[..16])))
    }

    /// The version of the file; `None` without one.
    pub(super) fn version(&self) -> Option<SignInVersion> {
        let facts = fs::metadata(&self.0).ok()?;
        #[cfg(unix)]
        let number = std::os::unix::fs::MetadataExt::ino(&facts);
        #[cfg(not(unix))]
        let number = 0;
        Some(SignInVersion(facts.modified().ok()?, facts.len(), number))
    }

    /// The sign-in with its tokens; `None` without one. A file that others can write to does not count.
    pub(super) fn read(&self) -> Result<Option<SignIn>, SignInError> {
        read(&self.0).map_err(|error| self.failed("read", error))
    }

    /// Writes a sign-in.
    pub(super) fn write(&self, sign_in: &SignIn) -> Result<(), SignInError> {
        let text = serde_json::to_string_pretty(sign_in).map_err(|error| error.to_string())?;
        private_file::write(&self.0, format!("{text}\n").as_bytes())
            .map_err(|error| self.failed("write", error))
    }

    /// Removes a sign-in.
    pub(super) fn remove(&self) -> Result<(), SignInError> {
        match fs::remove_file(&self.0) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(self.failed("remove", error)),
            _ => Ok(()),
        }
    }

    /// Waits until no other process changes this sign-in, and keeps others from it until the lock is dropped.
    pub(super) async fn lock(&self) -> Result<File, SignInError> {
        let file = self.0.with_extension("lock");
        let failed = |error| self.failed("lock", error);
        private_file::create_folder(self.0.parent().unwrap_or(Path::new("."))).map_err(failed)?;
        let lock = private_file::options().write(true).create(true).truncate(false).open(file);
        let lock = lock.map_err(failed)?;
        let until = Instant::now() + LOCK_WAIT;
        loop {
            match lock.try_lock() {
                Ok(()) => return Ok(lock),
                Err(TryLockError::WouldBlock) if Instant::now() < until => sleep(LOCK_PAUSE).await,
                Err(TryLockError::WouldBlock) => {
                    return Err("another process holds its lock for too long".into());
                }
                Err(TryLockError::Error(error)) => return Err(failed(error)),
            }
        }
    }

    fn failed(&self, what: &str, error: io::Error) -> SignInError {
        match error.kind() {
            io::ErrorKind::InvalidData => {
                format!("{} is damaged, or others can write to it: remove it", self.0.display()).into()
            }
            _ => format!("cannot {what} {}: {error}", self.0.display()).into(),
        }
    }
}

fn read(file: &Path) -> io::Result<Option<SignIn>> {
    match private_file::read(file, MAX_FILE) {
        Ok(text) => serde_json::from_str(&text).map(Some).map_err(|_| io::ErrorKind::InvalidData.into()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}
