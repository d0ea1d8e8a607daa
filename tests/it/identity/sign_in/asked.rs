//! Clients that are asked to open an address, callers that are not, and the page about it.

use serde_json::json;

use super::client::Client;
use super::operator::{Operator, browse, browser};
use crate::fixture::{program, text};

#[test]
fn a_client_of_the_older_protocol_is_asked_to_open_an_address_and_its_call_goes_on() {
    let operator = Operator::new(false, "");
    operator.login();
    operator.remember();
    operator.run(&["login", "hosted", "--sign-out"]);
    let mut client = Client::with(&operator, json!({"elicitation": {"url": {}}}));
    let call = client.request("tools/call", json!({"name": "whoami", "arguments": {}}));
    let question = client.message();
    assert_eq!(question["method"], "elicitation/create", "{question}");
    assert_eq!(question["params"]["mode"], "url");
    assert!(browse(question["params"]["url"].as_str().unwrap()).contains("Signed in"));
    client.send(&json!({"jsonrpc": "2.0", "id": question["id"], "result": {"action": "accept"}}));
    let answer = client.message();
    assert!(answer["id"] == call && answer.to_string().contains("whoami for amy"), "{answer}");
    // A person who declines is not signed in.
    operator.run(&["login", "hosted", "--sign-out"]);
    let call = client.request("tools/call", json!({"name": "whoami", "arguments": {}}));
    let question = client.message();
    client.send(&json!({"jsonrpc": "2.0", "id": question["id"], "result": {"action": "decline"}}));
    let answer = client.message();
    assert!(answer["id"] == call && answer.to_string().contains("SIGN_IN_REQUIRED"), "{answer}");
}

#[test]
fn a_client_of_the_newer_protocol_gets_an_address_and_sends_its_call_again() {
    let operator = Operator::new(true, "");
    operator.login();
    operator.remember();
    operator.run(&["login", "hosted", "--sign-out"]);
    let mut client = Client::silent(&operator);
    let meta = json!({"io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {"elicitation": {"url": {}}}});
    let call = json!({"name": "whoami", "arguments": {}, "_meta": meta});
    let asked = client.ask("tools/call", call.clone());
    let asked = &asked["result"];
    assert_eq!(asked["resultType"], "input_required", "{asked}");
    let address = asked["inputRequests"]["sign-in"]["params"]["url"].as_str().unwrap();
    assert!(browse(address).contains("Signed in"));
    let mut again = call;
    again["inputResponses"] = json!({"sign-in": {"action": "accept"}});
    again["requestState"] = asked["requestState"].clone();
    let answer = client.ask("tools/call", again);
    assert!(answer.to_string().contains("whoami for amy"), "{answer}");
}

#[test]
fn callers_with_names_do_not_use_the_sign_in_of_the_operator_unless_it_is_shared() {
    let operator = Operator::new(true, "");
    operator.login();
    operator.remember();
    for (settings, is_let_in) in [("", false), ("shared = true", true)] {
        operator.configure(settings);
        let file = operator.catalog.path().join("toolcrib.toml");
        let tokens = "[[serve.token]]\nname = 'bob'\nenv = 'BOBS_TOKEN'\nroles = ['*']\n";
        std::fs::write(&file, std::fs::read_to_string(&file).unwrap() + tokens).unwrap();
        let server = crate::serve::Server::start(
            text(operator.catalog.path()),
            &[],
            &[("BOBS_TOKEN", "bobs-own-token-0123456789"), ("XDG_STATE_HOME", text(operator.state.path()))],
        );
        let call =
            browser(true).post(server.url("/v1/tools/whoami")).bearer_auth("bobs-own-token-0123456789");
        let answer =
            call.header("content-type", "application/json").body("{}").send().unwrap().text().unwrap();
        assert_eq!(answer.contains("whoami for amy"), is_let_in, "{answer}");
        assert_eq!(answer.contains("PERMISSION_DENIED"), !is_let_in, "{answer}");
    }
}

/// The section of docs/identity.md about one person, as its reader runs it.
#[test]
fn the_page_about_one_person_runs() {
    let page = std::fs::read_to_string(crate::fixture::package().join("docs/identity.md")).unwrap();
    let begin = page.find("## One person").unwrap();
    let section = &page[begin..begin + 3 + page[begin + 3..].find("\n## ").unwrap()];
    let blocks = |language: &str| -> Vec<String> {
        let fence = format!("```{language}\n");
        let parts = section.split(&fence).skip(1);
        parts.map(|part| part.split("```").next().unwrap().to_string()).collect()
    };
    let operator = Operator::new(true, "");
    let first = blocks("toml")[0].replace("https://api.example.com/mcp", &operator.server.url);
    std::fs::write(operator.catalog.path().join("toolcrib.toml"), first).unwrap();
    let second = operator.state.path().join("toolcrib.toml");
    std::fs::write(&second, &blocks("toml")[1]).unwrap();
    let second = toolcrib::config::read(&second);
    assert!(second.findings.is_empty(), "{:?}", second.findings);
    let browser = operator.state.path().join("browser");
    std::fs::write(&browser, "#!/bin/sh\nexec curl -sL \"$1\"\n").unwrap();
    #[cfg(unix)]
    std::fs::set_permissions(&browser, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let program = program(&[]);
    let folder = std::path::Path::new(program.get_program()).parent().unwrap();
    let path = format!("{}:{}", folder.display(), std::env::var_os("PATH").unwrap().display());
    let mut said = String::new();
    for command in blocks("sh").iter().flat_map(|block| block.lines()) {
        let mut shell = std::process::Command::new("sh");
        shell.args(["-c", command]).current_dir(operator.catalog.path()).env("PATH", &path);
        shell.env("XDG_STATE_HOME", operator.state.path()).env("BROWSER", &browser);
        let output = shell.env("TOOLCRIB_CATALOG", operator.catalog.path()).output().unwrap();
        assert!(output.status.success(), "{command}: {}", String::from_utf8_lossy(&output.stderr));
        said.push_str(&String::from_utf8_lossy(&output.stdout));
    }
    for expected in ["signed in at", "ok    github", "whoami for amy", "signed out of `github`"] {
        assert!(said.contains(expected), "{expected}: {said}");
    }
}
