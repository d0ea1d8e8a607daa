//! Arguments that the operator sets: a hidden one is in nothing that a caller sees, and in everything that a backend gets.

use std::io::{Read, Write};
use std::net::TcpListener;

use serde_json::{Value, json};

use super::{Home, Lines};
use crate::fixture::{Run, text};

const SECRET: &str = "canary-5f2b9c71-of-the-shelf";
const HIDDEN: &str = "[[overlay]]\nmatch = '*'\narguments.token = { env = 'PANTRY_TOKEN', hidden = true }\n";

/// Runs the program with the variable set, and checks that it tells the secret to nobody.
#[track_caller]
fn run(home: &Home, arguments: &[&str]) -> Run {
    let run = home.run_with(arguments, &[("PANTRY_TOKEN", SECRET)]);
    for told in [&run.stdout, &run.stderr] {
        assert!(!told.contains(SECRET), "{arguments:?}: {told}");
    }
    run
}

fn call(home: &Home, input: Value) -> Value {
    let (config, state) = (home.at("toolcrib.toml"), home.at("state.db"));
    let run = run(home, &["call", "tool_exec", &input.to_string(), text(&config), "--state", text(&state)]);
    serde_json::from_str(&run.stdout).unwrap_or_else(|_| panic!("{}", run.stderr))
}

fn shelf(overlays: &str) -> Home {
    let home = Home::new();
    let source =
        "[exec]\nallow = 'destructive'\n[[source]]\nserver = 'shelf'\nmcp = { command = ['sh', 'SHELF'] }\n";
    home.write("toolcrib.toml", &format!("{source}{overlays}"));
    home
}

#[test]
fn a_hidden_argument_is_in_nothing_that_a_model_reads() {
    let home = shelf(HIDDEN);
    let docs = home.at("docs");
    for arguments in [
        vec!["payload", "--provider", "mcp", "--mode", "full"],
        vec!["payload", "--provider", "openai", "--mode", "full"],
        vec!["payload", "--provider", "anthropic", "--mode", "hybrid", "--deferred", "compact"],
        vec!["call", "tool_help", r#"{"path": "put", "format": "full"}"#],
        vec!["call", "read_tool_doc", r#"{"name": "put"}"#],
        vec!["call", "expand_tool", r#"{"tool_id": "put"}"#],
        vec!["search", "put a thing on the shelf", "--json"],
        vec!["render", "--out", text(&docs)],
    ] {
        let told = run(&home, &[&arguments[..], &[text(&home.at("toolcrib.toml"))]].concat());
        assert_eq!(told.code, 0, "{arguments:?}: {}", told.stderr);
        assert!(!told.stdout.contains("token"), "{arguments:?}: {}", told.stdout);
        assert!(!told.stdout.contains("key of the shelf"), "{arguments:?}: {}", told.stdout);
    }
    for file in ["docs/put.md", "docs/registry.json"] {
        assert!(!home.read(file).contains("token"), "{file}");
    }
}

#[test]
fn a_hidden_argument_reaches_the_server_of_the_tool() {
    let home = shelf(HIDDEN);
    let answer = call(&home, json!({"op": "put", "args": {"thing": "cup"}}));
    assert_eq!(answer["ok"], true, "{answer}");
    let sent = home.read("shelf.sh.calls");
    assert!(sent.contains(&format!("\"arguments\":{{\"thing\":\"cup\",\"token\":\"{SECRET}\"}}")), "{sent}");

    let answer = call(&home, json!({"op": "put", "args": {"thing": "cup", "token": "mine"}}));
    assert!(answer["meta"]["warnings"].to_string().contains("`token` is set by the operator"), "{answer}");
    assert!(!home.read("shelf.sh.calls").contains("mine"));

    let dry = call(&home, json!({"op": "put", "args": {"thing": "cup"}, "dry_run": true}));
    assert_eq!(dry["result"]["would"]["arguments"]["token"], "[redacted]", "{dry}");
    let trace = run(&home, &["trace", "--state", text(&home.at("state.db")), "--json"]);
    assert!(!trace.stdout.contains("mine"), "{}", trace.stdout);
}

#[test]
fn a_variable_that_is_missing_is_named_by_the_call() {
    let home = shelf("[[overlay]]\nmatch = '*'\narguments.token = { env = 'NOT_SET_HERE', hidden = true }\n");
    for dry in [false, true] {
        let answer = call(&home, json!({"op": "put", "args": {"thing": "cup"}, "dry_run": dry}));
        assert_eq!(answer["ok"], false, "{answer}");
        assert!(answer["error"]["message"].as_str().unwrap().contains("NOT_SET_HERE is not set"), "{answer}");
    }
    assert!(!home.at("shelf.sh.calls").exists());
}

/// One that is not hidden is a default, which a caller may replace.
#[test]
fn an_argument_that_is_set_and_shown_is_a_default() {
    let home = shelf("[[overlay]]\nmatch = '*'\narguments.token = { value = 'usual' }\n");
    for (args, expected) in
        [(json!({"thing": "a"}), "usual"), (json!({"thing": "a", "token": "mine"}), "mine")]
    {
        assert_eq!(call(&home, json!({"op": "put", "args": args}))["ok"], true);
        let sent = home.read("shelf.sh.calls");
        assert!(sent.lines().last().unwrap().contains(&format!("\"token\":\"{expected}\"")), "{sent}");
    }
}

#[test]
fn a_hidden_argument_is_not_in_the_list_of_a_client() {
    let home = shelf(HIDDEN);
    let mut command = home.command(&["serve", "--stdio", "--mode", "full", "toolcrib.toml"]);
    command.env("PANTRY_TOKEN", SECRET);
    let mut client = Lines::start(command);
    client.wait_for(&["look", "put"]);
    let listed = client.ask("tools/list", json!({}));
    assert!(!listed.to_string().contains("token"), "{listed}");
    let answer = client.call("put", json!({"thing": "cup"}));
    assert!(
        answer.to_string().contains("given [redacted]") && !answer.to_string().contains(SECRET),
        "{answer}"
    );
    assert!(home.read("shelf.sh.calls").contains(SECRET));
}

/// An HTTP server that refuses everything and repeats the request.
fn echoing() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let mut request = [0; 4096];
            let length = stream.read(&mut request).unwrap_or_default();
            let body = String::from_utf8_lossy(&request[..length]).into_owned();
            let head = format!(
                "HTTP/1.1 400 Bad\r\nContent-Type: text/plain\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
                body.len()
            );
            let _ = stream.write_all((head + &body).as_bytes());
        }
    });
    format!("http://{address}")
}

