//! The last use of a connection: one that a single caller has for itself ends when its caller is gone.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::{Instant, sleep_until};

use super::endpoint::Endpoint;

/// Time without a call after which a caller counts as gone.
const UNUSED: Duration = Duration::from_secs(600);

/// The last use of a connection.
pub(super) struct LastUse {
    /// `None` after the connection has ended for want of use.
    at: Mutex<Option<Instant>>,
    /// Whether it ends for want of use. Servers may keep state for a session of a client, so that its connection stays.
    may_end: bool,
    patience: Duration,
}

impl LastUse {
    pub(super) fn now(endpoint: &Endpoint) -> Self {
        Self {
            at: Mutex::new(Some(Instant::now())),
            may_end: endpoint.is_of_caller_alone(),
            patience: UNUSED,
        }
    }

    /// Notes a use, unless the connection has ended for want of it.
    pub(super) fn is_kept(&self) -> bool {
        let mut at = self.locked();
        *at = at.map(|_| Instant::now());
        at.is_some()
    }

    /// Whether the connection has ended for want of use.
    pub(super) fn has_ended(&self) -> bool {
        self.locked().is_none()
    }

    /// Waits until there was no use for long, and ends it.
    pub(super) async fn until_unused(&self, is_busy: impl Fn() -> bool) {
        if !self.may_end {
            return std::future::pending().await;
        }
        let mut due = Instant::now() + self.patience;
        loop {
            sleep_until(due).await;
            let mut at = self.locked();
            let now = Instant::now();
            due = match *at {
                Some(last) if last + self.patience > now => last + self.patience,
                _ if is_busy() => now + self.patience,
                _ => {
                    *at = None;
                    return;
                }
            };
        }
    }

    fn locked(&self) -> MutexGuard<'_, Option<Instant>> {
        self.at.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

    use futures_util::FutureExt;

    use super::*;
    use crate::config::Server;
    use crate::credentials::{CallerToken, SecretToken};

    fn last_use(token: Option<&str>) -> LastUse {
        let caller = |token| CallerToken { name: "amy".into(), token: Some(SecretToken::new(token)) };
        let endpoint = Endpoint::new("hosted", &Server::default(), Path::new("."));
        let last_use = LastUse::now(&endpoint.of_caller(token.map(caller)));
        LastUse { patience: Duration::ZERO, ..last_use }
    }

    #[test]
    fn the_connection_of_a_caller_ends_when_its_calls_have_ended_and_the_caller_is_gone() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let (of_caller, asked) = (last_use(Some("token-of-amy")), AtomicUsize::new(0));
            assert!(of_caller.is_kept());
            of_caller.until_unused(|| asked.fetch_add(1, Relaxed) < 3).await;
            assert_eq!(asked.into_inner(), 4);
            assert!(of_caller.has_ended() && !of_caller.is_kept());
            assert_eq!(last_use(None).until_unused(|| false).now_or_never(), None, "all callers share it");
        });
    }
}
