//! Programs as backends.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;
use toolcrib::exec::backend::BackendErrorKind;

use super::Running;
use crate::fixture::folder;

/// Definitions that may name programs.
const TRUSTED: &str = "[[source]]\npath = \"tools.json\"\ntrust = \"run\"\n";

/// One tool, `run`, with these arguments of its program.
fn catalog(argv: &[&str], backend: Value) -> (TempDir, Running) {
    let mut command = json!({ "type": "command", "argv": argv });
    command.as_object_mut().unwrap().extend(backend.as_object().cloned().unwrap_or_default());
    let parameters = json!({ "type": "object", "properties": { "a": {}, "b": {} } });
    let effect = command.as_object_mut().unwrap().shift_remove("effect").unwrap_or("write".into());
    let tools = json!([{ "name": "run", "description": "Runs.", "effect": effect, "parameters": parameters, "backend": command }]);
    let root = folder(&[
        ("toolcrib.toml", TRUSTED),
        ("tools.json", &tools.to_string()),
        ("own.sh", "#!/bin/sh\necho own $1\n"),
    ]);
    let running = Running::open(root.path());
    (root, running)
}

fn sh(script: &str, backend: Value) -> (TempDir, Running) {
    catalog(&["sh", "-c", script], backend)
}

#[test]
fn arguments_are_neither_split_nor_run() {
    let (_root, running) = catalog(&["printf", "[%s]", "{a}", "x{b}y", "{c}", "--", "{a}"], json!({}));
    let response =
        running.call("run", json!({ "a": "$(id); `id` 'q' \"r\" *\n", "b": ["1", 2], "c": "no" })).unwrap();
    let value = "$(id); `id` 'q' \"r\" *\n";
    assert_eq!(response.content, json!(format!("[{value}][x[\"1\",2]y][{{c}}][--][{value}]")));
    let response = running.call("run", json!({ "a": "1" })).unwrap();
    assert_eq!(response.content, json!("[1][{c}][--][1]"));
}

#[test]
fn no_argument_becomes_an_option() {
    let (_root, running) = catalog(&["printf", "%s|", "{a}"], json!({}));
    running.fails("run", json!({ "a": "--version" }), BackendErrorKind::InvalidArgument, "begins with `-`");
    running.fails("run", json!({ "a": -5 }), BackendErrorKind::InvalidArgument, "begins with `-`");
    running.fails("run", json!({ "a": "x\0y" }), BackendErrorKind::InvalidArgument, "character");
    let (_root, running) = catalog(&["printf", "%s|", "--", "{a}", "--b={b}"], json!({}));
    let response = running.call("run", json!({ "a": "--version", "b": "-x" })).unwrap();
    assert!(response.content.as_str().unwrap().ends_with("--version|--b=-x|"), "{response:?}");
}

#[test]
fn stdin_is_json_and_stdout_is_what_it_is() {
    let (_root, running) = sh("cat", json!({}));
    let arguments = json!({ "a": { "deep": [1, null] }, "z": "ü" });
    assert_eq!(running.call("run", arguments.clone()).unwrap().content, arguments);
    let (_root, running) = sh("wc -c", json!({ "stdin": "none" }));
    assert_eq!(running.call("run", arguments.clone()).unwrap().content, json!(0));
    let (_root, running) = sh("echo plain text", json!({}));
    assert_eq!(running.call("run", json!({})).unwrap().content, json!("plain text\n"));
    let (_root, running) = sh("exit 0", json!({}));
    let large = json!({ "a": "x".repeat(1 << 20) });
    assert_eq!(running.call("run", large).unwrap().content, json!(null));
    let shown = running.preview("run", json!({ "a": 1 })).unwrap();
    assert_eq!(shown, json!({ "backend": "command", "argv": ["sh", "-c", "exit 0"], "stdin": { "a": 1 } }));
}

#[test]
fn text_that_looks_like_a_number_stays_text() {
    for (printed, result) in
        [("3.10", json!("3.10")), ("4567e12", json!("4567e12")), ("42", json!(42)), ("[1]", json!([1]))]
    {
        let (_folder, running) = sh(&format!("printf {printed}"), json!({}));
        assert_eq!(running.call("run", json!({})).unwrap().content, result, "{printed}");
    }
}

