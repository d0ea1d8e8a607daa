//! The pace at which a server is read: a flood must not take the processor.

use std::time::Duration;

use futures_util::{Stream, StreamExt, stream};
use tokio::time::{Instant, sleep_until};

/// Most notifications that are read from a server in a second; others wait in its pipe.
pub(in crate::mcp) const MAX_NOTIFICATIONS: usize = 1_000;

/// The pace at which a server is read: a flood must not take the processor.
pub(super) struct Pace {
    /// The most of a second.
    most: usize,
    /// The end of the current second, and what was read in it.
    second: (Instant, usize),
}

impl Pace {
    pub(super) fn new(most: usize) -> Self {
        Self { most, second: (Instant::now(), 0) }
    }

    /// Waits for the next second, where this one is full.
    pub(super) async fn wait(&mut self) {
        let (end, count) = self.second;
        if count >= self.most {
            sleep_until(end).await;
        }
        if Instant::now() >= end {
            self.second = (Instant::now() + Duration::from_secs(1), 0);
        }
    }

    pub(super) fn count(&mut self, read: usize) {
        self.second.1 += read;
    }
}

/// A stream of which each second has at most this much: the SDK reads all events before the first answer at once.
pub(super) fn paced<S: Stream>(
    stream: S,
    most: usize,
    size: fn(&S::Item) -> usize,
) -> impl Stream<Item = S::Item> {
    stream::unfold((Box::pin(stream), Pace::new(most)), move |(mut stream, mut pace)| async move {
        pace.wait().await;
        let item = stream.next().await?;
        pace.count(size(&item));
        Some((item, (stream, pace)))
    })
}
