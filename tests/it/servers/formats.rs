//! Settings of clients for their servers, beside a command: projects, files of variables, old transports.

use std::io::{BufRead, BufReader};

use serde_json::json;

use super::Home;
use crate::fixture::text;

/// Calls the tool that tells about its process.
#[track_caller]
fn told(home: &Home, file: &str, variables: &[(&str, &str)]) -> String {
    let mut command = home.command(&[
        "call",
        "tool_exec",
        r#"{"op": "shelf__put", "args": {"thing": "cup", "token": "t"}}"#,
        "--allow",
        "write",
        file,
    ]);
    let output = command.envs(variables.iter().copied()).output().unwrap();
    let answer = String::from_utf8(output.stdout).unwrap();
    assert!(answer.contains("done in"), "{answer}{}", String::from_utf8_lossy(&output.stderr));
    answer
}

#[test]
fn the_folder_of_a_project_is_around_the_folder_of_its_client() {
    let home = Home::new();
    std::fs::create_dir_all(home.at("project/bin")).unwrap();
    std::fs::copy(home.at("shelf.sh"), home.at("project/bin/shelf.sh")).unwrap();
    let place = std::fs::canonicalize(home.at("project")).unwrap();
    for (file, key) in
        [(".cursor/mcp.json", "mcpServers"), (".vscode/mcp.json", "servers"), (".mcp.json", "mcpServers")]
    {
        let entry = json!({key: {"shelf": {"type": "stdio", "command": "sh", "args": ["${workspaceFolder}/bin/shelf.sh"], "env": {"MODE": "${MODE_OF_OURS:-slow}"}}}});
        home.write(&format!("project/{file}"), &entry.to_string());
        // The path may be relative, and the server starts elsewhere.
        let file = format!("project/{file}");
        let answer = told(&home, &file, &[]);
        assert!(answer.contains(&format!("done in {} for slow", text(&place))), "{file}: {answer}");
        assert!(told(&home, &file, &[("MODE_OF_OURS", "fast")]).contains("for fast"), "{file}");
    }
}

#[test]
fn variables_come_from_a_file_and_the_servers_own_win() {
    let home = Home::new();
    home.write("p/.env", "# of the server\nexport KEY='12345'\nMODE=other\n");
    home.write("p/.vscode/mcp.json", r#"{"servers": {"shelf": {"command": "sh", "args": ["SHELF"], "envFile": "${workspaceFolder}/.env", "env": {"MODE": "own"}}}}"#);
    let answer = told(&home, "p/.vscode/mcp.json", &[]);
    assert!(answer.contains("for own, key length 5"), "{answer}");
    std::fs::remove_file(home.at("p/.env")).unwrap();
    let check = home.run(&["check", text(&home.at("p/.vscode/mcp.json"))]);
    assert!(
        check.stdout.contains("its `env_file`") && check.stdout.contains("cannot be read"),
        "{}",
        check.stdout
    );
}

#[test]
fn variables_and_headers_of_codex_come_from_the_environment() {
    let home = Home::new();
    home.write(
        ".codex/config.toml",
        "[mcp_servers.shelf]\ncommand = 'sh'\nargs = ['SHELF']\nenv_vars = ['KEY', { name = 'MODE', source = 'local' }]\n\
         [mcp_servers.far]\nurl = 'http://127.0.0.1:PORT/mcp'\nhttp_headers = { A = 'a' }\nenv_http_headers = { X-Own = 'OWN_HEADER' }\nbearer_token_env_var = 'OWN_TOKEN'\n",
    );
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let file =
        home.read(".codex/config.toml").replace("PORT", &listener.local_addr().unwrap().port().to_string());
    home.write(".codex/config.toml", &file);
    let asked = std::thread::spawn(move || {
        let (stream, _) = listener.accept().unwrap();
        let lines = BufReader::new(stream).lines().map_while(Result::ok);
        lines.take_while(|line| !line.is_empty()).collect::<Vec<_>>().join("\n").to_lowercase()
    });
    let variables =
        [("KEY", "1234567"), ("MODE", "ours"), ("OWN_HEADER", "own-header"), ("OWN_TOKEN", "own-token")];
    let answer = told(&home, ".codex/config.toml", &variables);
    assert!(answer.contains("for ours, key length 7"), "{answer}");
    let asked = asked.join().unwrap();
    for header in ["a: a", "x-own: own-header", "authorization: bearer own-token"] {
        assert!(asked.contains(header), "{header}: {asked}");
    }
}

#[test]
fn the_old_transport_is_a_finding_with_what_to_do() {
    let home = Home::new();
    home.write(".cursor/mcp.json", r#"{"mcpServers": {"old": {"type": "sse", "url": "http://127.0.0.1:1/sse"}, "shelf": {"command": "sh", "args": ["SHELF"]}}}"#);
    let check = home.run(&["check", text(&home.at(".cursor/mcp.json"))]);
    assert!(check.stdout.contains("the server `old`: it speaks HTTP with SSE"), "{}", check.stdout);
    assert!(check.stdout.contains("`/mcp` in place of `/sse`"), "{}", check.stdout);
    let adopted = home.done(&["adopt", "cursor"]);
    assert!(adopted.contains("left in the client's file: old (the server `old`: it speaks"), "{adopted}");
    assert!(home.read(".cursor/mcp.json").contains("127.0.0.1:1/sse"));
}

/// A tool that the client's file switches off is neither listed nor callable, also after `adopt`.
#[test]
fn tools_that_are_switched_off_stay_off() {
    let home = Home::new();
    for restriction in [r#""excludeTools": ["put"]"#, r#""disabledTools": ["put"]"#, r#""tools": ["look"]"#] {
        let entry = r#"{"mcpServers": {"shelf": {"command": "sh", "args": ["SHELF"], RESTRICTION}}}"#;
        home.write("any.json", &entry.replace("RESTRICTION", restriction));
        let mut lines =
            super::Lines::start(home.command(&["serve", "--stdio", "any.json", "--mode", "full"]));
        lines.wait_for(&["shelf__look"]);
        let answer = lines.call("shelf__put", json!({"thing": "cup", "token": "t"}));
        assert!(!answer.to_string().contains("done in"), "{restriction}: {answer}");
        let report = home.done(&["adopt", text(&home.at("any.json")), "--json"]);
        let report: serde_json::Value = serde_json::from_str(&report).unwrap();
        assert_eq!(
            (&report["moved"], &report["request"]["tools"]),
            (&json!(["shelf"]), &json!(1)),
            "{report}"
        );
        let configuration = report["configuration"].as_str().unwrap();
        let mut lines = super::Lines::start(home.command(&["serve", "--stdio", configuration]));
        lines.wait_for(&["shelf__look"]);
        let answer = lines.call("shelf__put", json!({"thing": "cup", "token": "t"}));
        assert!(!answer.to_string().contains("done in"), "{restriction}: {answer}");
        drop(lines);
        home.done(&["adopt", text(&home.at("any.json")), "--undo"]);
    }
    assert!(!home.at("shelf.sh.calls").exists());
}

#[test]
fn a_placeholder_that_only_the_client_knows_is_named() {
    let home = Home::new();
    home.write(
        "any.json",
        r#"{"mcpServers": {"shelf": {"command": "sh", "args": ["SHELF", "${command:pick}"]}}}"#,
    );
    let check = home.run(&["check", text(&home.at("any.json"))]);
    assert!(
        check.stdout.contains("only the client knows the value of `${command:pick}`"),
        "{}",
        check.stdout
    );
    assert!(check.stdout.contains("write the value itself"), "{}", check.stdout);
}
