//! Catalogs that were read before, as bundles in a folder of the user. One is used while nothing that it was made from has
//! changed: the program, the configuration, the lists of live servers, and the files, first by their facts, then by
//! their content.
//!
//! An entry is two files: `ID.json`, with the state of the files and the name of the bundle, and the bundle
//! `VERSION.crib`. Beside them may be answers that were made of a catalog, and `KEY.index`, the search
//! indexes of what some callers see of one or the seal of a folder of docs. All are written whole or not at all, so that any
//! number of processes share the folder. The folder is for its owner alone; a file that others can write to is not used.

use std::fs;
use std::path::{Path, PathBuf, absolute};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::SystemTime;

use bytes::Bytes;
use serde::{Deserialize, Serialize};

use super::{Checked, DerivedKey, DerivedStore, open_with, restored, stored};
use crate::bundle::{Bundle, BundleError, BundleWriter};
use crate::config::Workspace;
use crate::finding::Severity;
use crate::private_file;
use crate::sources::{InputFiles, Listings};

/// Fewer tools are read faster than they are looked up.
const MIN_TOOLS: usize = 24;
/// Most bytes of all files in the folder; the ones used least recently are removed.
const MAX_BYTES: u64 = 1 << 30;
/// Bytes of the stack of a thread that reads definitions.
const STACK: usize = 16 << 20;
/// Most bytes of the state of files.
const MAX_ENTRY: u64 = 64 << 20;

/// A folder with catalogs that were read before.
#[derive(Clone, Debug)]
pub struct CatalogCache {
    folder: PathBuf,
    program: String,
    /// The catalog that is being kept.
    keeping: Arc<Mutex<Option<JoinHandle<()>>>>,
}

/// A catalog, and what a person should know about the cache.
#[derive(Debug)]
pub struct Opened {
    /// The catalog.
    pub checked: Checked,
    /// Why an entry was not used although it should have been.
    pub note: Option<String>,
}

/// Sources of a bundle in the folder.
#[derive(Serialize, Deserialize)]
struct Entry {
    /// The name of the bundle.
    bundle: String,
    files: InputFiles,
    /// The hash of the content of all files.
    content: String,
    /// The files that definitions refer to.
    parts: Vec<String>,
}

impl CatalogCache {
    /// The cache in a folder; `program` changes with every build of the program.
    pub fn new(folder: PathBuf, program: String) -> Self {
        Self { folder, program, keeping: Arc::default() }
    }

    /// The catalog of a workspace, as it was read before, or read now and kept, which [`CatalogCache::wait`] waits for. From
    /// then on, which `kept` is told, opening it again takes less memory. Its search indexes are kept when they are made.
    pub fn open(
        &self,
        workspace: Workspace,
        listings: &Listings,
        kept: impl FnOnce() + Send + 'static,
    ) -> Opened {
        let mut opened = self.open_catalog(workspace, listings, kept);
        opened.checked.catalog.add_derived_store(Arc::new(self.clone()));
        opened
    }

    fn open_catalog(
        &self,
        workspace: Workspace,
        listings: &Listings,
        kept: impl FnOnce() + Send + 'static,
    ) -> Opened {
        if !workspace.fetched.is_empty()
            || listings.awaited().is_some()
            || workspace.findings.iter().any(is_error)
        {
            return Opened { checked: open_with(workspace, listings), note: None };
        }
        let id = self.id(&workspace, listings);
        let note = match self.find(&id, &workspace) {
            Ok(Some(checked)) => return Opened { checked, note: None },
            Ok(None) => None,
            Err(error) => Some(format!("the cached catalog is not used: {error}")),
        };
        let before = InputFiles::of(&workspace, []);
        let root = workspace.root.clone();
        let again = workspace.clone();
        let checked = on_threads(rayon::current_num_threads(), || open_with(workspace, listings));
        if checked.catalog.tools.len() >= MIN_TOOLS && checked.findings.errors().next().is_none() {
            let (cache, checked) = (self.clone(), checked.without_documents());
            self.keep_later(move || cache.keep(&id, &again, &before, &checked, &root).map(|()| kept()));
        }
        Opened { checked, note }
    }

    /// Keeps a catalog on a thread of its own, since answers wait for it otherwise, and on one processor of theirs. A
    /// catalog that cannot be kept is read again.
    fn keep_later(&self, keep: impl FnOnce() -> Option<()> + Send + 'static) {
        self.wait();
        let keep = move || on_threads(1, keep).unwrap_or_default();
        *self.keeping.lock().unwrap_or_else(PoisonError::into_inner) =
            std::thread::Builder::new().spawn(keep).ok();
    }

    /// Waits until the catalog that was read last is kept.
    pub fn wait(&self) {
        let keeping = self.keeping.lock().unwrap_or_else(PoisonError::into_inner).take();
        keeping.map(JoinHandle::join);
    }

    /// The hash of everything but files that decides on the catalog.
    fn id(&self, workspace: &Workspace, listings: &Listings) -> String {
        let text = workspace.document.as_ref().map(|document| &*document.text);
        let root = absolute(&workspace.root).unwrap_or_else(|_| workspace.root.clone());
        let config = serde_json::to_string(&workspace.config).unwrap_or_default();
        let facts = (&self.program, root, text, config, workspace.is_found, listings);
        blake3::hash(format!("{facts:?}").as_bytes()).to_hex()[..32].to_string()
    }

