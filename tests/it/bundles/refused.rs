//! A bundle that is not what was built, or not signed with the key that was asked for, is refused as a whole.

use std::fs;
use std::path::Path;

use super::{Bundled, parts};
use crate::fixture::{Run, folder, package, run, run_with, text};

fn small() -> Bundled {
    let tools = r#"[{"name": "read_note", "description": "Read a note.", "parameters": {"type": "object"}},
        {"name": "send_note", "description": "Send a note.", "parameters": {"type": "object"}}]"#;
    Bundled::of(folder(&[("tools.json", tools)]).path())
}

/// All uses of a file are refused with this code.
#[track_caller]
fn refuses(file: &Path, code: &str, more: &[&str]) {
    let verified = run(&[&["bundle", "verify", text(file)], more].concat());
    let used = run(&[&["call", "list", "{}", text(file)], more].concat());
    for Run { code: exit, stdout, stderr } in [verified, used] {
        assert_eq!((exit, &stdout[..]), (1, ""), "{stderr}");
        assert!(stderr.contains(code), "{code} is not in: {stderr}");
    }
}

#[test]
fn a_file_that_ends_early_is_refused_wherever_it_ends() {
    let bundled = small();
    let whole = bundled.bytes();
    for (begin, end) in parts(&whole) {
        for length in [begin, (begin + end) / 2, end.min(whole.len() - 1)] {
            fs::write(&bundled.file, &whole[..length]).unwrap();
            refuses(&bundled.file, "[bundle-unreadable]", &[]);
        }
    }
    fs::write(&bundled.file, [&whole[..], b"more"].concat()).unwrap();
    refuses(&bundled.file, "[bundle-unreadable]", &[]);
}

#[test]
fn a_changed_byte_is_found_in_every_part() {
    let bundled = small();
    let whole = bundled.bytes();
    for (begin, end) in parts(&whole).into_iter().filter(|(begin, end)| begin < end) {
        let mut changed = whole.clone();
        changed[(begin + end) / 2] ^= 1;
        fs::write(&bundled.file, changed).unwrap();
        refuses(&bundled.file, "[bundle-unreadable]", &[]);
    }
}

#[test]
fn a_bundle_of_another_format_says_so() {
    let bundled = small();
    let mut other = bundled.bytes();
    other[8] = 9;
    fs::write(&bundled.file, other).unwrap();
    refuses(&bundled.file, "the bundle has format 9", &[]);
}

#[test]
fn with_a_key_only_what_it_has_signed_is_used() {
    let bundled = small();
    let (file, signature) = (text(&bundled.file), bundled.beside("tools.crib.minisig"));
    let key = bundled.signed("right");
    let ran = |variables: &[(&str, &str)]| run_with(&["call", "list", "{}", file], "", variables);
    assert_eq!(run(&["bundle", "verify", file, "--key", &key]).code, 0);
    let key_file = bundled.beside("right.pub");
    assert_eq!(bundled.run(&["call", "list", "{}", "--key", text(&key_file)]).code, 0);
    assert_eq!(ran(&[("TOOLCRIB_BUNDLE_KEY", &key)]).code, 0);

    bundled.signed("wrong");
    refuses(&bundled.file, "[bundle-untrusted]", &["--key", &key]);
    assert_eq!(ran(&[("TOOLCRIB_BUNDLE_KEY", &key)]).code, 1);
    assert_eq!(ran(&[]).code, 0, "nobody asks for a signature");

    bundled.sign("right");
    let good = fs::read_to_string(&signature).unwrap();
    for torn in ["", &good[..good.len() / 2], &good.replace("toolcrib bundle", "another comment")] {
        fs::write(&signature, torn).unwrap();
        refuses(&bundled.file, "[bundle-untrusted]", &["--key", &key]);
    }
    fs::remove_file(&signature).unwrap();
    refuses(&bundled.file, "it has no signature beside it", &["--key", &key]);

    fs::write(&signature, &good).unwrap();
    let mut changed = bundled.bytes();
    *changed.last_mut().unwrap() ^= 1;
    fs::write(&bundled.file, changed).unwrap();
    refuses(&bundled.file, "[bundle-untrusted]", &["--key", &key]);
}

#[test]
fn with_a_key_nothing_else_passes_for_a_bundle() {
    let bundled = small();
    let key = bundled.signed("key");
    fs::write(&bundled.file, r#"[{"name": "evil", "description": "Evil.", "parameters": {}}]"#).unwrap();
    refuses(&bundled.file, "[bundle-untrusted]", &["--key", &key]);
    let github = package().join("examples/github");
    let used = run(&["call", "list", "{}", text(&github), "--key", &key]);
    assert_eq!(used.code, 1);
    assert!(used.stderr.contains("[bundle-untrusted]"), "{}", used.stderr);
}

#[test]
fn a_key_that_is_none_is_a_wrong_command_line() {
    let bundled = small();
    assert_eq!(bundled.run(&["call", "list", "{}", "--key", "abc"]).code, 2);
}

#[test]
fn a_key_is_never_replaced() {
    let bundled = small();
    bundled.signed("key");
    let again = run(&["bundle", "keygen", text(&bundled.beside("key"))]);
    assert_eq!(again.code, 1, "{}", again.stderr);
}
