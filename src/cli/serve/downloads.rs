//! Asks the address of a bundle for another one: at intervals, and when somebody nudges.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::time::Duration;

use crate::cli::remote_bundle::RemoteBundle;
use crate::guard::guarded_now;
use crate::serve::{Download, Downloads, Nudge, Origin};

/// The origin of a followed catalog; `look` makes its follower read it again. A bundle at an address is asked for from now on.
pub(super) fn origin(remote: Option<RemoteBundle>, interval: Duration, look: Nudge) -> Origin {
    let Some(remote) = remote else { return Origin { nudge: Some(look), downloads: None } };
    let downloads = Arc::new(Downloads::from(remote.address()));
    // One nudge that waits stands for all others.
    let (sender, receiver) = sync_channel(1);
    let nudge: Nudge = Arc::new(move || {
        let _ = sender.try_send(());
    });
    let noted = Arc::clone(&downloads);
    std::thread::spawn(move || ask(&remote, &noted, &receiver, interval, &look));
    Origin { nudge: Some(nudge), downloads: Some(downloads) }
}

/// Asks until nobody can nudge any more.
fn ask(
    remote: &RemoteBundle,
    downloads: &Downloads,
    nudges: &Receiver<()>,
    interval: Duration,
    look: &Nudge,
) {
    loop {
        let asked = guarded_now(|| remote.refresh());
        let outcome = asked.unwrap_or_else(|_| Err("reading it broke down".into()));
        tell(downloads, &outcome);
        if outcome == Ok(Download::Taken) {
            look();
        }
        downloads.note(outcome);
        if nudges.recv_timeout(jittered(interval)) == Err(RecvTimeoutError::Disconnected) {
            return;
        }
    }
}

/// Logs what differs from the last outcome.
fn tell(downloads: &Downloads, outcome: &Result<Download, String>) {
    let (from, before) = (&*downloads.address, downloads.problem());
    match outcome {
        Err(problem) if before.as_deref() != Some(problem) => {
            tracing::warn!(from, "the bundle cannot be fetched, and the last good one is served: {problem}");
        }
        Ok(_) if before.is_some() => tracing::info!(from, "the bundle can be fetched again"),
        Ok(Download::Taken) => tracing::info!(from, "there is another bundle"),
        _ => {}
    }
}

/// An interval that differs by up to a tenth, so that replicas do not all ask at the same time.
fn jittered(interval: Duration) -> Duration {
    let random = getrandom::u32().unwrap_or(u32::MAX / 2);
    interval.mul_f64(0.9 + 0.2 * f64::from(random) / f64::from(u32::MAX))
}
