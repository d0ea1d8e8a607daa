//! A catalog that stays current: it is read again when what it is made of changes.
//!
//! 1. [`snapshot`] is the state of all files that count, taken before they are read.
//! 2. [`file_watcher`] watches the folders they are in, and signals to [`debounce`]; where the system tells nothing, the clock does.
//! 3. [`Follow`] wakes, compares, reads, and hands on a catalog that differs from the last one.
//!
//! Live servers of the catalog signal to the same debouncer.
//!
//! Nothing is missed: the state is taken before the files are read, and signals that come meanwhile are kept.

mod debounce;
mod file_watcher;
mod snapshot;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf, absolute};
use std::sync::Arc;

use crate::catalog::{self, Checked};
use crate::config::{self, Workspace};
use crate::finding::{Code, Severity};
use crate::sources::Listings;
use crate::sources::mcp::{Environment, Servers};

use debounce::{ChangeSignal, Debouncer, Wake};
use file_watcher::FileWatcher;
use snapshot::{FilesSnapshot, Roots, Stamp};

/// How to watch.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Look at the files every second, without the help of the system.
    pub poll: bool,
    /// Files and folders that count beside those of the catalog.
    pub also: Vec<PathBuf>,
    /// The variables for live servers; without any, none is contacted.
    pub environment: Option<Environment>,
    /// What each configuration passes before it counts.
    pub admission: Admission,
}

/// Takes from a configuration what it must not do. It is asked each time that a configuration is read.
#[derive(Clone)]
pub struct Admission(Arc<dyn Fn(&mut Workspace) + Send + Sync>);

impl Admission {
    /// The admission that this function gives.
    pub fn new(admit: impl Fn(&mut Workspace) + Send + Sync + 'static) -> Self {
        Self(Arc::new(admit))
    }
}

impl Default for Admission {
    /// Every configuration counts.
    fn default() -> Self {
        Self::new(|_| {})
    }
}

impl std::fmt::Debug for Admission {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str("Admission")
    }
}

/// A catalog that was read, since something about it has changed.
#[derive(Debug)]
pub struct Change {
    /// The catalog as it is now.
    pub checked: Checked,
    /// Whether it lacks input that the last good one had: an edit broke something. Who has a good one keeps it.
    pub is_worse: bool,
    /// The files that changed, relative to the catalog; none for the first.
    pub files: Vec<String>,
    /// What a person should know of how changes are noticed.
    pub notices: Vec<String>,
}

/// The catalog at a path, again and again: at once, and then whenever its content, findings or configuration differ.
/// An iterator without end, until it is stopped.
pub struct Follow {
    catalog: PathBuf,
    options: Options,
    debouncer: Debouncer,
    file_watcher: FileWatcher,
    servers: Option<Servers>,
    roots: Roots,
    snapshot: Arc<FilesSnapshot>,
    /// The content that was handed on last.
    last: Option<blake3::Hash>,
    /// The input that was missing when the catalog was last as good as it gets.
    lost: LostInput,
    /// How many live servers it named then.
    named: usize,
    /// The files that changed since something was handed on.
    files: BTreeSet<PathBuf>,
    notices: Vec<String>,
}

/// Input that is missing: from which file and why, and how often.
type LostInput = BTreeMap<(String, Code), usize>;

/// Stops a [`Follow`], from any thread; the one that waits for it gets no more changes.
#[derive(Clone, Debug)]
pub struct Stop(Debouncer);

impl Stop {
    /// No more changes.
    pub fn stop(&self) {
        self.0.stop();
    }
}

impl Follow {
    /// Starts to watch the catalog that a path means, as `config::read` takes it. It may appear, vanish and come back.
    pub fn start(catalog: &Path, options: Options) -> Self {
        let debouncer = Debouncer::default();
        let (file_watcher, notice) = FileWatcher::open(debouncer.clone(), options.poll);
        let servers = options.environment.clone().map(|environment| {
            let debouncer = debouncer.clone();
            Servers::new(environment, move || debouncer.signal(ChangeSignal::Certain))
        });
        Self {
            catalog: absolute(catalog).unwrap_or_else(|_| catalog.to_path_buf()),
            options,
            debouncer,
            file_watcher,
            servers,
            roots: Roots::default(),
            snapshot: Arc::default(),
            last: None,
            lost: LostInput::new(),
            named: 0,
            files: BTreeSet::new(),
            notices: notice.into_iter().collect(),
        }
    }

