//! Tokens in the keyring of the system, asked with `secret-tool` of libsecret. On a machine without a session of a person:
//! `dbus-run-session`, with `gnome-keyring-daemon --unlock --components=secrets` in it.

use std::process::Command;

use super::operator::Operator;
use crate::skipped::skipped;

/// The secret that the keyring has for the sign-in of this operator.
fn kept(name: &str) -> String {
    let lookup = ["lookup", "service", "toolcrib", "username", name];
    let output = Command::new("secret-tool").args(lookup).output().unwrap();
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn tokens_lie_in_the_keyring_until_the_sign_in_ends() {
    let is_there = Command::new("secret-tool").args(["search", "service", "toolcrib"]).output();
    if !is_there.is_ok_and(|output| output.status.success()) {
        return skipped(
            "tokens in the keyring of the system",
            "there is no Secret Service, or no secret-tool",
        );
    }
    let operator = Operator::new(true, "");
    operator.login();
    let (stored, name) = (operator.stored(), operator.file());
    let name = name.file_stem().unwrap().to_str().unwrap();
    assert!(stored["in_keyring"] == true && stored.get("tokens").is_none(), "{stored}");
    let first = kept(name);
    assert!(first.contains("refresh"), "the keyring has the tokens");
    operator.end_token();
    assert_eq!(operator.call("whoami")["result"], "whoami for amy");
    assert!(!kept(name).is_empty() && kept(name) != first, "the refreshed tokens are there");
    operator.end_token();
    operator.issuer.behave(|issuer| issuer.refuses_refresh = true);
    operator.call("whoami");
    assert_eq!(kept(name), "", "a sign-in that has ended leaves none");
    operator.login();
    assert!(!kept(name).is_empty());
    assert_eq!(operator.run(&["login", "hosted", "--sign-out"]).code, 0);
    assert_eq!(kept(name), "", "a logout leaves none");
}
