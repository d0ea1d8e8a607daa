//! A client of the program with servers behind it: shell scripts whose behaviour the tests change while they run.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::fixture::{folder, program, write};

/// Notes starts, calls and its end in `log`. Lists the names in `list`; sleeps `slow` seconds before it answers. A call is
/// answered by its number, unless the file `die`, `die_late`, `hang` or `changed` is there: then that is removed, and it is done.
const SERVER: &str = r#"
here=$1
echo start >> "$here/log"
echo "starting with $SECRET" >&2
[ -f "$here/slow" ] && sleep "$(cat "$here/slow")"
echo $$ > "$here/pid"
say() { printf '{"jsonrpc":"2.0","id":%s,%s}\n' "$id" "$1"; }
while read -r line; do
  rest=${line#*\"id\":}; id=${rest%%[,\}]*}
  case $line in
    *'"initialize"'*) say '"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{"listChanged":true}},"serverInfo":{"name":"shell","version":"1"}}' ;;
    *'"tools/list"'*)
      tools=
      for name in $(cat "$here/list"); do
        hint=; case $name in read*) hint=',"annotations":{"readOnlyHint":true}' ;; esac
        tools="$tools,{\"name\":\"$name\",\"description\":\"Does $name.\",\"inputSchema\":{\"type\":\"object\",\"properties\":{\"number\":{\"type\":\"integer\",\"description\":\"Any.\"}}}$hint}"
      done
      say "\"result\":{\"tools\":[${tools#,}]}" ;;
    *'"tools/call"'*)
      rest=${line#*\"number\":}; number=${rest%%[,\}]*}
      if [ -f "$here/die" ]; then rm "$here/die"; exit 3; fi
      echo "call $number" >> "$here/log"
      if [ -f "$here/die_late" ]; then rm "$here/die_late"; exit 3; fi
      if [ -f "$here/hang" ]; then rm "$here/hang"; sleep 1000; fi
      if [ -f "$here/changed" ]; then rm "$here/changed"; echo '{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}'; fi
      say "\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"done $number\"}]}" ;;
    *'"id"'*) say '"error":{"code":-32601,"message":"no such method"}' ;;
  esac
done
echo end >> "$here/log"
"#;

/// A folder with a server of each name, and a configuration with these lines for each.
pub fn servers(names: &[&str], settings: &str) -> TempDir {
    let root = folder(&[("server.sh", SERVER)]);
    let mut toml = "[exec]\nallow = 'destructive'\n".to_string();
    for name in names {
        write(root.path(), &format!("{name}/list"), "work");
        let here = root.path().join(name);
        toml.push_str(&format!(
            "[[source]]\nserver = '{name}'\n[source.mcp]\ncommand = ['sh', '{}', '{}']\n{settings}\n",
            root.path().join("server.sh").display(),
            here.display()
        ));
    }
    write(root.path(), "toolcrib.toml", &toml);
    root
}

/// Lines of a server's log that are equal to this.
pub fn noted(server: &Path, what: &str) -> usize {
    let log = std::fs::read_to_string(server.join("log")).unwrap_or_default();
    log.lines().filter(|line| *line == what).count()
}

