//! Keeps a catalog current: reads it again when its files or live servers change.
//!
//! 1. [`FilesSnapshot`] is the state of all files that count, taken before they are read.
//! 2. [`file_watcher`] watches their folders, and signals to a [`Debouncer`]; where the system reports nothing,
//!    it polls.
//! 3. [`Follow`] wakes, compares, reads, and returns a catalog that differs from the last one.
//!
//! Live servers of the catalog, and registries at addresses, signal to the same debouncer.
//!
//! Nothing is missed: the state is taken before the files are read, and signals that come meanwhile are kept.

mod file_watcher;

use std::collections::{BTreeMap, BTreeSet};
use std::fs::Metadata;
use std::path::{Component, Path, PathBuf, absolute};
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, SyncSender, sync_channel};
use std::time::{Duration, SystemTime};

use file_watcher::{ChangeSignal, Debouncer, FileWatcher, Wake};
use walkdir::WalkDir;

use crate::address::Addresses;
use crate::mcp::Connections;
use toolcrib_catalog::config::{self, Workspace, at_address};
use toolcrib_catalog::sources::Listings;
use toolcrib_catalog::{self as catalog, Checked, Findings, sources};
use toolcrib_definition::finding::Code;

/// Options of watching.
#[derive(Clone)]
pub struct Options {
    /// Scan the files every second, without the help of the system, and ask addresses as often.
    pub poll: bool,
    /// Files and folders that count beside those of the catalog.
    pub also: Vec<PathBuf>,
    /// Registries at addresses, which are asked for again.
    pub addresses: Addresses,
    /// The connections to live servers; without them, none is contacted.
    pub connections: Option<Arc<Connections>>,
    /// Longest wait for the first lists of these servers before the catalog is read without them.
    pub patience: Duration,
    /// The way in which the configuration is read, and how much of it counts.
    pub reading: Reading,
}

/// Reads the configuration of a catalog.
pub type Reading = Arc<dyn Fn(&Path) -> Workspace + Send + Sync>;

impl Default for Options {
    fn default() -> Self {
        Self {
            poll: false,
            also: Vec::new(),
            addresses: Addresses::default(),
            connections: None,
            patience: Duration::from_secs(2),
            reading: Arc::new(config::read),
        }
    }
}

/// A newly read catalog, after a change.
#[derive(Debug)]
pub struct Change {
    /// The catalog as it is now.
    pub checked: Checked,
    /// Whether it lacks input that the last good one had, because an edit broke something. A user of a good one keeps
    /// that.
    pub is_worse: bool,
    /// The files that changed, relative to the catalog; none for the first.
    pub files: Vec<String>,
    /// Notices for a person about the way in which changes are detected.
    pub notices: Vec<String>,
}

/// The catalog at a path: at once, and then whenever its content, findings or configuration differ. An iterator that
/// ends only when it is stopped.
pub struct Follow {
    catalog: PathBuf,
    options: Options,
    debouncer: Debouncer,
    file_watcher: FileWatcher,
    /// Has the addresses asked at once.
    ask: SyncSender<()>,
    roots: Roots,
    /// The files that definitions referred to when they were read last.
    parts: BTreeSet<PathBuf>,
    snapshot: Arc<FilesSnapshot>,
    /// The content that was returned last.
    last: Option<Content>,
    /// The missing input of the last good catalog.
    lost: LostInput,
    /// Number of live servers that it named.
    named: usize,
    /// The files that changed since the last return.
    files: BTreeSet<PathBuf>,
}

/// Missing input: the file and the reason, with its count.
type LostInput = BTreeMap<(String, Code), usize>;

/// Stops a [`Follow`], from any thread; its waiter gets no more changes.
#[derive(Clone, Debug)]
pub struct Stop(Debouncer);

impl Stop {
    /// Ends the changes.
    pub fn stop(&self) {
        self.0.stop();
    }
}

