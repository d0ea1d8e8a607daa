//! Commands: a program for each call, never through a shell, with arguments as a list and as JSON on its stdin.
//!
//! 1. [`argv`] puts arguments in their places, where none can become an option or a second argument.
//! 2. [`run`](self) runs it in a process group of its own, which ends with the call.
//! 3. [`output`] reads what it writes, within a limit.

mod argv;
mod output;

use std::path::Path;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use process_wrap::tokio::{ChildWrapper, CommandWrap, KillOnDrop};
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt;
use tokio::process::Command;
use tokio::time::{Instant, timeout, timeout_at};

use super::{Fault, FaultKind, Order, Reply};
use crate::sources::mcp::{Environment, Secrets, inherited};
use crate::tool::{CommandBackend, Effect, Stdin};
use output::{Captured, Pipe};

/// What a program may write when nothing else is said.
const MAX_BYTES: usize = 1 << 20;
/// How much of stderr is kept: its end.
const MAX_STDERR: usize = 8 << 10;
/// How much of what a failed program wrote is told.
const MAX_TOLD: usize = 2048;
/// How long a program that is told to end has for it.
const GRACE: Duration = Duration::from_secs(1);

/// A program at work. Dropped, its whole group is killed.
struct Running(Box<dyn ChildWrapper>);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.start_kill();
    }
}

pub(super) async fn run(
    backend: &CommandBackend,
    order: Order<'_>,
    (root, environment): (&Path, &Environment),
) -> Result<Reply, Fault> {
    let argv = argv::filled(backend, order)?;
    let mut secrets = Secrets::default();
    let variables = secrets.fill(&backend.env, environment, Some(&order.caller.headers))?;
    let program = name(&argv);
    order.begun.mark();
    let mut running = Running(start(&argv, root, inherited(environment).chain(variables))?);
    let time =
        backend.timeout_seconds.map(Duration::from_secs).map_or(order.time, |most| most.min(order.time));
    let deadline = Instant::now() + time;
    feed(&mut running, backend.stdin, order.arguments);
    let max_bytes = backend.max_bytes.unwrap_or(MAX_BYTES);
    let stdout = Pipe::head(running.0.stdout().take(), max_bytes);
    let stderr = Pipe::tail(running.0.stderr().take(), MAX_STDERR, max_bytes);
    let ended = tokio::select! {
        ended = timeout_at(deadline, running.0.wait()) => ended,
        () = stdout.overflow() => {
            end(&mut running).await;
            let head = stdout.captured().await;
            let warning = format!("the program was ended: it wrote more than {max_bytes} bytes");
            if order.tool.effect != Effect::Read {
                let message = format!("`{program}` was ended before it was done: it wrote more than {max_bytes} bytes");
                let next = "look what is there before you send the call again";
                return Err(Fault::new(FaultKind::Lost, message, next));
            }
            return Ok(Reply { content: secrets.hide(&head.text()).into(), warnings: vec![warning] });
        }
        () = stderr.overflow() => {
            end(&mut running).await;
            let message = format!(
                "`{program}` was ended: it wrote more than {max_bytes} bytes to stderr; it may have done a part of its work"
            );
            let next = "look what is there before you send the call again";
            return Err(Fault::new(FaultKind::Lost, message, next));
        }
    };
    let Ok(ended) = ended else {
        end(&mut running).await;
        let message =
            format!("`{program}` did not end in time, and was ended; it may have done a part of its work");
        let next = "look what is there before you send the call again";
        return Err(Fault::new(FaultKind::TimedOut, message, next));
    };
    let (stdout, stderr) = (stdout.captured().await, stderr.captured().await);
    match ended {
        Ok(status) if status.success() => {
            let mut reply = reply(stdout, max_bytes);
            reply.content = secrets.hide_in(reply.content);
            Ok(reply)
        }
        Ok(status) => Err(failed(program, status, &stdout, &stderr, &secrets)),
        Err(_) => {
            let message = format!("nobody knows how `{program}` ended");
            Err(Fault::new(FaultKind::Lost, message, "look what is there before you send the call again"))
        }
    }
}

