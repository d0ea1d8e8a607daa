//! The files that hold definitions, in a fixed order.

use std::cell::RefCell;
use std::collections::HashSet;
use std::path::{Component, Path, PathBuf};
use std::sync::LazyLock;

use indexmap::IndexMap;
use walkdir::WalkDir;

use crate::config::{Selector, Source, Trust, Workspace, leads_out};
use toolcrib_definition::document::open;
use toolcrib_definition::finding::{Code, Finding, Place, Severity};
use toolcrib_definition::ground::is_within;

/// Extensions of definition files in a folder. Other files of the same formats, such as logs, are named one by one.
const EXTENSIONS: [&str; 5] = ["json", "jsonl", "yaml", "yml", "toml"];
/// The manifest of a folder that toolcrib wrote: docs, pages or a seeded workspace.
const MANIFEST: &str = ".toolcrib.json";
/// Folders of other programs, which hold definitions of nobody here.
const FOREIGN_FOLDERS: [&str; 5] =
    ["node_modules", "bower_components", "target", "__pycache__", "site-packages"];
/// Files that mark such a folder whatever its name: of a virtual environment of Python, and of a cache.
const FOREIGN_MARKS: [&str; 2] = ["pyvenv.cfg", "CACHEDIR.TAG"];

/// One definition file.
pub(super) struct File<'a> {
    pub(super) path: PathBuf,
    /// Its name in findings: relative to the workspace, with slashes.
    pub(super) shown: String,
    pub(super) source: &'a Source,
    /// The number of its source.
    pub(super) index: usize,
    /// Whether the user named this very file; a file that was found in a folder may be something else.
    pub(super) named: bool,
    /// Trust in its definitions: that of the source, unless the file lies outside of it.
    pub(super) trust: Trust,
}

/// Lists the files of all sources; without any source, those below the workspace.
pub(super) fn list<'a>(workspace: &'a Workspace, findings: &mut Vec<Finding>) -> Vec<File<'a>> {
    static WHOLE: LazyLock<Source> = LazyLock::new(Source::default);
    let sources = &workspace.config.sources;
    let sources: Vec<(usize, &Source)> =
        if sources.is_empty() { vec![(0, &WHOLE)] } else { of_files(workspace).collect() };
    let mut files: Vec<File<'a>> = Vec::new();
    for (index, source) in sources {
        let files_of = of_source(workspace, source, index, findings).into_iter();
        let (mut found, outside) = files_of.partition::<Vec<_>, _>(|file| workspace.may_read(&file.path));
        findings.extend(outside.iter().map(left_out));
        keep_within(workspace, source, &mut found, findings);
        if found.is_empty() {
            let nothing = nothing_in(workspace, source, index);
            let nested = findings.iter().rev().find(|finding| finding.code == Code::CatalogNested);
            let help = nested.and_then(|nested| nested.help.clone()).or_else(|| nothing.help.clone());
            findings.push(Finding { help, ..nothing });
        }
        files.extend(found);
    }
    each_once(files, findings)
}

/// A file is read once, with the least trust of the sources that lead to it.
fn each_once<'a>(files: Vec<File<'a>>, findings: &mut Vec<Finding>) -> Vec<File<'a>> {
    let mut known: IndexMap<PathBuf, File<'a>> = IndexMap::with_capacity(files.len());
    for file in files {
        let real = file.path.canonicalize().unwrap_or_else(|_| file.path.clone());
        match known.get_mut(&real) {
            Some(first) if first.trust != file.trust => {
                first.trust = Trust::Read;
                let why = "another [[source]] without `trust = \"run\"` reaches this file too";
                findings.push(not_trusted(first, why));
            }
            Some(_) => {}
            None => {
                known.insert(real, file);
            }
        }
    }
    known.into_values().collect()
}

/// Reports that a file of a trusted source is read without trust.
fn not_trusted(file: &File<'_>, why: &str) -> Finding {
    let message = format!("the definitions in this file are not trusted to name programs: {why}");
    Finding::new(Code::TrustNarrowed, message).at(Place::new(&file.shown, ""))
}

/// The sources that are files, by number. A source without a path is left out; it has been reported.
fn of_files(workspace: &Workspace) -> impl Iterator<Item = (usize, &Source)> {
    let sources = workspace.config.sources.iter().enumerate();
    sources
        .filter(|(_, source)| source.mcp.is_none() && source.address().is_none() && !source.path.is_empty())
}