impl Follow {
    /// Starts to watch the catalog at a path, as `config::read` takes it. The path may appear, vanish and come back.
    pub fn start(catalog: &Path, options: Options) -> Self {
        let debouncer = Debouncer::default();
        let file_watcher = FileWatcher::open(debouncer.clone(), options.poll);
        if let Some(connections) = &options.connections {
            let debouncer = debouncer.clone();
            connections.on_change(move || debouncer.signal(ChangeSignal::Certain));
        }
        let is_file = config::at_address(catalog).is_none();
        let catalog = if is_file { absolute(catalog).ok() } else { None }.unwrap_or_else(|| catalog.into());
        let ask = ask_again(options.addresses.clone(), debouncer.clone(), options.poll);
        Self {
            catalog,
            options,
            debouncer,
            file_watcher,
            ask,
            roots: Roots::default(),
            parts: BTreeSet::new(),
            snapshot: Arc::default(),
            last: None,
            lost: LostInput::new(),
            named: 0,
            files: BTreeSet::new(),
        }
    }

    /// Handle that stops it.
    pub fn stopper(&self) -> Stop {
        Stop(self.debouncer.clone())
    }

    /// Function that makes it ask its addresses and read again at once.
    pub fn nudge(&self) -> impl Fn() + Send + Sync + 'static {
        let debouncer = self.debouncer.clone();
        let ask = self.ask.clone();
        move || {
            // One nudge that waits stands for all others.
            let _ = ask.try_send(());
            debouncer.signal(ChangeSignal::Certain);
        }
    }

    /// Waits until there is a reason to read again; false when it was stopped.
    fn wait(&mut self) -> bool {
        loop {
            match self.debouncer.wait(self.file_watcher.poll_interval()) {
                Wake::Stopped => return false,
                Wake::Changed(ChangeSignal::Certain) => return true,
                Wake::Changed(ChangeSignal::Possible) | Wake::TimedOut => {
                    let now = self.file_watcher.scan(|| FilesSnapshot::of(&self.roots));
                    if !now.changed_since(&self.snapshot).is_empty() {
                        return true;
                    }
                }
            }
        }
    }

    /// Reads the catalog, after a scan of its files.
    fn read(&mut self) -> Checked {
        let files = [self.catalog.clone(), self.catalog.join(CONFIGURATION)];
        let before = files.map(|file| (Stamp::of(&file), file));
        let workspace = (self.options.reading)(&self.catalog);
        self.scan(&workspace, before);
        // Only the first catalog waits for servers: their lists come as changes.
        let debouncer = &self.debouncer;
        let is_reload = self.last.is_some();
        let is_needless = || is_reload || debouncer.is_stopped();
        let listings = match &self.options.connections {
            Some(connections) => connections.listings(&workspace, self.options.patience, &is_needless),
            None => Listings::default(),
        };
        let root = workspace.root.clone();
        let checked = catalog::open_with(workspace, &listings);
        self.follow_parts(checked.parts.iter().map(|part| root.join(part)).collect());
        checked
    }

    /// Watches the files that definitions refer to. They are known only once the definitions have been read, so a
    /// change since then is found by reading again.
    fn follow_parts(&mut self, parts: BTreeSet<PathBuf>) {
        self.parts = parts;
        if self.roots.add_parts(&self.parts, &self.snapshot) {
            self.snapshot = self.file_watcher.scan(|| FilesSnapshot::of(&self.roots));
            self.debouncer.signal(ChangeSignal::Certain);
        }
    }

    /// Takes the state of all files; that of the configuration is from `before` it was read.
    fn scan(&mut self, workspace: &Workspace, before: [(Option<Stamp>, PathBuf); 2]) {
        self.roots = Roots::of(&self.catalog, workspace, &self.options.also);
        self.roots.add_parts(&self.parts, &FilesSnapshot::default());
        let now = self.file_watcher.scan(|| {
            let mut now = FilesSnapshot::of(&self.roots);
            for (stamp, file) in before {
                now.files.entry(file).and_modify(|known| *known = stamp);
            }
            now
        });
        if self.last.is_some() {
            self.files.extend(now.changed_since(&self.snapshot).into_iter().cloned());
        }
        self.snapshot = now;
    }

    /// The newly read catalog, if it differs from the last one returned.
    fn change(&mut self, checked: Checked) -> Option<Change> {
        let content = self.content(&checked);
        if self.last.as_ref().is_some_and(|last| last.same_as(&content)) {
            return None;
        }
        let lost = lost(&checked);
        let named = checked.catalog.config.sources.iter().filter(|source| source.mcp.is_some()).count();
        let is_worse = match self.last {
            Some(_) => is_worse(&lost, &self.lost, named.saturating_sub(self.named)),
            None => lost.keys().any(|(file, code)| file == CONFIGURATION && loses_whole_file(*code)),
        };
        if !is_worse {
            (self.lost, self.named) = (lost, named);
        }
        self.last = Some(content);
        let root = if self.catalog.is_dir() { Some(self.catalog.as_path()) } else { self.catalog.parent() };
        let shown = |path: PathBuf| {
            let relative = root.and_then(|root| path.strip_prefix(root).ok()).unwrap_or(&path);
            relative.to_string_lossy().into_owned()
        };
        let files = std::mem::take(&mut self.files).into_iter().map(shown).collect();
        Some(Change { checked, is_worse, files, notices: std::mem::take(&mut self.file_watcher.notices) })
    }

    fn content(&self, checked: &Checked) -> Content {
        let mut hasher = blake3::Hasher::new();
        let json = |value: Result<Vec<u8>, serde_json::Error>| value.unwrap_or_default();
        hasher.update(checked.catalog.version.as_bytes());
        hasher.update(&json(serde_json::to_vec(&checked.catalog.config)));
        let awaited = checked.awaited.as_ref().map(|awaited| &awaited.servers);
        hasher.update(format!("{awaited:?}").as_bytes());
        for (path, stamp) in self.snapshot.files.iter().filter(|(path, _)| self.roots.is_whole(path)) {
            hasher.update(format!("{path:?} {stamp:?}").as_bytes());
        }
        Content { hash: hasher.finalize(), findings: checked.findings.clone() }
    }
}

