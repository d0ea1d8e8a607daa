//! Catalogs that were read before are used while nothing has changed, and are never wrong.

mod first_answers;
#[cfg(unix)]
mod sealed_docs;
mod search_indexes;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::json;

use crate::fixture::program;

/// A catalog of many tools, and a cache of its own.
struct Kept {
    folder: tempfile::TempDir,
}

impl Kept {
    fn new() -> Self {
        let kept = Self { folder: tempfile::tempdir().unwrap() };
        kept.write("Reads");
        kept
    }

    fn write(&self, verb: &str) {
        let tool = |number: usize| {
            let schema = json!({"type": "object", "properties": {"id": {"type": "number", "default": 0.1}}});
            json!({"name": format!("read_thing_{number}"), "description": format!("{verb} thing {number}."), "parameters": schema})
        };
        let tools: Vec<_> = (0..40).map(tool).collect();
        fs::write(self.definitions(), serde_json::to_string(&tools).unwrap()).unwrap();
    }

    fn definitions(&self) -> PathBuf {
        self.folder.path().join("tools.json")
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let catalog = self.definitions();
        let mut command = program(&[arguments, &[catalog.to_str().unwrap()]].concat());
        command.env("XDG_CACHE_HOME", self.folder.path().join("cache"));
        command
    }

    fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().unwrap()
    }

    fn doc(&self, more: &[&str]) -> (String, String) {
        let output = self.run(&[&["call", "read_tool_doc", r#"{"name": "read_thing_7"}"#], more].concat());
        assert!(output.status.success(), "{output:?}");
        (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap())
    }

    /// The files of the cache with this ending.
    fn files(&self, ending: &str) -> Vec<PathBuf> {
        let entries = fs::read_dir(self.folder.path().join("cache/toolcrib/catalogs"));
        let paths = entries.into_iter().flatten().map(|entry| entry.unwrap().path());
        paths.filter(|path| path.extension().is_some_and(|end| end == ending)).collect()
    }
}

fn written(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut files: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .flat_map(
            |path| if path.is_dir() { written(&path) } else { vec![(path.clone(), fs::read(path).unwrap())] },
        )
        .collect();
    files.sort();
    files
}

#[test]
fn a_catalog_that_was_read_before_gives_the_same_bytes() {
    let kept = Kept::new();
    let fresh = kept.doc(&["--no-catalog-cache"]);
    assert!(kept.files("crib").is_empty(), "nothing is kept where nobody wants that");
    assert_eq!(kept.doc(&[]), fresh);
    assert_eq!(kept.files("crib").len(), 1);
    assert_eq!(kept.doc(&[]), fresh);
    for (out, more) in [("read", &["--no-catalog-cache"][..]), ("kept", &[])] {
        let out = kept.folder.path().join(out).join("docs");
        assert!(kept.run(&[&["render", "--out", out.to_str().unwrap()], more].concat()).status.success());
    }
    let pages = |out: &str| -> Vec<Vec<u8>> {
        written(&kept.folder.path().join(out)).into_iter().map(|(_, bytes)| bytes).collect()
    };
    assert_eq!(pages("read"), pages("kept"));
}

#[test]
fn a_change_is_seen_at_once_whatever_the_times_say() {
    let kept = Kept::new();
    assert!(kept.doc(&[]).0.contains("Reads thing 7"));
    let before = fs::metadata(kept.definitions()).unwrap();
    kept.write("Takes");
    fs::File::options()
        .append(true)
        .open(kept.definitions())
        .unwrap()
        .set_modified(before.modified().unwrap())
        .unwrap();
    assert_eq!(fs::metadata(kept.definitions()).unwrap().len(), before.len());
    assert!(kept.doc(&[]).0.contains("Takes thing 7"));
}

#[test]
fn a_file_of_the_same_content_is_not_read_again() {
    let kept = Kept::new();
    kept.doc(&[]);
    let entry = kept.files("json").remove(0);
    kept.write("Reads");
    kept.doc(&[]);
    assert_eq!(kept.files("json"), [entry]);
    assert_eq!(kept.files("crib").len(), 1);
}

#[test]
fn a_torn_entry_is_ignored_with_a_note_and_replaced() {
    let kept = Kept::new();
    let fresh = kept.doc(&[]);
    let bundle = kept.files("crib").remove(0);
    let whole = fs::read(&bundle).unwrap();
    for torn in [&whole[..whole.len() / 2], &whole[..3], b""] {
        fs::write(&bundle, torn).unwrap();
        let (doc, note) = kept.doc(&[]);
        assert_eq!(doc, fresh.0);
        assert!(note.contains("the cached catalog is not used"), "{note}");
        assert_eq!(fs::read(&bundle).unwrap(), whole);
    }
    fs::write(kept.files("json").remove(0), "{").unwrap();
    assert_eq!(kept.doc(&[]).0, fresh.0);
}

#[test]
fn a_tool_whose_part_was_changed_is_refused_and_others_go_on() {
    let kept = Kept::new();
    kept.doc(&[]);
    let bundle = kept.files("crib").remove(0);
    let mut bytes = fs::read(&bundle).unwrap();
    let place = bytes.windows(16).rposition(|part| part == b"Reads thing 7.\",").unwrap();
    bytes[place] = b'W';
    fs::write(&bundle, bytes).unwrap();
    assert!(!kept.doc(&[]).0.contains("Weads"));
    let other = kept.run(&["call", "read_tool_doc", r#"{"name": "read_thing_8"}"#]);
    assert!(String::from_utf8(other.stdout).unwrap().contains("Reads thing 8"));
}

#[cfg(unix)]
#[test]
fn the_cache_is_for_its_owner_alone_and_files_that_others_write_do_not_count() {
    use std::os::unix::fs::{MetadataExt, PermissionsExt};
    let kept = Kept::new();
    kept.doc(&[]);
    let bundle = kept.files("crib").remove(0);
    assert_eq!(fs::metadata(bundle.parent().unwrap()).unwrap().mode() & 0o777, 0o700);
    assert_eq!(fs::metadata(&bundle).unwrap().mode() & 0o777, 0o600);
    fs::set_permissions(&bundle, fs::Permissions::from_mode(0o666)).unwrap();
    assert!(kept.doc(&[]).1.contains("the cached catalog is not used"));
}

#[test]
fn many_processes_share_the_cache() {
    let kept = Kept::new();
    let fresh = kept.doc(&["--no-catalog-cache"]);
    std::thread::scope(|scope| {
        let runs: Vec<_> = (0..8).map(|_| scope.spawn(|| kept.doc(&[]))).collect();
        runs.into_iter().for_each(|run| assert_eq!(run.join().unwrap(), fresh));
    });
    assert_eq!((kept.files("crib").len(), kept.files("json").len()), (1, 1));
}
