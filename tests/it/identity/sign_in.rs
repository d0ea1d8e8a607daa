//! A person signs in to the servers behind toolcrib.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Stdio};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use serde_json::{Value, json};
use tempfile::TempDir;

use super::protected::Protected;
use crate::fixture::{Run, folder, program, text};
use crate::issuer::Issuer;

mod client;

use client::Client;

/// An operator with one server, its issuer, and a folder of state.
struct Operator {
    issuer: Arc<Issuer>,
    server: Protected,
    catalog: TempDir,
    state: TempDir,
}

impl Operator {
    fn new(is_newer: bool, settings: &str) -> Self {
        let issuer = Arc::new(Issuer::start());
        let server = Protected::start(&issuer, is_newer);
        let (catalog, state) = (folder(&[]), tempfile::tempdir().unwrap());
        let operator = Self { issuer, server, catalog, state };
        operator.configure(settings);
        operator
    }

    /// Writes a configuration with these settings of the server's `auth`.
    fn configure(&self, settings: &str) {
        let (url, settings) = (&self.server.url, settings.replace("ISSUER", self.issuer.url()));
        let toml = format!(
            "[[source]]\nserver = 'hosted'\nmcp = {{ url = '{url}', timeout_seconds = 20, auth = {{ {settings} }} }}\n"
        );
        std::fs::write(self.catalog.path().join("toolcrib.toml"), toml).unwrap();
    }

    fn program(&self, arguments: &[&str]) -> std::process::Command {
        let is_logout = arguments.first() == Some(&"logout");
        let catalog = ["--catalog", text(self.catalog.path())];
        let mut command = program(&[arguments, if is_logout { &[] } else { &catalog[..] }].concat());
        command.env("XDG_STATE_HOME", self.state.path());
        command
    }

    fn run(&self, arguments: &[&str]) -> Run {
        let output = self.program(arguments).output().unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        Run { code: output.status.code().unwrap(), stdout: text(output.stdout), stderr: text(output.stderr) }
    }

    /// Signs in without a browser of the system: the test is the browser.
    #[track_caller]
    fn login(&self) -> Run {
        let mut login = Login::start(self);
        let page = browse(&login.address());
        let run = login.end();
        assert_eq!(run.code, 0, "{page} {} {}", run.stdout, run.stderr);
        assert!(page.contains("Signed in"), "{page}");
        run
    }

    /// Has the tools of the server remembered.
    fn remember(&self) {
        let mut client = Client::start(self);
        assert!(client.ask("tools/list", json!({})).to_string().contains("whoami"));
        let folder = self.state.path().join("toolcrib/servers");
        let is_kept = || {
            std::fs::read_dir(&folder).is_ok_and(|mut files| files.any(|file| is_list(&file.unwrap().path())))
        };
        until("the list is remembered", is_kept);
    }

    /// The envelope of a call.
    fn call(&self, tool: &str) -> Value {
        let call = json!({ "op": tool, "args": {} }).to_string();
        let run = self.run(&["call", "tool_exec", &call]);
        serde_json::from_str(&run.stdout).unwrap_or_else(|_| panic!("{} {}", run.stdout, run.stderr))
    }

    /// The file of the sign-in.
    fn file(&self) -> std::path::PathBuf {
        let folder = self.state.path().join("toolcrib/sign-ins");
        let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        let files: Vec<_> = files.filter(|file| file.extension().is_some_and(|end| end == "json")).collect();
        assert_eq!(files.len(), 1, "{files:?}");
        files[0].clone()
    }

    fn stored(&self) -> Value {
        serde_json::from_str(&std::fs::read_to_string(self.file()).unwrap()).unwrap()
    }

    /// Changes the file of the sign-in, as time would.
    fn change(&self, change: impl FnOnce(&mut Value)) {
        let mut stored = self.stored();
        change(&mut stored);
        std::fs::write(self.file(), stored.to_string()).unwrap();
    }

    /// Makes the token one that has ended.
    fn end_token(&self) {
        self.change(|stored| stored["received_at"] = 1.into());
    }
}

/// A running `toolcrib login --no-browser`.
struct Login {
    child: Child,
    notes: Receiver<String>,
    said: String,
}

