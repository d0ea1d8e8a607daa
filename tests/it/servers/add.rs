//! `toolcrib add` and `toolcrib remove`: one server of a toolcrib.toml, with everything else in it untouched.

use super::Home;
use crate::fixture::text;

const OWN: &str = ".config/toolcrib/toolcrib.toml";

#[test]
fn the_first_server_makes_the_users_configuration() {
    let home = Home::new();
    std::fs::create_dir(home.at("empty")).unwrap();
    let script = home.at("shelf.sh");
    let told = home.done(&["add", "shelf", "--", "sh", text(&script)]);
    assert!(told.contains("2 tools") && told.contains("shelf__look, shelf__put"), "{told}");
    assert!(
        home.read(OWN).contains(&format!("command = [\"sh\", \"{}\"]", text(&script))),
        "{}",
        home.read(OWN)
    );
    // It is what a command without a catalog takes, from anywhere.
    let mut doctor = home.command(&["doctor", "--json"]);
    let output = doctor.current_dir(home.at("empty")).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    home.done(&["remove", "shelf"]);
    assert!(!home.read(OWN).contains("shelf"));
}

#[test]
fn a_server_is_added_and_removed_and_comments_stay() {
    let home = Home::new();
    let before = "# ours\ntitle = \"T\" # the title\n\n# of a\n[[source]]\nserver = \"a\"\nmcp = { url = \"http://x\" } # far\n\n[exec]\nallow = \"write\" # yes\n";
    home.write("toolcrib.toml", before);
    home.done(&[
        "add",
        "b",
        "http://127.0.0.1:1/mcp",
        "--header",
        "Authorization: Bearer ${B_TOKEN}",
        "--no-check",
    ]);
    let added = home.read("toolcrib.toml");
    for line in before.lines() {
        assert!(added.contains(line), "{line}: {added}");
    }
    assert!(added.contains("headers = { Authorization = \"Bearer ${B_TOKEN}\" }"), "{added}");
    assert!(added.find("\"a\"") < added.find("\"b\""), "{added}");
    home.done(&["remove", "b"]);
    assert_eq!(home.read("toolcrib.toml"), before);
    home.done(&[
        "add",
        "c",
        "--no-check",
        "--env",
        "C_KEY",
        "--env",
        "MODE=fast",
        "-c",
        text(&home.at("toolcrib.toml")),
        "--",
        "c",
        "--x",
    ]);
    let added = home.read("toolcrib.toml");
    assert!(added.contains("env = { C_KEY = \"${C_KEY}\", MODE = \"fast\" }"), "{added}");
}

#[test]
fn nothing_is_added_that_would_not_work() {
    let home = Home::new();
    let cases: [(&[&str], &str, i32); 8] = [
        (&["add", "x", "--", "no-such-program"], "is not found in PATH", 1),
        (&["add", "x", "--", "sh", "-c", "echo last words >&2; exit 3"], "last words", 1),
        (&["add", "x", "--env", "NOT_SET_HERE", "--", "sh"], "NOT_SET_HERE is not set", 1),
        (&["add", "x", "ftp://x"], "http:// or https://", 2),
        (&["add", "a b", "http://x"], "is no name of a server", 2),
        (
            &["add", "x", "http://x", "--header", "Authorization: Bearer abcdef0123456"],
            "give --header 'Authorization: ${NAME}'",
            2,
        ),
        (&["add", "x", "--env", "API_KEY=abcdef", "--", "sh"], "give --env API_KEY", 2),
        (&["remove", "x"], "there is no", 1),
    ];
    for (arguments, why, code) in cases {
        let run = home.run(arguments);
        assert_eq!(run.code, code, "{arguments:?}: {}", run.stderr);
        assert!(run.stderr.contains(why), "{why}: {}", run.stderr);
        assert!(!home.at(OWN).exists());
    }
    home.done(&["add", "x", "http://x", "--no-check"]);
    let run = home.run(&["add", "x", "http://y", "--no-check"]);
    assert!(run.code == 1 && run.stderr.contains("`toolcrib remove x`"), "{}", run.stderr);
    let run = home.run(&["remove", "y"]);
    assert!(run.code == 1 && run.stderr.contains("it has x"), "{}", run.stderr);
}

/// A configuration of a project that nobody has trusted says so after it was edited.
#[test]
fn a_configuration_that_counts_only_when_trusted_says_so() {
    let home = Home::new();
    home.write("toolcrib.toml", "title = 'T'\n");
    let run = home.run(&["add", "x", "http://x", "--no-check"]);
    assert!(run.stderr.contains("it is not trusted; `toolcrib trust .`"), "{}", run.stderr);
    home.done(&["trust", "."]);
    let run = home.run(&["add", "y", "http://y", "--no-check"]);
    assert!(run.stderr.contains("has changed since it was trusted"), "{}", run.stderr);
}
