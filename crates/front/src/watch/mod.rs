//! Keeps a catalog current: reads it again when its files or live servers change.
//!
//! 1. [`FilesSnapshot`] is the state of all files that count, taken before they are read.
//! 2. [`file_watcher`] watches their folders, and signals to a [`Debouncer`], which gathers changes in a row; where the system
//!    reports nothing, it polls.
//! 3. [`Follow`] wakes, compares, reads, and returns a catalog that differs from the last one.
//!
//! Live servers of the catalog, and registries at addresses, signal to the same debouncer.
//!
//! Nothing is missed: the state is taken before the files are read, and signals that come meanwhile are kept.

mod debouncer;
mod file_watcher;
mod snapshot;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf, absolute};
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, SyncSender, sync_channel};
use std::time::Duration;

use crate::address::Addresses;
use crate::mcp::Connections;
use debouncer::{ChangeSignal, Debouncer, Wake};
use file_watcher::FileWatcher;
use snapshot::{FileStamp, FilesSnapshot, Roots};
use toolcrib_catalog::config::{self, Workspace};
use toolcrib_catalog::{self as catalog, Checked, Findings};
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

    /// Function that makes it ask its servers and addresses, and read again at once.
    pub fn nudge(&self) -> impl Fn() + Send + Sync + 'static {
        let debouncer = self.debouncer.clone();
        let ask = self.ask.clone();
        let connections = self.options.connections.clone();
        move || {
            connections.iter().for_each(|connections| connections.ask_again());
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
        let before = files.map(|file| (FileStamp::of(&file), file));
        let workspace = (self.options.reading)(&self.catalog);
        self.scan(&workspace, before);
        // Only the first catalog waits for servers: their lists come as changes.
        let is_needless = || self.last.is_some() || self.debouncer.is_stopped();
        let listings = self.options.connections.as_ref();
        let listings =
            listings.map(|connections| connections.listings(&workspace, self.options.patience, &is_needless));
        let root = workspace.root.clone();
        let checked = catalog::open_with(workspace, &listings.unwrap_or_default());
        // The files that definitions refer to are known only once the definitions have been read, so a change since then is
        // found by reading again.
        self.parts = checked.parts.iter().map(|part| root.join(part)).collect();
        if self.roots.add_parts(&self.parts, &self.snapshot) {
            self.snapshot = self.file_watcher.scan(|| FilesSnapshot::of(&self.roots));
            self.debouncer.signal(ChangeSignal::Certain);
        }
        checked
    }

    /// Takes the state of all files; that of the configuration is from `before` it was read.
    fn scan(&mut self, workspace: &Workspace, before: [(Option<FileStamp>, PathBuf); 2]) {
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
        let is_same = |last: &Content| last.hash == content.hash && last.findings[..] == content.findings[..];
        if self.last.as_ref().is_some_and(is_same) {
            return None;
        }
        let lost = lost(&checked);
        let named = checked.catalog.config.sources.iter().filter(|source| source.mcp.is_some()).count();
        let loses_whole_file =
            |code: &Code| matches!(code, Code::FileInvalid | Code::FileUnreadable | Code::FileTooLarge);
        let is_worse = match self.last {
            Some(_) => is_worse(&lost, &self.lost, named.saturating_sub(self.named)),
            None => lost.keys().any(|(file, code)| file == CONFIGURATION && loses_whole_file(code)),
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
        hasher.update(checked.catalog.version.as_bytes());
        hasher.update(&serde_json::to_vec(&checked.catalog.config).unwrap_or_default());
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

const CONFIGURATION: &str = "toolcrib.toml";
/// Time between two requests for one registry.
const ADDRESS_INTERVAL: Duration = Duration::from_secs(30);

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