    fn find(&self, id: &str, workspace: &Workspace) -> Result<Option<Checked>, BundleError> {
        let entry = self.current(id, workspace)?;
        entry.map(|entry| self.restore(&entry.bundle, workspace)).transpose()
    }

    /// The entry with this id, where its files are as they were.
    fn current(&self, id: &str, workspace: &Workspace) -> Result<Option<Entry>, BundleError> {
        let Ok(text) = private_file::read(&self.entry(id), MAX_ENTRY) else { return Ok(None) };
        let entry: Entry =
            serde_json::from_str(&text).map_err(|error| BundleError::Invalid(error.to_string()))?;
        let now = InputFiles::of(workspace, &entry.parts);
        if now.are_surely(&entry.files) {
            return Ok(Some(entry));
        }
        if now.content(&workspace.root).as_ref() != Some(&entry.content) {
            return Ok(None);
        }
        let entry = Entry { files: now, ..entry };
        self.write_entry(id, &entry);
        Ok(Some(entry))
    }

    /// The file for answers that are made of the catalog of a workspace with these options; `None` where it is not kept, or
    /// has changed since.
    pub fn answers(&self, workspace: &Workspace, options: &str) -> Option<PathBuf> {
        let id = self.id(workspace, &Listings::default());
        let content = self.current(&id, workspace).ok()??.bundle;
        let hash = blake3::hash(format!("{id} {content} {options}").as_bytes()).to_hex();
        Some(self.folder.join(format!("{}.answers.json", &hash[..32])))
    }

    fn restore(&self, name: &str, workspace: &Workspace) -> Result<Checked, BundleError> {
        let bundle = Arc::new(Bundle::of_file(private_file::open(&self.bundle(name))?)?);
        restored(&bundle, workspace.config.clone())
    }

    fn keep(
        &self,
        id: &str,
        workspace: &Workspace,
        before: &InputFiles,
        checked: &Checked,
        root: &Path,
    ) -> Option<()> {
        let files = InputFiles::of(workspace, &checked.parts);
        let content = files.content(root)?;
        let is_same = InputFiles::of(workspace, []).are_maybe(before);
        let bytes = stored(checked).filter(|_| is_same)?.finish();
        let bundle = blake3::hash(&bytes).to_hex()[..32].to_string();
        private_file::create_folder(&self.folder).ok()?;
        self.make_room(bytes.len() as u64);
        private_file::write(&self.bundle(&bundle), &bytes).ok()?;
        self.write_entry(
            id,
            &Entry { bundle, files, content, parts: checked.parts.iter().cloned().collect() },
        );
        Some(())
    }

    fn write_entry(&self, id: &str, entry: &Entry) {
        // Without it, the catalog is read again.
        let text = serde_json::to_string(entry).unwrap_or_default();
        let _ = private_file::write(&self.entry(id), text.as_bytes());
    }

    /// Removes the files that were written first until so many more bytes have room.
    fn make_room(&self, more: u64) {
        let entries = fs::read_dir(&self.folder).into_iter().flatten().flatten();
        let facts = entries.filter_map(|entry| Some((entry.metadata().ok()?, entry.path())));
        let mut files: Vec<(SystemTime, u64, PathBuf)> =
            facts.filter_map(|(facts, path)| Some((facts.modified().ok()?, facts.len(), path))).collect();
        files.sort();
        let mut bytes = more + files.iter().map(|(_, length, _)| length).sum::<u64>();
        for (_, length, path) in files {
            if bytes <= MAX_BYTES {
                return;
            }
            let _ = fs::remove_file(path);
            bytes -= length;
        }
    }

    fn entry(&self, id: &str) -> PathBuf {
        self.folder.join(format!("{id}.json"))
    }

    fn bundle(&self, name: &str) -> PathBuf {
        self.folder.join(format!("{name}.crib"))
    }

    fn derived(&self, key: &DerivedKey) -> PathBuf {
        let name = blake3::hash(format!("{} {key}", self.program).as_bytes()).to_hex();
        self.folder.join(format!("{}.index", &name[..32]))
    }
}

/// Files of their own, bundles of one part, since they are made after the catalog was read.
impl DerivedStore for CatalogCache {
    fn read(&self, key: &DerivedKey) -> Option<Bytes> {
        let bundle = Bundle::of_file(private_file::open(&self.derived(key)).ok()?).ok()?;
        bundle.part(0).ok().map(Bytes::from)
    }

    fn has(&self, key: &DerivedKey) -> bool {
        self.derived(key).exists()
    }

    fn keep(&self, key: &DerivedKey, bytes: &[u8]) {
        if private_file::create_folder(&self.folder).is_err() {
            return;
        }
        let mut bundle = BundleWriter::default();
        bundle.add(bytes.to_vec());
        self.make_room(bytes.len() as u64);
        // Bytes that cannot be kept are made again.
        let _ = private_file::write(&self.derived(key), &bundle.finish());
    }
}

/// Does work on so many threads of its own. The allocator returns what was allocated on a thread
/// that has ended; a thread that waits for more work keeps it.
fn on_threads<T: Send>(threads: usize, work: impl FnOnce() -> T + Send) -> T {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).stack_size(STACK).build();
    match pool {
        Ok(pool) => pool.install(work),
        Err(_) => work(),
    }
}

fn is_error(finding: &crate::finding::Finding) -> bool {
    finding.severity == Severity::Error
}
