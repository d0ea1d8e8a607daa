//! A toolcrib.toml that was found and not named starts no programs and contacts nobody.

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
}

const OWN: &str = "[[overlay]]\nmatch = \"weather\"\nbackend = { type = \"command\", argv = [\"./own.sh\", \"--x=./hook.sh\"] }\n";

#[test]
fn a_configuration_that_was_found_runs_nothing_and_says_so() {
    for toml in [TRUSTED, OWN] {
        let place = Place::with(toml);
        let (answer, stderr) = place.call();
        assert_eq!(answer["error"]["code"], "NO_BACKEND", "{answer}");
        assert_eq!(stderr.matches("found and not named").count(), 1, "{stderr}");
        assert!(!place.root.path().join("ran").exists());
        let named = place.run(&["call", "tool_exec", r#"{"op": "weather", "args": {}}"#, "."]);
        assert_eq!(named.code, 0, "{} {}", named.stdout, named.stderr);
        assert!(place.root.path().join("ran").exists() && !named.stderr.contains("found and not named"));
    }
}

#[test]
fn a_command_that_goes_without_nothing_says_nothing() {
    let place = Place::with(OWN);
    for command in [vec!["check"], vec!["tokens"], vec!["search", "weather"], vec!["call", "tool_help", "{}"]]
    {
        let run = place.run(&command);
        assert!(!run.stderr.contains("found and not named"), "{command:?}: {}", run.stderr);
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
         [[source]]\npath = \"{url}/tools.json\"\n\
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
        vec!["serve", "--listen", "256.0.0.1:0"],
        vec!["trace"],
    ] {
        let run = place.run(&arguments);
        assert!(run.stderr.contains("found and not named"), "{arguments:?}: {}", run.stderr);
        assert!(!run.stdout.contains(CANARY) && !run.stderr.contains(CANARY), "{arguments:?}");
        assert!(!place.root.path().join("ran").exists(), "{arguments:?}");
        let nobody = listener.accept().map(drop).unwrap_err();
        assert_eq!(nobody.kind(), std::io::ErrorKind::WouldBlock, "{arguments:?}");
    }
    let call = place.run(&["call", "tool_exec", r#"{"op": "weather", "args": {}}"#]);
    assert!(
        call.stdout.contains("NO_BACKEND") && call.stdout.contains("name the folder of toolcrib.toml"),
        "{}",
        call.stdout
    );
    let check = place.run(&["check", "--json"]);
    assert_eq!(check.stdout.matches("\"source-unreachable\"").count(), 3, "{}", check.stdout);
}

#[test]
fn pages_of_a_found_configuration_come_from_no_template_of_it() {
    let toml =
        "[render]\ntemplates = \"own\"\n[eval]\nqueries = [\"../labels\"]\n[[source]]\npath = \"w.json\"\n";
    let place = Place::with(toml);
    let endless = "{% for a in range(end=100000) %}{% for b in range(end=100000) %}{% endfor %}{% endfor %}";
    for template in [endless, "{{ get_env(name=\"TOKEN_OF_OURS\") }}", "own words"] {
        write(place.root.path(), "own/docs/tool.md", template);
        let run = place.run(&["render", "--out", "docs"]);
        assert!(run.stderr.contains("its templates are left out; name `.` as the catalog"), "{}", run.stderr);
        let page = std::fs::read_to_string(place.root.path().join("docs/weather.md")).unwrap();
        assert!(page.contains("Looks at the weather.") && !page.contains("own words"), "{page}");
    }
    let named = place.run(&["render", ".", "--out", "docs"]);
    assert_eq!(named.code, 0, "{}", named.stderr);
    assert_eq!(
        std::fs::read_to_string(place.root.path().join("docs/weather.md")).unwrap().trim(),
        "own words"
    );
    let eval = place.run(&["eval"]);
    assert!(eval.code == 2 && eval.stderr.contains("`../labels` leads out of the folder"), "{}", eval.stderr);
}

#[test]
fn a_template_of_a_named_configuration_is_no_link_out_of_its_folder() {
    let outside = folder(&[("key", CANARY), ("docs/tool.md", "shared")]);
    let place = Place::with("[render]\ntemplates = \"own\"\n[[source]]\npath = \"w.json\"\n");
    let root = place.root.path();
    let link = |target: &Path, name: &str| {
        let _ = std::fs::remove_dir_all(root.join("own")).or_else(|_| std::fs::remove_file(root.join("own")));
        std::fs::create_dir_all(root.join(name).parent().unwrap()).unwrap();
        std::os::unix::fs::symlink(target, root.join(name)).unwrap();
    };
    let refused = |arguments: &[&str]| {
        let run = place.run(arguments);
        assert!(
            run.code == 1 && run.stderr.contains("behind a symbolic link out of its folder"),
            "{}",
            run.stderr
        );
        assert!(!run.stderr.contains(CANARY));
    };
    link(&outside.path().join("key"), "own/docs/tool.md");
    refused(&["render", ".", "--out", "docs"]);
    refused(&["render", ".", "--out", "docs", "--templates", "own"]);
    link(&outside.path().join("docs"), "own/docs");
    refused(&["seed", "workspace", "."]);
    link(outside.path(), "own");
    refused(&["render", ".", "--out", "docs"]);
    write(root, "common/tool.md", "within");
    link(Path::new("../../common/tool.md"), "own/docs/tool.md");
    let within = place.run(&["render", ".", "--out", "docs"]);
    assert_eq!(within.code, 0, "{}", within.stderr);
    let toml = format!("[render]\ntemplates = {:?}\n[[source]]\npath = \"w.json\"\n", outside.path());
    write(root, "toolcrib.toml", &toml);
    let elsewhere = place.run(&["render", ".", "--out", "docs"]);
    assert_eq!(elsewhere.code, 0, "a path out of the folder is the operator's word: {}", elsewhere.stderr);
}

#[test]
fn a_found_server_reads_no_tokens() {
    let place = Place::with("[[serve.token]]\nenv = \"TOKEN_OF_OURS\"\nroles = []\n");
    let run = place.run(&["serve", "--listen", "127.0.0.1:0"]);
    assert_eq!(run.code, 2, "{}", run.stderr);
    assert!(run.stderr.contains("found and not named"), "{}", run.stderr);
}

/// A server over stdio, of the working folder.
struct Serving {
    child: Child,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
}

impl Serving {
    fn of(place: &Place) -> Self {
        Self::started(place.command(&["serve", "--stdio"]))
    }

    fn started(mut command: std::process::Command) -> Self {
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let (stdin, stdout) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
        let mut serving = Self { child, stdin, stdout };
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
}

impl Drop for Serving {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn a_server_of_a_found_configuration_runs_nothing() {
    let place = Place::with(OWN);
    let mut serving = Serving::of(&place);
    assert!(serving.call(2).contains("NO_BACKEND"));
    assert!(!place.root.path().join("ran").exists());
    let mut serving = Serving::started(place.command(&["serve", "--stdio", "."]));
    assert!(serving.call(2).contains("own"));
}

/// A server needs no catalog on its command line: the nearest configuration is taken, from the current directory upward.
#[test]
fn a_server_finds_its_catalog() {
    let place = Place::with("[[source]]\npath = \"w.json\"\ntrust = \"run\"\n");
    let below = place.root.path().join("some/folder");
    std::fs::create_dir_all(&below).unwrap();
    let elsewhere = tempfile::tempdir().unwrap();
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
    assert_eq!(listed(elsewhere.path(), &[("TOOLCRIB_CATALOG", here)], &[]), ["weather"], "the environment");
    assert_eq!(listed(elsewhere.path(), &[], &[here]), ["weather"], "positional");
    for command in ["check", "render"] {
        let out: &[&str] = if command == "render" { &["--out", "docs"] } else { &[] };
        let output = place.command(&[&[command, here], out].concat()).current_dir(elsewhere.path()).output();
        assert!(output.unwrap().status.success(), "{command}");
    }
}
