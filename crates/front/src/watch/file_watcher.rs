//! Signals changes of files. The system reports them if it can; otherwise the watcher polls.
//!
//! Folders are watched, never files, since editors replace the file that they change. Each folder is watched without
//! its subfolders, since a skipped folder may contain more folders than the system can watch.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use notify::event::{AccessKind, AccessMode};
use notify::{ErrorKind, Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher};

use super::debouncer::{ChangeSignal, Debouncer};
use super::snapshot::{FilesSnapshot, Identity};
use toolcrib_definition::guard::locked;

/// Interval of scans if the system does not report changes.
const POLL_INTERVAL: Duration = Duration::from_secs(1);
/// Interval of scans if the system reports changes: network mounts do not report writes by other machines.
const FALLBACK_POLL_INTERVAL: Duration = Duration::from_secs(5);
/// Largest share of the time that scans take.
const MAX_SCAN_SHARE: u32 = 50;

pub(super) struct FileWatcher {
    watcher: Option<RecommendedWatcher>,
    watched: BTreeMap<Identity, PathBuf>,
    /// The files that events are compared with.
    files: Arc<Mutex<Arc<FilesSnapshot>>>,
    debouncer: Debouncer,
    took: Duration,
    /// Reasons why the system does not report changes, for a person.
    pub(super) notices: Vec<String>,
}

impl FileWatcher {
    /// Opens a watcher that watches nothing yet.
    pub(super) fn open(debouncer: Debouncer, poll: bool) -> Self {
        let mut file_watcher = Self {
            watcher: None,
            watched: BTreeMap::new(),
            files: Arc::default(),
            debouncer,
            took: Duration::ZERO,
            notices: Vec::new(),
        };
        if poll {
            return file_watcher;
        }
        let debouncer = file_watcher.debouncer.clone();
        let files = Arc::clone(&file_watcher.files);
        let on_event = move |event: notify::Result<Event>| {
            let signal = match event {
                Ok(event) => signal_of(&event, &locked(&files)),
                Err(_) => Some(ChangeSignal::Possible),
            };
            signal.into_iter().for_each(|signal| debouncer.signal(signal));
        };
        match notify::recommended_watcher(on_event) {
            Ok(watcher) => file_watcher.watcher = Some(watcher),
            Err(error) => file_watcher.notices.push(polling_notice(&error)),
        }
        file_watcher
    }

    /// Scans all files, and watches the folders that the scan finds. A new folder makes a signal, so that the next
    /// scan finds changes from before the folder was watched.
    pub(super) fn scan(&mut self, look: impl FnOnce() -> FilesSnapshot) -> Arc<FilesSnapshot> {
        let start = Instant::now();
        let snapshot = Arc::new(look());
        self.took = start.elapsed();
        self.watch(&snapshot);
        snapshot
    }

    /// Longest wait for a signal before a scan without one.
    pub(super) fn poll_interval(&self) -> Duration {
        let usual = if self.watcher.is_some() { FALLBACK_POLL_INTERVAL } else { POLL_INTERVAL };
        usual.max(self.took * MAX_SCAN_SHARE)
    }

    fn watch(&mut self, snapshot: &Arc<FilesSnapshot>) {
        let Some(watcher) = &mut self.watcher else { return };
        *locked(&self.files) = Arc::clone(snapshot);
        self.watched.retain(|identity, path| {
            let stays = snapshot.folders.get(identity) == Some(&*path);
            if !stays {
                // The folder may be gone, and its watch with it.
                let _ = watcher.unwatch(path);
            }
            stays
        });
        let mut is_new = false;
        for (identity, path) in &snapshot.folders {
            if self.watched.contains_key(identity) {
                continue;
            }
            is_new = true;
            if let Err(error) = watcher.watch(path, RecursiveMode::NonRecursive)
                && matches!(error.kind, ErrorKind::MaxFilesWatch)
            {
                self.notices.push(polling_notice(&error));
                self.watcher = None;
                self.watched.clear();
                return;
            }
            // A folder that is gone again, or cannot be watched, is left to polling.
            self.watched.insert(identity.clone(), path.clone());
        }
        if is_new {
            self.debouncer.signal(ChangeSignal::Possible);
        }
    }
}

fn polling_notice(error: &notify::Error) -> String {
    let why = match &error.kind {
        ErrorKind::MaxFilesWatch => "the system has no file watches left".to_string(),
        ErrorKind::Io(reason) => format!("the system cannot report changes: {reason}"),
        ErrorKind::Generic(reason) => format!("the system cannot report changes: {reason}"),
        _ => "the system cannot report changes".to_string(),
    };
    format!("{why}; looking at the files every second instead")
}

/// The signal for an event, given the files of the last scan.
fn signal_of(event: &Event, files: &FilesSnapshot) -> Option<ChangeSignal> {
    if event.need_rescan() || event.paths.is_empty() {
        return Some(ChangeSignal::Possible);
    }
    match event.kind {
        EventKind::Access(AccessKind::Close(AccessMode::Write)) => {}
        EventKind::Access(_) => return None,
        _ => {}
    }
    let of_path = |path: &PathBuf| {
        if files.files.get(path).is_some_and(Option::is_some) {
            return Some(ChangeSignal::Certain);
        }
        // The names of toolcrib's own files begin like this.
        let is_own = |name: &OsStr| name.as_encoded_bytes().starts_with(b".toolcrib");
        (!path.file_name().is_none_or(is_own)).then_some(ChangeSignal::Possible)
    };
    event.paths.iter().filter_map(of_path).max()
}
