//! The promises of `.ci/run`, tested with programs in place of the real ones: a failed step is named and stops no
//! other, and skipped checks are reported.
#![cfg(unix)]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use tempfile::TempDir;

use crate::fixture;

const SCRIPTS: [&str; 5] = [".ci/run", ".ci/setup", ".ci/env", ".ci/not_checked", "conformance/mcp/run.sh"];

/// A folder with the scripts, and programs without which nothing can be installed; this is `cargo`.
fn checkout(cargo: &str) -> TempDir {
    let folder = fixture::folder(&[]);
    let program = |name: &str, text: &str| {
        fixture::write(folder.path(), name, text);
        fs::set_permissions(folder.path().join(name), fs::Permissions::from_mode(0o755)).unwrap();
    };
    for script in SCRIPTS {
        program(script, &fs::read_to_string(fixture::package().join(script)).unwrap());
    }
    for missing in ["npm", "apt-get", "sudo"] {
        program(&format!("bin/{missing}"), "#!/bin/sh\nexit 1\n");
    }
    // Nothing can be installed, and scripts of the checkout run.
    program("bin/python3", "#!/bin/sh\ncase $1 in conformance/*) ;; *) exit 1 ;; esac\n");
    for done in ["bin/sleep", "bin/cargo-deny", ".ci/release"] {
        program(done, "#!/bin/sh\n");
    }
    program("bin/cargo", &format!("#!/bin/sh\n{cargo}\n"));
    folder
}

/// Exit status and output of a run.
fn run(folder: &TempDir, requires_all: bool) -> (bool, String) {
    let output = Command::new("bash")
        .arg(folder.path().join(".ci/run"))
        .env("PATH", format!("{}:/usr/bin:/bin", folder.path().join("bin").display()))
        .env("CARGO_TARGET_DIR", folder.path().join("target"))
        .env("TOOLCRIB_REQUIRE_ALL", if requires_all { "1" } else { "" })
        .output()
        .unwrap();
    (output.status.success(), String::from_utf8(output.stdout).unwrap())
}

#[test]
fn what_ci_could_not_check_is_counted_and_can_be_forbidden() {
    let skips = r#"[ "$3" != --no-fail-fast ] || echo "state in PostgreSQL: there is no server" >>"$TOOLCRIB_NOT_CHECKED""#;
    let folder = checkout(skips);
    let list = "\
NOT CHECKED: 9
    NOT CHECKED: OpenAPI documents against an independent parser and builder: the npm packages could not be installed
    NOT CHECKED: payloads against the official SDKs: the Python packages could not be installed
    NOT CHECKED: state in PostgreSQL: there is no server
    NOT CHECKED: the MCP transport against clients and suite: the Python packages are not there; run .ci/setup
    NOT CHECKED: the Python package: its Python packages could not be installed
    NOT CHECKED: the TypeScript package: its npm packages could not be installed
    NOT CHECKED: the documentation site: mdbook could not be installed
    NOT CHECKED: the pages in a browser: the npm packages could not be installed
    NOT CHECKED: the workflows of releases, the container and deploy recipes: the Python packages could not be installed
";
    let (succeeds, told) = run(&folder, false);
    assert!(succeeds && told.contains(list), "{told}");
    assert!(told.ends_with("\nsteps: 11 passed, 0 failed, 9 skipped\n"), "{told}");
    let (succeeds, told) = run(&folder, true);
    assert!(!succeeds && told.contains(list), "{told}");
    assert!(told.ends_with("\nsteps: 11 passed, 9 failed, 0 skipped\n"), "{told}");
}

#[test]
fn a_step_that_fails_is_named_and_the_others_run() {
    let folder = checkout(r#"case "$*" in clippy*--no-default-features*) exit 1;; esac"#);
    let (succeeds, told) = run(&folder, false);
    assert!(!succeeds, "{told}");
    let failed: Vec<&str> = told.lines().filter(|line| line.contains(" s  FAILED ")).collect();
    assert!(
        matches!(failed[..], [line] if line.ends_with("clippy of the core, of the runtime, and without postgres")),
        "{told}"
    );
    assert!(told.contains("\n== tests, also the slow ones\n") && told.contains("== MCP against"), "{told}");
    assert!(told.ends_with("\nsteps: 11 passed, 1 failed, 8 skipped\n"), "{told}");
}
