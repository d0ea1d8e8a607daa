//! The connections of the program: lists that are whole from the first answer, and servers that start late, die, hang
//! and want a token.

use std::time::{Duration, Instant};

use serde_json::json;

use super::through::{Client, noted, outcome, servers, until};
use crate::fixture::{folder, text, write};
use crate::serve::Server;

const FULL: [&str; 2] = ["--mode", "full"];

fn state() -> tempfile::TempDir {
    folder(&[])
}

#[test]
#[ignore = "slow"]
fn the_first_list_waits_for_a_server_that_was_never_seen() {
    let (root, state) = (servers(&["quick", "slow"], "wait_seconds = 30"), state());
    write(root.path(), "slow/slow", "9");
    let (mut client, instructions) = Client::connected(root.path(), state.path(), &FULL);
    assert!(instructions.contains("1 tool") && instructions.contains("Still starting"), "{instructions}");
    assert!(instructions.contains("slow"), "{instructions}");
    assert_eq!(client.call("quick__work", 7), ("done 7".into(), true), "the others answer");
    assert_eq!(client.tools(), ["quick__work", "slow__work"]);
    let (_, later) = Client::connected(root.path(), state.path(), &FULL);
    assert!(later.contains("2 tools") && !later.contains("Still starting"), "{later}");
}

#[test]
fn a_server_is_waited_for_as_long_as_configured() {
    let (root, state) = (servers(&["quick", "slow"], "wait_seconds = 1"), state());
    write(root.path(), "slow/slow", "30");
    let start = Instant::now();
    let (mut client, _) = Client::connected(root.path(), state.path(), &FULL);
    assert_eq!(client.tools(), ["quick__work"]);
    assert!(start.elapsed() < Duration::from_secs(20), "{:?}", start.elapsed());
}

#[test]
fn a_remembered_list_is_served_while_its_server_starts_and_calls_wait_for_it() {
    let (root, state) = (servers(&["one"], ""), state());
    let (mut client, _) = Client::connected(root.path(), state.path(), &FULL);
    assert_eq!(client.tools(), ["work"]);
    client.end();
    write(root.path(), "one/slow", "3");
    write(root.path(), "one/list", "work more");
    let (mut client, instructions) = Client::connected(root.path(), state.path(), &FULL);
    assert!(instructions.contains("1 tool"), "{instructions}");
    assert_eq!(client.tools(), ["work"]);
    assert_eq!(client.call("work", 1), ("done 1".into(), true));
    client.is_notified("notifications/tools/list_changed");
    assert_eq!(client.tools(), ["work", "more"]);
    assert_eq!(noted(&root.path().join("one"), "start"), 2, "one process for the list and for calls");
}

#[test]
fn a_lazy_server_starts_on_its_first_call() {
    let (root, state) = (servers(&["one"], "start = 'lazy'"), state());
    let one = root.path().join("one");
    let (mut client, _) = Client::connected(root.path(), state.path(), &FULL);
    assert_eq!(client.tools(), ["work"], "its list has to be asked once");
    client.end();
    assert_eq!(noted(&one, "start"), 1);
    let (mut client, _) = Client::connected(root.path(), state.path(), &FULL);
    assert_eq!(client.tools(), ["work"]);
    assert_eq!(noted(&one, "start"), 1);
    assert_eq!(client.call("work", 2), ("done 2".into(), true));
    assert_eq!(noted(&one, "start"), 2);
}

#[test]
fn sessions_have_connections_of_their_own_where_that_is_configured() {
    let root = servers(&["one"], "per_session = true");
    let one = root.path().join("one");
    let server = Server::start(text(root.path()), &[], &[]);
    let call = |session: &str| {
        let call = json!({"op": "work", "args": {"number": 3}});
        let asking = server.posting("/v1/tool_exec", &call).header("x-session-id", session);
        let answer: serde_json::Value = asking.send().unwrap().json().unwrap();
        assert_eq!(answer["result"], "done 3", "{answer}");
    };
    until("its list", || noted(&one, "start") == 1 && server.json("/readyz?verbose")["tools"] == 1);
    call("a");
    call("a");
    assert_eq!(noted(&one, "start"), 2);
    call("b");
    assert_eq!(noted(&one, "start"), 3);
    for number in 0..66 {
        call(&format!("s{number}"));
    }
    until("the end of the oldest ones", || noted(&one, "end") >= 4);
    call("a");
    assert_eq!(noted(&one, "start"), 3 + 66 + 1, "the oldest ones were closed");
}

#[test]
fn the_stderr_of_a_server_is_in_the_log_without_secrets() {
    let (root, state) = (servers(&["one"], "env = { SECRET = '${SECRET}' }"), state());
    let (mut client, _) = Client::connected(root.path(), state.path(), &FULL);
    client.tools();
    let log = || std::fs::read_to_string(state.path().join("stderr")).unwrap();
    until("its line", || log().contains("starting with"));
    assert!(log().contains("one") && log().contains("starting with [redacted]"), "{}", log());
    assert!(!log().contains("s3cr3t"), "{}", log());
}

