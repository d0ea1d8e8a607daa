//! A server as a process: started in a group of its own, and ended when it is no longer needed. Its stderr goes to the log.

use std::collections::BTreeSet;
use std::process::Stdio;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use process_wrap::tokio::{ChildWrapper, CommandWrap, KillOnDrop};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, BufReader};
use tokio::process::{ChildStderr, ChildStdin, ChildStdout, Command};
use tokio::sync::watch;

use super::endpoint::Endpoint;
use super::secrets::FilledSecrets;
use super::server_problem::ServerProblem;
use toolcrib_catalog::config::Environment;
use toolcrib_definition::beginning;
use toolcrib_definition::guard::locked;

/// Variables that every command gets from our environment; others come from its `env`. With the variables
/// of a proxy and of certificates, a server reaches the network as if the client had started it.
const INHERITED: [&str; 35] = [
    "HOME", "LANG", "LOGNAME", "PATH", "SHELL", "TERM", "TMPDIR", "TZ", "USER", "APPDATA", "HOMEDRIVE",
    "HOMEPATH", "LOCALAPPDATA", "PATHEXT", "PROGRAMFILES", "SYSTEMDRIVE", "SYSTEMROOT", "TEMP", "TMP",
    "USERNAME", "USERPROFILE", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "http_proxy",
    "https_proxy", "all_proxy", "no_proxy", "SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS",
    "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "GIT_SSL_CAINFO",
];

/// The variables of our environment that every command gets.
pub fn inherited(environment: &Environment) -> impl Iterator<Item = (String, String)> {
    INHERITED.iter().filter_map(|name| Some((name.to_string(), environment.get(name)?)))
}

/// Wait for it to end by itself after its stdin is closed: short where SIGTERM can follow, since a client waits meanwhile.
const AFTER_STDIN: Duration = Duration::from_millis(if cfg!(unix) { 500 } else { 2_000 });
/// Wait after SIGTERM, and for the rest of its stderr.
const GRACE: Duration = Duration::from_secs(2);

/// The groups of running servers, by the id of the first process.
static GROUPS: Mutex<BTreeSet<u32>> = Mutex::new(BTreeSet::new());

/// Kills all servers that this process has started and not ended, for a program that ends at once. Windows does that by itself.
pub fn kill_all() {
    #[cfg(unix)]
    for group in locked(&GROUPS).iter() {
        let group = i32::try_from(*group).ok().and_then(rustix::process::Pid::from_raw);
        group.map(|group| rustix::process::kill_process_group(group, rustix::process::Signal::KILL));
    }
}

pub(super) struct Process {
    child: Box<dyn ChildWrapper>,
    group: Option<u32>,
    pub(super) stderr: Stderr,
}

impl Process {
    /// Starts the command, and returns its stdout and stdin.
    pub(super) fn start(
        endpoint: &Endpoint,
        environment: &Environment,
        secrets: &mut FilledSecrets,
    ) -> Result<(Self, ChildStdout, ChildStdin), ServerProblem> {
        let filled = endpoint.server.command.iter().map(|text| secrets.fill_text(text, environment, None));
        let filled = filled.collect::<Result<Vec<_>, _>>()?;
        let (program, arguments) = filled.split_first().ok_or("it has no command")?;
        let is_path = program.contains(std::path::is_separator);
        let mut command = Command::new(if is_path { endpoint.root.join(program) } else { program.into() });
        command.args(arguments).current_dir(endpoint.folder());
        command.env_clear().envs(inherited(environment));
        command.envs(endpoint.variables(environment, secrets)?);
        let mut child = with_its_children(command)
            .spawn()
            .map_err(|error| format!("`{program}` cannot be run: {error}"))?;
        let stdout = child.stdout().take().ok_or("it has no stdin or stdout")?;
        let stdin = child.stdin().take().ok_or("it has no stdin or stdout")?;
        let stderr = Stderr::read(child.stderr().take(), &endpoint.name, secrets);
        let group = child.id();
        locked(&GROUPS).extend(group);
        Ok((Self { child, group, stderr }, stdout, stdin))
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
        self.group.map(|group| locked(&GROUPS).remove(&group));
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
    fn read(pipe: Option<ChildStderr>, server: &str, secrets: &FilledSecrets) -> Self {
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

async fn listen(stderr: ChildStderr, last_line: watch::Sender<String>, mut log: Log) {
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
