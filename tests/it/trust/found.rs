//! A toolcrib.toml that was merely found is read as with --offline, until its folder is trusted.

use std::fs::Permissions;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

use serde_json::{Value, json};
use tempfile::TempDir;

use super::{CANARY, TRUSTED, definitions};
use crate::fixture::{Run, folder, program, text, write};

/// A folder of a user with a home of their own.
struct Place {
    root: TempDir,
    home: TempDir,
}

impl Place {
    fn with(toml: &str) -> Self {
        let own = "#!/bin/sh\necho ran >> ran\necho own\n";
        let root = folder(&[
            ("toolcrib.toml", toml),
            ("w.json", &definitions("weather")),
            ("own.sh", own),
            ("hook.sh", ""),
        ]);
        std::fs::set_permissions(root.path().join("own.sh"), Permissions::from_mode(0o755)).unwrap();
        Self { root, home: tempfile::tempdir().unwrap() }
    }

    fn command(&self, arguments: &[&str]) -> std::process::Command {
        let mut command = program(arguments);
        command.current_dir(self.root.path()).env("HOME", self.home.path()).env("TOKEN_OF_OURS", CANARY);
        command.env_remove("XDG_STATE_HOME").env_remove("XDG_CONFIG_HOME");
        command
    }

    fn run(&self, arguments: &[&str]) -> Run {
        let output = self.command(arguments).output().unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        Run { code: output.status.code().unwrap(), stdout: text(output.stdout), stderr: text(output.stderr) }
    }

