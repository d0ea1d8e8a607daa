//! Signals of changes on their way to one waiter, which wakes once a row of changes is over.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use toolcrib_definition::guard::locked;

/// Quiet time before the waiter wakes, since editors and checkouts write many files in a row.
const QUIET_PERIOD: Duration = Duration::from_millis(200);
/// Longest delay that a series of changes may cause.
const MAX_DELAY: Duration = Duration::from_secs(2);

/// Strength of a signal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum ChangeSignal {
    /// Something near by has changed; only a scan shows whether it matters.
    Possible,
    /// A file of the catalog has been written to.
    Certain,
}

/// Reason why the wait is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wake {
    /// There was a signal.
    Changed(ChangeSignal),
    /// There was no signal for the whole time.
    TimedOut,
    /// The waiter was stopped.
    Stopped,
}

/// Clones share their signals.
#[derive(Clone, Debug, Default)]
pub(super) struct Debouncer(Arc<(Mutex<Pending>, Condvar)>);

#[derive(Debug, Default)]
struct Pending {
    /// The first and the last signal since the last wake-up, and the strongest.
    signal: Option<(Instant, Instant, ChangeSignal)>,
    is_stopped: bool,
}

impl Debouncer {
    pub(super) fn signal(&self, signal: ChangeSignal) {
        let now = Instant::now();
        let mut state = self.pending();
        let (first, _, strongest) = state.signal.unwrap_or((now, now, signal));
        state.signal = Some((first, now, strongest.max(signal)));
        self.0.1.notify_all();
    }

    pub(super) fn stop(&self) {
        self.pending().is_stopped = true;
        self.0.1.notify_all();
    }

    pub(super) fn is_stopped(&self) -> bool {
        self.pending().is_stopped
    }

    /// Waits for a signal, at most this long. A signal that came before the wait is not lost.
    pub(super) fn wait(&self, longest: Duration) -> Wake {
        let end = Instant::now() + longest;
        let mut state = self.pending();
        loop {
            let now = Instant::now();
            if state.is_stopped {
                return Wake::Stopped;
            }
            let due = match state.signal {
                Some((first, last, signal)) => {
                    let due = (last + QUIET_PERIOD).min(first + MAX_DELAY);
                    if due <= now {
                        state.signal = None;
                        return Wake::Changed(signal);
                    }
                    due
                }
                None if end <= now => return Wake::TimedOut,
                None => end,
            };
            state = self.0.1.wait_timeout(state, due - now).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    fn pending(&self) -> MutexGuard<'_, Pending> {
        locked(&self.0.0)
    }
}

#[cfg(test)]
mod tests {
    //! Tests of the waking times.

    use super::*;

    #[test]
    fn what_rang_before_the_wait_is_heard_and_the_strongest_counts() {
        let debouncer = Debouncer::default();
        debouncer.signal(ChangeSignal::Certain);
        debouncer.signal(ChangeSignal::Possible);
        assert_eq!(debouncer.wait(Duration::from_secs(5)), Wake::Changed(ChangeSignal::Certain));
        assert_eq!(debouncer.wait(Duration::from_millis(1)), Wake::TimedOut);
    }

    #[test]
    fn a_storm_puts_it_off_for_two_seconds_at_most() {
        let debouncer = Debouncer::default();
        let storm = debouncer.clone();
        let start = Instant::now();
        let end = start + Duration::from_secs(6);
        let signaller = std::thread::spawn(move || {
            while Instant::now() < end {
                storm.signal(ChangeSignal::Possible);
                std::thread::sleep(Duration::from_millis(10));
            }
        });
        assert_eq!(debouncer.wait(Duration::from_secs(9)), Wake::Changed(ChangeSignal::Possible));
        assert!(start.elapsed() >= MAX_DELAY && !signaller.is_finished());
        signaller.join().unwrap();
    }

    #[test]
    fn stopping_ends_the_wait() {
        let debouncer = Debouncer::default();
        let other = debouncer.clone();
        let stopper = std::thread::spawn(move || other.stop());
        assert_eq!(debouncer.wait(Duration::from_secs(60)), Wake::Stopped);
        stopper.join().unwrap();
    }
}
