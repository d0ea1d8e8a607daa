//! A bell that others ring when something may have changed: quiet for a moment after the last ring, it wakes who waits.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How long it must have been quiet, since editors and checkouts write many files in a row.
const QUIET: Duration = Duration::from_millis(200);
/// How long a storm of changes can put that off.
const LATEST: Duration = Duration::from_secs(2);

/// What a ring says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Ring {
    /// Something happened near by; a look tells whether it matters.
    Maybe,
    /// Something that a catalog is made of has been written to.
    Surely,
}

/// Why the wait is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wake {
    /// The bell rang.
    Rung(Ring),
    /// It did not, for as long as was to be waited.
    Silence,
    /// Nobody is to wait any more.
    Stopped,
}

/// Copies are the same bell.
#[derive(Clone, Debug, Default)]
pub(super) struct Bell(Arc<(Mutex<State>, Condvar)>);

#[derive(Debug, Default)]
struct State {
    /// The first and the last ring since somebody woke, and the strongest.
    rung: Option<(Instant, Instant, Ring)>,
    is_stopped: bool,
}

impl Bell {
    pub(super) fn ring(&self, ring: Ring) {
        let now = Instant::now();
        let mut state = self.state();
        let (first, _, strongest) = state.rung.unwrap_or((now, now, ring));
        state.rung = Some((first, now, strongest.max(ring)));
        self.0.1.notify_all();
    }

    pub(super) fn stop(&self) {
        self.state().is_stopped = true;
        self.0.1.notify_all();
    }

    pub(super) fn is_stopped(&self) -> bool {
        self.state().is_stopped
    }

    /// Waits for the bell, no longer than this. What rang while nobody waited is not lost.
    pub(super) fn wait(&self, longest: Duration) -> Wake {
        let end = Instant::now() + longest;
        let mut state = self.state();
        loop {
            let now = Instant::now();
            if state.is_stopped {
                return Wake::Stopped;
            }
            let due = match state.rung {
                Some((first, last, ring)) => {
                    let due = (last + QUIET).min(first + LATEST);
                    if due <= now {
                        state.rung = None;
                        return Wake::Rung(ring);
                    }
                    due
                }
                None if end <= now => return Wake::Silence,
                None => end,
            };
            state = self.0.1.wait_timeout(state, due - now).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    //! When the bell wakes who waits.

    use super::*;

    #[test]
    fn what_rang_before_the_wait_is_heard_and_the_strongest_counts() {
        let bell = Bell::default();
        bell.ring(Ring::Surely);
        bell.ring(Ring::Maybe);
        assert_eq!(bell.wait(Duration::from_secs(5)), Wake::Rung(Ring::Surely));
        assert_eq!(bell.wait(Duration::from_millis(1)), Wake::Silence);
    }

    #[test]
    fn a_storm_puts_it_off_for_two_seconds_at_most() {
        let bell = Bell::default();
        let storm = bell.clone();
        let start = Instant::now();
        let end = start + Duration::from_secs(6);
        let ringer = std::thread::spawn(move || {
            while Instant::now() < end {
                storm.ring(Ring::Maybe);
                std::thread::sleep(Duration::from_millis(10));
            }
        });
        assert_eq!(bell.wait(Duration::from_secs(9)), Wake::Rung(Ring::Maybe));
        assert!(start.elapsed() >= LATEST && !ringer.is_finished());
        ringer.join().unwrap();
    }

    #[test]
    fn stopping_ends_the_wait() {
        let bell = Bell::default();
        let other = bell.clone();
        let stopper = std::thread::spawn(move || other.stop());
        assert_eq!(bell.wait(Duration::from_secs(60)), Wake::Stopped);
        stopper.join().unwrap();
    }
}