/// Waits until something holds.
#[track_caller]
pub fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let start = Instant::now();
    while !holds() {
        assert!(start.elapsed() < Duration::from_secs(60), "{what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// The program, with a client on its standard streams.
pub struct Client {
    pub child: Child,
    stdin: Option<ChildStdin>,
    messages: Receiver<Value>,
    answers: HashMap<u64, Value>,
    /// Notifications so far.
    pub notified: Vec<String>,
    last: u64,
    pub log: PathBuf,
}

impl Client {
    /// Serves a folder; `state` is the user's folder of state.
    pub fn start(root: &Path, state: &Path, more: &[&str]) -> Self {
        let log = state.join("stderr");
        // A file of the working folder: its folder has no name.
        let mut command = program(&[&["serve", "--stdio", "toolcrib.toml"], more].concat());
        command
            .current_dir(root)
            .env("XDG_STATE_HOME", state)
            .env("SECRET", "s3cr3t-value")
            .stderr(std::fs::File::create(&log).unwrap());
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let stdin = child.stdin.take();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        let (sender, messages) = channel();
        std::thread::spawn(move || {
            for line in stdout.lines().map_while(Result::ok) {
                let _ = sender.send(serde_json::from_str(&line).unwrap());
            }
        });
        let (answers, notified) = Default::default();
        Self { child, stdin, messages, answers, notified, last: 0, log }
    }

    /// The same, and initialized; with the instructions.
    pub fn connected(root: &Path, state: &Path, more: &[&str]) -> (Self, String) {
        let mut client = Self::start(root, state, more);
        let answer = client.ask(
            "initialize",
            json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}),
        );
        client.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        let instructions = answer["result"]["instructions"].as_str().unwrap_or_default().to_string();
        (client, instructions)
    }

    pub fn send(&mut self, message: &Value) {
        writeln!(self.stdin.as_mut().unwrap(), "{message}").unwrap();
    }

    /// Sends a request, and returns its number.
    pub fn request(&mut self, method: &str, params: Value) -> u64 {
        self.last += 1;
        let id = self.last;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        id
    }

    #[track_caller]
    pub fn answer(&mut self, id: u64) -> Value {
        let end = Instant::now() + Duration::from_secs(60);
        loop {
            if let Some(answer) = self.answers.remove(&id) {
                return answer;
            }
            let left = end.saturating_duration_since(Instant::now());
            let Ok(message) = self.messages.recv_timeout(left) else {
                panic!("no answer to {id}: {}", std::fs::read_to_string(&self.log).unwrap_or_default())
            };
            self.take(message);
        }
    }

    fn take(&mut self, message: Value) {
        match (message["id"].as_u64(), message["method"].as_str()) {
            (Some(id), None) => assert!(self.answers.insert(id, message).is_none(), "two answers"),
            (_, Some(method)) => self.notified.push(method.to_string()),
            _ => panic!("{message}"),
        }
    }

    /// Waits for a notification.
    #[track_caller]
    pub fn is_notified(&mut self, method: &str) {
        while !self.notified.iter().any(|known| known == method) {
            let message = self.messages.recv_timeout(Duration::from_secs(60));
            self.take(message.unwrap_or_else(|_| panic!("no {method}")));
        }
    }

    #[track_caller]
    pub fn ask(&mut self, method: &str, params: Value) -> Value {
        let id = self.request(method, params);
        self.answer(id)
    }

    /// The names in the list of tools.
    #[track_caller]
    pub fn tools(&mut self) -> Vec<String> {
        let answer = self.ask("tools/list", json!({}));
        let tools = answer["result"]["tools"].as_array().unwrap_or_else(|| panic!("{answer}"));
        tools.iter().map(|tool| tool["name"].as_str().unwrap().to_string()).collect()
    }

    /// The text of a call's answer, and whether it is a result.
    #[track_caller]
    pub fn call(&mut self, tool: &str, number: u64) -> (String, bool) {
        let id = self.request_call(tool, number);
        outcome(&self.answer(id))
    }

    pub fn request_call(&mut self, tool: &str, number: u64) -> u64 {
        self.request("tools/call", json!({"name": tool, "arguments": {"number": number}}))
    }

    /// Closes stdin, and waits for the end.
    pub fn end(mut self) {
        self.stdin = None;
        self.wait();
    }

    fn wait(&mut self) {
        until("the end of the program", || self.child.try_wait().unwrap().is_some());
    }

    /// Sends SIGTERM, and waits for the end.
    pub fn terminate(mut self) {
        let status = std::process::Command::new("kill").arg(self.child.id().to_string()).status();
        assert!(status.unwrap().success());
        self.wait();
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub fn outcome(answer: &Value) -> (String, bool) {
    let is_error = answer["result"]["isError"].as_bool().unwrap_or_else(|| answer.get("error").is_some());
    let text = answer["result"]["content"][0]["text"].as_str().map(str::to_string);
    (text.unwrap_or_else(|| answer.to_string()), !is_error)
}