#[test]
fn a_server_ends_with_its_children_when_its_client_goes_away_or_a_signal_comes() {
    for by_signal in [false, true] {
        let (root, state) = (servers(&["one"], ""), state());
        let script = format!("sleep 1000 & echo $! > {}/child; exec sh \"$0\" \"$1\"", root.path().display());
        let toml = format!(
            "[[source]]\nserver = 'one'\nmcp = {{ command = ['sh', '-c', '{script}', '{0}/server.sh', '{0}/one'] }}\n",
            root.path().display()
        );
        write(root.path(), "toolcrib.toml", &toml);
        let (mut client, _) = Client::connected(root.path(), state.path(), &FULL);
        assert_eq!(client.tools(), ["work"]);
        if by_signal {
            client.terminate()
        } else {
            client.end()
        }
        assert_eq!(noted(&root.path().join("one"), "end"), 1, "it saw the end of its stdin");
        let child = std::fs::read_to_string(root.path().join("child")).unwrap();
        let stat = format!("/proc/{}/stat", child.trim());
        until("the end of its child", || {
            std::fs::read_to_string(&stat).map_or(true, |stat| stat.contains(") Z"))
        });
    }
}

#[test]
fn a_server_that_fails_is_told_with_its_reason_everywhere() {
    let (root, state) = (servers(&["one"], "env = { NEEDED = '${NEEDED}' }"), state());
    let listed =
        Server::start(text(root.path()), &[], &[("NEEDED", "x"), ("XDG_STATE_HOME", text(state.path()))]);
    until("its list", || listed.json("/readyz?verbose")["servers"][0]["status"] == "ready");
    drop(listed);
    let server = Server::start(text(root.path()), &[], &[("XDG_STATE_HOME", text(state.path()))]);
    until("its failure", || server.json("/readyz?verbose")["servers"][0]["status"] == "failed");
    let ready = server.json("/readyz?verbose");
    let one = &ready["servers"][0];
    assert_eq!((&one["name"], &one["tools"]), (&json!("one"), &json!(1)), "{ready}");
    assert!(one["reason"].as_str().unwrap().contains("NEEDED"), "{ready}");
    let help: serde_json::Value = server.post("tool_help", json!({"path": "work"})).json().unwrap();
    assert!(help["unavailable"].as_str().unwrap().contains("variable NEEDED is not set"), "{help}");
    let call = json!({"op": "work", "args": {"number": 1}});
    let answer: serde_json::Value = server.posting("/v1/tool_exec", &call).send().unwrap().json().unwrap();
    let message = answer["error"]["message"].as_str().unwrap();
    assert!(message.contains("the MCP server `one`") && message.contains("NEEDED"), "{answer}");
}

/// Servers die before and during calls, hang, start slowly, change their tools and their configuration, in the middle of
/// a thousand calls.
#[test]
#[ignore = "slow"]
fn no_call_is_lost_or_run_twice_while_servers_break() {
    const CALLS: u64 = 1_000;
    let names = ["one", "two", "three", "four"];
    let (root, state) = (servers(&names, "timeout_seconds = 3"), state());
    let (mut client, _) = Client::connected(root.path(), state.path(), &FULL);
    assert_eq!(client.tools().len(), 4);
    let mut done = Vec::new();
    for start in (0..CALLS).step_by(20) {
        match start {
            100 | 500 => write(root.path(), "one/die", ""),
            200 | 600 => write(root.path(), "two/die_late", ""),
            300 => write(root.path(), "three/hang", ""),
            400 => {
                write(root.path(), "four/list", "work more");
                write(root.path(), "four/changed", "");
            }
            700 => {
                write(root.path(), "one/slow", "1");
                write(root.path(), "one/die", "");
            }
            800 => {
                let toml = std::fs::read_to_string(root.path().join("toolcrib.toml")).unwrap();
                write(
                    root.path(),
                    "toolcrib.toml",
                    &toml.replace("timeout_seconds = 3", "timeout_seconds = 4"),
                );
            }
            _ => {}
        }
        let asked: Vec<(u64, u64)> = (start..start + 20)
            .map(|number| {
                let name = names[number as usize % names.len()];
                (number, client.request_call(&format!("{name}__work"), number))
            })
            .collect();
        for (number, id) in asked {
            let (text, is_result) = outcome(&client.answer(id));
            match is_result {
                true => {
                    assert_eq!(text, format!("done {number}"));
                    done.push(number);
                }
                false => assert!(text.contains("the MCP server `"), "{text}"),
            }
        }
    }
    for number in 0..CALLS {
        let server = root.path().join(names[number as usize % names.len()]);
        let runs = noted(&server, &format!("call {number}"));
        assert!(runs <= 1, "call {number} was run {runs} times");
        assert!(runs == 1 || !done.contains(&number), "call {number} has a result and was not run");
    }
    assert!(done.len() as u64 > CALLS / 2, "only {} of the calls have a result", done.len());
    for name in names {
        let tool = format!("{name}__work");
        until(&format!("{tool} is back"), || client.call(&tool, 9_999).1);
    }
    until("the list is whole again", || client.tools().len() == 5);
}
