//! Writes generated text files into a folder, and owns only those.
//!
//! 1. A [`Plan`] looks at everything by reading: the files to render, the files to remove, and obstacles.
//! 2. [`disk`] writes every changed content beside the manifest, records in the [`manifest`] the files that will be
//!    ours, and only then moves the files to their places.
//!
//! An error before that changes nothing; a kill at any moment leaves each file old or new, and every one of them known
//! as ours. It cannot defend against a process that replaces folders by symbolic links meanwhile.

mod disk;
mod manifest;
#[cfg(all(test, unix))]
mod tests;

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::path::Path;
use std::time::Duration;

use rayon::prelude::*;
use similar::{DiffTag, TextDiff};
use toolcrib_definition::{beginning, clipped};

use disk::{Entry, Rendered, Stage};
use manifest::{Hashes, Manifest, check_paths, folders_of};

pub use disk::{UNFINISHED, lock, replace_whole, write_whole};
pub use manifest::{FolderError, MANIFEST};

/// Bytes of a diff from which on no more files are added to it.
const DIFF_LIMIT: usize = 1 << 20;
/// Time after which the diff of one file becomes coarser.
const DIFF_TIME: Duration = Duration::from_secs(5);
/// Files that are compared before their differences are added; bounds the memory in use at once.
const BATCH: usize = 64;

/// A file: its path and its bytes.
pub type Content = (String, Vec<u8>);

/// Reason why a content could not be rendered.
pub type Problem = Box<dyn std::error::Error + Send + Sync>;

/// Renders one file.
type Maker<'a> = Box<dyn Fn() -> Result<String, Problem> + Send + Sync + 'a>;

/// The files to generate. Each content is rendered on demand, in parallel, so that a large set is never in memory; if any
/// cannot be rendered, nothing is written.
pub struct Files<'a> {
    /// Paths of the files: relative, separated by `/`, unique even where case is ignored.
    pub paths: Vec<String>,
    makers: Vec<Maker<'a>>,
    /// The hash of all inputs of the contents: sets with the same key are equal. Empty: not known.
    pub key: String,
    /// Whether files outside the set are removed; not so when the set may be incomplete.
    prune: bool,
}

impl<'a> Files<'a> {
    /// No files, without a key.
    pub(crate) fn new(prune: bool) -> Self {
        Self { paths: Vec::new(), makers: Vec::new(), key: String::new(), prune }
    }

    /// Adds a file, and the function that makes its content.
    pub fn push<E: Into<Problem>>(
        &mut self,
        path: String,
        make: impl Fn() -> Result<String, E> + Send + Sync + 'a,
    ) {
        self.paths.push(path);
        self.makers.push(Box::new(move || make().map_err(Into::into)));
    }

    /// The content of one file.
    fn content(&self, index: usize) -> Result<Vec<u8>, FolderError> {
        let failed = |source| FolderError::Render { path: self.paths[index].clone(), source };
        Ok(self.makers[index]().map_err(failed)?.into_bytes())
    }
}

/// Result of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Files that were not there before.
    pub created: usize,
    /// Files that got a new content.
    pub updated: usize,
    /// Files that are no longer generated and were deleted.
    pub removed: usize,
    /// Files that were current and have not been touched.
    pub unchanged: usize,
    /// Files outside the set that stay: pruning is off, or they were edited. Edited ones are
    /// the user's from now on.
    pub kept: Vec<String>,
}

/// Changes that a run would make; all lists are sorted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Drift {
    /// Files that are missing.
    pub created: Vec<String>,
    /// Files whose content is not current.
    pub changed: Vec<String>,
    /// Files that are no longer generated.
    pub removed: Vec<String>,
    /// A unified diff from the folder to the generated files, by path; a note at its end says if it was cut.
    pub diff: String,
}

impl Drift {
    /// Whether the folder is current.
    pub fn is_empty(&self) -> bool {
        self.created.is_empty() && self.changed.is_empty() && self.removed.is_empty()
    }

    /// Adds the change of a file that is outside of any set.
    pub(super) fn add(&mut self, path: &str, old: Option<&[u8]>, new: &[u8]) {
        let list = if old.is_none() { &mut self.created } else { &mut self.changed };
        list.push(path.to_string());
        self.diff += &unified(path, old, Some(new));
    }

    /// Adds the changes of another set.
    pub(super) fn extend(&mut self, other: Drift) {
        self.created.extend(other.created);
        self.changed.extend(other.changed);
        self.removed.extend(other.removed);
        self.diff += &other.diff;
    }
}

