//! The files of a catalog as they are now, and the folders in which changes would show.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::Metadata;
use std::path::{Component, Path, PathBuf, absolute};
use std::time::SystemTime;

use walkdir::WalkDir;

use toolcrib_catalog::config::{Workspace, at_address};
use toolcrib_catalog::sources;

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
    pub(super) files: BTreeMap<PathBuf, Option<FileStamp>>,
    /// The folders, each by one of its paths.
    pub(super) folders: BTreeMap<Identity, PathBuf>,
}

/// The state of a file; any change to the file changes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct FileStamp {
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

impl FileStamp {
    /// The state of the file at a path, behind any links.
    pub(super) fn of(path: &Path) -> Option<FileStamp> {
        let metadata = path.metadata().ok().filter(|metadata| !metadata.is_dir())?;
        Some(FileStamp {
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
        let stamp = FileStamp::of(&path);
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
