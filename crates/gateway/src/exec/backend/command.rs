//! Commands: one program for each call, never through a shell, with arguments as a list and as JSON on its stdin.
//!
//! 1. Arguments are put in their places; a value cannot become an option or a second argument.
//! 2. [`run`](self) runs the program in its own process group, which ends with the call.
//! 3. The output is read within a limit.

use std::io::ErrorKind;
use std::path::Path;
use std::pin::pin;
use std::process::ExitStatus;
use std::time::Duration;

use process_wrap::tokio::ChildWrapper;
use serde_json::{Value, json};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::process::{ChildStderr, ChildStdout, Command};
use tokio::sync::Notify;
use tokio::time::{sleep, timeout};

use super::backend_error::{BackendError, BackendErrorKind, CHECK_FIRST, Result};
use super::http::plain;
use super::request::{BackendRequest, BackendResponse, too_many_values};
use crate::fields::fields;
use toolcrib_catalog::Tool;
use toolcrib_definition::document::from_others;
use toolcrib_definition::{CommandBackend, Effect, Stdin};
use toolcrib_front::long_work::apart;
use toolcrib_front::mcp::{Environment, FilledSecrets, inherited, with_its_children};

/// Bytes that a program may write unless its backend sets `max_bytes`: a result larger than 1 MiB is a mistake.
const MAX_BYTES: usize = 1 << 20;
/// Bytes that are kept of the end of stderr: the error is mostly there.
const MAX_STDERR: usize = 8 << 10;
/// Bytes of a failed program's output that an error repeats: a model reads it.
const MAX_EXCERPT: usize = 2048;
/// Seconds that a program has to end after SIGTERM, before it is killed.
const GRACE: Duration = Duration::from_secs(1);

/// A running program. Dropping it kills its whole process group.
struct Running(Box<dyn ChildWrapper>);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.start_kill();
    }
}

pub(super) async fn run(
    backend: &CommandBackend,
    call: BackendRequest<'_>,
    (root, environment): (&Path, &Environment),
) -> Result<BackendResponse> {
    let argv = filled(backend, call)?;
    let mut secrets = FilledSecrets::default();
    let variables = secrets.fill(&backend.env, environment, Some(&call.caller.headers))?;
    let program = name(&argv);
    call.begun.mark();
    let mut running = Running(start(&argv, root, inherited(environment).chain(variables))?);
    let times = match backend.timeout_seconds {
        Some(seconds) => (Duration::from_secs(seconds), Duration::MAX),
        None => (Duration::MAX, call.longest_silence),
    };
    write_stdin(&mut running, backend.stdin, call.arguments);
    let max_bytes = backend.max_bytes.unwrap_or(MAX_BYTES);
    let mut output = Output::default();
    let status = match output.read_while(&mut running, max_bytes, times).await {
        Ok(status) => status,
        Err(Stopped::StdoutTooLong) if call.tool.rules.effect == Effect::Read => {
            let warning = format!("the program was ended: it wrote more than {max_bytes} bytes");
            let content = secrets.hide(&String::from_utf8_lossy(&output.stdout)).into();
            return Ok(BackendResponse::new(content).warning(Some(warning)));
        }
        Err(stopped) => return Err(stopped.error(program, max_bytes)),
    };
    if !status.success() {
        return Err(failed(program, status, &output, &secrets));
    }
    let content = match apart(output.stdout.len(), || from_others(&output.stdout)) {
        Ok(json) if is_meant(&json, &output.stdout, call.tool) => json,
        _ if output.stdout.is_empty() => Value::Null,
        _ => String::from_utf8_lossy(&output.stdout).into(),
    };
    let (content, warning) = secrets.hide_in_result(content);
    let cut = output.is_cut.then(|| format!("the answer was cut: it is longer than {max_bytes} bytes"));
    let too_many = too_many_values(&output.stdout);
    Ok(BackendResponse::new(content).warning(cut).warning(too_many).warning(warning))
}

/// Whether output that can be read as JSON is JSON, and not text such as the version `3.10`, which a number would change.
fn is_meant(json: &Value, written: &[u8], tool: &Tool) -> bool {
    let has_text = tool.output.as_ref().is_some_and(|schema| schema.root().type_words().eq(["string"]));
    match json {
        _ if has_text => json.is_string(),
        Value::Number(number) => number.to_string().as_bytes() == written.trim_ascii(),
        _ => true,
    }
}

/// The command of a call, for a dry run.
pub(super) fn preview(backend: &CommandBackend, call: BackendRequest<'_>) -> Result<Value> {
    filled(backend, call)?;
    let arguments = call.redacted();
    let argv = filled(backend, BackendRequest { arguments: &arguments, ..call })?;
    let mut preview = json!({ "backend": "command", "argv": call.secrets().command_line(&argv) });
    if backend.stdin == Stdin::Json {
        preview["stdin"] = arguments;
    }
    Ok(preview)
}

