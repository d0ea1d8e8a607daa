//! State on a full disk, and under a clock that jumps: no key runs twice.
#![cfg(unix)]

use std::fs::File;
use std::io::Write;
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

use rusqlite::Connection;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::code;
use super::idempotency::Slow;
use crate::fixture;
use crate::serve::{Server, client};
use crate::skipped::skipped;

const TOOLS: &str = r#"[{"name": "create_task", "effect": "write", "description": "Create a task.",
  "parameters": {"type": "object", "properties": {"title": {"type": "string"}}, "required": ["title"]},
  "backend": {"type": "http", "server": "api", "method": "POST", "path": "/tasks"}},
 {"name": "look", "effect": "read", "description": "Look.", "parameters": {"type": "object", "properties": {}},
  "backend": {"type": "static", "content": 1}}]"#;

const DAY: i64 = 86_400_000;

/// A catalog with a backend that counts, and a place for state.
struct Place {
    slow: Slow,
    folder: TempDir,
}

impl Place {
    fn new(delay: Duration) -> Self {
        client();
        let slow = Slow::start(delay);
        let config = format!("{}\n[state]\nurl = \"state.db\"\n", slow.config());
        let folder = fixture::folder(&[("tools.json", TOOLS), ("toolcrib.toml", &config)]);
        Self { slow, folder }
    }

    fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn start(&self) -> Server {
        Server::process(fixture::text(self.folder.path()), &[], &[])
    }

    /// Moves all times that are kept, as if the clock had gone the other way.
    fn shift(&self, by: i64) {
        let db = Connection::open(self.file("state.db")).unwrap();
        db.execute_batch(&format!(
            "UPDATE tool_idempotency_keys SET changed_at = changed_at + {by}, lease_until = lease_until + {by}; \
             UPDATE tool_state SET clock = clock + {by}, seen = seen + {by}"
        ))
        .unwrap();
    }
}

fn call(key: &str) -> Value {
    json!({"op": "create_task", "args": {"title": "Buy nails"}, "idempotency_key": key})
}

fn create(server: &Server, key: &str) -> Value {
    server.post("tool_exec", call(key).to_string()).json().unwrap()
}

#[track_caller]
fn eventually<T>(what: &str, check: impl Fn() -> Option<T>) -> T {
    let start = Instant::now();
    loop {
        match check() {
            Some(found) => return found,
            None => assert!(start.elapsed() < Duration::from_secs(40), "{what}"),
        }
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn a_clock_that_jumped_forgets_no_key_and_holds_no_lease_for_long() {
    let place = Place::new(Duration::from_millis(600));
    let server = place.start();
    assert_eq!(create(&server, "done")["ok"], true);
    let url = server.url("/v1/tool_exec");
    let asking = std::thread::spawn(move || client().post(url).body(call("during").to_string()).send());
    place.slow.wait_for(2);
    drop(server);
    assert!(asking.join().unwrap().is_err());
    // The clock goes back by an hour.
    place.shift(DAY / 24);
    let server = place.start();
    assert_eq!(code(&create(&server, "during")), "OUTCOME_UNKNOWN");
    drop(server);
    // It goes ahead by forty days, which are more than the thirty for which keys are kept.
    place.shift(-40 * DAY);
    let server = place.start();
    assert_eq!(create(&server, "done")["meta"]["replayed"], true);
    assert_eq!(code(&create(&server, "during")), "OUTCOME_UNKNOWN");
    assert_eq!(place.slow.count(), 2);
}

/// A small disk of its own.
struct Disk(TempDir);

impl Disk {
    /// Mounts one; nothing where that is not allowed.
    fn mount() -> Option<Self> {
        let folder = tempfile::tempdir().unwrap();
        let mount =
            Command::new("mount").args(["-t", "tmpfs", "-o", "size=1m", "tmpfs"]).arg(folder.path()).status();
        if mount.is_ok_and(|mount| mount.success()) {
            return Some(Self(folder));
        }
        skipped("a full disk", "no file system can be mounted here, which takes root");
        None
    }

    fn fill(&self) {
        let mut file = File::create(self.0.path().join("filler")).unwrap();
        while file.write_all(&[1; 512]).is_ok() {}
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(self.0.path()).status();
    }
}

#[test]
fn on_a_full_disk_a_key_that_was_run_answers() {
    let Some(disk) = Disk::mount() else { return };
    let place = Place::new(Duration::ZERO);
    let file = disk.0.path().join("state.db");
    let server = Server::start(fixture::text(place.folder.path()), &["--state", fixture::text(&file)], &[]);
    let first = create(&server, "k");
    assert_eq!(first["ok"], true, "{first}");
    disk.fill();
    for _ in 0..2 {
        let other = create(&server, "other");
        assert_eq!(code(&other), "STATE_UNAVAILABLE", "{other}");
        let again = create(&server, "k");
        assert_eq!(
            (&again["result"], &again["meta"]["replayed"]),
            (&first["result"], &json!(true)),
            "{again}"
        );
    }
    assert_eq!(place.slow.count(), 1);
    // Longer than the pause before the next attempt: that one must not find room in the log.
    std::thread::sleep(Duration::from_millis(1500));
    assert_ne!(server.json("/readyz?verbose")["state"], "on");
    std::fs::remove_file(disk.0.path().join("filler")).unwrap();
    eventually("it does not go on", || (create(&server, "other")["ok"] == true).then_some(()));
}
