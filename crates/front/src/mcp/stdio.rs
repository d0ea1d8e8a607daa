//! The standard streams of a server: a process that we start, in a process group of its own, which ends when it is no longer
//! needed; and the lines on their way to the SDK, which keeps one of two equal keys and passes over a line that it cannot read,
//! without a word.

use std::io;
use std::pin::Pin;
use std::process::Stdio;
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};

use process_wrap::tokio::{ChildWrapper, CommandWrap, KillOnDrop};
use serde_json::{Map, Value};
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, BufReader, ReadBuf};
use tokio::process::{ChildStdin, ChildStdout, Command};
use tokio::sync::watch;

use super::Environment;
use super::endpoint::{Endpoint, Problem, inherited};
use super::secrets::FilledSecrets;
use toolcrib_definition::beginning;
use toolcrib_definition::finding::{from_json_bytes, has_too_many_values};

/// Wait for it to end by itself after its stdin is closed: short where SIGTERM can follow, since a client waits meanwhile.
const AFTER_STDIN: Duration = Duration::from_millis(if cfg!(unix) { 500 } else { 2_000 });
/// Wait after SIGTERM, and for the rest of its stderr.
const GRACE: Duration = Duration::from_secs(2);

pub(super) struct Process {
    child: Box<dyn ChildWrapper>,
    pub(super) stderr: Stderr,
}

impl Process {
    /// Starts the command, and returns its stdout and stdin.
    pub(super) fn start(
        endpoint: &Endpoint,
        environment: &Environment,
        secrets: &mut FilledSecrets,
    ) -> Result<(Self, ChildStdout, ChildStdin), Problem> {
        let filled = secrets.fill_texts(&endpoint.server.command, environment)?;
        let (program, arguments) = filled.split_first().ok_or("it has no command")?;
        let is_path = program.contains(std::path::is_separator);
        let mut command = Command::new(if is_path { endpoint.root.join(program) } else { program.into() });
        command.args(arguments).current_dir(endpoint.folder());
        command.env_clear().envs(inherited(environment));
        command.envs(secrets.fill(&endpoint.server.env, environment, None)?);
        let mut child = with_its_children(command)
            .spawn()
            .map_err(|error| format!("`{program}` cannot be run: {error}"))?;
        let stdout = child.stdout().take();
        let stdin = child.stdin().take();
        let stderr = Stderr::read(child.stderr().take(), &endpoint.name, secrets);
        let process = Self { child, stderr };
        match (stdout, stdin) {
            (Some(stdout), Some(stdin)) => Ok((process, stdout, stdin)),
            _ => Err("it has no stdin or stdout".into()),
        }
    }

    /// Waits a moment for it to end, and ends it.
    pub(super) async fn end(mut self) {
        if tokio::time::timeout(AFTER_STDIN, self.child.wait()).await.is_err() {
            #[cfg(unix)]
            if self.child.signal(SIGTERM).is_ok() {
                let _ = tokio::time::timeout(GRACE, self.child.wait()).await;
            }
        }
    }
}

#[cfg(unix)]
const SIGTERM: i32 = 15;

impl Drop for Process {
    fn drop(&mut self) {
        // The whole group, with processes that a launcher such as npx has started.
        let _ = self.child.start_kill();
    }
}

/// The command with pipes, in a group of its own: it ends when it is dropped, with all processes that it has started.
pub fn with_its_children(mut command: Command) -> CommandWrap {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut command = CommandWrap::from(command);
    command.wrap(KillOnDrop);
    #[cfg(unix)]
    command.wrap(process_wrap::tokio::ProcessGroup::leader());
    #[cfg(windows)]
    command.wrap(process_wrap::tokio::JobObject);
    command
}

/// The most bytes that are kept of a line on stderr.
const MAX_STDERR_LINE: u64 = 2000;
/// Most lines in the log in a window of time: a server must not drown it.
const MAX_LOGGED: usize = 100;
const WINDOW: Duration = Duration::from_secs(10);

