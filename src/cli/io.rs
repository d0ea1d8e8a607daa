//! What a run of the program reads and prints: its streams and variables, those of the process or others. All output passes
//! here.

use std::ffi::OsString;
use std::fmt::Display;
use std::fs::File;
use std::io::{BufRead, BufReader, ErrorKind, IsTerminal, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};

use anstream::StripStream;
use tokio::sync::watch;
use tracing::Dispatch;
use tracing::dispatcher::{DefaultGuard, set_default, set_global_default};

use super::error::{CommandError, CommandResult, failed};
use super::escape::{escaped, without_commands};
use toolcrib_definition::guard::locked;
use toolcrib_gateway::state::random_id;

const BOLD_RED: anstyle::Style = anstyle::AnsiColor::Red.on_default().bold();

/// Longest text on stdin, in bytes.
const MAX_BYTES: u64 = 64 << 20;

/// Longest secret in a file, in bytes.
const MAX_SECRET: u64 = 64 << 10;

/// The streams and variables of one run; a clone is of the same run.
#[derive(Clone)]
pub struct Io(Arc<Streams>);

/// The values of variables, by their names.
type Variables = dyn Fn(&str) -> Option<OsString> + Send + Sync;

struct Streams {
    stdin: Mutex<Box<dyn BufRead + Send>>,
    stdout: Mutex<Box<dyn Write + Send>>,
    stderr: Arc<Mutex<Box<dyn Write + Send>>>,
    variable: Box<Variables>,
    /// The program, where it is another than that of the process; `None` where the run has the process to itself.
    program: Option<PathBuf>,
    /// The number of requests to end.
    stops: watch::Sender<usize>,
    /// The log, where it is not that of the process.
    log: OnceLock<Dispatch>,
}

impl Io {
    /// The streams and variables of the process.
    pub(super) fn of_process() -> Self {
        Self(Arc::new(Streams {
            stdin: Mutex::new(Box::new(BufReader::new(std::io::stdin()))),
            stdout: Mutex::new(Box::new(anstream::stdout())),
            stderr: Arc::new(Mutex::new(Box::new(anstream::stderr()))),
            variable: Box::new(|name| std::env::var_os(name)),
            program: None,
            stops: watch::Sender::default(),
            log: OnceLock::new(),
        }))
    }

    /// Others, for a run as this program within a process that has more to do: what is printed is what a pipe would get, and
    /// signals are left alone.
    pub fn new(
        program: PathBuf,
        stdin: impl Read + Send + 'static,
        stdout: impl Write + Send + 'static,
        stderr: impl Write + Send + 'static,
        variable: impl Fn(&str) -> Option<OsString> + Send + Sync + 'static,
    ) -> Self {
        let plain = |stream: Box<dyn Write + Send>| Mutex::new(Box::new(StripStream::new(stream)) as _);
        Self(Arc::new(Streams {
            stdin: Mutex::new(Box::new(BufReader::new(stdin))),
            stdout: plain(Box::new(stdout)),
            stderr: Arc::new(plain(Box::new(stderr))),
            variable: Box::new(variable),
            program: Some(program),
            stops: watch::Sender::default(),
            log: OnceLock::new(),
        }))
    }

    /// Asks the run to end, as a signal would.
    pub fn stop(&self) {
        self.0.stops.send_modify(|count| *count += 1);
    }

    /// The number of requests to end so far.
    pub(super) fn stops(&self) -> watch::Receiver<usize> {
        self.0.stops.subscribe()
    }

    /// Takes the log of the run: that of the process, where the run has it to itself, else of the threads that enter it.
    pub(super) fn set_log(&self, log: Dispatch) {
        // In a process that calls this twice, the log exists already and serves as well.
        let _ = if self.is_process() { set_global_default(log).is_ok() } else { self.0.log.set(log).is_ok() };
    }

    /// Makes this thread write to the log of the run for as long as the guard lives.
    pub(super) fn enter_log(&self) -> Option<DefaultGuard> {
        self.0.log.get().map(set_default)
    }

    /// Prints data to stdout. A closed pipe is no error, since the reader has enough; any other failure is.
    pub(super) fn print(&self, text: &str) -> CommandResult {
        self.write(&without_commands(&escaped(text)))
    }

    /// Prints commands for the runner of a job to stdout.
    pub(super) fn print_commands(&self, text: &str) -> CommandResult {
        self.write(&escaped(text))
    }