/// What a call would run.
pub(super) fn preview(backend: &CommandBackend, order: Order<'_>) -> Result<Value, Fault> {
    argv::filled(backend, order)?;
    let arguments = order.shown();
    let argv = argv::filled(backend, Order { arguments: &arguments, ..order })?;
    let mut shown = json!({ "backend": "command", "argv": order.secrets().command_line(&argv) });
    if backend.stdin == Stdin::Json {
        shown["stdin"] = arguments;
    }
    Ok(shown)
}

/// A program without its folder.
fn name(argv: &[String]) -> &str {
    let program = argv.first().map_or("", String::as_str);
    program.rsplit(std::path::is_separator).next().unwrap_or(program)
}

fn start(
    argv: &[String],
    root: &Path,
    variables: impl Iterator<Item = (String, String)>,
) -> Result<Box<dyn ChildWrapper>, Fault> {
    let (program, arguments) =
        argv.split_first().ok_or_else(|| Fault::unconfigured("its backend has no program"))?;
    let root = if root.as_os_str().is_empty() { Path::new(".") } else { root };
    let is_path = program.contains(std::path::is_separator);
    // A path is one from the catalog's folder, wherever we run.
    let absolute = || std::path::absolute(root.join(program)).unwrap_or_else(|_| root.join(program));
    let mut command = Command::new(if is_path { absolute() } else { program.into() });
    command.args(arguments).current_dir(root).env_clear().envs(variables);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut command = CommandWrap::from(command);
    command.wrap(KillOnDrop);
    #[cfg(unix)]
    command.wrap(process_wrap::tokio::ProcessGroup::leader());
    #[cfg(windows)]
    command.wrap(process_wrap::tokio::JobObject);
    let program = name(argv);
    command
        .spawn()
        .map_err(|error| Fault::unconfigured(format!("`{program}` cannot be run: {}", error.kind())))
}

/// Gives it its stdin, whether it reads that or not.
fn feed(running: &mut Running, stdin: Stdin, arguments: &Value) {
    let Some(mut pipe) = running.0.stdin().take() else { return };
    if stdin == Stdin::Json {
        let text = arguments.to_string();
        tokio::spawn(async move {
            let _ = pipe.write_all(text.as_bytes()).await;
        });
    }
}

/// Tells the group to end, and then sees to it.
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

fn reply(stdout: Captured, max_bytes: usize) -> Reply {
    let mut reply = Reply::new(match serde_json::from_slice(&stdout.bytes) {
        Ok(json) => json,
        Err(_) if stdout.bytes.is_empty() => Value::Null,
        Err(_) => stdout.text().into(),
    });
    if stdout.is_cut {
        reply.warnings.push(format!("the answer was cut: it is longer than {max_bytes} bytes"));
    }
    reply
}

fn failed(
    program: &str,
    status: ExitStatus,
    stdout: &Captured,
    stderr: &Captured,
    secrets: &Secrets,
) -> Fault {
    let how = match status.code() {
        Some(code) => format!("failed with exit code {code}"),
        None => "was ended by a signal".into(),
    };
    let said = stderr.text();
    let last = secrets.line(said.lines().rfind(|line| !line.trim().is_empty()).unwrap_or_default());
    let message =
        if last.is_empty() { format!("`{program}` {how}") } else { format!("`{program}` {how}: {last}") };
    let mut detail = json!({ "exit_code": status.code() });
    let from = said.ceil_char_boundary(said.len().saturating_sub(MAX_TOLD));
    for (stream, text) in [("stderr", &said[from..]), ("stdout", &stdout.text())] {
        let text = secrets.hide(text);
        let end = text.floor_char_boundary(MAX_TOLD);
        if !text.trim().is_empty() {
            detail[stream] = text[..end].into();
        }
    }
    let (kind, next) = match status.code() {
        Some(_) => (FaultKind::Failed, "correct the arguments as the message says, or tell the user"),
        // Somebody ended it in the middle of its work.
        None => (FaultKind::Lost, "look what is there before you send the call again"),
    };
    Fault::new(kind, message, next).detail(detail)
}