/// The last line of a process on stderr, closed at the end.
#[derive(Clone)]
pub(super) struct Stderr(watch::Receiver<String>);

impl Stderr {
    /// Reads all of it, so that the server never waits for a reader.
    fn read(
        pipe: Option<impl AsyncRead + Unpin + Send + 'static>,
        server: &str,
        secrets: &FilledSecrets,
    ) -> Self {
        let (last_line, lines) = watch::channel(String::new());
        if let Some(pipe) = pipe {
            tokio::spawn(listen(pipe, last_line, Log::new(server, secrets)));
        }
        Self(lines)
    }

    /// The last line so far.
    pub(super) fn last_line(&self) -> String {
        self.0.borrow().clone()
    }

    /// The last line; the rest of a process that has just ended is read first.
    pub(super) async fn end(&self) -> String {
        let mut lines = self.0.clone();
        let ended = async { while lines.changed().await.is_ok() {} };
        let _ = tokio::time::timeout(GRACE, ended).await;
        self.last_line()
    }
}

async fn listen(stderr: impl AsyncRead + Unpin, last_line: watch::Sender<String>, mut log: Log) {
    let mut stderr = BufReader::new(stderr);
    let mut line = Vec::new();
    let mut is_rest = false;
    loop {
        line.clear();
        match (&mut stderr).take(MAX_STDERR_LINE).read_until(b'\n', &mut line).await {
            Ok(0) | Err(_) => return log.tell_dropped(),
            Ok(_) => {}
        }
        let is_beginning = !is_rest;
        is_rest = !line.ends_with(b"\n");
        let text = String::from_utf8_lossy(&line);
        if is_beginning && !text.trim().is_empty() {
            log.write(text.trim());
            last_line.send_replace(text.trim().to_string());
        }
    }
}

/// The lines of one server in the log.
#[derive(Default)]
pub(super) struct Log {
    server: String,
    secrets: FilledSecrets,
    /// The beginning of the window, and the lines since then.
    since: Option<Instant>,
    lines: usize,
    dropped: usize,
}

impl Log {
    pub(super) fn new(server: &str, secrets: &FilledSecrets) -> Self {
        Self { server: server.to_string(), secrets: secrets.clone(), ..Self::default() }
    }

    /// Writes the beginning of a line.
    pub(super) fn write(&mut self, line: &str) {
        if self.since.is_none_or(|since| since.elapsed() >= WINDOW) {
            self.tell_dropped();
            (self.since, self.lines) = (Some(Instant::now()), 0);
        }
        self.lines += 1;
        if self.lines > MAX_LOGGED {
            self.dropped += 1;
            return;
        }
        tracing::info!(target: "toolcrib::server", server = self.server, "{}", self.secrets.line(beginning(line, MAX_STDERR_LINE as usize)));
    }

    fn tell_dropped(&mut self) {
        if self.dropped > 0 {
            let dropped = std::mem::take(&mut self.dropped);
            tracing::info!(target: "toolcrib::server", server = self.server, "{dropped} more lines are left out");
        }
    }
}

// Lines of JSON on their way to the SDK.

/// Bytes that are read at once.
const CHUNK: usize = 8 * 1024;

/// Bytes of a field that may be the id of a message: no client sends a longer one.
const MAX_ID_FIELD: usize = 512;

/// A line as it was read.
pub enum Line {
    /// A line with its end.
    Whole(Vec<u8>),
    /// A line over the limit, which is not kept: what was seen of its id.
    TooLong(IdScanner),
    /// The beginning of a line that is many times as long.
    Endless,
}

/// Multiple of the limit at which a line counts as endless.
const ENDLESS: usize = 2;

/// A line that the SDK would misread or pass over.
pub struct BadLine {
    /// The id of the message, where one can be made out.
    pub id: Option<Value>,
    /// Why it cannot be read.
    pub problem: LineProblem,
}

