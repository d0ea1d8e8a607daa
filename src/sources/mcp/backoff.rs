//! The pauses between starts of a server.

use std::time::Duration;

/// Pause before a server is started again: at first, and at most; and the time after which a connection counts as
/// stable.
pub(super) const SOON: Duration = Duration::from_secs(1);
pub(super) const AT_LAST: Duration = Duration::from_secs(60);
const A_WHILE: Duration = Duration::from_secs(10);

/// The pauses between starts: none after the first end, then longer ones, until a connection was stable.
#[derive(Default)]
pub(super) struct Backoff {
    next: Duration,
}

impl Backoff {
    /// The pause after a connection that lasted so long.
    pub(super) fn pause(&mut self, was_open: bool, lasted: Duration) -> Duration {
        if was_open && lasted > A_WHILE {
            self.next = Duration::ZERO;
        }
        let pause = if was_open { self.next } else { self.next.max(SOON) };
        self.next = (pause * 2).clamp(SOON, AT_LAST);
        pause
    }
}
