//! Skipped checks with their reasons: recorded by the tests, printed by `tests/zz_skipped.rs` when all have ended.
#![allow(dead_code, reason = "one program writes what another reads")]

use std::fs::{self, File};
use std::io::{Write, stderr};
use std::path::PathBuf;

/// Says that something is not tested on this machine: at once, past the capture of output, and at the end of the run.
pub fn skipped(subject: &str, reason: &str) {
    let line = format!("{subject}: {reason}\n");
    stderr().write_all(format!("skipped: {line}").as_bytes()).unwrap();
    record(this_run(), &line);
}

/// Adds a line to what a run has skipped.
pub fn record(run: u32, line: &str) {
    File::options().create(true).append(true).open(file(run)).unwrap().write_all(line.as_bytes()).unwrap();
}

/// The skipped checks of this run, each line once, in order; the list is emptied.
pub fn taken() -> Vec<String> {
    let text = fs::read_to_string(file(this_run())).unwrap_or_default();
    let _ = fs::remove_file(file(this_run()));
    let mut lines: Vec<String> = text.lines().map(str::to_string).collect();
    lines.sort();
    lines.dedup();
    lines
}

fn file(run: u32) -> PathBuf {
    PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("skipped-{run}"))
}

/// The process whose children all test programs of one `cargo test` are.
fn this_run() -> u32 {
    #[cfg(unix)]
    return std::os::unix::process::parent_id();
    #[cfg(not(unix))]
    return 0;
}