/// The state of a folder against a set of files.
struct Plan {
    /// The manifest on disk.
    manifest: Manifest,
    /// Indexes of the files that have to be rendered and compared; all others are current.
    stale: Vec<usize>,
    /// Files to remove, with their hashes.
    removed: Hashes,
    /// Files that are no longer generated but stay ours, with their hashes, since pruning is off.
    kept: Hashes,
    /// Edited files that are no longer generated. They are the user's from now on, so that a later run reports them
    /// as obstacles instead of overwriting them.
    released: Vec<String>,
    /// Folders to create, outer ones first.
    dirs: Vec<String>,
}

/// State of a file of the set on disk.
enum State {
    Current,
    Stale,
    /// The path holds something that is not ours to replace.
    Taken,
}

impl Plan {
    /// Looks at everything before anything is written; `Occupied` names all obstacles.
    fn make(root: &Path, files: &Files<'_>) -> Result<Plan, FolderError> {
        let manifest = Manifest::read(root)?;
        let paths = || files.paths.iter().map(String::as_str);
        let wanted: HashSet<&str> = paths().collect();
        let unwanted: Vec<&String> =
            manifest.files.keys().filter(|path| !wanted.contains(path.as_str())).collect();
        let mut folders: BTreeMap<&str, Entry> = BTreeMap::new();
        for folder in folders_of(paths().chain(unwanted.iter().map(|path| path.as_str()))) {
            let path = root.join(folder);
            match disk::look(&path)? {
                // A symbolic link on the way could lead anywhere.
                Entry::Link => return Err(FolderError::Symlink { path }),
                entry => drop(folders.insert(folder, entry)),
            }
        }
        let states: Vec<State> = files
            .paths
            .par_iter()
            .map_init(Vec::new, |content, path| State::of(root, path, &manifest, &files.key, content))
            .collect::<Result<_, _>>()?;
        let is = |state: fn(&State) -> bool| states.iter().enumerate().filter(move |(_, of)| state(of));
        let stale = is(|state| matches!(state, State::Stale)).map(|(index, _)| index).collect();
        let taken = is(|state| matches!(state, State::Taken)).map(|(index, _)| files.paths[index].clone());
        let mut occupied: BTreeSet<String> = taken.collect();

        let mut removed = Hashes::new();
        let mut kept = Hashes::new();
        let mut released = Vec::new();
        let mut content = Vec::new();
        for path in unwanted {
            let entry = disk::read(&root.join(path), &mut content)?;
            if entry == Entry::Missing {
                continue;
            }
            let hash = manifest::hash(&content);
            let is_ours = matches!(entry, Entry::File(_)) && manifest.wrote(path, &hash);
            match (files.prune, is_ours) {
                (true, true) => drop(removed.insert(path.clone(), hash)),
                (true, false) => released.push(path.clone()),
                (false, true) => drop(kept.insert(path.clone(), hash)),
                (false, false) => drop(kept.insert(path.clone(), manifest.files[path].clone())),
            }
        }
        let mut dirs = Vec::new();
        for folder in folders_of(paths()) {
            match folders.get(folder) {
                Some(Entry::Folder) => {}
                Some(Entry::File(_) | Entry::Other) if !removed.contains_key(folder) => {
                    occupied.insert(folder.to_string());
                }
                _ => dirs.push(folder.to_string()),
            }
        }
        if !occupied.is_empty() {
            return Err(FolderError::Occupied { root: root.into(), paths: occupied.into_iter().collect() });
        }
        Ok(Plan { manifest, stale, removed, kept, released, dirs })
    }
}

impl State {
    /// The state of one file. It is only read where the manifest says that it may be current.
    fn of(
        root: &Path,
        path: &str,
        manifest: &Manifest,
        key: &str,
        content: &mut Vec<u8>,
    ) -> Result<State, FolderError> {
        let place = root.join(path);
        let Some(known) = manifest.files.get(path) else {
            return Ok(if disk::look(&place)? == Entry::Missing { State::Stale } else { State::Taken });
        };
        let is_same_set = !key.is_empty() && manifest.key == key;
        let entry = if is_same_set { disk::read(&place, content)? } else { disk::look(&place)? };
        Ok(match entry {
            Entry::File(_) if is_same_set && manifest::hash(content) == *known => State::Current,
            Entry::File(_) | Entry::Missing | Entry::Link => State::Stale,
            Entry::Folder | Entry::Other => State::Taken,
        })
    }
}

