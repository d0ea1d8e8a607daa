//! The last use of a connection: one that a caller has for itself ends when the caller is gone.

use std::sync::Mutex;
use std::time::Duration;

use tokio::time::{Instant, sleep_until};

use super::endpoint::Endpoint;
use toolcrib_definition::guard::locked;

/// Time without a call after which a caller counts as gone.
const UNUSED: Duration = Duration::from_secs(600);

/// The last use of a connection.
pub(super) struct LastUse {
    /// `None` after the connection has ended for want of use.
    at: Mutex<Option<Instant>>,
    /// The time without use after which it ends; `None` where it stays, since servers may keep state for the session of a
    /// client.
    patience: Option<Duration>,
}

impl LastUse {
    pub(super) fn now(endpoint: &Endpoint) -> Self {
        let has_client = endpoint.user.session.is_some() || endpoint.user.client.is_some();
        let patience = (endpoint.is_private() && !has_client).then_some(UNUSED);
        Self { at: Mutex::new(Some(Instant::now())), patience }
    }

    /// Notes a use, unless the connection has ended for want of it.
    pub(super) fn is_kept(&self) -> bool {
        let mut at = locked(&self.at);
        *at = at.map(|_| Instant::now());
        at.is_some()
    }

    /// Whether the connection has ended for want of use.
    pub(super) fn has_ended(&self) -> bool {
        locked(&self.at).is_none()
    }

    /// Waits until there was no use for long, and ends it.
    pub(super) async fn until_unused(&self, is_busy: impl Fn() -> bool) {
        let Some(patience) = self.patience else { return std::future::pending().await };
        let mut due = Instant::now() + patience;
        loop {
            sleep_until(due).await;
            let mut at = locked(&self.at);
            let now = Instant::now();
            due = match *at {
                Some(last) if last + patience > now => last + patience,
                _ if is_busy() => now + patience,
                _ => {
                    *at = None;
                    return;
                }
            };
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

    use futures_util::FutureExt;

    use super::super::endpoint::EndpointUser;
    use super::*;
    use crate::credentials::{CallerToken, SecretToken};
    use toolcrib_catalog::config::Server;

    fn last_use(token: Option<&str>) -> LastUse {
        let caller = |token| CallerToken { name: "amy".into(), token: Some(SecretToken::new(token)) };
        let user = EndpointUser { token: token.map(caller), ..EndpointUser::default() };
        let endpoint = Endpoint::new("hosted", &Server::default(), Path::new("."));
        let last_use = LastUse::now(&endpoint.for_call(user, &Default::default()).unwrap());
        LastUse { patience: last_use.patience.map(|_| Duration::ZERO), ..last_use }
    }

    #[test]
    fn the_connection_of_a_caller_ends_when_its_calls_have_ended_and_the_caller_is_gone() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let of_caller = last_use(Some("token-of-amy"));
            let asked = AtomicUsize::new(0);
            assert!(of_caller.is_kept());
            of_caller.until_unused(|| asked.fetch_add(1, Relaxed) < 3).await;
            assert_eq!(asked.into_inner(), 4);
            assert!(of_caller.has_ended() && !of_caller.is_kept());
            assert_eq!(last_use(None).until_unused(|| false).now_or_never(), None, "all callers share it");
        });
    }
}