fn nothing_in(workspace: &Workspace, source: &Source, index: usize) -> Finding {
    let path = workspace.root.join(&source.path);
    let what = if source.path.is_empty() { "the folder".to_string() } else { format!("\"{}\"", source.path) };
    let at = |finding: Finding| match &workspace.document {
        Some(config) => finding.at(Place::new(&config.file, format!("/source/{index}/path"))),
        None => finding,
    };
    if path.join(MANIFEST).is_file() {
        let message = format!("{what} was written by toolcrib, and holds no definitions");
        return at(Finding::new(Code::OwnOutput, message).help("name the catalog that it was made from"));
    }
    let message = match path.metadata() {
        Ok(metadata) if metadata.is_dir() => format!("{what} holds no definition files"),
        Ok(_) => format!("{what} is no regular file"),
        Err(_) if source.path.contains(['*', '?']) => format!("{what} matches no definition file"),
        Err(error) => format!("{what} cannot be read: {error}"),
    };
    at(Finding::new(Code::FileUnreadable, message)
        .help("definition files end in .json, .jsonl, .yaml, .yml or .toml"))
}

/// The files of one source.
fn of_source<'a>(
    workspace: &Workspace,
    source: &'a Source,
    index: usize,
    findings: &mut Vec<Finding>,
) -> Vec<File<'a>> {
    let path = workspace.root.join(&source.path);
    let is_folder = path.is_dir();
    let paths: Vec<PathBuf> = if is_folder {
        let written = written_files(workspace, &path);
        let found = if source.path.is_empty() {
            walk_without_catalogs(&path, findings)
        } else {
            walk(&path).collect()
        };
        found.into_iter().filter(|path| !is_ours(path) && !written.contains(path)).collect()
    } else if source.path.contains(['*', '?']) {
        let pattern = relative_name(Path::new(&source.path), &workspace.root);
        let Ok(glob) = Selector::parse(&format!("source:{pattern}")) else { return Vec::new() };
        let is_meant = |path: &PathBuf| glob.matches_source(&relative_name(path, &workspace.root));
        walk(&workspace.root.join(fixed_part(&pattern))).filter(is_meant).collect()
    } else {
        path.is_file().then_some(path).into_iter().collect()
    };
    let file = |path: PathBuf| {
        let shown = relative_name(&path, &workspace.root);
        File { shown, path, source, index, named: !is_folder, trust: source.trust }
    };
    paths.into_iter().map(file).collect()
}

/// Reports a file that may not be read. In a folder, it need not hold definitions.
fn left_out(file: &File<'_>) -> Finding {
    let finding = leads_out(Code::FileUnreadable, &file.shown).at(Place::new(&file.shown, ""));
    let severity = if file.named { finding.severity } else { Severity::Warning };
    Finding { severity, ..finding }
}