impl Login {
    fn start(operator: &Operator) -> Self {
        let mut command = operator.program(&["login", "hosted", "--no-browser"]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let (sender, notes) = channel();
        let stderr = BufReader::new(child.stderr.take().unwrap());
        std::thread::spawn(move || {
            for line in stderr.lines().map_while(Result::ok) {
                let _ = sender.send(line);
            }
        });
        Self { child, notes, said: String::new() }
    }

    /// The address to open in a browser.
    #[track_caller]
    fn address(&mut self) -> String {
        loop {
            let Ok(line) = self.notes.recv_timeout(Duration::from_secs(60)) else {
                panic!("no address: {}", self.said)
            };
            self.said.push_str(&line);
            if line.starts_with("http") {
                return line;
            }
        }
    }

    fn paste(&mut self, line: &str) {
        writeln!(self.child.stdin.as_mut().unwrap(), "{line}").unwrap();
    }

    fn end(self) -> Run {
        let Self { mut child, notes, mut said } = self;
        let stdin = child.stdin.take();
        let output = child.wait_with_output().unwrap();
        drop(stdin);
        said.extend(notes.iter());
        Run {
            code: output.status.code().unwrap(),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: said,
        }
    }
}

fn is_list(file: &std::path::Path) -> bool {
    file.extension().is_some_and(|ending| ending == "tools")
}

#[track_caller]
fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let start = std::time::Instant::now();
    while !holds() {
        assert!(start.elapsed() < Duration::from_secs(60), "{what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn browser(redirects: bool) -> reqwest::blocking::Client {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let policy =
        if redirects { reqwest::redirect::Policy::limited(5) } else { reqwest::redirect::Policy::none() };
    reqwest::blocking::Client::builder().no_proxy().redirect(policy).build().unwrap()
}

/// The page at which a browser ends.
fn browse(address: &str) -> String {
    browser(true).get(address).send().unwrap().text().unwrap()
}

/// The address to which the issuer sends the browser.
fn sent_to(address: &str) -> String {
    let answer = browser(false).get(address).send().unwrap();
    answer.headers()["location"].to_str().unwrap().to_string()
}

#[test]
fn a_sign_in_makes_a_protected_server_usable_in_either_protocol() {
    for is_newer in [true, false] {
        let operator = Operator::new(is_newer, "");
        let refused = operator.run(&["check"]);
        assert!(
            refused.stderr.contains("toolcrib login hosted")
                || refused.stdout.contains("toolcrib login hosted")
        );
        let run = operator.login();
        assert!(run.stdout.contains("signed in at"), "{}", run.stdout);
        assert_eq!(operator.call("whoami")["result"], "whoami for amy");
        let doctor = operator.run(&["doctor"]);
        assert!(doctor.stdout.contains("ok    hosted"), "{}", doctor.stdout);
        assert!(doctor.stdout.contains("and is prolonged by itself"), "{}", doctor.stdout);
    }
}

#[test]
fn tokens_lie_in_a_private_file_and_nowhere_else() {
    let operator = Operator::new(true, "");
    let login = operator.login();
    let tokens = operator.stored()["tokens"].clone();
    let (access, refresh) = (tokens["access"].as_str().unwrap(), tokens["refresh"].as_str().unwrap());
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        assert_eq!(operator.file().metadata().unwrap().mode() & 0o777, 0o600);
        assert_eq!(operator.file().parent().unwrap().metadata().unwrap().mode() & 0o777, 0o700);
    }
    let mut said = login.stdout + &login.stderr;
    for arguments in [&["doctor", "--json"][..], &["check", "--verbose"], &["doctor"]] {
        let run = operator.run(arguments);
        said.push_str(&format!("{}{}", run.stdout, run.stderr));
    }
    said.push_str(&operator.call("whoami").to_string());
    for secret in [access, refresh] {
        assert!(!said.contains(secret), "{said}");
        for entry in walk(operator.state.path()).into_iter().chain(walk(operator.catalog.path())) {
            let holds =
                std::fs::read(&entry).unwrap().windows(secret.len()).any(|part| part == secret.as_bytes());
            assert_eq!(holds, entry == operator.file(), "{}", entry.display());
        }
    }
}

fn walk(folder: &std::path::Path) -> Vec<std::path::PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { walk(&path) } else { vec![path] }).collect()
}

