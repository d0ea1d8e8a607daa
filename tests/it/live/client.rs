//! Configurations of MCP clients as catalogs, as they are; their servers are the program itself, with small catalogs behind it.

use serde_json::{Value, json};

use crate::fixture::{Run, folder, program, run_with, text, write};

/// A folder with the catalogs of two servers, and a client's configuration of this name and content. `SERVE one` in it stands
/// for the arguments that start the first one.
fn client(name: &str, content: &str) -> (tempfile::TempDir, String) {
    let tool = |greeting: &str| {
        json!([{"name": "greet", "description": "Greets somebody.", "effect": "read", "backend": {"type": "static", "content": greeting},
            "parameters": {"type": "object", "properties": {"name": {"type": "string", "description": "Whom."}}}}])
        .to_string()
    };
    let place = folder(&[("one.json", &tool("hello from one")), ("two.json", &tool("hello from two"))]);
    let arguments = |server: &str| {
        let catalog = place.path().join(format!("{server}.json"));
        json!(["serve", "--stdio", "--mode", "full", catalog]).to_string()
    };
    let toolcrib = json!(program(&[]).get_program().to_str()).to_string();
    let content = content.replace("SERVE one", &arguments("one")).replace("SERVE two", &arguments("two"));
    write(place.path(), name, &content.replace("TOOLCRIB", &toolcrib));
    let file = text(&place.path().join(name)).to_string();
    (place, file)
}

fn run(arguments: &[&str]) -> Run {
    run_with(arguments, "", &[("SERVER_ONE", "one")])
}

fn names(file: &str) -> Vec<String> {
    let payload = run(&["payload", "--provider", "mcp", "--mode", "full", file]);
    let payload: Value =
        serde_json::from_str(&payload.stdout).unwrap_or_else(|_| panic!("{}", payload.stderr));
    payload["tools"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| tool["name"].as_str().unwrap().to_string())
        .collect()
}

/// Every client's format is read, and its tools carry the names of their servers, also when there is one server.
#[test]
fn a_clients_configuration_is_a_catalog() {
    let both = ["one__greet", "two__greet"];
    let formats: [(&str, &str, &[&str]); 6] = [
        (
            "mcp.json",
            r#"{"mcpServers": {"one": {"command": TOOLCRIB, "args": SERVE one}, "two": {"command": TOOLCRIB, "args": SERVE two, "timeout": 60000}}}"#,
            &both,
        ),
        (
            "settings.json",
            "{\n// of VS Code\n\"mcp\": {\"inputs\": [], \"servers\": {\"one\": {\"type\": \"stdio\", \"command\": TOOLCRIB, \"args\": SERVE one,},},},}",
            &["one__greet"],
        ),
        (
            "settings.json",
            r#"{"theme": "x", /* servers */ "context_servers": {"two": {"source": "custom", "command": {"path": TOOLCRIB, "args": SERVE two}}}}"#,
            &["two__greet"],
        ),
        (
            "config.toml",
            "model = 'x'\n[mcp_servers.one]\ncommand = TOOLCRIB\nargs = SERVE one\nstartup_timeout_sec = 20\n",
            &["one__greet"],
        ),
        (
            "claude_desktop_config.json",
            r#"{"servers": {"one": {"command": TOOLCRIB, "args": SERVE one, "disabled": true}, "two": {"command": TOOLCRIB, "args": SERVE two}}}"#,
            &["two__greet"],
        ),
        (
            ".mcp.json",
            r#"{"mcpServers": {"one": {"command": TOOLCRIB, "args": ["serve", "--stdio", "--mode", "full", "${workspaceFolder}/${env:SERVER_ONE}.json"]}}}"#,
            &["one__greet"],
        ),
    ];
    for (name, content, expected) in formats {
        let (_place, file) = client(name, content);
        assert_eq!(names(&file), expected, "{name}");
    }
}

#[test]
fn tools_of_a_clients_servers_are_called_by_either_name() {
    let (_place, file) = client(
        "mcp.json",
        r#"{"mcpServers": {"one": {"command": TOOLCRIB, "args": SERVE one}, "two": {"command": TOOLCRIB, "args": SERVE two}}}"#,
    );
    for (op, expected) in [("one__greet", "hello from one"), ("two.greet", "hello from two")] {
        let call = json!({"op": op, "args": {"name": "Ada"}}).to_string();
        let answer = run(&["call", "tool_exec", &call, &file, "--allow", "write"]);
        let answer: Value = serde_json::from_str(&answer.stdout).unwrap();
        assert_eq!(answer["result"], expected, "{answer}");
    }
}

/// A server that cannot be started is reported with its place in the client's file, and the others are there.
#[test]
fn a_server_that_fails_has_its_place_in_the_clients_file() {
    let (_place, file) = client(
        "mcp.json",
        "{\n  // first\n  \"mcpServers\": {\n    \"gone\": {\"command\": \"/no/such/program\"},\n    \"bad\": {\"args\": [], \"url\": \"ftp://x\"},\n    \"off\": {\"url\": \"https://example.com/mcp\", \"enabled\": false},\n    \"one\": {\"command\": TOOLCRIB, \"args\": SERVE one}\n  }\n}",
    );
    let check = run(&["check", "--verbose", &file]);
    assert_eq!(check.code, 1);
    for told in [
        "mcp:gone gives no tools",
        "mcp.json:4:5",
        "the server `bad`: `url` must start with http:// or https://",
        "mcp.json:5:5",
        "info[server-disabled]: the server `off` is disabled",
    ] {
        assert!(
            check.stdout.contains(told) || check.stderr.contains(told),
            "{told}: {}{}",
            check.stdout,
            check.stderr
        );
    }
    assert!(check.stdout.contains("1 tool") || check.stderr.contains("1 tool"), "{}", check.stderr);
}

/// A dump of lists by server has the same key, and stays a dump.
#[test]
fn a_dump_of_servers_is_no_configuration() {
    let place = folder(&[(
        "servers.json",
        r#"{"servers": {"one": {"command": "x", "tools": [{"name": "a", "description": "Does a.", "inputSchema": {"type": "object"}}]}}}"#,
    )]);
    assert_eq!(names(text(&place.path().join("servers.json"))), ["a"]);
}

/// A file with definitions starts nothing, whatever stands beside them, unless its name is that of a client's file.
#[test]
fn a_file_of_definitions_starts_no_server() {
    let entry = r#"{"mcpServers": {"one": {"command": "touch", "args": ["started"]}}, "tools": [{"name": "a", "description": "Does a.", "inputSchema": {"type": "object"}}]}"#;
    let place = folder(&[("dump.json", entry)]);
    assert_eq!(names(text(&place.path().join("dump.json"))), ["a"]);
    assert!(!place.path().join("started").exists());
    write(place.path(), "mcp.json", entry);
    run(&["check", text(&place.path().join("mcp.json"))]);
    assert!(place.path().join("started").exists(), "the configuration of a client is one by its name");
}
