//! Live MCP servers as sources, against real servers in both eras of the protocol, over stdio and HTTP.
#![cfg(unix)]

use std::cell::RefCell;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;
use toolcrib::catalog::{self, Checked};
use toolcrib::config;
use toolcrib::credentials::Credentials;
use toolcrib::mcp::{Environment, ServerProblem, examine, list_all};

use crate::fixture::{codes, folder, run, run_with, text, tree, write};
use server::{Era, Http, stdio};

mod client;
mod connections;
mod follow;
mod offered;
mod passthrough;
mod server;
mod through;

/// A catalog with a file, and a live server with this `mcp` table.
fn catalog(mcp: &str) -> TempDir {
    let root = folder(&[("a.json", &super::watch::tool("a"))]);
    configure(root.path(), mcp);
    root
}

fn configure(root: &Path, mcp: &str) {
    let toml = format!("[[source]]\nserver = 'sky'\nmcp = {mcp}\n[[source]]\npath = 'a.json'\n");
    write(root, "toolcrib.toml", &toml);
}

fn credentials() -> Arc<Credentials> {
    Arc::new(Credentials::new(environment()))
}

fn environment() -> Environment {
    Environment::new(|name| match name {
        "TOKEN" => Some("s3cr3t-token".into()),
        "PATH" => std::env::var_os("PATH").map(|path| path.into_string().unwrap()),
        _ => None,
    })
}

fn open(root: &Path) -> Checked {
    let workspace = config::read(root);
    let listings = list_all(&workspace, &credentials(), None, &|_| ());
    catalog::open_with(workspace, &listings)
}

fn names(checked: &Checked) -> Vec<&str> {
    checked.catalog.tools.iter().map(|tool| tool.names.canonical.as_str()).collect()
}

#[track_caller]
fn check_lists(root: &Path) {
    let checked = open(root);
    assert_eq!(names(&checked), ["x", "y", "z", "a"], "{:#?}", checked.findings);
    assert!(!checked.lost_input());
    let tool = &checked.catalog.tools[0];
    assert_eq!((tool.origin.server.as_deref(), tool.origin.place.file.as_str()), (Some("sky"), "mcp:sky"));
    let schema = tool.input.schema.as_ref().unwrap().text().to_string();
    assert!(schema.find("zeta") < schema.find("alpha"), "{schema}");
}

/// Checks that a server gives no tools, with the reason, and that all other tools are there.
#[track_caller]
fn check_lost(mcp: &str, why: &str) {
    let root = catalog(mcp);
    let start = Instant::now();
    let checked = open(root.path());
    assert_eq!(names(&checked), ["a"]);
    assert!(checked.lost_input());
    let finding =
        checked.findings.iter().find(|finding| finding.code.as_str() == "source-unreachable").unwrap();
    assert!(finding.message.contains(why), "{}", finding.message);
    assert!(!finding.message.contains("s3cr3t"), "{}", finding.message);
    assert_eq!(finding.place.as_ref().unwrap().line, Some(3));
    assert!(start.elapsed() < Duration::from_secs(40), "{:?}", start.elapsed());
}

#[test]
fn all_pages_are_listed_over_stdio_and_http_in_both_eras() {
    for era in [Era::Older, Era::Old, Era::New] {
        let http = Http::start(era, &["x", "y", "z"]);
        check_lists(catalog(&format!("{{ url = '{}' }}", http.url)).path());
        let list = folder(&[("list", "x\ny\nz\n")]);
        check_lists(catalog(&stdio(era, &list.path().join("list"))).path());
    }
}

#[test]
fn a_definition_with_a_key_twice_has_the_last_one_and_a_finding() {
    const SERVER: &str = r#"while read -r line; do
      id=$(printf '%s' "$line" | sed -n 's/.*"id":\([0-9]*\).*/\1/p')
      say() { printf '{"jsonrpc":"2.0","id":%s,%s}\n' "$id" "$1"; }
      case $line in
        *'"initialize"'*) say '"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}' ;;
        *'"tools/list"'*) say '"result":{"tools":[{"name":"x","description":"A.","description":"B.","inputSchema":{"type":"object"}}]}' ;;
        *'"id"'*) say '"error":{"code":-32601,"message":"no such method"}' ;;
      esac
    done"#;
    let root = folder(&[("server.sh", SERVER)]);
    let catalog = catalog(&format!("{{ command = ['sh', '{}'] }}", text(&root.path().join("server.sh"))));
    let checked = open(catalog.path());
    assert_eq!(names(&checked), ["x", "a"]);
    assert_eq!(checked.catalog.tools[0].texts.description, "B.");
    let found: Vec<&str> = checked.findings.definitions().map(|finding| finding.message.as_str()).collect();
    assert!(matches!(found[..], [said] if said.contains("\"description\" is there twice")), "{found:?}");
}