    fn write(&self, text: &str) -> CommandResult {
        let mut out = locked(&self.0.stdout);
        match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
            Err(error) if error.kind() != ErrorKind::BrokenPipe => {
                Err(failed(format!("cannot write to stdout: {error}")))
            }
            _ => Ok(()),
        }
    }

    /// Prints an error to stderr.
    pub(super) fn error(&self, text: &str) {
        self.note(format!("{}error:{} {text}", BOLD_RED.render(), BOLD_RED.render_reset()));
    }

    /// Prints a note to stderr.
    pub(super) fn note(&self, text: impl Display) {
        let text = text.to_string();
        let _ = writeln!(locked(&self.0.stderr), "{}", without_commands(&escaped(&text)));
    }

    /// Stderr, for the lines of a log.
    pub(super) fn stderr(&self) -> Stderr {
        Stderr(Arc::clone(&self.0.stderr))
    }

    /// What stdin has to say, for one reader at a time.
    pub(super) fn stdin(&self) -> MutexGuard<'_, Box<dyn BufRead + Send>> {
        locked(&self.0.stdin)
    }

    /// The whole of stdin, which is text.
    pub(super) fn stdin_text(&self) -> Result<String, CommandError> {
        let mut text = String::new();
        match self.stdin().by_ref().take(MAX_BYTES + 1).read_to_string(&mut text) {
            Err(error) => Err(unreadable(error.to_string())),
            Ok(size) if size as u64 > MAX_BYTES => {
                Err(unreadable(format!("it is longer than {} MB", MAX_BYTES >> 20)))
            }
            Ok(_) => Ok(text),
        }
    }

    /// A variable of the environment, if it is text. Without it, the content of the file that `NAME_FILE` names, as runtimes of
    /// containers hand out secrets.
    pub(super) fn variable(&self, name: &str) -> Option<String> {
        if let Some(value) = (self.0.variable)(name) {
            return value.into_string().ok();
        }
        let file = (self.0.variable)(&format!("{name}_FILE"))?;
        let mut text = String::new();
        File::open(file).ok()?.take(MAX_SECRET).read_to_string(&mut text).ok()?;
        Some(text.trim_end_matches(['\r', '\n']).to_string())
    }

    /// A variable of the environment that names an absolute path.
    pub(super) fn path_variable(&self, name: &str) -> Option<PathBuf> {
        (self.0.variable)(name).map(PathBuf::from).filter(|path| path.is_absolute())
    }

    /// The user's home.
    pub(super) fn home(&self) -> Option<PathBuf> {
        self.path_variable("HOME").or_else(|| self.path_variable("USERPROFILE"))
    }

    /// A folder of the user, which a variable names, or which has its place below the home.
    pub(super) fn user_folder(&self, variable: &str, below_home: &str) -> Option<PathBuf> {
        self.path_variable(variable).or_else(|| Some(self.home()?.join(below_home)))
    }

    /// A folder in `$XDG_STATE_HOME/toolcrib`, else in `~/.local/state/toolcrib`.
    pub(super) fn state_folder(&self, name: &str) -> Option<PathBuf> {
        self.user_folder("XDG_STATE_HOME", ".local/state").map(|folder| folder.join("toolcrib").join(name))
    }

    /// Whether the run has the process to itself.
    pub(super) fn is_process(&self) -> bool {
        self.0.program.is_none()
    }

    /// The program that runs, where it is another than that of the process.
    pub(super) fn program(&self) -> Option<&Path> {
        self.0.program.as_deref()
    }

    /// Whether a person sees stderr.
    pub(super) fn is_seen(&self) -> bool {
        self.is_process() && std::io::stderr().is_terminal()
    }

    /// Whether a person confirms this by typing a word that only the terminal shows; `None` without a terminal. A program that
    /// starts this one cannot know the word before.
    pub(super) fn confirmed(&self, question: &str) -> Option<bool> {
        let mut line = String::new();
        if !self.is_process() {
            // The streams of such a run are those of its person.
            self.stdin().read_line(&mut line).ok()?;
            return Some(line.trim() == "yes");
        }
        let (input, output) = if cfg!(windows) { ("CONIN$", "CONOUT$") } else { ("/dev/tty", "/dev/tty") };
        let input = File::open(input).ok()?;
        let mut output = File::options().write(true).open(output).ok()?;
        let id = random_id("w");
        let word = &id[id.len().saturating_sub(4)..];
        write!(output, "{question}\ntype {word} to confirm: ").ok()?;
        BufReader::new(input).read_line(&mut line).ok()?;
        Some(line.trim() == word)
    }

    /// Whether a person may type.
    pub(super) fn is_typed(&self) -> bool {
        self.is_process() && std::io::stdin().is_terminal()
    }
}

/// Stderr of a run.
#[derive(Clone)]
pub(super) struct Stderr(Arc<Mutex<Box<dyn Write + Send>>>);

impl Write for Stderr {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        locked(&self.0).write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        locked(&self.0).flush()
    }
}

fn unreadable(what: String) -> CommandError {
    failed(format!("cannot read stdin: {what}"))
}
