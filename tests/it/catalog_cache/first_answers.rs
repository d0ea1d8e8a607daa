//! A server over stdio gives its first answers before the catalog is there, as the last server gave them.
#![cfg(unix)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use super::Kept;
use crate::mcp::line_transport::{Process, meta};

/// Handshake and list of tools, on the older wire.
fn older(process: &mut Process) -> [Value; 2] {
    let handshake = process.handshake();
    process.request(2, "tools/list", json!({"_meta": {"progressToken": 7}}));
    [handshake, process.answer(2)]
}

/// Discovery and list of tools, on the newer wire.
fn newer(process: &mut Process) -> [Value; 2] {
    process.request(1, "server/discover", json!({"_meta": meta()}));
    process.request(2, "tools/list", json!({"_meta": meta()}));
    [process.answer(1), process.answer(2)]
}

impl Kept {
    fn serve(&self, more: &[&str]) -> Process {
        Process::of(self.command(&[&["serve", "--stdio"], more].concat()))
    }

    /// A server that has given its first answers, and has ended.
    fn served(&self, ask: fn(&mut Process) -> [Value; 2], more: &[&str]) -> [Value; 2] {
        let mut process = self.serve(more);
        let answers = ask(&mut process);
        let (rest, code) = process.end();
        assert_eq!((rest, code), (Vec::new(), Some(0)));
        answers
    }

    /// From now on the bundle of the catalog cannot be read to its end, and is waited for.
    fn block_bundle(&self) -> PathBuf {
        let bundle = self.files("crib").remove(0);
        fs::remove_file(&bundle).unwrap();
        assert!(Command::new("mkfifo").args(["-m", "600"]).arg(&bundle).status().unwrap().success());
        bundle
    }
}

/// An open end lets the server find out that this is no bundle; then it reads the definitions.
fn unblock(bundle: &Path) {
    drop(fs::OpenOptions::new().write(true).open(bundle).unwrap());
}

#[test]
fn first_answers_need_no_catalog_and_are_given_once() {
    for ask in [older, newer] {
        let kept = Kept::new();
        let first = kept.served(ask, &[]);
        assert_eq!(kept.served(ask, &[]), first);
        assert_eq!(kept.files("json").len(), 2, "the sources of the bundle, and the answers");
        let bundle = kept.block_bundle();
        let mut process = kept.serve(&[]);
        assert_eq!(ask(&mut process), first, "while the catalog waits for its bundle");
        unblock(&bundle);
        process.request(
            3,
            "tools/call",
            json!({"name": "read_tool_doc", "arguments": {"name": "read_thing_7"}, "_meta": meta()}),
        );
        assert!(process.read()["result"].to_string().contains("Reads thing 7"));
        assert_eq!(process.end(), (Vec::new(), Some(0)));
    }
}

#[test]
fn first_answers_are_those_of_the_catalog_and_of_the_options() {
    let kept = Kept::new();
    let [_, gateway] = kept.served(older, &["--mode", "gateway"]);
    let [_, full] = kept.served(older, &["--mode", "full"]);
    assert_eq!(kept.served(older, &["--mode", "full"])[1], full);
    assert!(gateway != full);
    assert!(full.to_string().contains("Reads thing 7"));
    kept.write("Fetches");
    let [_, changed] = kept.served(older, &["--mode", "full"]);
    assert!(changed.to_string().contains("Fetches thing 7"));
    assert_eq!(kept.served(older, &["--mode", "full"])[1], changed);
}

#[test]
fn an_answer_that_no_longer_holds_is_corrected() {
    let kept = Kept::new();
    let whole = kept.served(older, &[]);
    let answers =
        kept.files("json").into_iter().find(|file| file.to_string_lossy().ends_with(".answers.json"));
    let answers = answers.unwrap();
    let text = fs::read_to_string(&answers).unwrap();
    fs::write(&answers, text.replace("Reads thing 7", "Removes thing 7")).unwrap();
    let bundle = kept.block_bundle();
    let mut process = kept.serve(&[]);
    assert!(older(&mut process)[1].to_string().contains("Removes thing 7"));
    unblock(&bundle);
    assert_eq!(process.read()["method"], "notifications/tools/list_changed");
    process.request(3, "tools/list", json!({}));
    assert_eq!(process.answer(3)["result"], whole[1]["result"]);
    drop(process);
    assert_eq!(kept.served(older, &[]), whole);
}

#[test]
fn answers_that_cannot_be_read_are_made_again() {
    let kept = Kept::new();
    let whole = kept.served(older, &[]);
    let answers =
        kept.files("json").into_iter().find(|file| file.to_string_lossy().ends_with(".answers.json"));
    for damaged in ["", "{", "[]", "{\"a\": 1}"] {
        fs::write(answers.as_ref().unwrap(), damaged).unwrap();
        assert_eq!(kept.served(older, &[]), whole);
    }
}
