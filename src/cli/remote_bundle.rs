//! A bundle at an address: asked for, checked, and kept in a folder of the user, where commands read it.
//!
//! The folder of an address has each version under its own name, with its signature, and `current.json`, which names the
//! one that counts. A download that fails, or that is not what it should be, changes nothing there.

use std::fs;
use std::io::{self, Read};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use minisign::PublicKey;
use reqwest::Url;
use serde::{Deserialize, Serialize};

use super::bundle_file::{KeyArgs, Use, open, verified};
use super::bundle_signature::{self as signature, signature_file};
use super::fetched::{Tagged, client, shown, unanswered};
use super::user_folder::cache_folder;
use super::{object_storage, print_note};
use crate::bundle::Bundle;
use crate::catalog::restored;
use crate::config::{BundledConfig, Workspace, is_safe_address};
use crate::private_file::{self, StagedFile};
use crate::serve::Download;

/// Longest time of a download.
const TIMEOUT: Duration = Duration::from_secs(120);
/// Most bytes of a bundle that is downloaded.
const MAX_BYTES: u64 = 1 << 30;
/// Most bytes of a signature, and of the file that names the current bundle.
const MAX_SMALL: u64 = 16 << 10;
/// The scheme of addresses of objects.
const OBJECTS: &str = "s3";
/// The ending of the address of a bundle.
const ENDING: &str = ".crib";

/// A bundle at an address.
#[derive(Clone, Debug)]
pub(super) struct RemoteBundle {
    url: Url,
    key: Option<PublicKey>,
    /// The folder of this address; none without a folder of the user.
    folder: Option<PathBuf>,
    /// Whether the bundle that is kept was checked by this process.
    is_checked: Arc<AtomicBool>,
}

/// The bundle that counts.
#[derive(Debug, Serialize, Deserialize)]
struct Current {
    version: String,
    /// The tag that the address gave it.
    etag: Option<String>,
}

impl RemoteBundle {
    /// The bundle at an address; `None` for addresses of other catalogs.
    pub(super) fn at(address: &str, key: Option<PublicKey>) -> Option<Self> {
        let url = Url::parse(address).ok()?;
        let is_bundle = url.path().ends_with(ENDING) || url.scheme() == OBJECTS || key.is_some();
        let hash = blake3::hash(address.as_bytes()).to_hex();
        let folder = cache_folder().map(|base| base.join("bundles").join(&hash[..32]));
        is_bundle.then(|| Self { url, key, folder, is_checked: Arc::default() })
    }

    /// The address without its secrets.
    pub(super) fn address(&self) -> String {
        shown(&self.url)
    }

    /// The file that changes with the bundle that counts.
    pub(super) fn marker(&self) -> PathBuf {
        self.folder.clone().unwrap_or_default().join("current.json")
    }

    /// The bundle that counts, after asking for another one; one from before does where there is none to be had.
    pub(super) fn first(&self, offline: bool) -> Result<PathBuf, String> {
        let asked = if offline { Err("with --offline, nothing is fetched".into()) } else { self.refresh() };
        match (asked, self.file()) {
            (Ok(_), Some(file)) => Ok(file),
            (Ok(_), None) => Err(format!("{} cannot be kept", self.address())),
            (Err(why), None) => Err(format!("{} cannot be fetched: {why}", self.address())),
            (Err(why), Some(file)) => {
                print_note(format!("{} is used as it was fetched last: {why}", self.address()));
                Ok(file)
            }
        }
    }

    /// The workspace of the bundle that counts now. Paths of its configuration are relative to the working folder.
    pub(super) fn workspace(&self, key: &KeyArgs) -> Workspace {
        let mut workspace = Workspace::default();
        for _ in 0..3 {
            let file = self.file().unwrap_or_else(|| self.marker());
            workspace = key.workspace(&file, Use::Once);
            // Another process may have replaced it meanwhile.
            if workspace.bundle.is_some() || self.file() == Some(file) {
                break;
            }
        }
        Workspace { root: PathBuf::from("."), ..workspace }
    }

    /// The bundle that counts, if one was ever downloaded.
    fn file(&self) -> Option<PathBuf> {
        self.current().map(|current| self.named(&current.version))
    }

    fn current(&self) -> Option<Current> {
        self.folder.as_ref()?;
        let text = private_file::read(&self.marker(), MAX_SMALL).ok()?;
        let current: Current = serde_json::from_str(&text).ok()?;
        let is_name = current.version.bytes().all(|byte| byte.is_ascii_hexdigit());
        (is_name && self.named(&current.version).is_file()).then_some(current)
    }

    fn named(&self, version: &str) -> PathBuf {
        self.marker().with_file_name(format!("{version}{ENDING}"))
    }