/// The name of the program without its folder.
fn name(argv: &[String]) -> &str {
    let program = argv.first().map_or("", String::as_str);
    program.rsplit(std::path::is_separator).next().unwrap_or(program)
}

fn start(
    argv: &[String],
    root: &Path,
    variables: impl Iterator<Item = (String, String)>,
) -> Result<Box<dyn ChildWrapper>> {
    let (program, arguments) =
        argv.split_first().ok_or_else(|| BackendError::unconfigured("its backend has no program"))?;
    let root = if root.as_os_str().is_empty() { Path::new(".") } else { root };
    let is_path = program.contains(std::path::is_separator);
    // A relative path starts at the catalog's folder, not at the working directory.
    let absolute = || std::path::absolute(root.join(program)).unwrap_or_else(|_| root.join(program));
    let mut command = Command::new(if is_path { absolute() } else { program.into() });
    command.args(arguments).current_dir(root).env_clear().envs(variables);
    let program = name(argv);
    with_its_children(command).spawn().map_err(|error| {
        let why = match error.kind() {
            ErrorKind::NotFound if is_path => "it is not there; its path is relative to toolcrib.toml".into(),
            ErrorKind::NotFound => "no folder of PATH has it".into(),
            kind => kind.to_string(),
        };
        BackendError::unconfigured(format!("`{program}` cannot be run: {why}"))
    })
}

/// Writes the program's stdin in the background, since the program may never read it.
fn write_stdin(running: &mut Running, stdin: Stdin, arguments: &Value) {
    let Some(mut pipe) = running.0.stdin().take() else { return };
    if stdin == Stdin::Json {
        let text = arguments.to_string();
        tokio::spawn(async move {
            let _ = pipe.write_all(text.as_bytes()).await;
        });
    }
}

/// Asks the process group to end, and kills it after [`GRACE`].
async fn end(running: &mut Running) {
    #[cfg(unix)]
    if running.0.signal(SIGTERM).is_ok() && timeout(GRACE, running.0.wait()).await.is_ok() {
        return;
    }
    let _ = running.0.start_kill();
    let _ = timeout(GRACE, running.0.wait()).await;
}

#[cfg(unix)]
const SIGTERM: i32 = 15;

fn failed(program: &str, status: ExitStatus, output: &Output, secrets: &FilledSecrets) -> BackendError {
    let how = match status.code() {
        Some(code) => format!("failed with exit code {code}"),
        None => "was ended by a signal".into(),
    };
    let said = String::from_utf8_lossy(&output.stderr);
    let last = secrets.line(said.lines().rfind(|line| !line.trim().is_empty()).unwrap_or_default());
    let message =
        if last.is_empty() { format!("`{program}` {how}") } else { format!("`{program}` {how}: {last}") };
    let excerpt = |text: &str| {
        let text = secrets.hide(text);
        let end = text.floor_char_boundary(MAX_EXCERPT);
        (!text.trim().is_empty()).then(|| Value::from(&text[..end]))
    };
    let from = said.ceil_char_boundary(said.len().saturating_sub(MAX_EXCERPT));
    let answer = fields([
        ("exit_code", Some(json!(status.code()))),
        ("stderr", excerpt(&said[from..])),
        ("stdout", excerpt(&String::from_utf8_lossy(&output.stdout))),
    ]);
    let (kind, next) = match status.code() {
        Some(_) => (BackendErrorKind::Failed, "correct the arguments as the message says, or tell the user"),
        // A signal ended it in the middle of its work.
        None => (BackendErrorKind::ConnectionLost, CHECK_FIRST),
    };
    BackendError::new(kind, message, next).with_answer(answer)
}

/// The program and its arguments. An element whose argument is absent is left out.
fn filled(backend: &CommandBackend, call: BackendRequest<'_>) -> Result<Vec<String>> {
    let (program, templates) =
        backend.argv.split_first().ok_or_else(|| BackendError::unconfigured("its backend has no program"))?;
    let mut argv = vec![program.clone()];
    let mut are_options_over = false;
    for template in templates {
        argv.extend(argument(template, call, are_options_over)?);
        are_options_over |= template == "--";
    }
    Ok(argv)
}

/// One argument of the program; `None` where a value is absent.
fn argument(template: &str, call: BackendRequest<'_>, are_options_over: bool) -> Result<Option<String>> {
    let mut argument = String::new();
    let mut rest = template;
    while let Some((before, from)) = rest.split_once('{') {
        argument.push_str(before);
        let Some((name, after)) = from.split_once('}').filter(|(name, _)| is_argument(name, call)) else {
            argument.push('{');
            rest = from;
            continue;
        };
        let value = match call.arguments.get(name) {
            None | Some(Value::Null) => return Ok(None),
            Some(value) => plain(value),
        };
        let refused = |problem| Err(BackendError::invalid_argument(name, format!("`{name}` {problem}")));
        if value.contains('\0') {
            return refused("holds a character that no program takes");
        }
        if argument.is_empty() && value.starts_with('-') && !are_options_over {
            return refused("begins with `-`, so it would be taken for an option");
        }
        argument.push_str(&value);
        rest = after;
    }
    Ok(Some(argument + rest))
}