#[test]
fn it_runs_in_the_catalog_with_a_clean_environment() {
    let (root, running) = sh("pwd; ls; env; echo ${#KEY} long", json!({ "env": { "KEY": "b ${TOKEN}" } }));
    let response = running.call("run", json!({})).unwrap();
    let text = response.content.as_str().unwrap();
    let folder = root.path().canonicalize().unwrap();
    assert!(text.starts_with(folder.to_str().unwrap()) && text.contains("tools.json"), "{text}");
    assert!(
        text.contains("KEY=b [redacted]\n")
            && text.contains("14 long\n")
            && !text.contains("CARGO")
            && !text.contains("SECRET_OF_OURS"),
        "{text}"
    );
    let (root, running) = catalog(&["./own.sh", "{a}"], json!({}));
    let script = root.path().join("own.sh");
    std::fs::set_permissions(&script, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    assert_eq!(running.call("run", json!({ "a": "x" })).unwrap().content, json!("own x\n"));
    let (_root, running) = catalog(&["no-such-program"], json!({}));
    running.fails("run", json!({}), BackendErrorKind::Unconfigured, "`no-such-program` cannot be run");
}

#[test]
fn a_failure_has_its_code_and_last_words() {
    let script = "echo out; echo first >&2; printf 'bad \\033[31mkey %s\\n' \"$KEY\" >&2; exit 3";
    let (_root, running) = sh(script, json!({ "env": { "KEY": "${TOKEN}" } }));
    let error = running.fails("run", json!({}), BackendErrorKind::Failed, "exit code 3: bad");
    let detail = super::Running::told(&error);
    assert_eq!((&detail["exit_code"], &detail["stdout"]), (&json!(3), &json!("out\n")));
    assert!(detail["stderr"].as_str().unwrap().contains("first\nbad"), "{detail}");
    let (_root, running) = sh("kill -9 $$", json!({}));
    running.fails("run", json!({}), BackendErrorKind::ConnectionLost, "ended by a signal");
}

/// The processes that have this in their command line.
fn alive(mark: &str) -> usize {
    let processes = std::fs::read_dir("/proc").unwrap().filter_map(Result::ok);
    let lines = processes.filter_map(|entry| std::fs::read(entry.path().join("cmdline")).ok());
    lines.filter(|line| String::from_utf8_lossy(line).contains(mark)).count()
}

#[track_caller]
fn check_gone(mark: &str) {
    let start = Instant::now();
    while alive(mark) > 0 {
        assert!(start.elapsed() < Duration::from_secs(20), "{mark} is still there");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
#[ignore = "slow"]
fn what_does_not_end_is_ended_with_all_that_it_started() {
    let (_root, mut running) = sh("trap '' TERM; sleep 86391 & sleep 86391; sleep 86391", json!({}));
    running.time = Duration::from_millis(300);
    let start = Instant::now();
    running.fails("run", json!({}), BackendErrorKind::TimedOut, "did not end in time");
    assert!(start.elapsed() < Duration::from_secs(20), "{:?}", start.elapsed());
    check_gone("86391");

    let (_root, mut running) = sh("for i in $(seq 25); do echo; sleep 0.1; done; echo 41", json!({}));
    running.time = Duration::from_secs(2);
    assert_eq!(running.call("run", json!({})).unwrap().content, json!(41), "it is not silent");

    let (_root, running) = sh("sleep 86392", json!({ "timeout_seconds": 1 }));
    running.fails("run", json!({}), BackendErrorKind::TimedOut, "did not end in time");
    check_gone("86392");

    let (_root, running) = sh("sleep 86393 & echo done", json!({}));
    let start = Instant::now();
    assert_eq!(running.call("run", json!({})).unwrap().content, json!("done\n"));
    assert!(start.elapsed() < Duration::from_secs(20), "{:?}", start.elapsed());
    check_gone("86393");

    let (_root, running) = sh("sleep 86394", json!({}));
    running.runtime.block_on(async {
        let call = running.calling("run", json!({}));
        assert!(tokio::time::timeout(Duration::from_millis(200), call).await.is_err());
    });
    check_gone("86394");
}

#[test]
fn a_result_does_not_tell_the_secrets_of_the_command() {
    for script in ["echo got $KEY", "echo \"{\\\"env\\\": [\\\"$KEY\\\"]}\""] {
        let (_root, running) = sh(script, json!({ "env": { "KEY": "${TOKEN}" } }));
        let response = running.call("run", json!({})).unwrap();
        assert!(
            !format!("{response:?}").contains("s3cr3t") && format!("{response:?}").contains("[redacted]"),
            "{response:?}"
        );
    }
}

#[test]
fn a_flood_ends_the_program() {
    let flood = "while :; do echo 86395 flood; done";
    let (_root, running) = sh(flood, json!({ "max_bytes": 1000, "effect": "read" }));
    let start = Instant::now();
    let response = running.call("run", json!({})).unwrap();
    assert_eq!(response.content.as_str().unwrap().len(), 1000);
    assert!(response.warnings[0].contains("more than 1000 bytes"), "{response:?}");
    assert!(start.elapsed() < Duration::from_secs(20), "{:?}", start.elapsed());
    check_gone("86395 flood");
    // Nobody knows what a change has done when it is ended.
    let (_root, running) = sh(flood, json!({ "max_bytes": 1000 }));
    running.fails("run", json!({}), BackendErrorKind::ConnectionLost, "more than 1000 bytes");
    check_gone("86395 flood");
    let (_root, running) = sh("yes 86396 >&2", json!({}));
    running.fails("run", json!({}), BackendErrorKind::ConnectionLost, "bytes to stderr");
    check_gone("86396");
}
