//! The files that hold definitions, in a fixed order.

use std::path::{Path, PathBuf};

use walkdir::WalkDir;

use crate::config::{Selector, Source, Workspace};
use crate::finding::{Code, Finding, Format, Place};

/// One file to read.
pub(super) struct File<'a> {
    pub(super) path: PathBuf,
    /// Its name in findings: relative to the workspace, with slashes.
    pub(super) shown: String,
    pub(super) source: &'a Source,
    /// Whether the user named this very file; one that was merely found in a folder may be something else.
    pub(super) named: bool,
}

/// Lists the files of all sources; without any source, those below the workspace.
pub(super) fn list<'a>(workspace: &'a Workspace, findings: &mut Vec<Finding>) -> Vec<File<'a>> {
    static WHOLE: Source = Source { path: String::new(), server: None, category: None };
    let sources = &workspace.config.sources;
    let sources: Vec<&Source> = if sources.is_empty() { vec![&WHOLE] } else { sources.iter().collect() };
    let mut files: Vec<File<'a>> = Vec::new();
    for (index, source) in sources.into_iter().enumerate() {
        let before = files.len();
        of_source(workspace, source, &mut files);
        if files.len() == before {
            findings.push(nothing_in(workspace, source, index));
        }
    }
    let mut seen = std::collections::HashSet::new();
    files.retain(|file| seen.insert(file.shown.clone()));
    files
}

fn nothing_in(workspace: &Workspace, source: &Source, index: usize) -> Finding {
    let path = workspace.root.join(&source.path);
    let what = if source.path.is_empty() { "the folder".to_string() } else { format!("\"{}\"", source.path) };
    let message = match path.metadata() {
        Ok(metadata) if metadata.is_dir() => format!("{what} holds no definition files"),
        Ok(_) => format!("{what} is no regular file"),
        Err(_) if source.path.contains(['*', '?']) => format!("{what} matches no definition file"),
        Err(error) => format!("{what} cannot be read: {error}"),
    };
    let finding = Finding::new(Code::FileUnreadable, message)
        .help("definition files end in .json, .yaml, .yml or .toml");
    match &workspace.document {
        Some(config) => finding.at(Place::new(&config.file, format!("/source/{index}/path"))),
        None => finding,
    }
}

fn of_source<'a>(workspace: &Workspace, source: &'a Source, files: &mut Vec<File<'a>>) {
    let path = workspace.root.join(&source.path);
    if path.is_dir() {
        let found = walk(&path).filter(|path| !is_ours(path));
        files.extend(found.map(|path| File {
            shown: shown(&path, &workspace.root),
            path,
            source,
            named: false,
        }));
    } else if source.path.contains(['*', '?']) {
        let folder = fixed_part(&source.path);
        let Ok(glob) = Selector::parse(&format!("source:{}", source.path)) else { return };
        for path in walk(&workspace.root.join(folder)) {
            let shown = shown(&path, &workspace.root);
            if glob.matches_source(&shown) {
                files.push(File { path, shown, source, named: true });
            }
        }
    } else if path.is_file() {
        files.push(File { shown: shown(&path, &workspace.root), path, source, named: true });
    }
}

/// Regular files with a known extension below a folder, sorted; hidden folders and what we generate are left out.
fn walk(folder: &Path) -> impl Iterator<Item = PathBuf> {
    let visible = |entry: &walkdir::DirEntry| {
        let hidden = entry.file_name().to_string_lossy().starts_with('.') && entry.depth() > 0;
        let skipped = ["node_modules", "target"].iter().any(|name| entry.file_name() == *name);
        let generated =
            entry.file_type().is_dir() && entry.depth() > 0 && entry.path().join(".toolcrib.json").exists();
        let folder = entry.file_type().is_dir();
        !(hidden || generated || folder && skipped)
    };
    let walk = WalkDir::new(folder).sort_by_file_name().into_iter().filter_entry(visible);
    walk.filter_map(Result::ok)
        .filter(|entry| entry.file_type().is_file())
        .map(walkdir::DirEntry::into_path)
        .filter(|path| {
            path.extension()
                .is_some_and(|extension| Format::of_extension(&extension.to_string_lossy()).is_some())
        })
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

fn shown(path: &Path, root: &Path) -> String {
    let Ok(relative) = path.strip_prefix(root) else { return path.to_string_lossy().replace('\\', "/") };
    let parts: Vec<_> =
        relative.components().map(|part| part.as_os_str().to_string_lossy().into_owned()).collect();
    parts.join("/")
}