/// Asks the addresses again at intervals and at each nudge, until nobody can nudge any more.
fn ask_again(addresses: Addresses, debouncer: Debouncer, poll: bool) -> SyncSender<()> {
    let (sender, nudges) = sync_channel(1);
    let interval = if poll { Duration::from_secs(1) } else { ADDRESS_INTERVAL };
    std::thread::spawn(move || {
        loop {
            // A tenth more or less, so that replicas do not all ask at the same time.
            let random = f64::from(getrandom::u32().unwrap_or_default()) / f64::from(u32::MAX);
            let asked = nudges.recv_timeout(interval.mul_f64(0.9 + 0.2 * random));
            if asked == Err(RecvTimeoutError::Disconnected) {
                return;
            }
            if addresses.refresh() {
                debouncer.signal(ChangeSignal::Certain);
            }
        }
    });
    sender
}

/// Everything that a reader of a catalog can see.
struct Content {
    /// The hash of all but its findings, which are made at their first use.
    hash: blake3::Hash,
    findings: Findings,
}

impl Content {
    fn same_as(&self, other: &Self) -> bool {
        self.hash == other.hash && self.findings[..] == other.findings[..]
    }
}

const CONFIGURATION: &str = "toolcrib.toml";
/// Time between two requests for one registry.
const ADDRESS_INTERVAL: Duration = Duration::from_secs(30);

/// Whether it removes a whole file.
fn loses_whole_file(code: Code) -> bool {
    matches!(code, Code::FileInvalid | Code::FileUnreadable | Code::FileTooLarge)
}

