//! A folder of docs survives what happens to processes: a kill at any moment, and two runs at once.

use std::path::Path;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use crate::fixture::{self, Tree, text};

const TOOLS: usize = 500;
const KILLS: u32 = 15;

/// An MCP list whose every doc depends on `word`; every other tool is named after it.
fn generated(word: &str, tools: usize) -> String {
    let tool = |index: usize| {
        let name = if index.is_multiple_of(2) { "tool" } else { word };
        format!(
            r#"{{"name":"{name}_{index}","description":"Number {index}, {word}.","inputSchema":{{"type":"object"}}}}"#
        )
    };
    format!("{{\"tools\":[\n{}\n]}}\n", (0..tools).map(tool).collect::<Vec<_>>().join(",\n"))
}

fn start(catalog: &Path, out: &Path, profile: Option<&str>) -> Child {
    let mut arguments = vec!["render", text(catalog), "--out", text(out)];
    arguments.extend(profile.iter().flat_map(|profile| ["--profile", *profile]));
    fixture::program(&arguments).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

fn finish(mut child: Child) {
    assert!(child.wait().unwrap().success());
}

fn clean(catalog: &Path, profile: Option<&str>) -> Tree {
    let out = tempfile::tempdir().unwrap();
    finish(start(catalog, out.path(), profile));
    fixture::tree(out.path())
}

/// Every doc is the whole of one state: old or new, never cut short.
fn check_whole(out: &Path, one: &Tree, other: &Tree) {
    for (name, content) in fixture::tree(out).iter().filter(|(name, _)| name.ends_with(".md")) {
        assert!(content.ends_with(b"\n"), "{name} is cut short");
        let known = [one, other].iter().any(|tree| tree.get(name) == Some(content));
        assert!(known, "{name} is neither the old nor the new one");
    }
}

/// Waits until a run has staged its first file; a run that has ended is past it.
fn wait_for_writing(child: &mut Child, out: &Path) {
    while child.try_wait().unwrap().is_none() && !out.join(".toolcrib-tmp").exists() {
        std::thread::sleep(Duration::from_millis(1));
    }
}

#[test]
#[ignore = "slow"]
fn a_killed_run_leaves_whole_files_and_the_next_one_completes() {
    let sources =
        fixture::folder(&[("one.json", &generated("one", TOOLS)), ("two.json", &generated("two", TOOLS))]);
    let catalogs = ["one.json", "two.json"].map(|name| sources.path().join(name));
    let checked = catalogs.each_ref().map(|catalog| fixture::open(catalog));
    let clean = catalogs.each_ref().map(|catalog| clean(catalog, None));
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("tools");
    let mut child = start(&catalogs[1], &out, None);
    wait_for_writing(&mut child, &out);
    let began = Instant::now();
    finish(child);
    let writing = began.elapsed();
    let mut killed = 0;
    for round in 0..KILLS {
        // Every round replaces half of the files, and removes and creates the other half.
        let new = (round % 2) as usize;
        let mut child = start(&catalogs[new], &out, None);
        wait_for_writing(&mut child, &out);
        std::thread::sleep(writing * round / KILLS);
        child.kill().unwrap();
        killed += usize::from(!child.wait().unwrap().success());
        check_whole(&out, &clean[0], &clean[1]);
        fixture::render(&checked[new], None, &out);
        fixture::assert_same_tree(&fixture::tree(&out), &clean[new]);
        assert!(!out.join(".toolcrib-tmp").exists(), "the staging folder is left");
    }
    // The number depends on luck on a busy machine.
    assert!(killed > 1, "only {killed} of {KILLS} runs were killed before their end");
}

#[test]
#[ignore = "slow"]
fn two_runs_at_once_end_in_one_of_the_two_states() {
    let config = "[[source]]\npath = \"tools.json\"\n\n[profile.even]\ninclude = \"tool_*\"\n\n[profile.odd]\ninclude = \"odd_*\"\n";
    let small = generated("odd", 400);
    let catalog = fixture::folder(&[("toolcrib.toml", config), ("tools.json", &small)]);
    let states = ["even", "odd"].map(|profile| clean(catalog.path(), Some(profile)));
    assert!(states.iter().all(|state| state.len() > 200));
    let folder = tempfile::tempdir().unwrap();
    for _ in 0..4 {
        let children =
            ["even", "odd", "odd", "even"].map(|profile| start(catalog.path(), folder.path(), Some(profile)));
        children.into_iter().for_each(finish);
        let tree = fixture::tree(folder.path());
        let expect = if tree.contains_key("tool_0.md") { &states[0] } else { &states[1] };
        fixture::assert_same_tree(&tree, expect);
    }
}