    /// Asks for another bundle than the one that is kept; the reason why there is none to use.
    pub(super) fn refresh(&self) -> Result<Download, String> {
        let is_safe = ["https", OBJECTS].contains(&self.url.scheme()) || is_safe_address(self.url.as_str());
        if self.key.is_none() && !is_safe {
            let why =
                "a bundle can be changed on its way over http://; use https://, or a signed one with --key";
            return Err(why.into());
        }
        if self.folder.is_none() {
            return Err("there is no folder to keep it: set HOME or XDG_CACHE_HOME".into());
        }
        let known = self.current().filter(|current| self.is_good(current));
        let tag = known.as_ref().and_then(|current| current.etag.as_deref());
        let Some((etag, body)) = self.get(&self.url, tag)? else { return Ok(Download::Unchanged) };
        let version = self.take(body)?;
        let is_new = known.is_none_or(|current| current.version != version);
        let written = serde_json::to_vec(&Current { version, etag }).unwrap_or_default();
        private_file::write(&self.marker(), &written)
            .map_err(|error| format!("it cannot be kept: {error}"))?;
        self.is_checked.store(true, Ordering::Relaxed);
        self.remove_older();
        Ok(if is_new { Download::Taken } else { Download::Unchanged })
    }

    /// Whether the bundle that is kept is whole, and signed where that is asked for.
    fn is_good(&self, current: &Current) -> bool {
        let check = || open(&self.named(&current.version), self.key.as_ref(), Use::Once).is_ok();
        self.is_checked.load(Ordering::Relaxed) || check()
    }

    /// Checks a bundle, and keeps it under its version.
    fn take(&self, body: impl Read) -> Result<String, String> {
        let cannot = |error: io::Error| format!("it cannot be kept: {error}");
        let mut staged = StagedFile::new(&self.marker()).map_err(cannot)?;
        let length = io::copy(&mut body.take(MAX_BYTES + 1), &mut staged.file).map_err(|_| "it broke off")?;
        if length > MAX_BYTES {
            return Err(format!("it is over {} MiB", MAX_BYTES >> 20));
        }
        let signature = self.key.as_ref().map(|_| self.signature()).transpose()?;
        let file = staged.file.try_clone().map_err(cannot)?;
        if let (Some(key), Some(signature)) = (&self.key, &signature) {
            signature::check(&file, signature, key).map_err(|problem| format!("it is refused: {problem}"))?;
        }
        let version = usable(file).map_err(|error| error.to_string())?;
        let name = self.named(&version);
        if let Some(signature) = signature {
            private_file::write(&signature_file(&name), signature.as_bytes()).map_err(cannot)?;
        }
        staged.finish(&name).map_err(cannot)?;
        Ok(version)
    }

    fn signature(&self) -> Result<String, String> {
        let mut url = self.url.clone();
        url.set_path(&format!("{}.minisig", self.url.path()));
        let cannot = |why: String| format!("its signature cannot be fetched: {why}");
        let (_, body) = self.get(&url, None).map_err(cannot)?.ok_or("it has no signature")?;
        let mut text = String::new();
        body.take(MAX_SMALL).read_to_string(&mut text).map_err(|_| cannot("it broke off".into()))?;
        Ok(text)
    }

    /// The tag and the body at an address, unless it still has this tag.
    fn get(&self, url: &Url, tag: Option<&str>) -> Result<Option<Tagged>, String> {
        if url.scheme() == OBJECTS {
            return object_storage::get(url, tag, MAX_BYTES);
        }
        let client = client(TIMEOUT, url.scheme() == "https")?;
        let request = client.get(url.clone()).header("accept", "application/octet-stream, */*;q=0.5");
        let request = tag.into_iter().fold(request, |request, tag| request.header("if-none-match", tag));
        let answer = request.send().map_err(unanswered)?;
        match answer.status() {
            status if status == reqwest::StatusCode::NOT_MODIFIED && tag.is_some() => Ok(None),
            status if status.is_success() => {
                let tag = answer.headers().get("etag").and_then(|tag| Some(tag.to_str().ok()?.to_string()));
                Ok(Some((tag, Box::new(answer))))
            }
            status => Err(format!("the answer is {status}")),
        }
    }

    /// Removes bundles that no longer count. Processes that have one open keep it.
    fn remove_older(&self) {
        let (Some(folder), Some(current)) = (&self.folder, self.current()) else { return };
        let entries = fs::read_dir(folder).into_iter().flatten().flatten();
        for entry in entries {
            let name = entry.file_name().to_string_lossy().into_owned();
            if name.contains(ENDING) && !name.starts_with(&current.version) {
                let _ = fs::remove_file(entry.path());
            }
        }
    }
}

/// The version of a bundle from which a catalog can be made.
fn usable(file: fs::File) -> Result<String, crate::bundle::BundleError> {
    let bundle: Arc<Bundle> = Arc::new(verified(file)?);
    restored(&bundle, BundledConfig::read(&bundle)?.config)?;
    Ok(bundle.version())
}
