//! `toolcrib doctor`: each server with what is wrong and what to do.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::Home;
use crate::fixture::text;

/// An HTTP server that refuses everybody.
fn refusing() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let _ = stream.read(&mut [0; 4096]);
            let _ = stream
                .write_all(b"HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
        }
    });
    format!("http://{address}/mcp")
}

#[test]
fn each_server_is_told_with_what_to_do() {
    let home = Home::new();
    let url = refusing();
    home.write(
        "toolcrib.toml",
        &format!(
            "[[source]]\nserver = 'shelf'\nmcp = {{ command = ['sh', 'SHELF'] }}\n\
             [[source]]\nserver = 'gone'\nmcp = {{ command = ['shh', 'x'] }}\n\
             [[source]]\nserver = 'unset'\nmcp = {{ command = ['sh'], env = {{ A = '${{NOT_SET_HERE}}' }} }}\n\
             [[source]]\nserver = 'ends'\nmcp = {{ command = ['sh', '-c', 'echo no license >&2; exit 1'] }}\n\
             [[source]]\nserver = 'hangs'\nmcp = {{ command = ['sleep', '100'], timeout_seconds = 1 }}\n\
             [[source]]\nserver = 'locked'\nmcp = {{ url = '{url}' }}\n"
        ),
    );
    let run = home.run(&["doctor", "--json", text(&home.at("toolcrib.toml"))]);
    assert_eq!(run.code, 1, "{}", run.stderr);
    let report: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(report["standing"], "named");
    let told = |server: &str| {
        report["servers"].as_array().unwrap().iter().find(|told| told["server"] == server).unwrap()
    };
    let shelf = told("shelf");
    assert!(shelf["ok"] == true && shelf["tools"] == 2 && shelf["tokens"].as_u64().unwrap() > 20, "{shelf}");
    for (server, what, help) in [
        ("gone", "the program `shh` is not found in PATH", "did you mean `s"),
        ("unset", "the environment variable NOT_SET_HERE is not set", "set NOT_SET_HERE"),
        ("ends", "no license", "last words"),
        ("hangs", "no answer within 1 second", "`timeout_seconds = 4`"),
        ("locked", "401", "headers = { Authorization = \"Bearer ${LOCKED_TOKEN}\" }"),
    ] {
        let told = told(server);
        assert_eq!(told["ok"], false, "{told}");
        assert!(told["problem"].as_str().unwrap().contains(what), "{told}");
        assert!(told["help"].as_str().unwrap().contains(help), "{told}");
    }
    let shown = home.run(&["doctor", text(&home.at("toolcrib.toml"))]);
    assert!(shown.code == 1 && shown.stdout.contains("1 of 6 servers well"), "{}", shown.stdout);
}

#[test]
fn a_configuration_that_was_found_starts_nothing() {
    let home = Home::new();
    home.write("toolcrib.toml", "[[source]]\nserver = 'x'\nmcp = { command = ['touch', 'started'] }\n");
    let run = home.started(&["doctor"]);
    assert!(run.code == 1 && run.stdout.contains("found and not named"), "{}", run.stdout);
    assert!(!home.at("started").exists());
    let run = home.started(&["doctor", "."]);
    assert!(run.stdout.contains("named") && home.at("started").exists(), "{}", run.stdout);
}

#[test]
fn a_clients_own_file_is_examined_as_it_is() {
    let home = Home::new();
    home.write(".cursor/mcp.json", r#"{"mcpServers": {"shelf": {"command": "sh", "args": ["SHELF"]}}}"#);
    let told = home.done(&["doctor", text(&home.at(".cursor/mcp.json"))]);
    assert!(told.contains("ok    shelf") && told.contains("2 tools"), "{told}");
}

/// A client's file with a syntax error: the error is reported with its place, not as a file without servers.
#[test]
fn a_client_file_that_cannot_be_read_is_named_with_its_mistake() {
    let home = Home::new();
    let broken =
        "{\n  \"mcpServers\": {\n    \"shelf\": { \"command\": \"sh\" }\n    \"other\": {}\n  }\n}\n";
    home.write(".cursor/mcp.json", broken);
    home.write("servers-of-mine.json", broken);
    for file in [".cursor/mcp.json", "servers-of-mine.json"] {
        let path = home.at(file);
        let run = home.run(&["doctor", text(&path)]);
        assert_eq!(run.code, 1, "{}", run.stdout);
        assert!(run.stdout.contains("json:4:5: not valid JSON"), "{}", run.stdout);
        let run = home.run(&["doctor", "--json", text(&path)]);
        let report: Value = serde_json::from_str(&run.stdout).unwrap();
        assert_eq!((run.code, &report["ok"]), (1, &Value::Bool(false)), "{report}");
        assert!(report["mistakes"][0].as_str().unwrap().contains(":4:5: "), "{report}");
        let run = home.run(&["adopt", text(&path)]);
        assert_eq!(run.code, 1, "{}", run.stderr);
        assert!(run.stderr.contains("json:4:5: not valid JSON"), "{}", run.stderr);
        assert!(run.stderr.contains("nothing was changed"), "{}", run.stderr);
        assert_eq!(home.read(file), broken);
    }
    let run = home.run(&["adopt", "cursor"]);
    assert!(run.code == 1 && run.stderr.contains("mcp.json:4:5: not valid JSON"), "{}", run.stderr);
}

/// A client's file whose servers are all disabled has no tools: the other files of its folder are not read.
#[test]
fn a_client_file_without_enabled_servers_reads_no_other_file() {
    let home = Home::new();
    home.write(".cursor/mcp.json", r#"{"mcpServers": {"off": {"command": "x", "disabled": true}}}"#);
    home.write(".cursor/tools.json", r#"[{"name": "lost", "inputSchema": {"type": "object"}}]"#);
    let run = home.run(&["check", text(&home.at(".cursor/mcp.json"))]);
    assert!(run.stderr.starts_with("0 tools: 0 errors"), "{}", run.stderr);
}

#[cfg(unix)]
#[test]
fn whoever_stops_waiting_leaves_no_server_behind() {
    let home = Home::new();
    // It ignores its end of input, and has a child.
    home.write(
        "toolcrib.toml",
        "[[source]]\nserver = 'hangs'\nmcp = { command = ['sh', '-c', 'sleep 600 & echo $! > child; wait'] }\n",
    );
    let mut waiting = home.command(&["doctor", "toolcrib.toml"]).spawn().unwrap();
    let began = Instant::now();
    let child = loop {
        match std::fs::read_to_string(home.at("child")) {
            Ok(child) if child.ends_with('\n') => break child.trim().to_string(),
            _ => assert!(began.elapsed() < Duration::from_secs(60), "it was never started"),
        }
        std::thread::sleep(Duration::from_millis(20));
    };
    let kill = |arguments: &[&str]| Command::new("kill").args(arguments).output().unwrap().status.success();
    assert!(kill(&["-s", "INT", &waiting.id().to_string()]));
    assert_eq!(waiting.wait().unwrap().code(), Some(130));
    // A killed process is gone once its parent has noticed.
    while kill(&["-0", &child]) {
        assert!(began.elapsed() < Duration::from_secs(60), "the server goes on");
        std::thread::sleep(Duration::from_millis(20));
    }
}
