//! Signals changes of files: as the system reports them where it can, else by polling.
//!
//! Folders are watched, never files, since editors replace the file that they change. Each folder is watched by
//! itself, since skipped folders may hold more folders than a system can watch.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use notify::event::{AccessKind, AccessMode};
use notify::{ErrorKind, Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher};

use super::debounce::{ChangeSignal, Debouncer};
use super::snapshot::{FilesSnapshot, Folder, Identity};

/// Interval of scans where the system reports no changes.
const POLL_INTERVAL: Duration = Duration::from_secs(1);
/// Interval of scans where it does: network mounts do not report the writes of other machines.
const FALLBACK_POLL_INTERVAL: Duration = Duration::from_secs(5);
/// Largest share of the time that scans take.
const MAX_SCAN_SHARE: u32 = 50;

pub(super) struct FileWatcher {
    watcher: Option<RecommendedWatcher>,
    watched: BTreeMap<Identity, PathBuf>,
    watched_files: Arc<Mutex<WatchedFiles>>,
    debouncer: Debouncer,
    took: Duration,
}

/// The files that events are compared with.
#[derive(Default)]
struct WatchedFiles {
    folders: HashMap<PathBuf, Folder>,
    snapshot: Arc<FilesSnapshot>,
}

impl FileWatcher {
    /// A watcher of nothing yet, and the reason why the system cannot report changes, if there is one.
    pub(super) fn open(debouncer: Debouncer, poll: bool) -> (Self, Option<String>) {
        let watched_files = Arc::new(Mutex::new(WatchedFiles::default()));
        let mut file_watcher =
            Self { watcher: None, watched: BTreeMap::new(), watched_files, debouncer, took: Duration::ZERO };
        if poll {
            return (file_watcher, None);
        }
        let (debouncer, watched_files) = (file_watcher.debouncer.clone(), file_watcher.watched_files.clone());
        let on_event = move |event: notify::Result<Event>| match event {
            Ok(event) => lock(&watched_files)
                .signal_of_event(&event)
                .into_iter()
                .for_each(|signal| debouncer.signal(signal)),
            Err(_) => debouncer.signal(ChangeSignal::Possible),
        };
        match notify::recommended_watcher(on_event) {
            Ok(watcher) => file_watcher.watcher = Some(watcher),
            Err(error) => return (file_watcher, Some(polling_notice(&error))),
        }
        (file_watcher, None)
    }

    /// Scans all files; the folders it finds are watched from now on. Changes in them before that are for the next
    /// scan, which a signal requests.
    pub(super) fn scan(
        &mut self,
        look: impl FnOnce() -> FilesSnapshot,
    ) -> (Arc<FilesSnapshot>, Option<String>) {
        let start = Instant::now();
        let snapshot = Arc::new(look());
        self.took = start.elapsed();
        let notice = self.watch(&snapshot);
        (snapshot, notice)
    }

    /// Longest wait for a signal before a scan without one.
    pub(super) fn poll_interval(&self) -> Duration {
        let usual = if self.watcher.is_some() { FALLBACK_POLL_INTERVAL } else { POLL_INTERVAL };
        usual.max(self.took * MAX_SCAN_SHARE)
    }

    fn watch(&mut self, snapshot: &Arc<FilesSnapshot>) -> Option<String> {
        let watcher = self.watcher.as_mut()?;
        {
            let mut watched_files = lock(&self.watched_files);
            watched_files.snapshot = snapshot.clone();
            watched_files.folders =
                snapshot.folders.values().map(|folder| (folder.path.clone(), folder.clone())).collect();
        }
        self.watched.retain(|identity, path| {
            let stays = snapshot.folders.get(identity).is_some_and(|folder| folder.path == *path);
            if !stays {
                // The folder may be gone, and its watch with it.
                let _ = watcher.unwatch(path);
            }
            stays
        });
        let mut is_new = false;
        for (identity, folder) in &snapshot.folders {
            if self.watched.contains_key(identity) {
                continue;
            }
            is_new = true;
            if let Err(error) = watcher.watch(&folder.path, RecursiveMode::NonRecursive)
                && matches!(error.kind, ErrorKind::MaxFilesWatch)
            {
                self.watcher = None;
                self.watched.clear();
                return Some(polling_notice(&error));
            }
            // A folder that is gone again, or cannot be watched, is left to polling.
            self.watched.insert(identity.clone(), folder.path.clone());
        }
        if is_new {
            self.debouncer.signal(ChangeSignal::Possible);
        }
        None
    }
}

fn polling_notice(error: &notify::Error) -> String {
    let why = match &error.kind {
        ErrorKind::MaxFilesWatch => "the system has no file watches left".to_string(),
        kind => format!("the system does not tell of changes ({kind:?})"),
    };
    format!("{why}; looking at the files every second instead")
}

impl WatchedFiles {
    fn signal_of_event(&self, event: &Event) -> Option<ChangeSignal> {
        if event.need_rescan() || event.paths.is_empty() {
            return Some(ChangeSignal::Possible);
        }
        match event.kind {
            EventKind::Access(AccessKind::Close(AccessMode::Write)) => {}
            EventKind::Access(_) => return None,
            _ => {}
        }
        event.paths.iter().filter_map(|path| self.signal_of_path(path)).max()
    }

    fn signal_of_path(&self, path: &Path) -> Option<ChangeSignal> {
        if self.snapshot.files.get(path).is_some_and(Option::is_some) {
            return Some(ChangeSignal::Certain);
        }
        let name = path.file_name()?;
        // A file of our own.
        if name.as_encoded_bytes().starts_with(b".toolcrib") {
            return None;
        }
        match path.parent().and_then(|parent| self.folders.get(parent)) {
            Some(folder) if !folder.is_listed && !folder.names.contains(name) => None,
            _ => Some(ChangeSignal::Possible),
        }
    }
}

fn lock(watched_files: &Mutex<WatchedFiles>) -> MutexGuard<'_, WatchedFiles> {
    watched_files.lock().unwrap_or_else(PoisonError::into_inner)
}
