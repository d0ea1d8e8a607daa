//! Guarantees to users: only our files change, and only when they must.

mod interrupted;
mod ownership;

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};

use tempfile::TempDir;

use super::drift::DIFF_LIMIT;
use super::*;

type Texts<'a> = &'a [(&'a str, &'a str)];

/// The files of these paths, each rendered by its index.
fn files<'a>(
    texts: Texts<'_>,
    key: &str,
    render: &'a (dyn Fn(usize) -> Result<String, Problem> + Send + Sync),
) -> Files<'a> {
    let mut files = Files::new(true);
    files.key = key.into();
    for (index, (path, _)) in texts.iter().enumerate() {
        files.push(path.to_string(), move || render(index));
    }
    files
}

/// Runs `test` on the set of these texts, with a key made of them.
fn with<T>(texts: Texts, test: impl FnOnce(&Files<'_>) -> T) -> T {
    let render = |index: usize| Ok(texts[index].1.to_string());
    test(&files(texts, &manifest::hash(format!("{texts:?}").as_bytes()), &render))
}

fn run(root: &Path, texts: Texts) -> Result<Written, FolderError> {
    with(texts, |files| sync(root, files, &|_| {}))
}

fn drift(root: &Path, texts: Texts) -> Drift {
    with(texts, |files| check(root, "", files)).unwrap()
}

/// The content of a folder, without the manifest; folders end with a slash.
fn tree(root: &Path) -> BTreeMap<String, String> {
    let entries = walkdir::WalkDir::new(root).min_depth(1).into_iter().map(Result::unwrap);
    let named = entries.map(|entry| {
        let name = entry.path().strip_prefix(root).unwrap().to_str().unwrap().to_string();
        if entry.file_type().is_dir() {
            (name + "/", String::new())
        } else {
            (name, fs::read_to_string(entry.path()).unwrap_or_default())
        }
    });
    named.filter(|(name, _)| name != MANIFEST).collect()
}

fn assert_tree(root: &Path, expect: Texts) {
    let expect = expect.iter().map(|(name, text)| (name.to_string(), text.to_string())).collect();
    assert_eq!(tree(root), expect);
}

fn temp() -> (TempDir, PathBuf) {
    let dir = TempDir::new().unwrap();
    let root = dir.path().join("tools");
    (dir, root)
}

/// Name of the variant of an error.
fn variant(error: &FolderError) -> String {
    format!("{error:?}").chars().take_while(|c| c.is_alphabetic()).collect()
}

fn code(root: &Path, texts: Texts) -> (String, String) {
    let error = run(root, texts).unwrap_err();
    with(texts, |files| assert_eq!(variant(&check(root, "", files).unwrap_err()), variant(&error)));
    assert!(!error.hint().is_empty());
    (variant(&error), error.to_string())
}

fn report(created: usize, updated: usize, removed: usize, unchanged: usize) -> Written {
    Written { created, updated, removed, unchanged, ..Written::default() }
}

const OLD: Texts = &[("README.md", "index\n"), ("a/b/deep.md", "deep\n"), ("a/list.md", "list\n")];
const NEW: Texts = &[("README.md", "index 2\n"), ("a/list.md", "list\n"), ("c/new.md", "new\n")];

#[test]
fn a_folder_follows_its_set_and_is_otherwise_left_alone() {
    let (_dir, root) = temp();
    assert_eq!(run(&root, OLD).unwrap(), report(3, 0, 0, 0));
    assert_tree(
        &root,
        &[
            ("README.md", "index\n"),
            ("a/", ""),
            ("a/b/", ""),
            ("a/b/deep.md", "deep\n"),
            ("a/list.md", "list\n"),
        ],
    );
    fs::write(root.join("notes.txt"), "mine").unwrap();
    let stamp = |name: &str| fs::metadata(root.join(name)).unwrap().modified().unwrap();
    let before = (stamp("a/list.md"), stamp(MANIFEST), stamp("."));
    assert_eq!(run(&root, OLD).unwrap(), report(0, 0, 0, 3));
    assert_eq!(before, (stamp("a/list.md"), stamp(MANIFEST), stamp(".")));
    assert_eq!(run(&root, NEW).unwrap(), report(1, 1, 1, 1));
    assert_eq!(before.0, stamp("a/list.md"));
    let expect: Texts = &[
        ("README.md", "index 2\n"),
        ("a/", ""),
        ("a/list.md", "list\n"),
        ("c/", ""),
        ("c/new.md", "new\n"),
        ("notes.txt", "mine"),
    ];
    assert_tree(&root, expect);
    assert_eq!(run(&root, &[]).unwrap(), report(0, 0, 3, 0));
    assert_tree(&root, &[("notes.txt", "mine")]);
}

#[test]
fn the_manifest_and_modes_depend_on_nothing_but_the_content() {
    let (_dir, root) = temp();
    let (_dir2, root2) = temp();
    run(&root, OLD).unwrap();
    run(&root, NEW).unwrap();
    run(&root2, NEW).unwrap();
    assert_eq!(fs::read(root.join(MANIFEST)).unwrap(), fs::read(root2.join(MANIFEST)).unwrap());
    fs::write(root.join("plain"), "").unwrap();
    let mode = |name: &str| fs::metadata(root.join(name)).unwrap().permissions().mode();
    assert_eq!(mode("README.md"), mode("plain"));
    assert_eq!(mode(MANIFEST), mode("plain"));
}

#[test]
fn edits_and_losses_are_repaired_without_rendering_the_rest() {
    let (_dir, root) = temp();
    run(&root, OLD).unwrap();
    fs::write(root.join("README.md"), "edited\n").unwrap();
    fs::remove_dir_all(root.join("a/b")).unwrap();
    let rendered = AtomicUsize::new(0);
    let render = |index: usize| {
        rendered.fetch_add(1, Ordering::Relaxed);
        Ok(OLD[index].1.to_string())
    };
    let key = with(OLD, |files| files.key.clone());
    assert_eq!(
        sync(&root, &files(OLD, &key, &render), &|_| {}).unwrap(),
        Written { replaced: vec!["README.md".into()], ..report(1, 1, 0, 1) }
    );
    assert_eq!(rendered.into_inner(), 2);
    assert!(drift(&root, OLD).is_empty());
}

#[test]
fn what_the_user_has_is_named_in_full_and_never_touched() {
    let (_dir, root) = temp();
    fs::create_dir_all(root.join("c/new.md")).unwrap();
    fs::write(root.join("README.md"), "mine").unwrap();
    fs::write(root.join("a"), "mine").unwrap();
    let before = tree(&root);
    let (code, message) = code(&root, NEW);
    assert_eq!(code, "Occupied");
    assert!(
        message.ends_with("3 files of yours, in the way of generated ones: README.md, a, c/new.md"),
        "{message}"
    );
    assert_eq!(tree(&root), before);
    assert!(!root.join(MANIFEST).exists());
}

#[test]
fn symbolic_links_are_not_followed() {
    let (dir, root) = temp();
    let outside = dir.path().join("outside");
    fs::create_dir_all(&outside).unwrap();
    fs::write(outside.join("list.md"), "list\n").unwrap();
    run(&root, OLD).unwrap();
    // A link instead of a file of ours is replaced; one instead of a file that is gone from the set stays.
    for name in ["README.md", "a/list.md"] {
        fs::remove_file(root.join(name)).unwrap();
        symlink(outside.join("list.md"), root.join(name)).unwrap();
    }
    assert_eq!(run(&root, &OLD[..2]).unwrap().kept, ["a/list.md"]);
    assert!(root.join("README.md").symlink_metadata().unwrap().is_file());
    assert_tree(&outside, &[("list.md", "list\n")]);
    // A link instead of a folder is refused, when writing as when removing.
    fs::remove_dir_all(root.join("a")).unwrap();
    symlink(&outside, root.join("a")).unwrap();
    assert_eq!(code(&root, OLD).0, "Symlink");
    assert_eq!(code(&root, &[]).0, "Symlink");
    assert_tree(&outside, &[("list.md", "list\n")]);
    // A link to a place without files of ours is the user's.
    symlink(&outside, root.join("c")).unwrap();
    fs::remove_file(root.join("a")).unwrap();
    assert_eq!(code(&root, NEW).0, "Symlink");
    // The root may be a link, but not a broken one.
    let link = dir.path().join("link");
    let dangling = dir.path().join("dangling");
    symlink(&outside, &link).unwrap();
    assert_eq!(run(&link, &NEW[..1]).unwrap(), report(1, 0, 0, 0));
    symlink("nowhere", &dangling).unwrap();
    assert_eq!(code(&dangling, NEW).0, "NotAFolder");
    assert_eq!(code(&outside.join("list.md"), NEW).0, "NotAFolder");
}

#[test]
fn paths_that_no_folder_can_hold_are_refused() {
    let (_dir, root) = temp();
    let long = "x".repeat(256);
    let deep = "abcdefg/".repeat(100) + "x";
    for path in [
        "", "/etc/x", "../x", "a/../x", "a//x", "./x", "a/", "a\\x", "a\0x", "C:x", "con", "a/NUL.md",
        "com1.x.md", "LPT³", "x.", "x /y", "a/.git/hooks", ".Toolcrib.json", ".toolcrib-tmp/1", &long, &deep,
    ] {
        assert_eq!(code(&root, &[(path, "")]).0, "BadPath", "{path:?}");
    }
    for (one, two) in [("List.md", "list.md"), ("ä.md", "A\u{308}.md"), ("a", "A/b.md"), ("x", "x")] {
        assert_eq!(code(&root, &[(one, ""), (two, "")]).0, "BadPath", "{one} {two}");
        assert_eq!(code(&root, &[(two, ""), (one, "")]).0, "BadPath", "{two} {one}");
    }
    assert!(!root.exists());
    let fine = "长亭 IP 情报查询.md";
    assert_eq!(
        run(&root, &[(fine, ""), ("com.md", ""), ("nul-x.md", ""), (&long[1..], "")]).unwrap().created,
        4
    );
}

#[test]
fn a_manifest_that_is_not_ours_stops_everything() {
    for (text, expect) in [
        ("{}", "Manifest"),
        ("<<<<<<< HEAD", "Manifest"),
        (r#"{"version":0,"key":"","files":{}}"#, "Manifest"),
        (r#"{"version":1,"key":"","files":{"../x":"00"}}"#, "Manifest"),
        (r#"{"version":1,"key":"","files":{},"dirs":["/"]}"#, "Manifest"),
        (r#"{"version":2,"key":"","entries":[]}"#, "Manifest"),
    ] {
        let (_dir, root) = temp();
        run(&root, OLD).unwrap();
        fs::write(root.join(MANIFEST), text).unwrap();
        let before = tree(&root);
        assert_eq!(code(&root, NEW).0, expect, "{text}");
        assert_eq!(tree(&root), before);
    }
}

#[test]
fn a_file_whose_name_changes_case_moves_and_takes_nothing_of_the_user() {
    let (_dir, root) = temp();
    let (old, new): (Texts, Texts) = (&[("List.md", "old\n")], &[("list.md", "new\n")]);
    run(&root, old).unwrap();
    for link in
        [fs::hard_link, |from, to| symlink(from, to)] as [fn(PathBuf, PathBuf) -> std::io::Result<()>; 2]
    {
        link(root.join("List.md"), root.join("list.md")).unwrap();
        assert_eq!(code(&root, new).0, "Occupied");
        fs::remove_file(root.join("list.md")).unwrap();
    }
    assert_eq!(run(&root, new).unwrap(), report(1, 0, 1, 0));
    assert_tree(&root, new);
}

#[test]
fn a_file_can_become_a_folder() {
    let (_dir, root) = temp();
    run(&root, &[("a", "file\n"), ("b/c", "x\n")]).unwrap();
    run(&root, &[("a/b", "inner\n")]).unwrap();
    assert_tree(&root, &[("a/", ""), ("a/b", "inner\n")]);
}

#[test]
fn check_writes_nothing_and_shows_a_diff() {
    let (_dir, root) = temp();
    assert_eq!(drift(&root, &OLD[..1]).diff, "--- /dev/null\n+++ b/README.md\n@@ -0,0 +1 @@\n+index\n");
    assert!(!root.exists());
    run(&root, OLD).unwrap();
    let before = (tree(&root), fs::read(root.join(MANIFEST)).unwrap());
    let found = drift(&root, NEW);
    assert_eq!(found.created, ["c/new.md"]);
    assert_eq!(found.changed, ["README.md"]);
    assert_eq!(found.removed, ["a/b/deep.md"]);
    let expect = "--- a/README.md\n+++ b/README.md\n@@ -1 +1 @@\n-index\n+index 2\n\
        --- a/a/b/deep.md\n+++ /dev/null\n@@ -1 +0,0 @@\n-deep\n\
        --- /dev/null\n+++ b/c/new.md\n@@ -0,0 +1 @@\n+new\n";
    assert_eq!(found.diff, expect);
    assert_eq!(before, (tree(&root), fs::read(root.join(MANIFEST)).unwrap()));
}

#[test]
fn a_large_diff_is_cut_at_a_file_and_says_so() {
    let (_dir, root) = temp();
    let text = "a line of some length\n".repeat(3000);
    let names: Vec<String> = (0..600).map(|i| format!("{i:03}.md")).collect();
    let texts: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), text.as_str())).collect();
    let found = drift(&root, &texts);
    assert_eq!(found.created.len(), 600);
    assert!(found.diff.len() < DIFF_LIMIT + 2 * text.len());
    assert!(found.diff.ends_with("length\n# cut here; 584 more changed files are not shown\n"));
}

#[test]
fn only_our_own_leftovers_are_cleared() {
    let (_dir, root) = temp();
    fs::create_dir_all(root.join(".toolcrib-tmp")).unwrap();
    for name in [".toolcrib-tmp/12", ".toolcrib-tmp/manifest", ".toolcrib-tmp/mine.md"] {
        fs::write(root.join(name), "x").unwrap();
    }
    run(&root, &NEW[..1]).unwrap();
    assert_tree(&root, &[(".toolcrib-tmp/", ""), (".toolcrib-tmp/mine.md", "x"), ("README.md", "index 2\n")]);
    fs::remove_dir_all(root.join(".toolcrib-tmp")).unwrap();
    symlink("/", root.join(".toolcrib-tmp")).unwrap();
    assert_eq!(variant(&run(&root, NEW).unwrap_err()), "Occupied");
}
