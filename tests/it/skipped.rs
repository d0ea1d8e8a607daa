//! Checks that this machine cannot make: each is reported at once, past the capture of output, with its reason. `.ci/run` lists
//! them at its end, from the file that `TOOLCRIB_NOT_CHECKED` names. With `TOOLCRIB_REQUIRE_ALL=1` a skipped check fails.

use std::env::var_os;
use std::fs::File;
use std::io::{Write, stderr};
use std::path::Path;

/// Reports that something is not tested on this machine.
pub fn skipped(subject: &str, reason: &str) {
    let requires_all = var_os("TOOLCRIB_REQUIRE_ALL").is_some_and(|value| value == "1");
    report(subject, reason, var_os("TOOLCRIB_NOT_CHECKED").as_ref().map(Path::new), requires_all);
}

fn report(subject: &str, reason: &str, list: Option<&Path>, requires_all: bool) {
    let line = format!("{subject}: {reason}\n");
    stderr().write_all(format!("skipped: {line}").as_bytes()).unwrap();
    if let Some(list) = list {
        File::options().create(true).append(true).open(list).unwrap().write_all(line.as_bytes()).unwrap();
    }
    assert!(!requires_all, "TOOLCRIB_REQUIRE_ALL=1 forbids skipping; .ci/setup installs what the tests need");
}

#[test]
fn a_skipped_check_is_listed_and_can_be_forbidden() {
    let folder = tempfile::tempdir().unwrap();
    let list = folder.path().join("not-checked");
    report("this", "there is no that", Some(&list), false);
    let forbidden = std::panic::catch_unwind(|| report("these", "there are no those", Some(&list), true));
    assert!(forbidden.is_err());
    let listed = std::fs::read_to_string(&list).unwrap();
    assert_eq!(listed, "this: there is no that\nthese: there are no those\n");
}