#[test]
fn a_server_without_a_sign_in_says_what_to_do() {
    let operator = Operator::new(true, "");
    operator.login();
    operator.remember();
    assert_eq!(operator.run(&["logout", "hosted"]).code, 0);
    let mut client = Client::start(&operator);
    let listed = client.ask("tools/list", json!({}));
    assert!(listed.to_string().contains("whoami"), "its remembered tools stay in the list: {listed}");
    let answer = client.ask("tools/call", json!({"name": "whoami", "arguments": {}}));
    let text = answer["result"]["content"][0]["text"].as_str().unwrap_or_default();
    assert_eq!(answer["result"]["isError"], true, "{answer}");
    assert!(text.contains("SIGN_IN_REQUIRED") && text.contains("toolcrib login hosted"), "{answer}");
    // The program that serves takes the sign-in of another one at once.
    operator.login();
    let answer = client.ask("tools/call", json!({"name": "whoami", "arguments": {}}));
    assert!(answer.to_string().contains("whoami for amy"), "{answer}");
}

#[test]
fn a_token_that_is_soon_to_end_is_refreshed_first() {
    let operator = Operator::new(true, "");
    operator.login();
    let before = operator.stored();
    operator.end_token();
    assert_eq!(operator.call("whoami")["result"], "whoami for amy");
    let after = operator.stored();
    assert_ne!(before["tokens"]["access"], after["tokens"]["access"]);
    assert_ne!(before["tokens"]["refresh"], after["tokens"]["refresh"]);
    let grants = operator.issuer.received("/token");
    assert!(grants[1].contains("grant_type=refresh_token") && grants[1].contains("resource="), "{grants:?}");
}

#[test]
fn many_processes_refresh_a_rotating_token_once() {
    let operator = Operator::new(true, "");
    operator.login();
    operator.call("whoami");
    operator.issuer.behave(|issuer| issuer.delay_ms = 50);
    operator.end_token();
    let before = operator.issuer.requests("/token");
    std::thread::scope(|scope| {
        let calls: Vec<_> = (0..4).map(|_| scope.spawn(|| operator.call("whoami"))).collect();
        for call in calls {
            assert_eq!(call.join().unwrap()["result"], "whoami for amy");
        }
    });
    assert_eq!(operator.issuer.requests("/token") - before, 1);
}

#[test]
fn a_token_that_the_server_refuses_is_refreshed_once() {
    let operator = Operator::new(false, "");
    operator.login();
    operator.change(|stored| stored["tokens"]["access"] = "revoked-access-token".into());
    assert_eq!(operator.call("whoami")["result"], "whoami for amy");
    assert_eq!(operator.issuer.requests("/token"), 2);
}

#[test]
fn a_refused_refresh_ends_the_sign_in_and_a_dead_issuer_does_not() {
    let operator = Operator::new(true, "");
    operator.login();
    operator.remember();
    operator.end_token();
    operator.issuer.behave(|issuer| issuer.is_dead = true);
    let answer = operator.call("whoami");
    assert_ne!(answer["error"]["code"], "SIGN_IN_REQUIRED", "{answer}");
    operator.issuer.behave(|issuer| issuer.is_dead = false);
    assert_eq!(operator.call("whoami")["result"], "whoami for amy");
    operator.end_token();
    operator.issuer.behave(|issuer| issuer.refuses_refresh = true);
    let mut client = Client::start(&operator);
    let answer = client.ask("tools/call", json!({"name": "whoami", "arguments": {}}));
    assert!(answer.to_string().contains("SIGN_IN_REQUIRED"), "{answer}");
    assert!(operator.stored().get("tokens").is_none());
    let doctor = operator.run(&["doctor"]);
    assert!(doctor.stdout.contains("it has ended"), "{}", doctor.stdout);
}

#[test]
fn a_refresh_token_goes_to_its_own_issuer_alone() {
    let operator = Operator::new(true, "");
    operator.login();
    operator.end_token();
    operator.change(|stored| stored["issuer"] = "https://other.example".into());
    operator.call("whoami");
    assert_eq!(operator.issuer.requests("/token"), 1);
}

