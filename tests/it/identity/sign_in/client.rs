//! A client of `toolcrib serve --stdio`, which may be asked.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use serde_json::{Value, json};

use super::operator::Operator;

pub struct Client {
    child: Child,
    stdin: ChildStdin,
    messages: Receiver<Value>,
    last: u64,
}

impl Client {
    /// A client of the older protocol that declares nothing.
    pub fn start(operator: &Operator) -> Self {
        Self::with(operator, json!({}))
    }

    /// A client of the older protocol with these capabilities.
    pub fn with(operator: &Operator, capabilities: Value) -> Self {
        let mut client = Self::silent(operator);
        let info = json!({"name": "t", "version": "1"});
        let hello =
            json!({"protocolVersion": "2025-11-25", "capabilities": capabilities, "clientInfo": info});
        client.ask("initialize", hello);
        client.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        client
    }

    /// A client that has said nothing yet.
    pub fn silent(operator: &Operator) -> Self {
        let mut command = operator.program(&["serve", "--stdio", "--mode", "full"]);
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let (stdin, stdout) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
        let (sender, messages) = channel();
        std::thread::spawn(move || {
            for line in stdout.lines().map_while(Result::ok) {
                let _ = sender.send(serde_json::from_str(&line).unwrap());
            }
        });
        Self { child, stdin, messages, last: 0 }
    }

    pub fn send(&mut self, message: &Value) {
        writeln!(self.stdin, "{message}").unwrap();
    }

    pub fn request(&mut self, method: &str, params: Value) -> u64 {
        self.last += 1;
        self.send(&json!({"jsonrpc": "2.0", "id": self.last, "method": method, "params": params}));
        self.last
    }

    /// The next message that is no notification.
    #[track_caller]
    pub fn message(&mut self) -> Value {
        loop {
            let message = self.messages.recv_timeout(Duration::from_secs(60)).expect("a message");
            if message.get("id").is_some() {
                return message;
            }
        }
    }

    #[track_caller]
    pub fn ask(&mut self, method: &str, params: Value) -> Value {
        let id = self.request(method, params);
        let answer = self.message();
        assert_eq!(answer["id"], id, "{answer}");
        answer
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
