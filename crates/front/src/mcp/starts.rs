//! Turns of servers that start: many programs that start at once would wait for each other, and for the machine.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

/// Servers that start at the same time.
const AT_ONCE: usize = 8;
/// Longest time for which a server keeps its turn: one that hangs must not delay the others.
const LONGEST_TURN: Duration = Duration::from_secs(2);

/// The turns of all servers of a program.
pub(super) struct Starts(Arc<Semaphore>);

/// The turn of one server, until it is dropped.
pub(super) struct Turn {
    _permit: Option<OwnedSemaphorePermit>,
}

impl Default for Starts {
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(AT_ONCE)))
    }
}

impl Starts {
    /// Waits for a turn.
    pub(super) async fn turn(&self) -> Turn {
        Turn { _permit: Arc::clone(&self.0).acquire_owned().await.ok() }
    }
}

impl Turn {
    /// Does the work of a start, and ends the turn with it, or before, if it takes long.
    pub(super) async fn held_for<T>(self, start: impl Future<Output = T>) -> T {
        let mut start = std::pin::pin!(start);
        if let Ok(done) = timeout(LONGEST_TURN, &mut start).await {
            return done;
        }
        drop(self);
        start.await
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

    use futures_util::future::{join, join_all};
    use tokio::time::sleep;

    use super::*;

    #[tokio::test]
    async fn few_servers_start_at_once_and_none_waits_for_those_that_hang() {
        let starts = Starts::default();
        let (running, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let quick = async || {
            let turn = starts.turn().await;
            turn.held_for(async {
                most.fetch_max(running.fetch_add(1, Relaxed) + 1, Relaxed);
                sleep(Duration::from_millis(5)).await;
                running.fetch_sub(1, Relaxed);
            })
            .await;
        };
        join_all((0..50).map(|_| quick())).await;
        assert_eq!(most.load(Relaxed), AT_ONCE);
        let hanging =
            async || starts.turn().await.held_for(sleep(LONGEST_TURN + Duration::from_millis(300))).await;
        let begin = tokio::time::Instant::now();
        let hang = join_all((0..AT_ONCE).map(|_| hanging()));
        let quick = async {
            quick().await;
            begin.elapsed()
        };
        let (_, took) = join(hang, quick).await;
        assert!(took < 2 * LONGEST_TURN, "{took:?}");
    }
}