/// Makes the files in `root` equal to the set; the folder is created if it does not exist. `progress` is called with the
/// number of newly finished files, from any thread.
pub fn sync(
    root: &Path,
    files: &Files<'_>,
    progress: &(dyn Fn(usize) + Sync),
) -> Result<Report, FolderError> {
    check_paths(&files.paths)?;
    let _lock = lock(root)?;
    write(root, files, progress)
}

/// Brings a locked folder to the state of the set.
pub(super) fn write(
    root: &Path,
    files: &Files<'_>,
    progress: &(dyn Fn(usize) + Sync),
) -> Result<Report, FolderError> {
    check_paths(&files.paths)?;
    let stage = Stage::open(root)?;
    let plan = Plan::make(root, files)?;
    progress(files.paths.len() - plan.stale.len());
    let render = |old: &mut Vec<u8>, &index: &usize| {
        let rendered = stage.render(&plan.manifest, files, index, old);
        progress(1);
        rendered
    };
    let rendered: Vec<Rendered> =
        plan.stale.par_iter().map_init(Vec::new, render).collect::<Result<_, _>>()?;
    stage.apply(&plan, files, &rendered)?;

    let staged = || rendered.iter().filter(|rendered| rendered.is_staged);
    let created = staged().filter(|rendered| rendered.was == Entry::Missing).count();
    let updated = staged().count() - created;
    let mut kept: Vec<String> = plan.kept.into_keys().chain(plan.released).collect();
    kept.sort_unstable();
    Ok(Report {
        created,
        updated,
        removed: plan.removed.len(),
        unchanged: files.paths.len() - created - updated,
        kept,
    })
}

/// The files of a folder that are ours, edited or not.
pub fn owned(root: &Path) -> Result<BTreeSet<String>, FolderError> {
    let mut owned = BTreeSet::new();
    for path in Manifest::read(root)?.files.into_keys() {
        if disk::look(&root.join(&path))? != Entry::Missing {
            owned.insert(path);
        }
    }
    Ok(owned)
}

/// The files of a folder that `sync` wrote and nobody has changed since.
pub fn unedited(root: &Path) -> Result<BTreeSet<String>, FolderError> {
    let manifest = Manifest::read(root)?;
    let mut content = Vec::new();
    let mut same = BTreeSet::new();
    for (path, hash) in &manifest.files {
        disk::read(&root.join(path), &mut content)?;
        if manifest::hash(&content) == *hash {
            same.insert(path.clone());
        }
    }
    Ok(same)
}

/// Reports the changes of `sync` with a prefix before each path, and fails where `sync` would. Writes nothing.
pub fn check(root: &Path, prefix: &str, files: &Files<'_>) -> Result<Drift, FolderError> {
    check_paths(&files.paths)?;
    let _lock = disk::lock_shared(root)?;
    let plan = Plan::make(root, files)?;
    let render = plan.stale.iter().map(|&index| (files.paths[index].as_str(), Some(index)));
    let remove = plan.removed.keys().map(|path| (path.as_str(), None));
    let mut work: Vec<(&str, Option<usize>)> = render.chain(remove).collect();
    work.sort_unstable();

    let mut drift = Drift::default();
    let mut left_out = 0;
    for batch in work.chunks(BATCH) {
        let is_full = drift.diff.len() >= DIFF_LIMIT;
        let changes: Vec<Option<(Entry, String)>> = batch
            .par_iter()
            .map_init(Vec::new, |old, &(path, index)| {
                let was = disk::read(&root.join(path), old)?;
                let new = index.map(|index| files.content(index)).transpose()?;
                let old = matches!(was, Entry::File(_)).then_some(old.as_slice());
                if old == new.as_deref() {
                    return Ok(None);
                }
                let diff = || unified(&format!("{prefix}{path}"), old, new.as_deref());
                Ok(Some((was, if is_full { String::new() } else { diff() })))
            })
            .collect::<Result<_, FolderError>>()?;
        for (&(path, index), change) in batch.iter().zip(changes) {
            let Some((was, text)) = change else { continue };
            if drift.diff.len() < DIFF_LIMIT {
                drift.diff += &text;
            } else {
                left_out += 1;
            }
            let list = match (index, was) {
                (None, _) => &mut drift.removed,
                (Some(_), Entry::Missing) => &mut drift.created,
                (Some(_), _) => &mut drift.changed,
            };
            list.push(format!("{prefix}{path}"));
        }
    }
    if left_out > 0 {
        drift.diff += &format!("# cut here; {left_out} more changed files are not shown\n");
    }
    Ok(drift)
}