/// The input that is missing from a catalog.
fn lost(checked: &Checked) -> LostInput {
    let mut lost = LostInput::new();
    for finding in checked.findings.errors().filter(|finding| finding.code.loses_input()) {
        let file = finding.place.as_ref().map(|place| place.file.clone()).unwrap_or_default();
        *lost.entry((file, finding.code)).or_default() += 1;
    }
    lost
}

/// Whether more is missing than before. A new server that does not answer yet does not count.
fn is_worse(now: &LostInput, before: &LostInput, new_servers: usize) -> bool {
    now.iter().any(|(what, count)| {
        let allowed = if what.1 == Code::SourceUnreachable { new_servers } else { 0 };
        *count > before.get(what).copied().unwrap_or_default() + allowed
    })
}

impl Iterator for Follow {
    type Item = Change;

    fn next(&mut self) -> Option<Change> {
        loop {
            if self.last.is_some() && !self.wait() {
                return None;
            }
            let checked = self.read();
            if self.debouncer.is_stopped() {
                return None;
            }
            if let Some(change) = self.change(checked) {
                return Some(change);
            }
        }
    }
}

// The files of a catalog as they are now, and the folders in which changes would show.

/// Longest chain of symbolic links that is followed, as systems do.
const MAX_LINKS: usize = 40;

/// Roots of the files of a catalog.
#[derive(Clone, Debug, Default)]
pub(super) struct Roots {
    /// The path of the catalog, and that of its configuration.
    exact: Vec<PathBuf>,
    /// Files of definitions, and folders that hold some.
    definitions: Vec<PathBuf>,
    /// Files and folders that count as a whole.
    whole: Vec<PathBuf>,
}

impl Roots {
    /// The roots of a workspace that was read from `catalog`; `also` are further files of its reader.
    pub(super) fn of(catalog: &Path, workspace: &Workspace, also: &[PathBuf]) -> Self {
        let templates = workspace.config.render.templates.iter().map(|folder| workspace.root.join(folder));
        let all = |paths: Vec<PathBuf>| paths.iter().filter_map(|path| absolute(path).ok()).collect();
        Self {
            exact: match at_address(catalog) {
                Some(_) => Vec::new(),
                None => all(vec![catalog.to_path_buf(), workspace.root.join("toolcrib.toml")]),
            },
            definitions: all(sources::roots(workspace)),
            whole: all(templates.chain(also.iter().cloned()).collect()),
        }
    }

    /// Adds files that definitions refer to; true if one of them was not known.
    pub(super) fn add_parts(&mut self, parts: &BTreeSet<PathBuf>, known: &FilesSnapshot) -> bool {
        let before = self.definitions.len();
        let parts = parts.iter().filter_map(|path| absolute(path).ok());
        self.definitions.extend(parts.filter(|path| !known.files.contains_key(path)));
        self.definitions.len() > before
    }

    /// Whether everything in a file counts, rather than the definitions in it.
    pub(super) fn is_whole(&self, file: &Path) -> bool {
        self.whole.iter().any(|root| file.starts_with(root))
    }
}

/// All files that count, and all folders to watch.
#[derive(Clone, Debug, Default)]
pub(super) struct FilesSnapshot {
    /// Each file with its state; `None` where there is no file yet.
    pub(super) files: BTreeMap<PathBuf, Option<Stamp>>,
    /// The folders, each by one of its paths.
    pub(super) folders: BTreeMap<Identity, PathBuf>,
}

/// The state of a file; any change to the file changes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Stamp {
    length: u64,
    modified: Option<SystemTime>,
    identity: Identity,
    #[cfg(unix)]
    changed: (i64, i64),
}

/// Identity of a file or folder, whatever its path; a replacement has another one.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Identity {
    #[cfg(unix)]
    number: (u64, u64),
    #[cfg(not(unix))]
    path: Option<PathBuf>,
    born: Option<SystemTime>,
}