#[test]
fn a_sign_in_to_one_address_is_not_used_at_another() {
    let operator = Operator::new(true, "");
    operator.login();
    let other = Protected::start(&operator.issuer, true);
    let toml = format!("[[source]]\nserver = 'hosted'\nmcp = {{ url = '{}' }}\n", other.url);
    std::fs::write(operator.catalog.path().join("toolcrib.toml"), toml).unwrap();
    let run = operator.run(&["check"]);
    assert!((run.stdout + &run.stderr).contains("it wants a token"));
    assert_eq!(other.let_in(), 0);
}

#[test]
fn more_scopes_are_asked_for_at_the_next_sign_in() {
    let operator = Operator::new(true, "");
    operator.login();
    let mut client = Client::start(&operator);
    assert!(client.ask("tools/list", json!({})).to_string().contains("whoami"));
    let refused = client.ask("tools/call", json!({"name": "admin", "arguments": {}})).to_string();
    assert!(refused.contains("SIGN_IN_REQUIRED") && refused.contains("tools:admin"), "{refused}");
    operator.login();
    let asked = operator.issuer.received("/authorize").pop().unwrap();
    assert!(asked.contains("tools%3Aread") && asked.contains("tools%3Aadmin"), "{asked}");
    let answer = client.ask("tools/call", json!({"name": "admin", "arguments": {}}));
    assert!(answer.to_string().contains("admin for amy"), "{answer}");
}

#[test]
fn a_sign_in_asks_with_pkce_and_the_exact_resource() {
    let operator = Operator::new(true, "");
    operator.login();
    let asked = operator.issuer.received("/authorize").pop().unwrap();
    let field = |name: &str| {
        let mut fields = form_urlencoded::parse(asked.as_bytes());
        fields.find(|(key, _)| key == name).map(|(_, value)| value.into_owned()).unwrap_or_default()
    };
    assert_eq!(field("code_challenge_method"), "S256");
    assert_eq!(field("resource"), operator.server.url);
    assert_eq!(field("scope"), "tools:read offline_access");
    assert!(field("redirect_uri").starts_with("http://127.0.0.1:"));
}

#[test]
fn a_client_is_the_configured_one_else_a_document_else_registered() {
    let operator =
        Operator::new(true, "client_id = 'ours', client_secret = '${OUR_SECRET}', redirect_port = 0");
    let refused = operator.run(&["login", "hosted"]);
    assert!(
        refused.stderr.contains("redirect_port") || refused.stderr.contains("OUR_SECRET"),
        "{}",
        refused.stderr
    );
    operator.configure("client_metadata_url = 'https://tools.example.com/client.json'");
    operator.login();
    assert_eq!(operator.stored()["client_id"], "https://tools.example.com/client.json");
    assert_eq!(operator.issuer.requests("/register"), 0);
    operator.issuer.behave(|issuer| issuer.takes_metadata_documents = false);
    operator.login();
    assert_eq!(operator.issuer.requests("/register"), 1);
    operator.issuer.behave(|issuer| issuer.registers_clients = false);
    operator.configure("");
    let run = operator.run(&["login", "hosted", "--no-browser"]);
    assert!(run.code == 1 && run.stderr.contains("client_id"), "{}", run.stderr);
}

#[test]
fn an_address_that_was_pasted_ends_a_sign_in_and_a_foreign_one_does_not() {
    let operator = Operator::new(true, "");
    let mut login = Login::start(&operator);
    let ended_at = sent_to(&login.address());
    login.paste("http://127.0.0.1:1/callback?code=stolen&state=foreign");
    login.paste(&ended_at);
    let run = login.end();
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert!(run.stderr.contains("belongs to another sign-in"), "{}", run.stderr);
    assert!(!operator.issuer.received("/token").iter().any(|form| form.contains("stolen")));
    assert_eq!(operator.call("whoami")["result"], "whoami for amy");
}