/// The unified diff of one file; `None` is a file that does not exist.
fn unified(path: &str, old: Option<&[u8]>, new: Option<&[u8]>) -> String {
    let name = |side: &str, content: Option<&[u8]>| match content {
        Some(_) => format!("{side}/{path}"),
        None => "/dev/null".to_string(),
    };
    let from = name("a", old);
    let to = name("b", new);
    let old = String::from_utf8_lossy(old.unwrap_or_default());
    let new = String::from_utf8_lossy(new.unwrap_or_default());
    let diff = TextDiff::configure().timeout(DIFF_TIME).diff_lines(&*old, &*new);
    let mut out = String::new();
    for hunk in diff.unified_diff().iter_hunks() {
        out.push_str(&format!("{}\n", hunk.header()));
        for op in hunk.ops() {
            let (_, old, new) = op.as_tag_tuple();
            let old = &diff.old_slices()[old];
            let new = &diff.new_slices()[new];
            write_lines(op.tag(), old, new, &mut out);
        }
    }
    if out.is_empty() { out } else { format!("--- {from}\n+++ {to}\n{out}") }
}

/// Longest line that a diff shows whole, and most bytes on each side of a change in a longer one.
const MAX_LINE: usize = 240;
const AROUND: usize = 40;

/// Writes lines that are equal, or differ. Of long lines, the words that differ are shown, with those around them.
fn write_lines(tag: DiffTag, old: &[&str], new: &[&str], out: &mut String) {
    let mut line = |mark: char, text: &str| {
        out.push(mark);
        out.push_str(text.trim_end_matches('\n'));
        out.push('\n');
    };
    let is_long = |lines: &[&str]| lines.iter().any(|line| line.len() > MAX_LINE);
    if tag == DiffTag::Equal {
        return old.iter().for_each(|text| line(' ', &clipped(text, MAX_LINE)));
    }
    if old.len() == new.len() && (is_long(old) || is_long(new)) {
        for (old, new) in old.iter().zip(new) {
            let (old, new) = changed_words(old, new);
            line('-', &old);
            line('+', &new);
        }
        return;
    }
    old.iter().for_each(|text| line('-', &clipped(text, MAX_LINE)));
    new.iter().for_each(|text| line('+', &clipped(text, MAX_LINE)));
}

/// The words of two lines that differ, and some text around them.
fn changed_words(old: &str, new: &str) -> (String, String) {
    let diff = TextDiff::configure().timeout(DIFF_TIME).diff_words(old, new);
    let mut sides = (String::new(), String::new());
    let ops = diff.ops();
    for (index, op) in ops.iter().enumerate() {
        let (_, old, new) = op.as_tag_tuple();
        let old = diff.old_slices()[old].concat();
        let new = diff.new_slices()[new].concat();
        if op.tag() == DiffTag::Equal {
            let is_first = index == 0;
            let is_last = index + 1 == ops.len();
            let between = around(&old, !is_first, !is_last);
            sides.0.push_str(&between);
            sides.1.push_str(&between);
        } else {
            sides.0.push_str(&clipped(&old, MAX_LINE));
            sides.1.push_str(&clipped(&new, MAX_LINE));
        }
    }
    sides
}

/// The ends of a text next to changes.
fn around(text: &str, after: bool, before: bool) -> String {
    let head = if after { beginning(text, AROUND) } else { "" };
    let rest = &text[head.len()..];
    let tail = rest.char_indices().rev().take(AROUND).last().map_or(rest.len(), |(at, _)| at);
    let tail = if before { &rest[tail..] } else { "" };
    let left_out = head.len() + tail.len() < text.len();
    [head, if left_out { " … " } else { "" }, tail].concat()
}

/// The contents of a set, and the manifest that a run would leave beside them, for a folder that is on no disk here.
pub fn contents(files: &Files<'_>) -> Result<Vec<Content>, FolderError> {
    check_paths(&files.paths)?;
    let paths = files.paths.par_iter().enumerate();
    let content = |(index, path): (usize, &String)| Ok((path.clone(), files.content(index)?));
    let mut contents: Vec<Content> = paths.map(content).collect::<Result<_, FolderError>>()?;
    let mut manifest = Manifest::new(&files.key);
    manifest.dirs =
        folders_of(files.paths.iter().map(String::as_str)).into_iter().map(String::from).collect();
    manifest.files = contents.iter().map(|(path, content)| (path.clone(), manifest::hash(content))).collect();
    contents.push((MANIFEST.to_string(), manifest.to_bytes()));
    Ok(contents)
}
