//! A server process that we start: in a process group of its own, which ends when it is no longer needed.

use std::process::Stdio;
use std::time::Duration;

use process_wrap::tokio::{ChildWrapper, CommandWrap, KillOnDrop};
use tokio::process::{ChildStdin, ChildStdout, Command};

use super::Environment;
use super::endpoint::Endpoint;
use super::secrets::FilledSecrets;
use super::stderr::Stderr;

/// Wait for it to end by itself after its stdin is closed, and again after SIGTERM.
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
    ) -> Result<(Self, ChildStdout, ChildStdin), String> {
        let filled = secrets.fill_texts(&endpoint.server.command, environment);
        let filled = filled.map_err(|missing| missing.to_string())?;
        let (program, arguments) = filled.split_first().ok_or("it has no command")?;
        let is_path = program.contains(std::path::is_separator);
        let mut command = Command::new(if is_path { endpoint.root.join(program) } else { program.into() });
        command.args(arguments).current_dir(endpoint.folder());
        command
            .env_clear()
            .envs(endpoint.variables(environment, secrets).map_err(|missing| missing.to_string())?);
        let mut child = with_its_children(command)
            .spawn()
            .map_err(|error| format!("`{program}` cannot be run: {error}"))?;
        let (stdout, stdin) = (child.stdout().take(), child.stdin().take());
        let stderr = Stderr::read(child.stderr().take(), &endpoint.name, secrets);
        let process = Self { child, stderr };
        match (stdout, stdin) {
            (Some(stdout), Some(stdin)) => Ok((process, stdout, stdin)),
            _ => Err("it has no stdin or stdout".into()),
        }
    }

    /// Waits a moment for it to end, and ends it.
    pub(super) async fn end(mut self) {
        if tokio::time::timeout(GRACE, self.child.wait()).await.is_err() {
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
pub(crate) fn with_its_children(mut command: Command) -> CommandWrap {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut command = CommandWrap::from(command);
    command.wrap(KillOnDrop);
    #[cfg(unix)]
    command.wrap(process_wrap::tokio::ProcessGroup::leader());
    #[cfg(windows)]
    command.wrap(process_wrap::tokio::JobObject);
    command
}
