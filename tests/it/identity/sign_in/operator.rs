//! An operator who signs in to a protected server; the test is the browser.

use std::io::{BufRead, BufReader, PipeWriter, Write, pipe};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use serde_json::{Value, json};
use tempfile::TempDir;

use super::client::Client;
use crate::fixture::{Pipe, Run, folder, in_thread, program, run_with, text};
use crate::identity::protected::Protected;
use crate::issuer::Issuer;

/// An operator with one server, its issuer, and a folder of state.
pub struct Operator {
    pub issuer: Arc<Issuer>,
    pub server: Protected,
    pub catalog: TempDir,
    pub state: Arc<TempDir>,
}

impl Operator {
    pub fn new(is_newer: bool, settings: &str) -> Self {
        Self::with_state(&Arc::new(tempfile::tempdir().unwrap()), is_newer, settings)
    }

    /// An operator with this folder of state.
    pub fn with_state(state: &Arc<TempDir>, is_newer: bool, settings: &str) -> Self {
        let issuer = Arc::new(Issuer::start());
        let server = Protected::start(&issuer, is_newer);
        let operator = Self { issuer, server, catalog: folder(&[]), state: Arc::clone(state) };
        operator.configure(settings);
        operator
    }

    /// Writes a configuration with these settings of the server's `auth`.
    pub fn configure(&self, settings: &str) {
        let (url, settings) = (&self.server.url, settings.replace("ISSUER", self.issuer.url()));
        let toml = format!(
            "[[source]]\nserver = 'hosted'\nmcp = {{ url = '{url}', timeout_seconds = 20, auth = {{ {settings} }} }}\n"
        );
        std::fs::write(self.catalog.path().join("toolcrib.toml"), toml).unwrap();
    }

    pub fn program(&self, arguments: &[&str]) -> std::process::Command {
        let mut command = program(&[arguments, &[text(self.catalog.path())]].concat());
        command.env("XDG_STATE_HOME", self.state.path());
        command
    }

    pub fn run(&self, arguments: &[&str]) -> Run {
        let arguments = [arguments, &[text(self.catalog.path())]].concat();
        run_with(&arguments, "", &[("XDG_STATE_HOME", text(self.state.path()))])
    }

    /// Signs in without a browser of the system: the test is the browser.
    #[track_caller]
    pub fn login(&self) -> Run {
        let mut login = Login::start(self);
        let page = browse(&login.address());
        let run = login.end();
        assert_eq!(run.code, 0, "{page} {} {}", run.stdout, run.stderr);
        assert!(page.contains("Signed in"), "{page}");
        run
    }

    /// Has the tools of the server remembered.
    pub fn remember(&self) {
        let mut client = Client::start(self);
        assert!(client.ask("tools/list", json!({})).to_string().contains("whoami"));
        let folder = self.state.path().join("toolcrib/servers");
        let is_kept = || {
            std::fs::read_dir(&folder).is_ok_and(|mut files| files.any(|file| is_list(&file.unwrap().path())))
        };
        until("the list is remembered", is_kept);
    }

    /// The envelope of a call.
    pub fn call(&self, tool: &str) -> Value {
        let call = json!({ "op": tool, "args": {} }).to_string();
        let run = self.run(&["call", "tool_exec", &call]);
        serde_json::from_str(&run.stdout).unwrap_or_else(|_| panic!("{} {}", run.stdout, run.stderr))
    }

    /// The file of the sign-in.
    pub fn file(&self) -> std::path::PathBuf {
        let folder = self.state.path().join("toolcrib/sign-ins");
        let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        let files: Vec<_> = files.filter(|file| file.extension().is_some_and(|end| end == "json")).collect();
        assert_eq!(files.len(), 1, "{files:?}");
        files[0].clone()
    }

    pub fn stored(&self) -> Value {
        serde_json::from_str(&std::fs::read_to_string(self.file()).unwrap()).unwrap()
    }

    /// Changes the file of the sign-in, as time would.
    pub fn change(&self, change: impl FnOnce(&mut Value)) {
        let mut stored = self.stored();
        change(&mut stored);
        std::fs::write(self.file(), stored.to_string()).unwrap();
    }

    /// Makes the token one that has ended.
    pub fn end_token(&self) {
        self.change(|stored| stored["received_at"] = 1.into());
    }
}

/// A running `toolcrib login --no-browser`.
pub struct Login {
    run: JoinHandle<i32>,
    stdin: PipeWriter,
    stdout: Pipe,
    notes: Receiver<String>,
    said: String,
}

impl Login {
    pub fn start(operator: &Operator) -> Self {
        let ((read, stdin), (stderr, written)) = (pipe().unwrap(), pipe().unwrap());
        let stdout = Pipe::default();
        let arguments = ["login", "hosted", "--no-browser", text(operator.catalog.path())];
        let variables = [("XDG_STATE_HOME", text(operator.state.path()))];
        let (_, run) = in_thread(&arguments, (read, stdout.clone(), written), &variables);
        let (sender, notes) = channel();
        let stderr = BufReader::new(stderr);
        std::thread::spawn(move || {
            for line in stderr.lines().map_while(Result::ok) {
                let _ = sender.send(line);
            }
        });
        Self { run, stdin, stdout, notes, said: String::new() }
    }

    /// The address to open in a browser.
    #[track_caller]
    pub fn address(&mut self) -> String {
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

    pub fn paste(&mut self, line: &str) {
        writeln!(self.stdin, "{line}").unwrap();
    }

    pub fn end(self) -> Run {
        let Self { run, stdin, stdout, notes, mut said } = self;
        let code = run.join().unwrap();
        drop(stdin);
        said.extend(notes.iter());
        Run { code, stdout: stdout.text(), stderr: said }
    }
}

pub fn is_list(file: &std::path::Path) -> bool {
    file.extension().is_some_and(|ending| ending == "tools")
}

#[track_caller]
pub fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let start = std::time::Instant::now();
    while !holds() {
        assert!(start.elapsed() < Duration::from_secs(60), "{what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

pub fn browser(redirects: bool) -> reqwest::blocking::Client {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let policy =
        if redirects { reqwest::redirect::Policy::limited(5) } else { reqwest::redirect::Policy::none() };
    reqwest::blocking::Client::builder().no_proxy().redirect(policy).build().unwrap()
}

/// The page at which a browser ends.
pub fn browse(address: &str) -> String {
    browser(true).get(address).send().unwrap().text().unwrap()
}

/// The address to which the issuer sends the browser.
pub fn sent_to(address: &str) -> String {
    let answer = browser(false).get(address).send().unwrap();
    answer.headers()["location"].to_str().unwrap().to_string()
}
