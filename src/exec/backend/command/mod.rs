//! Commands: one program for each call, never through a shell, with arguments as a list and as JSON on its stdin.
//!
//! 1. [`argv`] puts arguments in their places; a value cannot become an option or a second argument.
//! 2. [`run`](self) runs the program in a process group of its own, which ends with the call.
//! 3. [`output`] reads its output, within a limit.

mod argv;
mod output;

use std::path::Path;
use std::process::ExitStatus;
use std::time::Duration;

use process_wrap::tokio::ChildWrapper;
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt;
use tokio::process::Command;
use tokio::time::{Instant, timeout, timeout_at};

use super::{BackendError, BackendErrorKind, BackendRequest, BackendResponse, ErrorAnswer};
use crate::sources::mcp::{Environment, FilledSecrets, inherited, with_its_children};
use crate::tool::{CommandBackend, Effect, Stdin};
use output::{Captured, Pipe};

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
) -> Result<BackendResponse, BackendError> {
    let argv = argv::filled(backend, call)?;
    let mut secrets = FilledSecrets::default();
    let variables = secrets.fill(&backend.env, environment, Some(&call.caller.headers))?;
    let program = name(&argv);
    call.begun.mark();
    let mut running = Running(start(&argv, root, inherited(environment).chain(variables))?);
    let time =
        backend.timeout_seconds.map(Duration::from_secs).map_or(call.timeout, |most| most.min(call.timeout));
    let deadline = Instant::now() + time;
    write_stdin(&mut running, backend.stdin, call.arguments);
    let max_bytes = backend.max_bytes.unwrap_or(MAX_BYTES);
    let stdout = Pipe::head(running.0.stdout().take(), max_bytes);
    let stderr = Pipe::tail(running.0.stderr().take(), MAX_STDERR, max_bytes);
    let ended = tokio::select! {
           ended = timeout_at(deadline, running.0.wait()) => ended,
           () = stdout.overflow() => {
               end(&mut running).await;
               let head = stdout.captured().await;
               let warning = format!("the program was ended: it wrote more than {max_bytes} bytes");
               if call.tool.effect != Effect::Read {
                   let message = format!("`{program}` was ended before it was done: it wrote more than {max_bytes} bytes");
                   return Err(BackendError::connection_lost(message));
               }
               return Ok(BackendResponse {
    warnings: vec![warning],
    ..BackendResponse::new(secrets.hide(&head.text()).into())
    });
           }
           () = stderr.overflow() => {
               end(&mut running).await;
               let message = format!(
                   "`{program}` was ended: it wrote more than {max_bytes} bytes to stderr; it may have done a part of its work"
               );
               return Err(BackendError::connection_lost(message));
           }
       };
    let Ok(ended) = ended else {
        end(&mut running).await;
        let message =
            format!("`{program}` did not end in time, and was ended; it may have done a part of its work");
        return Err(BackendError::timed_out(message));
    };
    let (stdout, stderr) = (stdout.captured().await, stderr.captured().await);
    match ended {
        Ok(status) if status.success() => {
            let mut response = response(stdout, max_bytes);
            let (content, warning) = secrets.hide_in_result(response.content);
            response.content = content;
            response.warnings.extend(warning);
            Ok(response)
        }
        Ok(status) => Err(failed(program, status, &stdout, &stderr, &secrets)),
        Err(_) => {
            let message = format!("it is not known how `{program}` ended");
            Err(BackendError::connection_lost(message))
        }
    }
}

/// The command of a call, for a dry run.
pub(super) fn preview(backend: &CommandBackend, call: BackendRequest<'_>) -> Result<Value, BackendError> {
    argv::filled(backend, call)?;
    let arguments = call.redacted();
    let argv = argv::filled(backend, BackendRequest { arguments: &arguments, ..call })?;
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
) -> Result<Box<dyn ChildWrapper>, BackendError> {
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
            std::io::ErrorKind::NotFound if is_path => {
                "it is not there; its path is relative to toolcrib.toml".into()
            }
            std::io::ErrorKind::NotFound => "no folder of PATH has it".into(),
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

fn response(stdout: Captured, max_bytes: usize) -> BackendResponse {
    let mut response = BackendResponse::new(match serde_json::from_slice(&stdout.bytes) {
        Ok(json) => json,
        Err(_) if stdout.bytes.is_empty() => Value::Null,
        Err(_) => stdout.text().into(),
    });
    if stdout.is_cut {
        response.warnings.push(format!("the answer was cut: it is longer than {max_bytes} bytes"));
    }
    response
}

fn failed(
    program: &str,
    status: ExitStatus,
    stdout: &Captured,
    stderr: &Captured,
    secrets: &FilledSecrets,
) -> BackendError {
    let how = match status.code() {
        Some(code) => format!("failed with exit code {code}"),
        None => "was ended by a signal".into(),
    };
    let said = stderr.text();
    let last = secrets.line(said.lines().rfind(|line| !line.trim().is_empty()).unwrap_or_default());
    let message =
        if last.is_empty() { format!("`{program}` {how}") } else { format!("`{program}` {how}: {last}") };
    let excerpt = |text: &str| {
        let text = secrets.hide(text);
        let end = text.floor_char_boundary(MAX_EXCERPT);
        Some(text[..end].to_string()).filter(|_| !text.trim().is_empty())
    };
    let from = said.ceil_char_boundary(said.len().saturating_sub(MAX_EXCERPT));
    let answer = ErrorAnswer::Command {
        exit_code: status.code(),
        stderr: excerpt(&said[from..]),
        stdout: excerpt(&stdout.text()),
    };
    let (kind, next) = match status.code() {
        Some(_) => (BackendErrorKind::Failed, "correct the arguments as the message says, or tell the user"),
        // A signal ended it in the middle of its work.
        None => {
            (BackendErrorKind::ConnectionLost, "check whether it was done before you send the call again")
        }
    };
    BackendError::new(kind, message, next).with_answer(answer)
}
