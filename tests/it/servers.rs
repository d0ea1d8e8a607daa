//! People's servers: adopted from a client's file, examined. Each is a small shell script that speaks MCP.
#![cfg(unix)]

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::fixture::{Run, ended, program, run_with, text, write};

mod adopt;
mod asked;
mod doctor;
mod first_touch;
mod formats;
mod set_arguments;
mod settings;

/// A server with two tools: `look` only reads, `put` tells its secret, its arguments and that it has run.
const SERVER: &str = r#"while read -r line; do
  id=$(printf '%s' "$line" | sed -n 's/.*"id":\([0-9]*\).*/\1/p')
  say() { printf '{"jsonrpc":"2.0","id":%s,%s}\n' "$id" "$1"; }
  case $line in
    *'"initialize"'*) say '"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"s","title":"A shelf","version":"1"}}' ;;
    *'"tools/list"'*) say '"result":{"tools":[{"name":"look","description":"Looks at a thing on the shelf.","inputSchema":{"type":"object","properties":{"thing":{"type":"string","description":"Its name."}}},"annotations":{"readOnlyHint":true}},{"name":"put","description":"Puts a thing on the shelf.","inputSchema":{"type":"object","properties":{"thing":{"type":"string","description":"Its name."},"token":{"type":"string","description":"The key of the shelf."}},"required":["thing","token"]}}]}' ;;
    *'"tools/call"'*)
      echo "$line" >> "$0.calls"
      token=$(printf '%s' "$line" | sed -n 's/.*"token":"\([^"]*\)".*/\1/p')
      say "\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"done in $PWD for $MODE, key length ${#KEY}, given $token\"}]}" ;;
    *'"id"'*) say '"error":{"code":-32601,"message":"no such method"}' ;;
  esac
done"#;

/// A user with a home of their own, and servers in it.
struct Home {
    folder: TempDir,
}

impl Home {
    fn new() -> Self {
        let home = Self { folder: tempfile::tempdir().unwrap() };
        write(home.path(), "shelf.sh", SERVER);
        home
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    fn at(&self, name: &str) -> PathBuf {
        self.path().join(name)
    }

    fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.at(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    fn write(&self, name: &str, text: &str) {
        write(self.path(), name, &text.replace("SHELF", text_of(&self.at("shelf.sh"))));
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = program(arguments);
        command.current_dir(self.path()).env("HOME", self.path());
        for variable in ["XDG_CONFIG_HOME", "XDG_STATE_HOME", "CODEX_HOME", "TOOLCRIB_CATALOG"] {
            command.env_remove(variable);
        }
        command
    }

    fn run(&self, arguments: &[&str]) -> Run {
        self.run_with(arguments, &[])
    }

    /// Runs the program in this process, whose folder is another: paths are whole.
    fn run_with(&self, arguments: &[&str], variables: &[(&str, &str)]) -> Run {
        let own = [("HOME", text_of(self.path())), ("XDG_CONFIG_HOME", ""), ("XDG_STATE_HOME", "")];
        run_with(arguments, "", &[&own[..], &[("CODEX_HOME", "")], variables].concat())
    }

    /// The same for a person who confirms.
    fn typed(&self, arguments: &[&str]) -> Run {
        let own = [("HOME", text_of(self.path())), ("XDG_CONFIG_HOME", ""), ("XDG_STATE_HOME", "")];
        run_with(arguments, "yes\n", &[&own[..], &[("CODEX_HOME", "")]].concat())
    }

    /// Runs the program in the home.
    fn started(&self, arguments: &[&str]) -> Run {
        ended(self.command(arguments).output().unwrap())
    }

    #[track_caller]
    fn done(&self, arguments: &[&str]) -> String {
        let run = self.run(arguments);
        assert_eq!(run.code, 0, "{arguments:?}: {}{}", run.stdout, run.stderr);
        run.stdout
    }
}

fn text_of(path: &Path) -> &str {
    text(path)
}

/// A client over stdio that writes lines, and answers questions.
struct Lines {
    child: Child,
    next: u64,
    /// The action of its answers.
    answer: Option<&'static str>,
    /// The questions so far.
    asked: Vec<Value>,
    /// What each request says in the newer revision.
    meta: Option<Value>,
}

impl Lines {
    fn start(command: Command) -> Self {
        Self::asking(command, None)
    }

    /// A client that answers questions with this action; with `newer`, one of the newer revision.
    fn asking(mut command: Command, answer: Option<&'static str>) -> Self {
        let child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let (asked, info) = (Vec::new(), json!({"name": "t", "version": "1"}));
        let can = if answer.is_some() { json!({"elicitation": {}}) } else { json!({}) };
        let mut lines = Self { child, next: 0, answer, asked, meta: None };
        if answer == Some("newer") {
            let of_protocol = |key: &str| format!("io.modelcontextprotocol/{key}");
            lines.meta = Some(json!({
                of_protocol("protocolVersion"): "2026-07-28", of_protocol("clientInfo"): info, of_protocol("clientCapabilities"): can,
            }));
            return lines;
        }
        lines.ask(
            "initialize",
            json!({"protocolVersion": "2025-06-18", "capabilities": can, "clientInfo": info}),
        );
        lines.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        lines
    }

    fn send(&mut self, message: &Value) {
        writeln!(self.child.stdin.as_mut().unwrap(), "{message}").unwrap();
    }

    fn ask(&mut self, method: &str, mut params: Value) -> Value {
        self.next += 1;
        let id = self.next;
        if let Some(meta) = &self.meta {
            params["_meta"] = meta.clone();
        }
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        let mut answers = BufReader::new(self.child.stdout.take().unwrap());
        loop {
            let mut line = String::new();
            assert!(answers.read_line(&mut line).unwrap() > 0, "the server has ended");
            let answer: Value = serde_json::from_str(&line).unwrap();
            if answer["method"] == "elicitation/create" {
                let result = json!({"action": self.answer.unwrap(), "content": {}});
                self.send(&json!({"jsonrpc": "2.0", "id": answer["id"], "result": result}));
                self.asked.push(answer);
            } else if answer["id"] == id {
                self.child.stdout = Some(answers.into_inner());
                return answer;
            }
        }
    }

    fn call(&mut self, name: &str, arguments: Value) -> Value {
        self.ask("tools/call", json!({"name": name, "arguments": arguments}))
    }

    fn names(&mut self) -> Vec<String> {
        let listed = self.ask("tools/list", json!({}));
        let tools = listed["result"]["tools"].as_array().unwrap();
        tools.iter().map(|tool| tool["name"].as_str().unwrap().to_string()).collect()
    }

    /// Waits until these tools are listed; their servers may still be starting.
    #[track_caller]
    fn wait_for(&mut self, names: &[&str]) {
        let start = Instant::now();
        while self.names() != names {
            assert!(start.elapsed() < Duration::from_secs(60), "{:?}", self.names());
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}

impl Drop for Lines {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        let _ = self.child.wait();
    }
}