/// A link out of the folder of a trusted source is not trusted, unless the file itself is named.
fn keep_within(workspace: &Workspace, source: &Source, files: &mut [File<'_>], findings: &mut Vec<Finding>) {
    let pattern = workspace.root.join(&source.path);
    if source.trust == Trust::Read || pattern.is_file() {
        return;
    }
    let folder = root_of(workspace, source);
    for file in files {
        if !is_within(&folder, &file.path) {
            file.trust = Trust::Read;
            findings.push(not_trusted(file, "it is a link out of the folder of its [[source]]"));
        }
    }
}

/// The files and folders that a workspace reads its definitions from; a folder stands for those below it.
pub fn roots(workspace: &Workspace) -> Vec<PathBuf> {
    if workspace.config.sources.is_empty() {
        vec![workspace.root.clone()]
    } else {
        of_files(workspace).map(|(_, source)| root_of(workspace, source)).collect()
    }
}

/// The file or folder of a source; of a glob, the folders before its first wildcard.
fn root_of(workspace: &Workspace, source: &Source) -> PathBuf {
    let path = workspace.root.join(&source.path);
    if path.is_dir() || !source.path.contains(['*', '?']) {
        return path;
    }
    workspace.root.join(fixed_part(&relative_name(Path::new(&source.path), &workspace.root)))
}

/// Regular files with a known extension below a folder, sorted.
fn walk(folder: &Path) -> impl Iterator<Item = PathBuf> {
    let files = entries(folder).filter(|entry| entry.depth() > 0 && !entry.file_type().is_dir());
    files.map(walkdir::DirEntry::into_path)
}

/// The same in a folder that nothing configures, without the catalogs below it. They are reported.
fn walk_without_catalogs(folder: &Path, findings: &mut Vec<Finding>) -> Vec<PathBuf> {
    let catalogs = RefCell::new(Vec::new());
    let is_catalog = |entry: &walkdir::DirEntry| {
        let is_catalog =
            entry.depth() > 0 && entry.file_type().is_dir() && entry.path().join("toolcrib.toml").is_file();
        if is_catalog {
            catalogs.borrow_mut().push(relative_name(entry.path(), folder));
        }
        is_catalog
    };
    let files = entries_where(folder, |entry| !is_catalog(entry));
    let files = files.filter(|entry| entry.depth() > 0 && !entry.file_type().is_dir());
    let files = files.map(walkdir::DirEntry::into_path).collect();
    findings.extend(left_alone(&catalogs.take(), folder));
    files
}

fn left_alone(catalogs: &[String], folder: &Path) -> Option<Finding> {
    /// Names in a message.
    const SHOWN: usize = 5;
    let first = catalogs.first()?;
    let more = catalogs.len().saturating_sub(SHOWN);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    let names = catalogs.iter().take(SHOWN).map(String::as_str).collect::<Vec<_>>().join(", ");
    let message = format!("folders with a toolcrib.toml of their own were left alone: {names}{more}");
    let help = format!("`toolcrib check {}` checks the first", folder.join(first).display());
    Some(Finding::new(Code::CatalogNested, message).help(help))
}

/// The files of a folder that toolcrib wrote itself, by its manifest.
fn written_files(workspace: &Workspace, folder: &Path) -> HashSet<PathBuf> {
    let manifest = folder.join(MANIFEST);
    let is_there = manifest.is_file() && workspace.may_read(&manifest);
    let manifest = is_there.then(|| open(&manifest, MANIFEST).ok()).flatten();
    let files = manifest.as_ref().and_then(|manifest| manifest.value.get("files")?.as_object());
    files.into_iter().flatten().map(|(file, _)| folder.join(file)).collect()
}

/// Entries below a folder, without hidden folders, generated files, and those of other programs.
pub fn entries(folder: &Path) -> impl Iterator<Item = walkdir::DirEntry> {
    entries_where(folder, |_| true)
}

fn entries_where(
    folder: &Path,
    is_wanted: impl Fn(&walkdir::DirEntry) -> bool,
) -> impl Iterator<Item = walkdir::DirEntry> {
    let visible = move |entry: &walkdir::DirEntry| {
        // The named folder itself is read whatever its name.
        entry.depth() == 0 || !is_skipped(entry) && is_wanted(entry)
    };
    let walk = WalkDir::new(folder).sort_by_file_name().into_iter().filter_entry(visible);
    let is_folder = |entry: &walkdir::DirEntry| entry.depth() == 0 || entry.file_type().is_dir();
    walk.filter_map(Result::ok).filter(move |entry| is_folder(entry) || is_definition(entry.path()))
}

fn is_skipped(entry: &walkdir::DirEntry) -> bool {
    let is_hidden = entry.file_name().as_encoded_bytes().starts_with(b".");
    let is_foreign = || FOREIGN_FOLDERS.iter().any(|name| entry.file_name() == *name);
    let has = |mark: &str| entry.path().join(mark).exists();
    is_hidden
        || entry.file_type().is_dir()
            && (is_foreign() || FOREIGN_MARKS.iter().chain([&MANIFEST]).any(|mark| has(mark)))
}

/// A regular file with a known extension. It may be a link, as all files are in a mounted ConfigMap.
fn is_definition(path: &Path) -> bool {
    path.extension().is_some_and(|name| EXTENSIONS.iter().any(|known| name.eq_ignore_ascii_case(known)))
        && path.is_file()
}

/// Files beside the definitions that are configuration or labels.
fn is_ours(path: &Path) -> bool {
    path.file_name()
        .is_some_and(|name| name == "toolcrib.toml" || name.to_string_lossy().ends_with(".schema.json"))
}

/// The folders of a glob before its first wildcard.
fn fixed_part(glob: &str) -> &str {
    let wild = glob.find(['*', '?']).unwrap_or(glob.len());
    glob[..wild].rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// A path relative to the workspace, if it is below it, with slashes and without `.`.
fn relative_name(path: &Path, root: &Path) -> String {
    let relative = path.strip_prefix(root).unwrap_or(path);
    if relative.is_absolute() {
        let path = readable(relative);
        return if cfg!(windows) { path.replace('\\', "/") } else { path };
    }
    let parts = relative.components().filter(|part| *part != Component::CurDir);
    parts.map(|part| readable(part.as_ref())).collect::<Vec<_>>().join("/")
}

/// The text of a path. Invalid UTF-8 is escaped, so that two files never get one name.
fn readable(path: &Path) -> String {
    let mut text = String::new();
    for chunk in path.as_os_str().as_encoded_bytes().utf8_chunks() {
        text.push_str(chunk.valid());
        text.extend(chunk.invalid().iter().map(|byte| format!("\\x{byte:02X}")));
    }
    text
}

#[cfg(test)]
#[path = "tests/files.rs"]
mod tests;
