//! The end of `cargo test`: what it skipped, and why. Cargo runs test programs in the order of their names.
//!
//! With `TOOLCRIB_REQUIRE_ALL=1` nothing may be skipped. `TOOLCRIB_NOT_CHECKED` names a file that gets the same lines.

#[path = "it/skipped.rs"]
mod skipped;

use std::env::{args, current_exe, var_os};
use std::fs::File;
use std::io::Write;
use std::process::{Command, ExitCode};

/// The argument that makes this program a child of itself.
const CHILD: &str = "--told-to-its-parent";

fn main() -> ExitCode {
    let has = |wanted: &str| args().any(|argument| argument == wanted);
    // Programs that run tests one by one ask for their names first.
    if has("--list") {
        return ExitCode::SUCCESS;
    }
    if !has(CHILD) {
        a_skipped_test_is_told_and_can_be_forbidden();
    }
    told(&skipped::taken())
}

/// Prints what was skipped; a failure where nothing may be.
fn told(lines: &[String]) -> ExitCode {
    println!("\n{} skipped", lines.len());
    lines.iter().for_each(|line| println!("    {line}"));
    if let Some(file) = var_os("TOOLCRIB_NOT_CHECKED") {
        let mut file = File::options().create(true).append(true).open(file).unwrap();
        lines.iter().for_each(|line| writeln!(file, "{line}").unwrap());
    }
    if lines.is_empty() || var_os("TOOLCRIB_REQUIRE_ALL").is_none_or(|value| value != "1") {
        return ExitCode::SUCCESS;
    }
    println!("TOOLCRIB_REQUIRE_ALL=1 forbids skipping; .ci/setup installs what the tests need");
    ExitCode::FAILURE
}

fn a_skipped_test_is_told_and_can_be_forbidden() {
    for (all, succeeds) in [("1", false), ("0", true)] {
        let line = "this: there is no that";
        (0..2).for_each(|_| skipped::record(std::process::id(), &format!("{line}\n")));
        let mut child = Command::new(current_exe().unwrap());
        child.arg(CHILD).env("TOOLCRIB_REQUIRE_ALL", all).env_remove("TOOLCRIB_NOT_CHECKED");
        let output = child.output().unwrap();
        let printed = String::from_utf8(output.stdout).unwrap();
        assert!(printed.starts_with(&format!("\n1 skipped\n    {line}\n")), "{printed}");
        assert_eq!(output.status.success(), succeeds, "{printed}");
    }
}
