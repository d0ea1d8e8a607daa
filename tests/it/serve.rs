//! The HTTP transport: the server, asked by a real client, and by raw sockets where a client would be too polite.

mod conditions;
mod errors;
mod follow;
mod jobs;
mod limits;
mod profiles;
mod routes;
mod security;
mod shares;
#[cfg(unix)]
mod systemd;
mod well_known;

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use reqwest::blocking::{Client, RequestBuilder, Response};
use serde_json::Value;
use tempfile::TempDir;
use toolcrib::cli::Io;

use crate::fixture::{self, Pipe};

/// Tools with every kind of name, and one that only some may see.
pub const TOOLS: &str = r#"[
  {"name": "files.read", "op": "onto.file.read", "aliases": ["cat"], "category": "Files", "effect": "read",
   "description": "Read a file. Use it when the content of a file matters, and its path is known already.",
   "parameters": {"type": "object", "properties": {"path": {"type": "string", "description": "The path, from the root on."}}, "required": ["path"]}},
  {"name": "list_items", "category": "Items", "description": "List all items.", "parameters": {"type": "object", "properties": {"page": {"type": "integer"}}}},
  {"name": "<b>odd/name</b>", "category": "Items", "description": "A tool whose name is <script>alert(1)</script>.", "parameters": {"type": "object", "properties": {}}},
  {"name": "wipe_disks", "category": "Admin", "aliases": ["wipe"], "allowed_roles": ["admin"], "description": "Wipe all disks.", "parameters": {"type": "object", "properties": {}}}
]"#;

/// A running server; it ends with its handle.
pub struct Server {
    run: Running,
    /// Its address, such as `127.0.0.1:41234`.
    pub address: String,
    /// Its stderr.
    pub log: Arc<Mutex<String>>,
    _folder: Option<TempDir>,
}

/// What runs the server.
enum Running {
    /// A thread of this process.
    Thread(Io, Option<JoinHandle<i32>>),
    /// A process of its own.
    Process(Child),
}

impl Server {
    /// Serves a catalog on a free port, in this process.
    pub fn start(catalog: &str, more: &[&str], variables: &[(&str, &str)]) -> Self {
        let (stderr, written) = std::io::pipe().unwrap();
        let streams = (std::io::empty(), Pipe::default(), written);
        let (io, thread) = fixture::in_thread(&arguments(catalog, more), streams, variables);
        Self::read(stderr, Running::Thread(io, Some(thread)))
    }

    /// The same in a process of its own, whose log has the lines of all its threads.
    pub fn process(catalog: &str, more: &[&str], variables: &[(&str, &str)]) -> Self {
        let mut program = fixture::program(&arguments(catalog, more));
        program.envs(variables.iter().copied());
        Self::spawn(program)
    }

    /// Serves a catalog with this many open files at most.
    #[cfg(target_os = "linux")]
    pub fn with_files(catalog: &str, files: usize) -> Self {
        let program = fixture::program(&arguments(catalog, &[]));
        let mut shell = Command::new("sh");
        shell.args(["-c", &format!("ulimit -n {files}; exec \"$0\" \"$@\"")]);
        shell.arg(program.get_program()).args(program.get_args()).current_dir(fixture::package());
        Self::spawn(shell)
    }

    fn spawn(mut command: Command) -> Self {
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        Self::read(child.stderr.take().unwrap(), Running::Process(child))
    }

    /// Reads its address and its log.
    fn read(stderr: impl Read + Send + 'static, run: Running) -> Self {
        let mut lines = BufReader::new(stderr).lines();
        let log = Arc::new(Mutex::new(String::new()));
        let keep = |line: &str, log: &Mutex<String>| log.lock().unwrap().push_str(&format!("{line}\n"));
        let address = lines.by_ref().map_while(Result::ok).find_map(|line| {
            keep(&line, &log);
            let (_, rest) = line.split_once("listening on http://")?;
            rest.split('"').next().map(str::to_string)
        });
        let address = address.unwrap_or_else(|| panic!("{}", log.lock().unwrap()));
        let own = Arc::clone(&log);
        std::thread::spawn(move || lines.map_while(Result::ok).for_each(|line| keep(&line, &own)));
        Self { run, address, log, _folder: None }
    }

    /// Serves [`TOOLS`] with this configuration.
    pub fn with(config: &str, variables: &[(&str, &str)]) -> Self {
        Self::of(TOOLS, config, variables)
    }

    /// Serves these tools with this configuration.
    pub fn of(tools: &str, config: &str, variables: &[(&str, &str)]) -> Self {
        let folder = fixture::folder(&[("tools.json", tools), ("toolcrib.toml", config)]);
        let mut server = Self::start(fixture::text(folder.path()), &[], variables);
        server._folder = Some(folder);
        server
    }

