//! The stderr of a server: read to its end, written to the log, and its last line remembered for messages.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, BufReader};
use tokio::sync::watch;

use super::secrets::FilledSecrets;

/// The most bytes that are kept of a line.
const MAX_LINE: u64 = 2000;
/// Most lines in the log in a window of time: a server must not drown it.
const MAX_LOGGED: usize = 100;
const WINDOW: Duration = Duration::from_secs(10);
/// Wait for the end of what a server that has just ended has written.
const GRACE: Duration = Duration::from_secs(2);

/// The last line of a process on stderr, and whether there may be more.
#[derive(Clone)]
pub(super) struct Stderr {
    last_line: Arc<Mutex<String>>,
    /// Closed at the end.
    more: watch::Receiver<()>,
}

impl Stderr {
    /// Reads all of it, so that the server never waits for a reader.
    pub(super) fn read(
        pipe: Option<impl AsyncRead + Unpin + Send + 'static>,
        server: &str,
        secrets: &FilledSecrets,
    ) -> Self {
        let (reading, more) = watch::channel(());
        let stderr = Self { last_line: Arc::default(), more };
        if let Some(pipe) = pipe {
            let last_line = Arc::clone(&stderr.last_line);
            let log = Log { server: server.to_string(), secrets: secrets.clone(), ..Log::default() };
            tokio::spawn(async move {
                listen(pipe, &last_line, log).await;
                drop(reading);
            });
        }
        stderr
    }

    /// The last line so far.
    pub(super) fn last_line(&self) -> String {
        self.last_line.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The last line; the rest of a process that has just ended is read first.
    pub(super) async fn end(&self) -> String {
        let mut more = self.more.clone();
        let ended = async { while more.changed().await.is_ok() {} };
        let _ = tokio::time::timeout(GRACE, ended).await;
        self.last_line()
    }
}

async fn listen(stderr: impl AsyncRead + Unpin, last_line: &Mutex<String>, mut log: Log) {
    let mut stderr = BufReader::new(stderr);
    let mut line = Vec::new();
    let mut is_rest = false;
    loop {
        line.clear();
        match (&mut stderr).take(MAX_LINE).read_until(b'\n', &mut line).await {
            Ok(0) | Err(_) => return log.tell_dropped(),
            Ok(_) => {}
        }
        let is_beginning = !is_rest;
        is_rest = !line.ends_with(b"\n");
        let text = String::from_utf8_lossy(&line);
        if is_beginning && !text.trim().is_empty() {
            log.write(text.trim());
            *last_line.lock().unwrap_or_else(PoisonError::into_inner) = text.trim().to_string();
        }
    }
}

/// The lines of one server in the log.
#[derive(Default)]
struct Log {
    server: String,
    secrets: FilledSecrets,
    /// The beginning of the window, and the lines since then.
    since: Option<Instant>,
    lines: usize,
    dropped: usize,
}

impl Log {
    fn write(&mut self, line: &str) {
        if self.since.is_none_or(|since| since.elapsed() >= WINDOW) {
            self.tell_dropped();
            (self.since, self.lines) = (Some(Instant::now()), 0);
        }
        self.lines += 1;
        if self.lines > MAX_LOGGED {
            self.dropped += 1;
            return;
        }
        tracing::info!(target: "toolcrib::server", server = self.server, "{}", self.secrets.line(line));
    }

    fn tell_dropped(&mut self) {
        if self.dropped > 0 {
            let dropped = std::mem::take(&mut self.dropped);
            tracing::info!(target: "toolcrib::server", server = self.server, "{dropped} more lines are left out");
        }
    }
}