/// Whether schema or operator know an argument of this name. Braces around other names belong to the program.
fn is_argument(name: &str, call: BackendRequest<'_>) -> bool {
    call.tool.input.parameters.root().has_property(name)
        || call.tool.input.set_arguments.iter().any(|argument| argument.name == name)
}

/// Milliseconds to read on after the program has ended: its children may hold the pipe open.
const CLOSE_GRACE: Duration = Duration::from_millis(200);

/// The output of a program: the beginning of its stdout, and the end of its stderr.
#[derive(Default)]
struct Output {
    stdout: Vec<u8>,
    /// Whether it wrote more to stdout than is kept.
    is_cut: bool,
    stderr: Vec<u8>,
}

/// The reason why a program was ended.
enum Stopped {
    StdoutTooLong,
    StderrTooLong,
    TooSlow,
    Unknown,
}

impl Stopped {
    fn error(&self, program: &str, max_bytes: usize) -> BackendError {
        let lost = BackendError::connection_lost;
        match self {
            Stopped::StdoutTooLong => lost(format!(
                "`{program}` was ended before it was done: it wrote more than {max_bytes} bytes"
            )),
            Stopped::StderrTooLong => lost(format!(
                "`{program}` was ended: it wrote more than {max_bytes} bytes to stderr; it may have done a part of its work"
            )),
            Stopped::TooSlow => BackendError::timed_out(format!(
                "`{program}` did not end in time, and was ended; it may have done a part of its work"
            )),
            Stopped::Unknown => lost(format!("it is not known how `{program}` ended")),
        }
    }
}

impl Output {
    /// Reads until the program has ended. A program that writes too much or takes too long, in all or without output, is ended.
    async fn read_while(
        &mut self,
        running: &mut Running,
        max_bytes: usize,
        (whole, longest_silence): (Duration, Duration),
    ) -> Result<ExitStatus, Stopped> {
        let heard = Notify::new();
        let pipes = (running.0.stdout().take(), running.0.stderr().take());
        let mut reading = pin!(self.read(pipes, max_bytes, &heard));
        let mut is_read = false;
        let stopped = {
            let mut waiting = pin!(running.0.wait());
            let mut whole = pin!(sleep(whole));
            loop {
                tokio::select! {
                    read = &mut reading, if !is_read => match read {
                        Ok(()) => is_read = true,
                        Err(stopped) => break stopped,
                    },
                    ended = &mut waiting => {
                        if !is_read {
                            let _ = timeout(CLOSE_GRACE, reading.as_mut()).await;
                        }
                        return ended.map_err(|_| Stopped::Unknown);
                    }
                    () = heard.notified() => {}
                    () = sleep(longest_silence) => break Stopped::TooSlow,
                    () = &mut whole => break Stopped::TooSlow,
                }
            }
        };
        end(running).await;
        Err(stopped)
    }

    /// Reads both pipes to their ends.
    async fn read(
        &mut self,
        (stdout, stderr): (Option<ChildStdout>, Option<ChildStderr>),
        max_bytes: usize,
        heard: &Notify,
    ) -> Result<(), Stopped> {
        let Self { stdout: head, is_cut, stderr: tail } = self;
        let read_head = each_read(stdout, |read| {
            heard.notify_one();
            let room = max_bytes.saturating_sub(head.len());
            head.extend_from_slice(&read[..read.len().min(room)]);
            *is_cut = read.len() > room;
            if *is_cut { Err(Stopped::StdoutTooLong) } else { Ok(()) }
        });
        let mut written = 0;
        let read_tail = each_read(stderr, |read| {
            heard.notify_one();
            written += read.len();
            tail.extend_from_slice(read);
            tail.drain(..tail.len().saturating_sub(MAX_STDERR));
            if written > max_bytes { Err(Stopped::StderrTooLong) } else { Ok(()) }
        });
        tokio::try_join!(read_head, read_tail).map(|_| ())
    }
}

/// Passes on each piece that is read from a pipe, until its end or an error of `take`.
async fn each_read(
    pipe: Option<impl AsyncRead + Unpin>,
    mut take: impl FnMut(&[u8]) -> Result<(), Stopped>,
) -> Result<(), Stopped> {
    let Some(mut pipe) = pipe else { return Ok(()) };
    let mut buffer = vec![0; 16 << 10];
    while let Ok(count @ 1..) = pipe.read(&mut buffer).await {
        take(&buffer[..count])?;
    }
    Ok(())
}
