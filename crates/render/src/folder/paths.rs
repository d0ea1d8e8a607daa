//! Paths of generated files. They are relative, and each must mean the same file on every system.

use std::collections::{BTreeSet, HashMap, HashSet};

use unicode_normalization::UnicodeNormalization;

use super::error::FolderError;

/// The manifest: what was generated, and the hash of each file.
pub const MANIFEST: &str = ".toolcrib.json";

/// The folder in which files are written before they are moved to their places.
pub(super) const STAGE: &str = ".toolcrib-tmp";

/// The longest name that common file systems take.
const MAX_NAME: usize = 255;
/// The longest whole path; the shortest limit among common systems is 1,024 with the root.
const MAX_PATH: usize = 768;

/// Checks every path alone and all of them together.
pub(super) fn check_paths(paths: &[String]) -> Result<(), FolderError> {
    let bad = |path: &str, problem: String| Err(FolderError::BadPath { path: path.into(), problem });
    let mut seen: HashMap<String, &str> = HashMap::with_capacity(paths.len());
    for path in paths {
        if let Some(problem) = problem(path) {
            return bad(path, problem.into());
        }
        if let Some(twin) = seen.insert(fold(path), path) {
            return bad(path, format!("it is the same as `{twin}` where case is ignored"));
        }
    }
    let mut known: HashSet<&str> = HashSet::new();
    for path in paths {
        for folder in ancestors(path).take_while(|folder| known.insert(folder)) {
            if seen.contains_key(&fold(folder)) {
                return bad(path, format!("`{folder}` is to be a file as well as a folder"));
            }
        }
    }
    Ok(())
}

/// The reason why a path cannot name a generated file, if there is one.
pub(super) fn problem(path: &str) -> Option<&'static str> {
    if path.len() > MAX_PATH {
        return Some("it is longer than 768 bytes");
    }
    let first = path.split('/').next().unwrap_or_default();
    if first.eq_ignore_ascii_case(MANIFEST) || first.eq_ignore_ascii_case(STAGE) {
        return Some("toolcrib keeps its own records under that name");
    }
    path.split('/').find_map(name_problem)
}

fn name_problem(name: &str) -> Option<&'static str> {
    let forbidden = ['\\', ':', '*', '?', '"', '<', '>', '|'];
    let problems = [
        (name.is_empty(), "a name in it is empty"),
        (name == "." || name == "..", "it has a `.` or `..` part"),
        (name.len() > MAX_NAME, "a name in it is longer than 255 bytes"),
        (name.contains(forbidden), "it has a character that Windows forbids in names"),
        (name.contains(char::is_control), "it has a control character"),
        (name.ends_with(['.', ' ']), "a name in it ends with a dot or a space"),
        (is_device(name), "a name in it is a device on Windows"),
        (name.eq_ignore_ascii_case(".git"), "`.git` belongs to version control"),
    ];
    problems.into_iter().find(|(is_wrong, _)| *is_wrong).map(|(_, problem)| problem)
}

/// Whether Windows takes the name for a device, which it does with any extension.
fn is_device(name: &str) -> bool {
    let stem = name.split('.').next().unwrap_or_default().trim_end_matches(' ').to_ascii_uppercase();
    let numbered = |stem: &str| {
        let digit = stem.strip_prefix("COM").or_else(|| stem.strip_prefix("LPT"));
        digit.is_some_and(|d| d.chars().count() == 1 && d.starts_with(|c: char| "0123456789¹²³".contains(c)))
    };
    matches!(&*stem, "CON" | "PRN" | "AUX" | "NUL" | "CONIN$" | "CONOUT$") || numbered(&stem)
}

/// The normalised form of a name: equal where case or the Unicode form is ignored.
fn fold(path: &str) -> String {
    if path.is_ascii() { path.to_ascii_lowercase() } else { path.to_lowercase().nfc().collect() }
}

/// The folders of a path, innermost first, without the root.
fn ancestors(path: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(parent(path), |folder| parent(folder))
}

fn parent(path: &str) -> Option<&str> {
    path.rsplit_once('/').map(|(folder, _)| folder)
}

/// Every folder of these paths, outer ones first.
pub(super) fn folders_of<'a>(paths: impl Iterator<Item = &'a str>) -> BTreeSet<&'a str> {
    let mut folders = BTreeSet::new();
    for path in paths {
        for folder in ancestors(path) {
            if !folders.insert(folder) {
                break;
            }
        }
    }
    folders
}