    /// What ends it.
    pub fn stopper(&self) -> Stop {
        Stop(self.debouncer.clone())
    }

    /// Waits until there is reason to read again; whether there is one, ever.
    fn wait(&mut self) -> bool {
        loop {
            match self.debouncer.wait(self.file_watcher.poll_interval()) {
                Wake::Stopped => return false,
                Wake::Changed(ChangeSignal::Certain) => return true,
                Wake::Changed(ChangeSignal::Possible) | Wake::TimedOut => {
                    let roots = &self.roots;
                    let (now, notice) = self.file_watcher.scan(|| FilesSnapshot::of(roots));
                    self.notices.extend(notice);
                    if !now.changed_since(&self.snapshot).is_empty() {
                        return true;
                    }
                }
            }
        }
    }

    /// Reads the catalog, after a look at what it is made of.
    fn read(&mut self) -> Checked {
        let files = [self.catalog.clone(), self.catalog.join(CONFIGURATION)];
        let before = files.map(|file| (Stamp::of(&file), file));
        let mut workspace = config::read(&self.catalog);
        (self.options.admission.0)(&mut workspace);
        self.scan(&workspace, before);
        let debouncer = &self.debouncer;
        let listings = match &mut self.servers {
            Some(servers) => servers.listings(&workspace, &|| debouncer.is_stopped()),
            None => Listings::default(),
        };
        catalog::open_with(workspace, &listings)
    }

    /// Takes the state of all files; that of the configuration is from `before` it was read.
    fn scan(&mut self, workspace: &Workspace, before: [(Option<Stamp>, PathBuf); 2]) {
        self.roots = Roots::of(&self.catalog, workspace, &self.options.also);
        let roots = &self.roots;
        let (now, notice) = self.file_watcher.scan(|| {
            let mut now = FilesSnapshot::of(roots);
            for (stamp, file) in before {
                now.files.entry(file).and_modify(|known| *known = stamp);
            }
            now
        });
        self.notices.extend(notice);
        if self.last.is_some() {
            self.files.extend(now.changed_since(&self.snapshot).into_iter().cloned());
        }
        self.snapshot = now;
    }

    /// What was read, if it differs from what was handed on last.
    fn change(&mut self, checked: Checked) -> Option<Change> {
        let content = self.content(&checked);
        if self.last == Some(content) {
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
        Some(Change { checked, is_worse, files, notices: std::mem::take(&mut self.notices) })
    }

    /// A hash of all that a reader of the catalog can see.
    fn content(&self, checked: &Checked) -> blake3::Hash {
        let mut hasher = blake3::Hasher::new();
        let json = |value: Result<Vec<u8>, serde_json::Error>| value.unwrap_or_default();
        hasher.update(checked.catalog.version.as_bytes());
        hasher.update(&json(serde_json::to_vec(&checked.findings)));
        hasher.update(&json(serde_json::to_vec(&checked.catalog.config)));
        for (path, stamp) in self.snapshot.files.iter().filter(|(path, _)| self.roots.is_whole(path)) {
            hasher.update(format!("{path:?} {stamp:?}").as_bytes());
        }
        hasher.finalize()
    }
}

const CONFIGURATION: &str = "toolcrib.toml";

/// Whether it takes away a whole file.
fn loses_whole_file(code: Code) -> bool {
    matches!(code, Code::FileInvalid | Code::FileUnreadable | Code::FileTooLarge)
}

/// The input that is missing from a catalog.
fn lost(checked: &Checked) -> LostInput {
    let errors = checked.findings.iter().filter(|finding| finding.severity == Severity::Error);
    let mut lost = LostInput::new();
    for finding in errors.filter(|finding| finding.code.loses_input()) {
        let file = finding.place.as_ref().map(|place| place.file.clone()).unwrap_or_default();
        *lost.entry((file, finding.code)).or_default() += 1;
    }
    lost
}

/// Whether more is missing than before. Servers that are new take nothing away when they do not answer yet.
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