/// The reason why a line is bad.
pub enum LineProblem {
    /// An object has a key twice.
    KeyTwice(String),
    /// It is not JSON.
    NotJson(String),
    /// The message has a method, and this field is of another kind than messages of MCP have.
    WrongField(&'static str),
    /// It is longer than the limit.
    TooLong,
    /// It has more values than are read.
    TooManyValues,
}

/// A stream of lines, each as `read` hands it on to the SDK, until it returns `None`. A line that is longer than `longest` is
/// not kept.
pub struct LineCheck<R, F> {
    from: R,
    longest: usize,
    read: F,
    /// The beginning of a line.
    line: Vec<u8>,
    /// The search for the id of a line that is too long, and the length of the line so far.
    too_long: Option<(IdScanner, usize)>,
    /// Bytes that were checked, and how many of them were handed on.
    ready: Vec<u8>,
    handed: usize,
    has_ended: bool,
}

impl<R, F: FnMut(Line) -> Option<Vec<u8>>> LineCheck<R, F> {
    /// Reads `from`, and hands on what `read` makes of each line.
    pub fn new(from: R, longest: usize, read: F) -> Self {
        let (line, ready) = Default::default();
        Self { from, longest, read, line, too_long: None, ready, handed: 0, has_ended: false }
    }

    fn take(&mut self, chunk: &[u8]) {
        for piece in chunk.split_inclusive(|byte| *byte == b'\n') {
            if self.has_ended {
                return;
            }
            self.line.extend_from_slice(piece);
            if piece.ends_with(b"\n") {
                self.end_line();
            } else if self.line.len() > self.longest || self.too_long.is_some() {
                let (scanner, length) = self.too_long.get_or_insert_default();
                scanner.read(&self.line);
                *length += self.line.len();
                self.line.clear();
                if *length > self.longest.saturating_mul(ENDLESS) {
                    self.too_long = None;
                    self.hand_on(Line::Endless);
                }
            }
        }
    }

    fn end_line(&mut self) {
        let line = std::mem::take(&mut self.line);
        let line = match self.too_long.take() {
            Some((mut scanner, _)) => {
                scanner.read(&line);
                Line::TooLong(scanner)
            }
            None if line.is_empty() => return,
            None => Line::Whole(line),
        };
        self.hand_on(line);
    }

    fn hand_on(&mut self, line: Line) {
        match (self.read)(line) {
            Some(line) => self.ready.extend(line),
            None => self.has_ended = true,
        }
    }
}

impl Line {
    /// The line, unless the SDK would misread it or pass over it.
    pub fn checked(self) -> Result<Vec<u8>, BadLine> {
        match self {
            Line::Whole(line) => match problem_of(&line) {
                None => Ok(line),
                Some(bad) => Err(bad),
            },
            Line::TooLong(scanner) => Err(BadLine { id: scanner.id, problem: LineProblem::TooLong }),
            Line::Endless => Err(BadLine { id: None, problem: LineProblem::TooLong }),
        }
    }
}

/// The problem with a JSON text, if there is one. An empty text has no problem.
pub fn problem_of(text: &[u8]) -> Option<BadLine> {
    let problem = match from_json_bytes(text) {
        Ok(message) => LineProblem::WrongField(wrong_field(&message)?),
        Err(_) if text.trim_ascii().is_empty() => return None,
        Err(_) if has_too_many_values(text) => LineProblem::TooManyValues,
        Err(error) if error.is_data() => LineProblem::KeyTwice(error.to_string()),
        Err(error) => LineProblem::NotJson(error.to_string()),
    };
    Some(BadLine { id: IdScanner::of(text).id, problem })
}

/// The field of a request or a notification because of which the SDK would not know it as one, nor its id.
fn wrong_field(message: &Value) -> Option<&'static str> {
    match (message.get("method")?.is_string(), message.get("params")) {
        (false, _) => Some("method"),
        (true, Some(params)) if !params.is_object() && !params.is_null() => Some("params"),
        (true, _) => None,
    }
}

/// Looks for the `id` of a message in bytes that need not be JSON, in a few hundred bytes of memory.
#[derive(Default)]
pub struct IdScanner {
    depth: usize,
    is_in_string: bool,
    is_escaped: bool,
    /// The field that is being read, without values that are objects or lists.
    field: Vec<u8>,
    id: Option<Value>,
    has_method: bool,
}