/// The SDK says only in its words at which message the connection ended.
#[test]
fn a_server_that_ends_at_the_first_question_of_the_newer_protocol_is_asked_in_the_older_one() {
    const SERVER: &str = r#"while read -r line; do
      id=$(printf '%s' "$line" | sed -n 's/.*"id":\([0-9]*\).*/\1/p')
      say() { printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$id" "$1"; }
      case $line in
        *'server/discover'*) exit ;;
        *'"initialize"'*) say '{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}' ;;
        *'"tools/list"'*) say '{"tools":[{"name":"x","description":"A.","inputSchema":{"type":"object"}}]}' ;;
      esac
    done"#;
    let root = folder(&[("server.sh", SERVER)]);
    let catalog = catalog(&format!("{{ command = ['sh', '{}'] }}", text(&root.path().join("server.sh"))));
    assert_eq!(names(&open(catalog.path())), ["x", "a"]);
}

#[test]
fn a_server_without_a_configured_name_has_its_own() {
    let http = Http::start(Era::New, &["x"]);
    let root = folder(&[("toolcrib.toml", &format!("[[source]]\nmcp.url = '{}'\n", http.url))]);
    let checked = open(root.path());
    let tool = &checked.catalog.tools[0];
    assert_eq!((tool.origin.server.as_deref(), tool.origin.place.file.as_str()), (Some("weather"), "mcp:1"));
}

#[test]
fn a_server_that_cannot_be_used_is_a_finding_and_takes_nothing_else_along() {
    check_lost("{ command = ['/no/such/program'] }", "cannot be run");
    check_lost("{ command = ['sh', '-c', 'echo no key >&2; exit 1'] }", "no key");
    check_lost("{ command = ['sleep', '60'], timeout_seconds = 1 }", "no answer within 1 second");
    let rubbish =
        "{ command = ['sh', '-c', 'while :; do echo rubbish; sleep 0.01; done'], timeout_seconds = 1 }";
    check_lost(rubbish, "no answer within 1 second");
    let flood = "{ command = ['sh', '-c', 'yes x | tr -d \"\\\\n\"'], timeout_seconds = 60 }";
    check_lost(flood, "it wrote over 4 MiB to stdout that are no message");
    check_lost("{ url = 'http://127.0.0.1:9/mcp' }", "no connection");
    check_lost("{ command = ['sh'], env = { A = '${NOT_SET}' } }", "variable NOT_SET is not set");
    let tells = "{ command = ['sh', '-c', 'echo key $A is wrong >&2; exit 1'], env = { A = 'x${TOKEN}' } }";
    check_lost(tells, "key x[redacted] is wrong");
}

#[test]
fn a_list_without_an_end_is_given_up() {
    let http = Http::start(Era::New, &["endless"]);
    check_lost(&format!("{{ url = '{}' }}", http.url), "its list has no end");
}

#[test]
fn a_server_in_the_way_of_http_is_told_apart() {
    let http = Http::start(Era::New, &["x"]);
    check_lost(&format!("{{ url = '{}/nowhere' }}", http.url), "404");
}

/// Answers every request with this status.
fn refusing(status: &'static str) -> String {
    use std::io::{Read, Write};
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for mut stream in listener.incoming().map_while(Result::ok) {
            let _ = stream.read(&mut [0; 65536]);
            let _ = write!(stream, "HTTP/1.1 {status}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
        }
    });
    url
}