#[test]
fn a_code_of_another_sign_in_or_issuer_is_never_sent() {
    let operator = Operator::new(true, "");
    let mut login = Login::start(&operator);
    let address = login.address();
    let back = sent_to(&address);
    // Login CSRF and code injection: another state, no state, two codes.
    let (at, query) = back.split_once('?').unwrap();
    for foreign in ["code=stolen", "code=stolen&state=x", &format!("{query}&code=stolen")] {
        let page = browse(&format!("{at}?{foreign}"));
        assert!(page.contains("Not this sign-in") && !page.contains("stolen"), "{page}");
    }
    // Mix-up: the answer of another issuer.
    let mixed_up = back.replace("&iss=", "&iss=https%3A%2F%2Fevil.example%2F&was=");
    let page = browse(&mixed_up);
    assert!(page.contains("Not signed in"), "{page}");
    let run = login.end();
    assert_eq!(run.code, 1, "{}", run.stderr);
    assert_eq!(operator.issuer.requests("/token"), 0);
}

#[test]
fn a_refusal_of_the_person_is_told() {
    let operator = Operator::new(true, "");
    operator.issuer.behave(|issuer| issuer.agrees = false);
    let mut login = Login::start(&operator);
    let page = browse(&login.address());
    let run = login.end();
    assert!(
        page.contains("access_denied") && run.code == 1 && run.stderr.contains("access_denied"),
        "{}",
        run.stderr
    );
}

#[test]
fn an_issuer_that_is_not_the_configured_one_is_refused() {
    let operator = Operator::new(true, "issuer = 'https://login.example.com/'");
    let run = operator.run(&["login", "hosted", "--no-browser"]);
    assert!(run.code == 1 && run.stderr.contains("login.example.com"), "{}", run.stderr);
    assert_eq!(operator.issuer.requests("/authorize"), 0);
    operator.configure("issuer = 'ISSUER'");
    operator.login();
}

#[test]
fn a_metadata_of_another_issuer_and_a_redirected_token_request_are_refused() {
    let operator = Operator::new(true, "");
    operator.issuer.behave(|issuer| issuer.claims_issuer = Some("https://evil.example".into()));
    let run = operator.run(&["login", "hosted", "--no-browser"]);
    assert!(run.code == 1 && run.stderr.contains("issuer mismatch"), "{}", run.stderr);
    let elsewhere = Issuer::start();
    operator.issuer.behave(|issuer| {
        issuer.claims_issuer = None;
        issuer.redirects_token_to = Some(format!("{}/token", elsewhere.url()));
    });
    let mut login = Login::start(&operator);
    let page = browse(&login.address());
    assert!(page.contains("Not signed in") && login.end().code == 1, "{page}");
    assert_eq!(elsewhere.requests("/token"), 0);
}

#[test]
fn a_logout_revokes_and_removes_the_tokens() {
    let operator = Operator::new(true, "");
    operator.login();
    let refresh = operator.stored()["tokens"]["refresh"].as_str().unwrap().to_string();
    let run = operator.run(&["logout", "hosted"]);
    assert!(run.code == 0 && run.stdout.contains("signed out"), "{}", run.stderr);
    let revoked = operator.issuer.received("/revoke");
    assert!(revoked[0].contains(&refresh), "{revoked:?}");
    let again = operator.run(&["logout", "hosted"]);
    assert!(again.code == 1 && again.stderr.contains("not signed in"), "{}", again.stderr);
    assert!(operator.run(&["login", "hostet"]).stderr.contains("did you mean `hosted`"));
}

#[test]
fn the_browser_of_the_variable_is_opened() {
    let operator = Operator::new(true, "");
    let note = operator.state.path().join("opened");
    let script = operator.state.path().join("browser");
    let text = format!("#!/bin/sh\nprintf '%s' \"$1\" > '{0}.part' && mv '{0}.part' '{0}'\n", note.display());
    std::fs::write(&script, text).unwrap();
    #[cfg(unix)]
    std::fs::set_permissions(&script, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let mut login = operator.program(&["login", "hosted"]);
    let login =
        login.env("BROWSER", &script).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let login = login.spawn().unwrap();
    until("a browser is opened", || note.exists());
    assert!(browse(&std::fs::read_to_string(&note).unwrap()).contains("Signed in"));
    assert!(login.wait_with_output().unwrap().status.success());
}
