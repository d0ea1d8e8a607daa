//! A catalog that is followed: each change arrives, whatever way it is made, and nothing else does.

use std::fs;
use std::path::Path;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use tempfile::TempDir;
use toolcrib::watch::{Change, Follow, Options, Stop};

use crate::fixture::{folder, write};

mod program;

/// Longer than any change takes to arrive, but for those that only a look by the clock finds.
const SOON: Duration = Duration::from_secs(8);
/// Long enough that a change would have arrived.
const QUIET: Duration = Duration::from_millis(1200);

pub fn tool(name: &str) -> String {
    format!(r#"[{{"name":"{name}","description":"Does {name}.","parameters":{{"type":"object"}}}}]"#)
}

/// A catalog that is followed by a thread.
struct Followed {
    changes: Receiver<Change>,
    stop: Stop,
}

impl Followed {
    fn start(catalog: &Path) -> Self {
        Self::with(catalog, Options::default())
    }

    fn with(catalog: &Path, options: Options) -> Self {
        let (sender, changes) = channel();
        let follow = Follow::start(catalog, options);
        let stop = follow.stopper();
        std::thread::spawn(move || follow.for_each(|change| drop(sender.send(change))));
        Self { changes, stop }
    }

    #[track_caller]
    fn next(&self) -> Change {
        self.changes.recv_timeout(SOON).expect("a change")
    }

    #[track_caller]
    fn tools(&self, expect: &[&str]) {
        let change = self.next();
        assert_eq!(names(&change), expect, "{:#?}", change.checked.findings);
    }

    /// Waits until these are the tools, over any catalogs on the way.
    #[track_caller]
    fn becomes(&self, expect: &[&str]) -> Change {
        let end = Instant::now() + Duration::from_secs(12);
        loop {
            let change =
                self.changes.recv_timeout(end.saturating_duration_since(Instant::now())).expect("a change");
            if names(&change) == expect {
                return change;
            }
        }
    }

    #[track_caller]
    fn quiet(&self) {
        match self.changes.recv_timeout(QUIET) {
            Err(RecvTimeoutError::Timeout) => {}
            other => {
                panic!("expected no change, got {:?}", other.map(|change| (names(&change), change.files)))
            }
        }
    }
}

impl Drop for Followed {
    fn drop(&mut self) {
        self.stop.stop();
    }
}

fn names(change: &Change) -> Vec<String> {
    change.checked.catalog.tools.iter().map(|tool| tool.names.canonical.clone()).collect()
}

fn catalog() -> TempDir {
    folder(&[("a.json", &tool("a"))])
}

#[test]
fn a_file_that_is_written_appears_and_goes() {
    let root = catalog();
    let followed = Followed::start(root.path());
    followed.tools(&["a"]);
    write(root.path(), "a.json", &tool("b"));
    let change = followed.next();
    assert_eq!((names(&change), change.files), (vec!["b".to_string()], vec!["a.json".to_string()]));
    write(root.path(), "c.json", &tool("c"));
    followed.tools(&["b", "c"]);
    fs::remove_file(root.path().join("a.json")).unwrap();
    followed.tools(&["c"]);
}

#[test]
fn an_editor_that_renames_over_the_file_is_followed_again_and_again() {
    let root = catalog();
    let file = root.path().join("a.json");
    let followed = Followed::start(&file);
    followed.tools(&["a"]);
    for name in ["b", "c", "d"] {
        write(root.path(), ".a.json.swp", &tool(name));
        fs::rename(root.path().join(".a.json.swp"), &file).unwrap();
        followed.tools(&[name]);
    }
}

#[test]
fn folders_that_appear_are_watched_and_may_vanish() {
    let root = catalog();
    let followed = Followed::start(root.path());
    followed.tools(&["a"]);
    write(root.path(), "new/deeper/b.json", &tool("b"));
    followed.tools(&["a", "b"]);
    write(root.path(), "new/deeper/b.json", &tool("c"));
    followed.tools(&["a", "c"]);
    fs::remove_dir_all(root.path().join("new")).unwrap();
    followed.tools(&["a"]);
    write(root.path(), "new/deeper/b.json", &tool("d"));
    followed.tools(&["a", "d"]);
}

#[test]
fn what_the_configuration_names_is_watched_from_then_on() {
    let outside = folder(&[("x/x.json", &tool("x")), ("y/y.json", &tool("y"))]);
    let root = catalog();
    let sources = |paths: &[&str]| {
        let path = |path: &&str| format!("[[source]]\npath = '{}'\n", outside.path().join(path).display());
        write(root.path(), "toolcrib.toml", &paths.iter().map(path).collect::<String>());
    };
    sources(&["x"]);
    let followed = Followed::start(root.path());
    followed.tools(&["x"]);
    sources(&["x", "y/*.json"]);
    followed.tools(&["x", "y"]);
    write(outside.path(), "y/z.json", &tool("z"));
    followed.tools(&["x", "y", "z"]);
    sources(&["x"]);
    followed.tools(&["x"]);
    write(outside.path(), "y/z.json", &tool("w"));
    followed.quiet();
}

#[test]
fn a_broken_edit_is_told_as_worse_and_recovers_by_itself() {
    let root = catalog();
    write(root.path(), "toolcrib.toml", "title = 'T'\n");
    let followed = Followed::start(root.path());
    assert!(!followed.next().is_worse);
    for file in ["a.json", "toolcrib.toml"] {
        let good = fs::read_to_string(root.path().join(file)).unwrap();
        write(root.path(), file, "{[");
        let broken = followed.next();
        assert!(broken.is_worse && broken.checked.lost_input());
        write(root.path(), file, &good);
        let change = followed.next();
        assert!(!change.is_worse);
        assert_eq!(names(&change), ["a"]);
    }
}

#[test]
fn what_was_broken_from_the_start_does_not_hold_up_other_edits() {
    let root = catalog();
    write(root.path(), "b.json", "{[");
    let followed = Followed::start(root.path());
    assert!(!followed.next().is_worse);
    write(root.path(), "a.json", &tool("c"));
    assert!(!followed.next().is_worse);
    write(root.path(), "a.json", "{[");
    assert!(followed.next().is_worse);
}

#[test]
fn a_second_breakage_of_a_kind_that_was_there_before_is_worse() {
    let good = r#"{"type":"object"}"#;
    let entry = |name: &str, parameters: &str| {
        format!(r#"{{"name":"{name}","description":"Does {name}.","parameters":{parameters}}}"#)
    };
    let tools = |b: &str| format!("[{},{},{}]", entry("a", "7"), entry("b", b), entry("c", good));
    let root = folder(&[("a.json", &tools(good))]);
    let followed = Followed::start(root.path());
    let first = followed.next();
    assert!(!first.is_worse && first.checked.lost_input(), "{:#?}", first.checked.findings);
    write(root.path(), "a.json", &tools("8"));
    let worse = followed.next();
    assert!(worse.is_worse, "{:#?}", worse.checked.findings);
    write(root.path(), "a.json", &tools(r#"{"type":"object","title":"b"}"#));
    assert!(!followed.next().is_worse);
}

#[test]
fn a_catalog_that_is_deleted_comes_back() {
    let above = folder(&[]);
    let root = above.path().join("catalog");
    write(&root, "a.json", &tool("a"));
    let followed = Followed::start(&root);
    followed.tools(&["a"]);
    fs::remove_dir_all(&root).unwrap();
    assert!(followed.next().is_worse);
    write(&root, "a.json", &tool("b"));
    followed.becomes(&["b"]);
    write(&root, "a.json", &tool("c"));
    followed.becomes(&["c"]);
}

#[cfg(unix)]
#[test]
fn a_mounted_config_map_is_swapped_at_once() {
    use std::os::unix::fs::symlink;
    let mount = folder(&[("..1/a.json", &tool("a")), ("..1/toolcrib.toml", "title = '1'")]);
    let at = |name: &str| mount.path().join(name);
    symlink("..1", at("..data")).unwrap();
    symlink("..data/a.json", at("a.json")).unwrap();
    symlink("..data/toolcrib.toml", at("toolcrib.toml")).unwrap();
    let whole = Followed::start(mount.path());
    let file = Followed::start(&at("a.json"));
    whole.tools(&["a"]);
    file.tools(&["a"]);
    for name in ["b", "c"] {
        let version = format!("..{name}");
        write(mount.path(), &format!("{version}/a.json"), &tool(name));
        write(mount.path(), &format!("{version}/toolcrib.toml"), "title = '2'");
        symlink(&version, at("..data_tmp")).unwrap();
        fs::rename(at("..data_tmp"), at("..data")).unwrap();
        whole.tools(&[name]);
        file.tools(&[name]);
    }
}

#[cfg(unix)]
#[test]
fn a_link_to_the_catalog_is_followed_when_it_is_turned() {
    use std::os::unix::fs::symlink;
    let root = folder(&[("1/a.json", &tool("a")), ("2/a.json", &tool("b"))]);
    let current = root.path().join("current");
    symlink("1", &current).unwrap();
    let followed = Followed::start(&current);
    followed.tools(&["a"]);
    symlink("2", root.path().join("next")).unwrap();
    fs::rename(root.path().join("next"), &current).unwrap();
    followed.tools(&["b"]);
    write(root.path(), "2/a.json", &tool("c"));
    followed.tools(&["c"]);
}

#[test]
fn what_is_no_part_of_the_catalog_wakes_nobody() {
    let root = catalog();
    write(root.path(), "docs/.toolcrib.json", "{}");
    write(root.path(), ".git/HEAD", "ref");
    let followed = Followed::start(root.path());
    followed.tools(&["a"]);
    for name in
        ["docs/registry.json", ".git/index.json", ".toolcrib.lock", "notes.md", "node_modules/p/package.json"]
    {
        write(root.path(), name, &tool("z"));
    }
    // The same text again is no change either.
    write(root.path(), "a.json", &tool("a"));
    followed.quiet();
}

#[test]
#[ignore = "slow"]
fn changes_arrive_under_a_storm_of_writes_and_the_last_one_counts() {
    let root = catalog();
    let followed = Followed::start(root.path());
    followed.tools(&["a"]);
    let path = root.path().to_path_buf();
    let storm = std::thread::spawn(move || {
        for index in 0..400 {
            write(&path, "a.json", &tool(&format!("t{:03}", index)));
            std::thread::sleep(Duration::from_millis(10));
        }
    });
    followed.next();
    assert!(!storm.is_finished(), "it waited for the end of the storm");
    storm.join().unwrap();
    followed.becomes(&["t399"]);
}

#[test]
fn a_change_while_the_catalog_is_read_is_not_missed() {
    let root = catalog();
    let mut follow = Follow::start(root.path(), Options::default());
    follow.next().unwrap();
    // Nobody waits now, as while a rebuild runs.
    write(root.path(), "a.json", &tool("b"));
    std::thread::sleep(Duration::from_millis(500));
    assert_eq!(names(&follow.next().unwrap()), ["b"]);
}

#[test]
fn polling_sees_what_the_system_does_not_tell() {
    let root = catalog();
    let followed = Followed::with(root.path(), Options { poll: true, ..Options::default() });
    followed.tools(&["a"]);
    write(root.path(), "a.json", &tool("bb"));
    followed.tools(&["bb"]);
    write(root.path(), "n/c.json", &tool("c"));
    followed.tools(&["bb", "c"]);
}

#[test]
fn templates_count_as_well() {
    let root = catalog();
    write(root.path(), "toolcrib.toml", "[render]\ntemplates = 't'\n[[source]]\npath = 'a.json'\n");
    write(root.path(), "t/docs/tool.md", "one");
    let also = folder(&[("x.md", "1")]);
    let followed =
        Followed::with(root.path(), Options { also: vec![also.path().into()], ..Options::default() });
    followed.tools(&["a"]);
    write(root.path(), "t/docs/tool.md", "two");
    assert_eq!(followed.next().files, ["t/docs/tool.md"]);
    write(also.path(), "x.md", "22");
    followed.tools(&["a"]);
    fs::rename(root.path().join("t"), root.path().join("u")).unwrap();
    followed.tools(&["a"]);
}

#[test]
fn a_file_that_definitions_refer_to_is_watched_wherever_it_is() {
    let tool = |name: &str| {
        format!(
            r#"{{"name":"a","description":"Does it.","parameters":{{"properties":{{"x":{{"$ref":"parts/{name}.yaml"}}}}}}}}"#
        )
    };
    let root = folder(&[("a.json", &tool("x")), ("parts/x.yaml", "type: string\n")]);
    let followed = Followed::start(&root.path().join("a.json"));
    let version = |change: &Change| change.checked.catalog.version.clone();
    let first = version(&followed.next());
    followed.quiet();
    write(root.path(), "parts/x.yaml", "type: integer\n");
    let change = followed.next();
    assert_eq!(change.files, ["parts/x.yaml"]);
    assert_ne!(version(&change), first);
    // A file that does not exist yet is waited for.
    write(root.path(), "a.json", &tool("y"));
    assert!(followed.next().is_worse);
    write(root.path(), "parts/y.yaml", "type: boolean\n");
    assert!(!followed.next().is_worse);
}