#[test]
fn a_server_that_wants_a_token_says_which_line_to_add() {
    for (status, why) in [
        ("401 Unauthorized", "it wants a token: it answered 401"),
        ("401 Unauthorized\r\nwww-authenticate: Bearer", "it wants a token: it answered 401"),
        ("403 Forbidden", "it wants a token: it answered 403"),
    ] {
        let mcp = format!("{{ url = '{}' }}", refusing(status));
        check_lost(&mcp, why);
        check_lost(&mcp, "headers = { Authorization = \"Bearer ${NAME}\" }");
        let root = catalog(&mcp);
        let (examined, _) = examine(&config::read(root.path()), &credentials(), None, &|_| ());
        let problem = examined[0].outcome.as_ref().unwrap_err();
        assert!(
            matches!(problem, ServerProblem::WantsToken(..)) && examined[0].endpoint.transport() == "http",
            "{examined:?}"
        );
    }
}

#[test]
fn a_wrong_table_is_a_wrong_configuration() {
    for mcp in ["{}", "{ command = ['x'], url = 'http://x' }", "{ url = 'ftp://x' }", "{ command = [''] }"] {
        let root = catalog(mcp);
        let checked = open(root.path());
        assert_eq!(codes(&checked)[0].0, "config-invalid", "{mcp}");
        assert_eq!(names(&checked), ["a"]);
    }
    let root =
        folder(&[("a.json", &super::watch::tool("a")), ("toolcrib.toml", "[[source]]\nserver = 'x'\n")]);
    assert_eq!(codes(&open(root.path()))[0].0, "config-invalid");
}

#[test]
fn a_command_gets_what_is_configured_and_leaves_nothing_behind() {
    let seen = folder(&[]);
    let at = |name: &str| seen.path().join(name).display().to_string();
    let script = format!("env > {}; sleep 47 & echo $! > {}; sleep 60", at("env"), at("pid"));
    let mcp = format!(
        "{{ command = ['sh', '-c', '{script}'], env = {{ KEY = 'b ${{TOKEN}}' }}, timeout_seconds = 1 }}"
    );
    let root = catalog(&mcp);
    open(root.path());
    let env = std::fs::read_to_string(at("env")).unwrap();
    assert!(
        env.contains("KEY=b s3cr3t-token\n") && !env.contains("\nTOKEN=") && !env.contains("CARGO"),
        "{env}"
    );
    let pid = std::fs::read_to_string(at("pid")).unwrap();
    let status = std::process::Command::new("kill").args(["-0", pid.trim()]).status().unwrap();
    // A process that nobody has waited for yet still has its number.
    let state = std::fs::read_to_string(format!("/proc/{}/stat", pid.trim())).unwrap_or_default();
    assert!(!status.success() || state.contains(") Z"), "it still runs: {state}");
}

#[test]
fn the_program_lists_servers_unless_it_is_offline() {
    let mut http = Http::start(Era::New, &["x", "y"]);
    let root = catalog(&format!(
        "{{ url = '{}', headers = {{ Authorization = 'Bearer ${{TEST_TOKEN}}' }} }}",
        http.url
    ));
    let out = root.path().join("tools");
    let render = ["render", text(root.path()), "--out", text(&out)];
    let token = [("TEST_TOKEN", "s3cr3t")];
    let good = run_with(&render, "", &token);
    assert_eq!(good.code, 0, "{}", good.stderr);
    let docs = tree(&out);
    assert!(docs.contains_key("x.md") && docs.contains_key("a.md"));

    let offline = run(&["check", text(root.path()), "--offline"]);
    assert_eq!(offline.code, 1);
    assert!(offline.stdout.contains("source-unreachable") && offline.stdout.contains("not contacted"));

    http.go_away();
    let bad = run_with(&render, "", &token);
    assert_eq!(bad.code, 1);
    assert!(bad.stderr.contains("no connection") && !bad.stderr.contains("s3cr3t"), "{}", bad.stderr);
    for name in ["x.md", "y.md", "README.md", "registry.json"] {
        assert!(tree(&out)[name] == docs[name], "{name} of a server that is away stays as it is");
    }
}

