//! `render --watch` and `seed --watch`, as programs that are ended by a signal.
#![cfg(unix)]

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use super::tool;
use crate::fixture::{folder, program, text, tree, write};

struct Running {
    child: Child,
    lines: Receiver<String>,
}

impl Running {
    fn start(arguments: &[&str]) -> Self {
        let mut child = program(arguments).stderr(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
        let stderr = BufReader::new(child.stderr.take().unwrap());
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            stderr.lines().map_while(Result::ok).for_each(|line| drop(sender.send(line)))
        });
        Self { child, lines }
    }

    /// The first line with this text, over any others on the way.
    #[track_caller]
    fn says(&self, words: &str) -> String {
        let mut before = Vec::new();
        loop {
            match self.lines.recv_timeout(Duration::from_secs(10)) {
                Ok(line) if line.contains(words) => return line,
                Ok(line) => before.push(line),
                Err(_) => panic!("never said {words:?}, but {before:#?}"),
            }
        }
    }

    #[track_caller]
    fn ends(mut self, signal: &str) {
        let id = self.child.id().to_string();
        assert!(Command::new("kill").args([signal, &id]).status().unwrap().success());
        assert_eq!(self.child.wait().unwrap().code(), Some(0));
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn page(root: &Path, name: &str) -> bool {
    root.join(format!("{name}.md")).exists()
}

#[test]
fn render_goes_on_and_keeps_good_docs_over_a_broken_edit() {
    let root = folder(&[("a.json", &tool("a")), ("toolcrib.toml", "title = 'T'\n")]);
    let out = root.path().join("tools");
    let running = Running::start(&["render", text(root.path()), "--out", text(&out), "--watch"]);
    running.says("watching");
    assert!(page(&out, "a"));
    write(root.path(), "b.json", &tool("b"));
    let line = running.says("2 tools documented");
    assert!(line.contains("1 created") && line.ends_with("; b.json changed"), "{line}");
    assert!(page(&out, "a") && page(&out, "b"));
    let good = tree(&out);

    for (file, text) in [("toolcrib.toml", "title = "), ("a.json", "[{")] {
        let before = fs::read_to_string(root.path().join(file)).unwrap();
        write(root.path(), file, text);
        running.says("error[file-invalid]");
        running.says("kept all as it is");
        assert_eq!(tree(&out), good);
        write(root.path(), file, &before);
        running.says("2 tools documented (");
        assert_eq!(tree(&out), good);
    }
    fs::remove_file(root.path().join("a.json")).unwrap();
    running.says("1 tool documented");
    assert!(!page(&out, "a") && page(&out, "b"));
    running.ends("-INT");
}

#[test]
fn seed_goes_on_and_ends_when_asked_to() {
    let root = folder(&[("a.json", &tool("a"))]);
    let workspace = folder(&[]);
    let running = Running::start(&["seed", text(workspace.path()), text(root.path()), "--watch"]);
    running.says("watching");
    write(root.path(), "a.json", &tool("b"));
    running.says("a.json changed");
    let tools = workspace.path().join("tools");
    assert!(page(&tools, "b") && !page(&tools, "a"));
    running.ends("-TERM");
}

#[test]
fn a_wrong_profile_is_a_wrong_command_line_at_the_start() {
    let root = folder(&[("a.json", &tool("a"))]);
    let out = root.path().join("o");
    let run =
        crate::fixture::run(&["render", text(root.path()), "--out", text(&out), "--watch", "--profile", "p"]);
    assert_eq!(run.code, 2, "{}", run.stderr);
}
