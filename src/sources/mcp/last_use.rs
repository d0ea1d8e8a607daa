//! The last use of a connection that one caller has for itself.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::{Instant, sleep_until};

/// Time without a call after which the connection of one caller is closed: its caller is gone.
const UNUSED: Duration = Duration::from_secs(600);

/// The time of the last call; `None` after the connection has ended unused.
pub(super) struct LastUse(Mutex<Option<Instant>>);

impl LastUse {
    /// A use that is now.
    pub(super) fn now() -> Self {
        Self(Mutex::new(Some(Instant::now())))
    }

    /// Notes that the connection is used now, unless it has ended unused.
    pub(super) fn is_kept(&self) -> bool {
        let mut used = self.lock();
        *used = used.map(|_| Instant::now());
        used.is_some()
    }

    /// Whether it has ended unused.
    pub(super) fn is_over(&self) -> bool {
        self.lock().is_none()
    }

    /// Waits until the connection has not been used for long and is not busy, and ends its use.
    pub(super) async fn until_over(&self, is_busy: impl Fn() -> bool) {
        loop {
            let last = self.lock().unwrap_or_else(Instant::now);
            sleep_until(last + UNUSED).await;
            let mut used = self.lock();
            match used.is_some_and(|last| last.elapsed() < UNUSED) {
                true => {}
                false if is_busy() => *used = Some(Instant::now()),
                false => {
                    *used = None;
                    return;
                }
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, Option<Instant>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
