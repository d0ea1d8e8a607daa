//! Requests to stop, by signals. They count from the start of the program, also those that come before it can end.

use tokio::sync::watch;

use crate::cli::signals::Signals;

/// The number of signals so far.
#[derive(Clone)]
pub(super) struct StopRequests(watch::Receiver<usize>);

impl StopRequests {
    /// Listens from now on; called in a runtime.
    pub(super) fn listen() -> Self {
        let (count, requests) = watch::channel(0);
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