    /// Serves GitHub's tools.
    pub fn github() -> Self {
        Self::start(fixture::text(&fixture::package().join("examples/github")), &[], &[])
    }

    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// A GET that is still to be sent.
    pub fn asking(&self, path: &str) -> RequestBuilder {
        client().get(self.url(path))
    }

    /// A GET with these headers.
    pub fn get(&self, path: &str, headers: &[(&str, &str)]) -> Response {
        let asking =
            headers.iter().fold(self.asking(path), |asking, (name, value)| asking.header(*name, *value));
        asking.send().unwrap()
    }

    pub fn text(&self, path: &str) -> String {
        let response = self.get(path, &[]);
        assert_eq!(response.status(), 200, "{path}");
        response.text().unwrap()
    }

    pub fn json(&self, path: &str) -> Value {
        serde_json::from_str(&self.text(path)).unwrap()
    }

    /// The JSON at a path, asked for with these headers.
    pub fn json_of(&self, path: &str, headers: &[(&str, &str)]) -> Value {
        let response = self.get(path, headers);
        let (status, text) = (response.status(), response.text().unwrap());
        assert_eq!(status, 200, "{path}: {text}");
        serde_json::from_str(&text).unwrap()
    }

    /// The events of a session of the caller with these headers.
    pub fn events(&self, session: &str, headers: &[(&str, &str)]) -> Vec<Value> {
        let text = self.get(&format!("/sessions/{session}/events.jsonl"), headers).text().unwrap();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// Calls a function.
    pub fn post(&self, function: &str, body: impl ToString) -> Response {
        self.posting(&format!("/v1/{function}"), body).send().unwrap()
    }

    /// A POST that is still to be sent.
    pub fn posting(&self, path: &str, body: impl ToString) -> RequestBuilder {
        client().post(self.url(path)).header("content-type", "application/json").body(body.to_string())
    }

    pub fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        stream.set_write_timeout(Some(Duration::from_secs(20))).unwrap();
        stream
    }

    /// Sends these bytes, and reads until the server closes.
    pub fn raw(&self, bytes: &[u8]) -> String {
        let mut stream = self.connect();
        // The server may have closed before it has read all.
        let _ = stream.write_all(bytes);
        rest(&mut stream)
    }

    /// Asks it to stop.
    pub fn terminate(&self) {
        match &self.run {
            Running::Thread(io, _) => io.stop(),
            Running::Process(_) => self.signal("TERM"),
        }
    }

    /// Sends a signal to its process.
    pub fn signal(&self, name: &str) {
        let Running::Process(child) = &self.run else { panic!("no process of its own") };
        let (name, id) = (format!("-{name}"), child.id().to_string());
        assert!(Command::new("kill").args([name, id]).status().unwrap().success());
    }

    /// Waits for its end; its exit code.
    pub fn ended(&mut self, within: Duration) -> Option<i32> {
        let start = std::time::Instant::now();
        while start.elapsed() < within {
            match &mut self.run {
                Running::Thread(_, thread) => {
                    if thread.as_ref().is_some_and(JoinHandle::is_finished) {
                        return thread.take().map(|thread| thread.join().unwrap());
                    }
                }
                Running::Process(child) => {
                    if let Some(status) = child.try_wait().unwrap() {
                        return status.code();
                    }
                }
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        None
    }

    /// A metric's value, where its line begins with this.
    pub fn metric(&self, line: &str) -> u64 {
        let text = self.text("/metrics");
        let found = text.lines().find_map(|own| own.strip_prefix(line)?.strip_prefix(' '));
        found.unwrap_or_else(|| panic!("{line} is not in {text}")).parse().unwrap()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        match &mut self.run {
            Running::Thread(io, thread) => {
                io.stop();
                let _ = thread.take().map(JoinHandle::join);
            }
            Running::Process(child) => {
                let _ = child.kill();
                let _ = child.wait();
            }
        }
    }
}

/// Serves a catalog on a free port.
fn arguments<'a>(catalog: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    [&["serve", catalog, "--listen", "127.0.0.1:0"], more].concat()
}

/// A client that follows nothing and unpacks nothing.
pub fn client() -> &'static Client {
    static CLIENT: std::sync::OnceLock<Client> = std::sync::OnceLock::new();
    CLIENT.get_or_init(|| {
        let _ = rustls::crypto::ring::default_provider().install_default();
        Client::builder().gzip(false).redirect(reqwest::redirect::Policy::none()).no_proxy().build().unwrap()
    })
}

/// The value of a header.
pub fn header<'r>(response: &'r Response, name: &str) -> &'r str {
    response.headers().get(name).map_or("", |value| value.to_str().unwrap())
}

/// All that still comes on a connection.
pub fn rest(stream: &mut TcpStream) -> String {
    let mut bytes = Vec::new();
    let _ = stream.read_to_end(&mut bytes);
    String::from_utf8_lossy(&bytes).into_owned()
}
