//! Who rings the bell when files change: the system where it can, and otherwise nobody but the clock.
//!
//! Folders are watched, never files, since editors put another file in place of the one they change; and each folder
//! by itself, since those that are skipped in reading may hold more folders than a system lets one watch.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use notify::event::{AccessKind, AccessMode};
use notify::{ErrorKind, Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher};

use super::bell::{Bell, Ring};
use super::footprint::{Folder, Footprint, Identity};

/// How often to look where the system tells nothing.
const POLLING: Duration = Duration::from_secs(1);
/// How often to look where it does: network mounts do not tell what others write.
const MISTRUST: Duration = Duration::from_secs(5);
/// Looking takes no more than this part of the time.
const SHARE: u32 = 50;

pub(super) struct Eyes {
    watcher: Option<RecommendedWatcher>,
    watched: BTreeMap<Identity, PathBuf>,
    sight: Arc<Mutex<Sight>>,
    bell: Bell,
    took: Duration,
}

/// What the events are compared with.
#[derive(Default)]
struct Sight {
    folders: HashMap<PathBuf, Folder>,
    footprint: Arc<Footprint>,
}

impl Eyes {
    /// Eyes that see nothing yet, and what keeps them from being told by the system, if anything does.
    pub(super) fn open(bell: Bell, poll: bool) -> (Self, Option<String>) {
        let sight = Arc::new(Mutex::new(Sight::default()));
        let mut eyes = Self { watcher: None, watched: BTreeMap::new(), sight, bell, took: Duration::ZERO };
        if poll {
            return (eyes, None);
        }
        let (bell, sight) = (eyes.bell.clone(), eyes.sight.clone());
        let told = move |event: notify::Result<Event>| match event {
            Ok(event) => lock(&sight).ring(&event).into_iter().for_each(|ring| bell.ring(ring)),
            Err(_) => bell.ring(Ring::Maybe),
        };
        match notify::recommended_watcher(told) {
            Ok(watcher) => eyes.watcher = Some(watcher),
            Err(error) => return (eyes, Some(blind(&error))),
        }
        (eyes, None)
    }

    /// A look at what there is now; the folders it found are watched from here on. What changed in them before is
    /// for the next look, for which the bell is rung.
    pub(super) fn look(&mut self, look: impl FnOnce() -> Footprint) -> (Arc<Footprint>, Option<String>) {
        let start = Instant::now();
        let footprint = Arc::new(look());
        self.took = start.elapsed();
        let notice = self.watch(&footprint);
        (footprint, notice)
    }

    /// How long to wait for the bell before looking without it.
    pub(super) fn patience(&self) -> Duration {
        let usual = if self.watcher.is_some() { MISTRUST } else { POLLING };
        usual.max(self.took * SHARE)
    }

    fn watch(&mut self, footprint: &Arc<Footprint>) -> Option<String> {
        let watcher = self.watcher.as_mut()?;
        {
            let mut sight = lock(&self.sight);
            sight.footprint = footprint.clone();
            sight.folders =
                footprint.folders.values().map(|folder| (folder.path.clone(), folder.clone())).collect();
        }
        self.watched.retain(|identity, path| {
            let stays = footprint.folders.get(identity).is_some_and(|folder| folder.path == *path);
            if !stays {
                // It may be gone, and its watch with it.
                let _ = watcher.unwatch(path);
            }
            stays
        });
        let mut is_new = false;
        for (identity, folder) in &footprint.folders {
            if self.watched.contains_key(identity) {
                continue;
            }
            is_new = true;
            if let Err(error) = watcher.watch(&folder.path, RecursiveMode::NonRecursive)
                && matches!(error.kind, ErrorKind::MaxFilesWatch)
            {
                self.watcher = None;
                self.watched.clear();
                return Some(blind(&error));
            }
            // One that is gone again, or not ours to watch, is left to the clock.
            self.watched.insert(identity.clone(), folder.path.clone());
        }
        if is_new {
            self.bell.ring(Ring::Maybe);
        }
        None
    }
}

fn blind(error: &notify::Error) -> String {
    let why = match &error.kind {
        ErrorKind::MaxFilesWatch => "the system has no file watches left".to_string(),
        kind => format!("the system does not tell of changes ({kind:?})"),
    };
    format!("{why}; looking at the files every second instead")
}

impl Sight {
    fn ring(&self, event: &Event) -> Option<Ring> {
        if event.need_rescan() || event.paths.is_empty() {
            return Some(Ring::Maybe);
        }
        match event.kind {
            EventKind::Access(AccessKind::Close(AccessMode::Write)) => {}
            EventKind::Access(_) => return None,
            _ => {}
        }
        event.paths.iter().filter_map(|path| self.ring_of(path)).max()
    }

    fn ring_of(&self, path: &Path) -> Option<Ring> {
        if self.footprint.files.get(path).is_some_and(Option::is_some) {
            return Some(Ring::Surely);
        }
        let name = path.file_name()?;
        // What we write for ourselves.
        if name.as_encoded_bytes().starts_with(b".toolcrib") {
            return None;
        }
        match path.parent().and_then(|parent| self.folders.get(parent)) {
            Some(folder) if !folder.is_listed && !folder.names.contains(name) => None,
            _ => Some(Ring::Maybe),
        }
    }
}

fn lock(sight: &Mutex<Sight>) -> MutexGuard<'_, Sight> {
    sight.lock().unwrap_or_else(PoisonError::into_inner)
}