impl IdScanner {
    /// What a whole text shows of its id.
    pub(super) fn of(text: &[u8]) -> Self {
        let mut scanner = Self::default();
        scanner.read(text);
        scanner
    }

    /// Whether the message is a request or a notification.
    pub(super) fn has_method(&self) -> bool {
        self.has_method
    }

    /// The id of the request that a message answers.
    pub(super) fn answered(self) -> Option<Value> {
        self.id.filter(|_| !self.has_method)
    }

    pub(super) fn read(&mut self, bytes: &[u8]) {
        for byte in bytes {
            let is_text = self.is_in_string;
            match byte {
                _ if self.is_escaped => self.is_escaped = false,
                b'\\' if is_text => self.is_escaped = true,
                b'"' => self.is_in_string = !is_text,
                _ if is_text => {}
                b'{' | b'[' => {
                    self.depth += 1;
                    if self.depth == 1 {
                        continue;
                    }
                }
                b'}' | b']' => {
                    if self.depth == 1 {
                        self.end_field();
                    }
                    self.depth = self.depth.saturating_sub(1);
                }
                b',' if self.depth == 1 => {
                    self.end_field();
                    continue;
                }
                _ => {}
            }
            if self.depth == 1 && self.field.len() <= MAX_ID_FIELD {
                self.field.push(*byte);
            }
        }
    }

    fn end_field(&mut self) {
        let field = std::mem::take(&mut self.field);
        if field.len() <= MAX_ID_FIELD {
            let object = [b"{", field.as_slice(), b"}"].concat();
            let fields: Map<String, Value> = serde_json::from_slice(&object).unwrap_or_default();
            let id = fields.get("id").filter(|id| id.is_string() || id.is_number());
            self.id = self.id.take().or_else(|| id.cloned());
            self.has_method |= fields.contains_key("method");
        }
    }
}

impl<R: AsyncRead + Unpin, F: FnMut(Line) -> Option<Vec<u8>> + Unpin> AsyncRead for LineCheck<R, F> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = &mut *self;
        while this.handed == this.ready.len() && !this.has_ended {
            (this.handed, this.ready) = Default::default();
            let mut chunk = [0; CHUNK];
            let mut read = ReadBuf::new(&mut chunk);
            ready!(Pin::new(&mut this.from).poll_read(context, &mut read))?;
            this.has_ended = read.filled().is_empty();
            if this.has_ended {
                this.end_line()
            } else {
                this.take(read.filled())
            }
            if this.ready.is_empty() && !this.has_ended {
                // The reader of bad lines has a turn before more is read.
                context.waker().wake_by_ref();
                return Poll::Pending;
            }
        }
        let rest = this.ready.get(this.handed..).unwrap_or_default();
        let count = rest.len().min(buffer.remaining());
        buffer.put_slice(rest.get(..count).unwrap_or_default());
        this.handed += count;
        Poll::Ready(Ok(()))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(line: &str, expect: Option<Value>) {
        let mut scanner = IdScanner::default();
        // In pieces, as lines that are too long come.
        line.as_bytes().chunks(3).for_each(|piece| scanner.read(piece));
        assert_eq!(scanner.id, expect, "{line}");
    }

    #[test]
    fn the_id_of_a_message_is_found_wherever_it_stands() {
        check(r#"{"id":7,"method":"x","params":{"a":1e999}}"#, Some(json!(7)));
        check(
            r#"{"method":"x","params":{"id":1,"a":["\ud83d","}"]}, "id" : "a,b\"" }"#,
            Some(json!("a,b\"")),
        );
        check(r#" { "params" : [[[[ "id": 3 ]]]] , "jsonrpc":"2.0", "id":-4}"#, Some(json!(-4)));
        check(r#"{"params":{"id":7}}"#, None);
        check(r#"{"id":null,"a":1}"#, None);
        check(r#"[{"id":7}]"#, None);
        check("not json", None);
    }
}
