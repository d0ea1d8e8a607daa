//! `--watch`: runs a command again when its catalog changes, until a signal ends it. Also the signals that end other commands.

use std::path::PathBuf;
use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use super::catalog::{CatalogArgs, report_lost};
use super::error::{CommandError, CommandResult, failed};
use super::io::Io;
use toolcrib_catalog::Checked;
use toolcrib_front::credentials::wait_for_refreshes;
use toolcrib_front::watch::{Change, Follow, Options, Stop};

/// The work of a command on each catalog.
pub(super) trait Rerun {
    /// Files and folders whose changes count, beside those of the catalog.
    fn also(&self) -> Vec<PathBuf>;
    /// Whether a result of an earlier catalog exists, which a worse one must not replace.
    fn has_result(&self) -> bool;
    /// Does the work, and prints in one line the outcome and the reason.
    fn rerun(&self, io: &Io, checked: &Checked, why: &str) -> CommandResult;
}

/// Runs a command now and after each change. A change that breaks the catalog is reported, and the last result stays.
pub(super) fn watch(io: &Io, catalog: &CatalogArgs, command: &impl Rerun) -> CommandResult {
    let also = command.also();
    let (connections, reading) = (catalog.connections(io), catalog.reading(io));
    let addresses = catalog.addresses.clone();
    let options = Options { also, addresses, connections, reading, ..Options::default() };
    let follow = Follow::start(catalog.path()?, options);
    stop_on_signal(follow.stopper())?;
    for (index, change) in follow.enumerate() {
        change.notices.iter().for_each(|note| io.note(note));
        if index == 0 {
            catalog.report_briefly(io, &change.checked);
        } else {
            report_lost(io, &change.checked);
        }
        let why = why(&change);
        if change.is_worse && command.has_result() {
            io.note(format!("kept all as it is until the catalog can be read again{why}"));
            continue;
        }
        match command.rerun(io, &change.checked, &why) {
            Err(CommandError::Usage(message)) if index == 0 => return Err(CommandError::Usage(message)),
            Err(CommandError::Usage(message) | CommandError::Findings(Some(message))) => io.error(&message),
            Err(CommandError::Findings(None)) | Ok(()) => {}
        }
        if index == 0 {
            io.note("watching for changes; Ctrl-C ends it");
        }
    }
    Ok(())
}

/// The files that changed, as the end of a sentence.
fn why(change: &Change) -> String {
    match change.files.as_slice() {
        [] => String::new(),
        [file] => format!("; {file} changed"),
        [first, second] => format!("; {first} and {second} changed"),
        [first, rest @ ..] => format!("; {first} and {} others changed", rest.len()),
    }
}

/// The first signal ends the watch after the current write, the second at once.
fn stop_on_signal(stop: Stop) -> CommandResult {
    let cannot = |error: std::io::Error| failed(format!("cannot wait for signals: {error}"));
    let runtime = super::runtime()?;
    let mut signals = {
        let _entered = runtime.enter();
        Signals::listen().map_err(cannot)?
    };
    std::thread::spawn(move || {
        runtime.block_on(signals.next());
        stop.stop();
        runtime.block_on(signals.next());
        end_now();
    });
    Ok(())
}

// Signals that ask the program to end: SIGINT and SIGTERM, and their equivalents on other systems. A command that may refresh
// a sign-in ends after the refresh: the authorization server has forgotten the old token by then.

/// Longest wait for the refresh of a sign-in.
const REFRESHING: Duration = Duration::from_secs(15);

/// Whether the command ends in its own way after a signal.
static IS_HANDLED: AtomicBool = AtomicBool::new(false);

/// Ends the process for a signal.
pub(super) fn end_now() -> ! {
    finish_refreshes();
    std::process::exit(130)
}

/// Waits until the tokens of a running refresh are stored.
pub(super) fn finish_refreshes() {
    wait_for_refreshes(REFRESHING);
}

/// Makes signals end this process only after a running refresh, unless its command listens to them or the process is not
/// its own.
pub(super) fn end_after_refreshes(io: &Io) {
    static STARTED: Once = Once::new();
    if !io.is_process() || IS_HANDLED.load(Ordering::Relaxed) {
        return;
    }
    STARTED.call_once(|| {
        let Ok(runtime) = super::runtime() else { return };
        let entered = runtime.enter();
        let Ok(mut signals) = Signals::of_process() else { return };
        drop(entered);
        std::thread::spawn(move || {
            runtime.block_on(signals.next());
            if !IS_HANDLED.load(Ordering::Relaxed) {
                end_now();
            }
        });
    });
}

/// Signals that ask the program to end.
pub(super) struct Signals {
    #[cfg(unix)]
    interrupt: tokio::signal::unix::Signal,
    #[cfg(unix)]
    terminate: tokio::signal::unix::Signal,
    #[cfg(windows)]
    interrupt: tokio::signal::windows::CtrlC,
}

impl Signals {
    /// Listens for a command that ends in its own way; called in a runtime.
    pub(super) fn listen() -> std::io::Result<Self> {
        IS_HANDLED.store(true, Ordering::Relaxed);
        Self::of_process()
    }

    #[cfg(unix)]
    fn of_process() -> std::io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        Ok(Self { interrupt: signal(SignalKind::interrupt())?, terminate: signal(SignalKind::terminate())? })
    }

    #[cfg(unix)]
    pub(super) async fn next(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
    }

    #[cfg(windows)]
    fn of_process() -> std::io::Result<Self> {
        Ok(Self { interrupt: tokio::signal::windows::ctrl_c()? })
    }

    #[cfg(windows)]
    pub(super) async fn next(&mut self) {
        self.interrupt.recv().await;
    }
}

/// The number of signals so far.
#[derive(Clone)]
pub(super) struct StopRequests(tokio::sync::watch::Receiver<usize>);

impl StopRequests {
    /// Listens from now on; called in a runtime.
    pub(super) fn listen() -> Self {
        let (count, requests) = tokio::sync::watch::channel(0);
        // Without signals, the system ends the process in its own way.
        if let Ok(mut signals) = Signals::listen() {
            tokio::spawn(async move {
                loop {
                    signals.next().await;
                    count.send_modify(|count| *count += 1);
                }
            });
        }
        Self(requests)
    }

    /// Resolves after so many signals.
    pub(super) async fn reach(&self, count: usize) {
        if self.0.clone().wait_for(|now| *now >= count).await.is_err() {
            std::future::pending().await
        }
    }
}