    /// Calls the tool without naming a catalog.
    fn call(&self) -> (Value, String) {
        let run = self.run(&["call", "tool_exec", r#"{"op": "weather", "args": {}}"#]);
        (serde_json::from_str(&run.stdout).unwrap(), run.stderr)
    }

    #[track_caller]
    fn check_is_refused(&self, why: &str) {
        let _ = std::fs::remove_file(self.root.path().join("ran"));
        let (answer, stderr) = self.call();
        assert_eq!(answer["error"]["code"], "NO_BACKEND", "{answer}");
        assert_eq!(stderr.matches("toolcrib.toml was merely found").count(), 1, "{stderr}");
        assert!(stderr.contains(why) && stderr.contains("toolcrib trust ."), "{why}: {stderr}");
        assert!(!self.root.path().join("ran").exists());
    }

    #[track_caller]
    fn check_runs(&self) {
        let (answer, stderr) = self.call();
        assert_eq!(answer["ok"], true, "{answer} {stderr}");
        assert!(!stderr.contains("merely found"), "{stderr}");
    }

    #[track_caller]
    fn trust(&self) -> String {
        let run = self.run(&["trust", "."]);
        assert_eq!(run.code, 0, "{}", run.stderr);
        run.stdout
    }
}

const OWN: &str = "[[overlay]]\nmatch = \"weather\"\nbackend = { type = \"command\", argv = [\"./own.sh\", \"--x=./hook.sh\"] }\n";

#[test]
fn a_configuration_that_was_merely_found_runs_nothing_and_says_so() {
    for toml in [TRUSTED, OWN] {
        let place = Place::with(toml);
        place.check_is_refused("it is not trusted");
        let named = place.run(&["call", "tool_exec", r#"{"op": "weather", "args": {}}"#, "."]);
        assert_eq!(named.code, 0, "{} {}", named.stdout, named.stderr);
        assert!(place.root.path().join("ran").exists() && !named.stderr.contains("merely found"));
    }
}

#[test]
fn a_found_configuration_contacts_no_server_and_no_model() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let toml = format!(
        "[[source]]\nmcp = {{ command = [\"sh\", \"-c\", \"echo ran > ran\"], env = {{ X = \"${{TOKEN_OF_OURS}}\" }} }}\n\
         [[source]]\nmcp = {{ url = \"{url}/${{TOKEN_OF_OURS}}\", headers = {{ A = \"${{TOKEN_OF_OURS}}\" }} }}\n\
         [[source]]\npath = \"w.json\"\n[server.api]\nurl = \"{url}\"\nheaders = {{ A = \"${{TOKEN_OF_OURS}}\" }}\n\
         [search.semantic]\nurl = \"{url}\"\nmodel = \"m\"\nkey_env = \"TOKEN_OF_OURS\"\n\
         [search.llm]\nurl = \"{url}\"\nmodel = \"m\"\nkey_env = \"TOKEN_OF_OURS\"\n\
         [repair]\nurl = \"{url}\"\nmodel = \"m\"\napi_key_env = \"TOKEN_OF_OURS\"\n\
         [state]\nurl = \"postgres://${{TOKEN_OF_OURS}}@{}/x\"\n\
         [[overlay]]\nmatch = \"weather\"\nbackend = {{ type = \"http\", method = \"GET\", path = \"/w\" }}\n",
        listener.local_addr().unwrap()
    );
    let place = Place::with(&toml);
    for arguments in [
        vec!["check", "--json"],
        vec!["search", "weather"],
        vec!["call", "tool_exec", r#"{"op": "weather", "args": {}}"#],
        vec!["call", "pick", r#"{"input": "weather", "scorer": "llm"}"#],
        vec!["payload", "--provider", "openai"],
        vec!["trace"],
    ] {
        let run = place.run(&arguments);
        assert!(run.stderr.contains("was merely found"), "{arguments:?}: {}", run.stderr);
        assert!(!run.stdout.contains(CANARY) && !run.stderr.contains(CANARY), "{arguments:?}");
        assert!(!place.root.path().join("ran").exists(), "{arguments:?}");
        let nobody = listener.accept().map(drop).unwrap_err();
        assert_eq!(nobody.kind(), std::io::ErrorKind::WouldBlock, "{arguments:?}");
    }
    let call = place.run(&["call", "tool_exec", r#"{"op": "weather", "args": {}}"#]);
    assert!(
        call.stdout.contains("NO_BACKEND") && call.stdout.contains("toolcrib trust DIR"),
        "{}",
        call.stdout
    );
    let check = place.run(&["check", "--json"]);
    assert!(check.stdout.contains("source-unreachable"), "{}", check.stdout);
}

#[test]
fn a_folder_is_trusted_until_what_it_runs_changes() {
    let place = Place::with(&format!("{TRUSTED}{OWN}"));
    let shown = place.trust();
    for part in ["./own.sh", "echo got $X", "TOKEN_OF_OURS", "w.json"] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    assert!(!shown.contains(CANARY));
    let file = place.home.path().join(".local/state/toolcrib/trusted.json");
    assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    place.check_runs();
    let changed = "has changed since it was trusted";
    for (file, text) in [
        ("own.sh", "#!/bin/sh\necho ran >> ran\necho other\n".to_string()),
        ("hook.sh", "echo other\n".into()),
        ("w.json", definitions("weather").replace("echo got", "echo won")),
        ("toolcrib.toml", format!("{TRUSTED}{OWN}# more\n")),
    ] {
        write(place.root.path(), file, &text);
        place.check_is_refused(changed);
        place.trust();
        place.check_runs();
    }
    let list = place.run(&["trust", "--list"]);
    assert_eq!(list.stdout.trim(), text(&place.root.path().canonicalize().unwrap()));
    assert_eq!(place.run(&["trust", "--remove", "."]).code, 0);
    place.check_is_refused("it is not trusted");
    assert_eq!(place.run(&["trust", "--list"]).stdout, "");
    assert_eq!(place.run(&["trust", "--remove", "."]).code, 1);
}

#[test]
fn what_others_may_write_to_is_not_trusted() {
    let open = |path: &Path| std::fs::set_permissions(path, Permissions::from_mode(0o777)).unwrap();
    for file in ["", "toolcrib.toml", "own.sh"] {
        let place = Place::with(OWN);
        place.trust();
        open(&place.root.path().join(file));
        place.check_is_refused("everybody may write to");
        let run = place.run(&["trust", "."]);
        assert_eq!(run.code, 1, "{}", run.stdout);
        assert!(run.stderr.contains("chmod o-w"), "{}", run.stderr);
    }
    let place = Place::with(OWN);
    place.trust();
    open(&place.home.path().join(".local/state/toolcrib/trusted.json"));
    place.check_is_refused("no folder is trusted");
}

#[test]
fn the_folder_of_the_user_s_configuration_counts() {
    let place = Place::with(OWN);
    let own = place.home.path().join(".config/toolcrib");
    std::fs::create_dir_all(&own).unwrap();
    for file in ["toolcrib.toml", "w.json", "own.sh"] {
        std::fs::copy(place.root.path().join(file), own.join(file)).unwrap();
    }
    let call = ["call", "tool_exec", r#"{"op": "weather", "args": {}}"#];
    let output = place.command(&call).current_dir(&own).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(own.join("ran").exists());
}

#[test]
fn a_found_server_reads_no_tokens() {
    let place = Place::with("[[serve.token]]\nenv = \"TOKEN_OF_OURS\"\nroles = []\n");
    let run = place.run(&["serve", "--listen", "127.0.0.1:0"]);
    assert_eq!(run.code, 2, "{}", run.stderr);
    assert!(run.stderr.contains("merely found"), "{}", run.stderr);
}

/// A server over stdio, of the working folder.
struct Serving {
    child: Child,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
    stderr: std::sync::mpsc::Receiver<String>,
}

impl Serving {
    fn of(place: &Place) -> Self {
        Self::started(place.command(&["serve", "--stdio", "--poll"]))
    }

    fn started(mut command: std::process::Command) -> Self {
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let (stdin, stdout) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
        let (tell, stderr) = std::sync::mpsc::channel();
        let lines = BufReader::new(child.stderr.take().unwrap()).lines();
        std::thread::spawn(move || lines.map_while(Result::ok).try_for_each(|line| tell.send(line)));
        let mut serving = Self { child, stdin, stdout, stderr };
        let info = json!({"name": "t", "version": "1"});
        let hello = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": info});
        serving.ask(1, "initialize", &hello);
        writeln!(serving.stdin, "{}", json!({"jsonrpc": "2.0", "method": "notifications/initialized"}))
            .unwrap();
        serving
    }

    fn ask(&mut self, id: u64, method: &str, params: &Value) -> Value {
        writeln!(self.stdin, "{}", json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}))
            .unwrap();
        loop {
            let mut line = String::new();
            assert!(self.stdout.read_line(&mut line).unwrap() > 0, "no answer");
            let answer: Value = serde_json::from_str(&line).unwrap();
            if answer["id"] == id {
                return answer;
            }
        }
    }

    fn call(&mut self, id: u64) -> String {
        let call = json!({"name": "tool_exec", "arguments": {"op": "weather", "args": {}}});
        self.ask(id, "tools/call", &call)["result"].to_string()
    }

    /// Waits for a line on stderr.
    fn told(&self, part: &str) {
        let limit = std::time::Duration::from_secs(60);
        while !self
            .stderr
            .recv_timeout(limit)
            .unwrap_or_else(|_| panic!("nothing says {part}"))
            .contains(part)
        {}
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn a_running_server_takes_no_change_that_voids_its_trust() {
    let place = Place::with(OWN);
    place.trust();
    let mut serving = Serving::of(&place);
    assert!(serving.call(2).contains("own"));
    write(
        place.root.path(),
        "toolcrib.toml",
        &OWN.replace("[\\\"./own.sh\\\"]", "x").replace("./own.sh", "./w.json"),
    );
    serving.told("has changed since it was trusted");
    serving.told("the last good one is served");
    write(place.root.path(), "toolcrib.toml", OWN);
    serving.told("the catalog changed");
    assert!(serving.call(3).contains("own"));
}

#[test]
fn a_server_of_a_found_configuration_runs_nothing() {
    let place = Place::with(OWN);
    let mut serving = Serving::of(&place);
    assert!(serving.call(2).contains("NO_BACKEND"));
    assert!(!place.root.path().join("ran").exists());
    place.trust();
    serving.told("the catalog changed");
    assert!(serving.call(3).contains("own"));
}

/// A server needs no catalog on its command line: the nearest configuration counts, from the working folder upward, then that
/// of the user. A configuration that was merely found runs nothing before it is trusted.
#[test]
fn a_server_finds_its_catalog() {
    let place = Place::with("[[source]]\npath = \"w.json\"\ntrust = \"run\"\n");
    let below = place.root.path().join("some/folder");
    std::fs::create_dir_all(&below).unwrap();
    let elsewhere = tempfile::tempdir().unwrap();
    let own = place.home.path().join(".config/toolcrib");
    std::fs::create_dir_all(&own).unwrap();
    write(&own, "toolcrib.toml", "title = \"Mine\"\n");
    write(
        &own,
        "mine.json",
        r#"[{"name": "mine", "description": "Is mine.", "parameters": {"type": "object"}}]"#,
    );
    let listed = |folder: &Path, variables: &[(&str, &str)], arguments: &[&str]| {
        let mut command = place.command(&[&["serve", "--stdio"], arguments].concat());
        command.current_dir(folder).envs(variables.iter().copied());
        let mut serving = Serving::started(command);
        let listed = serving.ask(2, "tools/list", &json!({}));
        listed["result"]["tools"]
            .as_array()
            .unwrap()
            .iter()
            .map(|tool| tool["name"].clone())
            .collect::<Vec<_>>()
    };
    let here = text(place.root.path());
    assert_eq!(listed(&below, &[], &[]), ["weather"], "upward");
    assert_eq!(listed(elsewhere.path(), &[], &[]), ["mine"], "the user's own");
    assert_eq!(listed(elsewhere.path(), &[("TOOLCRIB_CATALOG", here)], &[]), ["weather"], "the environment");
    assert_eq!(listed(elsewhere.path(), &[], &[here]), ["weather"], "positional");
    for command in ["check", "render"] {
        let out: &[&str] = if command == "render" { &["--out", "docs"] } else { &[] };
        let output = place.command(&[&[command, here], out].concat()).current_dir(elsewhere.path()).output();
        assert!(output.unwrap().status.success(), "{command}");
    }
}