impl Stamp {
    /// The state of the file at a path, behind any links.
    pub(super) fn of(path: &Path) -> Option<Stamp> {
        let metadata = path.metadata().ok().filter(|metadata| !metadata.is_dir())?;
        Some(Stamp {
            length: metadata.len(),
            modified: metadata.modified().ok(),
            identity: Identity::of(path, &metadata),
            #[cfg(unix)]
            changed: {
                use std::os::unix::fs::MetadataExt;
                (metadata.ctime(), metadata.ctime_nsec())
            },
        })
    }
}

impl Identity {
    #[cfg_attr(unix, expect(unused_variables, reason = "the system numbers its files"))]
    fn of(path: &Path, metadata: &Metadata) -> Self {
        #[cfg(unix)]
        use std::os::unix::fs::MetadataExt;
        Self {
            #[cfg(unix)]
            number: (metadata.dev(), metadata.ino()),
            #[cfg(not(unix))]
            path: path.canonicalize().ok(),
            born: metadata.created().ok(),
        }
    }
}

impl FilesSnapshot {
    /// Scans everything below the roots.
    pub(super) fn of(roots: &Roots) -> Self {
        let mut snapshot = FilesSnapshot::default();
        for path in &roots.exact {
            snapshot.add_ancestors(path, MAX_LINKS);
            if !path.is_dir() {
                snapshot.file(path.clone());
            }
        }
        for root in &roots.definitions {
            snapshot.add_ancestors(root, MAX_LINKS);
            snapshot.walk(root, sources::entries(root));
        }
        for root in &roots.whole {
            snapshot.add_ancestors(root, MAX_LINKS);
            snapshot.walk(root, WalkDir::new(root).into_iter().filter_map(Result::ok));
        }
        snapshot
    }

    /// The differences from an earlier scan, by path.
    pub(super) fn changed_since<'a>(&'a self, earlier: &'a FilesSnapshot) -> Vec<&'a PathBuf> {
        let state = |look: &FilesSnapshot, path: &PathBuf| look.files.get(path).cloned().flatten();
        let paths: BTreeSet<&PathBuf> = self.files.keys().chain(earlier.files.keys()).collect();
        paths.into_iter().filter(|path| state(self, path) != state(earlier, path)).collect()
    }

    fn walk(&mut self, root: &Path, entries: impl Iterator<Item = walkdir::DirEntry>) {
        if !root.is_dir() {
            return self.file(root.to_path_buf());
        }
        for entry in entries {
            if entry.file_type().is_dir() || entry.depth() == 0 {
                self.folder(entry.path());
            } else {
                if entry.path_is_symlink() {
                    self.add_ancestors(entry.path(), MAX_LINKS);
                }
                self.file(entry.into_path());
            }
        }
    }

    fn file(&mut self, path: PathBuf) {
        let stamp = Stamp::of(&path);
        self.files.insert(path, stamp);
    }

    fn folder(&mut self, path: &Path) {
        let Ok(metadata) = path.metadata() else { return };
        self.folders.entry(Identity::of(path, &metadata)).or_insert_with(|| path.to_path_buf());
    }

    /// Watches the way to a path: its folder, the folder of each link on the way, and for an incomplete path the last
    /// folder that exists.
    fn add_ancestors(&mut self, path: &Path, links: usize) {
        let mut way = PathBuf::new();
        let parts: Vec<Component> = path.components().collect();
        for (index, part) in parts.iter().enumerate() {
            let folder = way.clone();
            way.push(part);
            let Component::Normal(_) = part else { continue };
            let metadata = way.symlink_metadata();
            let is_link = metadata.as_ref().is_ok_and(Metadata::is_symlink);
            if index + 1 == parts.len() || is_link || metadata.is_err() {
                self.folder(&folder);
            }
            if let (true, true, Ok(target)) = (is_link, links > 0, way.read_link()) {
                self.add_ancestors(&folder.join(target), links - 1);
            }
            if metadata.is_err() {
                return;
            }
        }
    }
}