#[test]
fn a_wait_names_the_servers_that_have_not_answered() {
    let config = "[[source]]\nserver = 'sky'\nmcp = {command = ['false']}\n[[source]]\nmcp = {command = ['true', '7']}\n";
    let folder = folder(&[("toolcrib.toml", config)]);
    let told = RefCell::new(Vec::new());
    list_all(&config::read(folder.path()), &credentials(), None, &|names| {
        told.borrow_mut().push(names.join(", "))
    });
    let told = told.into_inner();
    assert_eq!((told.len(), told[0].as_str(), told[2].as_str()), (3, "sky, true 7", ""), "{told:?}");
}

#[test]
#[ignore = "slow"]
fn a_server_that_does_one_thing_at_a_time_may_take_long_for_it() {
    // It is asked for its list meanwhile, and answers that only after the call.
    let script = r#"answer() { echo '{"jsonrpc":"2.0","id":'$id',"result":'"$1"'}'; }
note() { echo '{"jsonrpc":"2.0","method":"notifications/'"$1"'","params":{'"$2"'}}'; }
number() { printf '%s' "$line" | sed -n 's/.*"'"$1"'":\([0-9]*\).*/\1/p'; }
while read -r line; do id=$(number id); case "$line" in
*'"initialize"'*) answer '{"protocolVersion":"2025-06-18","capabilities":{"tools":{"listChanged":true}},"serverInfo":{"name":"x","version":"1"}}';;
*tools/list*) answer '{"tools":[{"name":"count_trees","description":"Counts.","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":true}}]}';;
*tools/call*) token=$(number progressToken); call=$id; note tools/list_changed
for n in $(seq 14); do sleep 0.4; note progress '"progressToken":'$token',"progress":'$n; done; id=$call; answer '{"content":[{"type":"text","text":"all trees"}]}';;
*'"id"'*) echo '{"jsonrpc":"2.0","id":'$id',"error":{"code":-32601,"message":"no"}}';; esac; done"#;
    let root = folder(&[("server.sh", script)]);
    let command = format!("['sh', '{}']", text(&root.path().join("server.sh")));
    let toml = format!("[[source]]\nserver = 'sky'\nmcp = {{ command = {command}, timeout_seconds = 2 }}\n");
    write(root.path(), "toolcrib.toml", &toml);
    let told = run(&["call", "tool_exec", r#"{"op": "count_trees"}"#, text(root.path())]);
    assert!(told.stdout.contains("all trees"), "{} {}", told.stdout, told.stderr);
}

#[test]
fn annotations_that_the_protocol_does_not_name_are_listed_as_the_server_has_them() {
    let annotations = json!({"readOnlyHint": true, "title": "T", "category": "beds", "cost": 1.5, "more": {"a": [1, null]}, "none": null});
    let script = r#"while read -r line; do id=$(printf '%s' "$line" | sed -n 's/.*"id":\([0-9]*\).*/\1/p'); case "$line" in
*'"initialize"'*) echo '{"jsonrpc":"2.0","id":'$id',"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"x","version":"1"}}}';;
*tools/list*) echo '{"jsonrpc":"2.0","id":'$id',"result":{"tools":[{"name":"get_plain","inputSchema":{"type":"object"}},{"name":"get_bed","inputSchema":{"type":"object"},"annotations":ANNOTATIONS}]}}';;
*'"id"'*) echo '{"jsonrpc":"2.0","id":'$id',"error":{"code":-32601,"message":"no"}}';; esac; done"#;
    let mut sent = annotations.clone();
    sent["steers"] = json!(["read-only\u{202e}"]);
    let root = folder(&[("server.sh", &script.replace("ANNOTATIONS", &sent.to_string()))]);
    let command = format!("['sh', '{}']", text(&root.path().join("server.sh")));
    write(
        root.path(),
        "toolcrib.toml",
        &format!("[[source]]\nserver = 'sky'\nmcp = {{ command = {command} }}\n"),
    );
    let state = folder(&[]);
    let (mut client, _) = through::Client::connected(root.path(), state.path(), &["--mode", "full"]);
    let listed = client.ask("tools/list", json!({}));
    let tools = listed["result"]["tools"].as_array().unwrap();
    let given =
        |name: &str| tools.iter().find(|tool| tool["name"] == name).map(|tool| tool["annotations"].clone());
    assert_eq!((given("get_bed"), given("get_plain")), (Some(annotations), Some(Value::Null)), "{listed}");
}