#[test]
fn a_hidden_argument_reaches_http_commands_and_steps_and_comes_back_from_none() {
    let home = Home::new();
    let parameters = json!({"type": "object", "properties": {"thing": {"type": "string", "description": "T."}, "token": {"type": "string", "description": "K."}}, "required": ["thing", "token"]});
    let tool = |name: &str, backend: Value| json!({"name": name, "description": "Puts a thing.", "effect": "write", "parameters": parameters, "backend": backend});
    let tools = json!([
        tool("by_http", json!({"type": "http", "method": "POST", "path": "/put/{thing}{?token}"})),
        tool(
            "by_command",
            json!({"type": "command", "argv": ["sh", "-c", "echo \"$0\" > given; echo \"you gave $0\"", "{token}"]})
        ),
        tool(
            "by_steps",
            json!({"type": "steps", "steps": [{"id": "one", "op": "by_command", "args": {"thing": {"$arg": "/thing"}}}]})
        ),
    ]);
    home.write("tools.json", &tools.to_string());
    let config = format!(
        "[[source]]\npath = 'tools.json'\ntrust = 'run'\n[exec]\nallow = 'destructive'\n[server.api]\nurl = '{}'\n{HIDDEN}",
        echoing()
    );
    home.write("toolcrib.toml", &config);
    let checked = run(&home, &["check", text(&home.at("toolcrib.toml"))]);
    assert_eq!(checked.code, 0, "{}{}", checked.stdout, checked.stderr);

    let refused = call(&home, json!({"op": "by_http", "args": {"thing": "cup"}}));
    assert_eq!(refused["error"]["details"]["status"], 400, "{refused}");
    assert!(refused.to_string().contains("/put/cup?token=[redacted]"), "{refused}");
    for op in ["by_command", "by_steps"] {
        let _ = std::fs::remove_file(home.at("given"));
        let answer = call(&home, json!({"op": op, "args": {"thing": "cup"}}));
        assert!(
            answer["ok"] == true && answer["result"].to_string().contains("you gave [redacted]"),
            "{answer}"
        );
        assert_eq!(home.read("given").trim(), SECRET);
        let dry = call(&home, json!({"op": op, "args": {"thing": "cup"}, "dry_run": true}));
        assert_eq!(dry["ok"], true, "{dry}");
    }
}

#[test]
fn an_argument_that_no_tool_has_is_a_finding() {
    let home = shelf(
        "[[overlay]]\nmatch = '*'\narguments.tokn = { value = 'x', hidden = true }\narguments.both = { value = 1, env = 'X' }\n",
    );
    let checked = run(&home, &["check", text(&home.at("toolcrib.toml"))]);
    assert!(checked.stdout.contains("no tool of this overlay has the argument `tokn`"), "{}", checked.stdout);
    assert!(
        checked.stdout.contains("an argument has a `value`, or the name of a variable in `env`"),
        "{}",
        checked.stdout
    );
}
