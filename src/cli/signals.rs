//! Signals that ask the program to end: SIGINT and SIGTERM, and their equivalents on other systems. A command that may refresh a
//! sign-in ends after the refresh: the authorization server has forgotten the old token by then.

use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use super::io::Io;
use super::runtime::runtime;
use toolcrib_front::credentials::wait_for_refreshes;
use toolcrib_front::mcp::kill_all;

/// Longest wait for the refresh of a sign-in.
const REFRESHING: Duration = Duration::from_secs(15);

/// Whether the command ends in its own way after a signal.
static IS_HANDLED: AtomicBool = AtomicBool::new(false);

/// Ends the process for a signal, with the servers that it has started.
pub(super) fn end_now() -> ! {
    finish_refreshes();
    kill_all();
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
        let Ok(runtime) = runtime() else { return };
        let entered = runtime.enter();
        let Ok(mut signals) = Signals::listen() else { return };
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
struct Signals {
    #[cfg(unix)]
    interrupt: tokio::signal::unix::Signal,
    #[cfg(unix)]
    terminate: tokio::signal::unix::Signal,
    #[cfg(windows)]
    interrupt: tokio::signal::windows::CtrlC,
}

impl Signals {
    /// Listens from now on; called in a runtime.
    #[cfg(unix)]
    fn listen() -> std::io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        Ok(Self { interrupt: signal(SignalKind::interrupt())?, terminate: signal(SignalKind::terminate())? })
    }

    #[cfg(unix)]
    async fn next(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
    }

    #[cfg(windows)]
    fn listen() -> std::io::Result<Self> {
        Ok(Self { interrupt: tokio::signal::windows::ctrl_c()? })
    }

    #[cfg(windows)]
    async fn next(&mut self) {
        self.interrupt.recv().await;
    }
}

/// Reloads at each SIGHUP, where the run has the process to itself; called in a runtime. Without it, the system ends the process.
#[cfg(unix)]
pub(super) fn reload_at_hangup(io: &Io, reload: impl Fn() + Send + 'static) {
    use tokio::signal::unix::{SignalKind, signal};
    if io.is_process()
        && let Ok(mut hangups) = signal(SignalKind::hangup())
    {
        tokio::spawn(async move {
            while hangups.recv().await.is_some() {
                reload();
            }
        });
    }
}

#[cfg(not(unix))]
pub(super) fn reload_at_hangup(_: &Io, _: impl Fn() + Send + 'static) {}

/// Tells systemd that the server is ready, or is about to stop, where systemd has started this process as `Type=notify`.
pub(super) fn tell_systemd(io: &Io, is_ready: bool) {
    #[cfg(unix)]
    if io.is_process() {
        let state = if is_ready { sd_notify::NotifyState::Ready } else { sd_notify::NotifyState::Stopping };
        // Without systemd, nobody listens.
        let _ = sd_notify::notify(&[state]);
    }
}

/// The requests to end, by signals or by who started the run.
#[derive(Clone)]
pub(super) struct StopRequests(tokio::sync::watch::Receiver<usize>);

impl StopRequests {
    /// Listens from now on, also to signals where the run has the process to itself; called in a runtime.
    pub(super) fn listen(io: &Io) -> Self {
        // Without signals, the system ends the process in its own way.
        if io.is_process()
            && let Ok(mut signals) = Signals::listen()
        {
            IS_HANDLED.store(true, Ordering::Relaxed);
            let io = io.clone();
            tokio::spawn(async move {
                loop {
                    signals.next().await;
                    io.stop();
                }
            });
        }
        Self(io.stops())
    }

    /// Resolves after so many requests.
    pub(super) async fn reach(&self, count: usize) {
        if self.0.clone().wait_for(|now| *now >= count).await.is_err() {
            std::future::pending().await
        }
    }
}
