//! How long one call waits for state, in all. A database that hangs holds a call up once, and not once for each thing that
//! is kept of it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

use tokio::time::timeout;

use super::StateError;

/// The longest that one call waits.
const LONGEST: Duration = Duration::from_secs(5);

/// What takes no longer is work and no trouble, and is not counted.
const MOMENT: Duration = Duration::from_millis(100);

tokio::task_local! {
    static OF_CALL: Patience;
}

/// How long a call has waited, in milliseconds. The calls of a batch share it.
#[derive(Clone, Debug, Default)]
pub struct Patience(Arc<AtomicU64>);

impl Patience {
    /// That of the call that this runs in; a new one outside of calls.
    pub fn current() -> Self {
        OF_CALL.try_with(Clone::clone).unwrap_or_default()
    }

    /// Does something as a part of this call.
    pub fn with<F: Future>(self, doing: F) -> impl Future<Output = F::Output> {
        OF_CALL.scope(self, doing)
    }

    fn left(&self) -> Duration {
        LONGEST.saturating_sub(Duration::from_millis(self.0.load(Relaxed)))
    }
}

/// What comes of asking, for as long as the call can still wait. One that has waited long enough does not ask at all.
pub(super) async fn waited<T>(asking: impl Future<Output = Result<T, StateError>>) -> Result<T, StateError> {
    let (patience, begun) = (Patience::current(), Instant::now());
    let late = || StateError("the database did not answer in time".into());
    let left = patience.left();
    if left.is_zero() {
        return Err(late());
    }
    let answer = timeout(left, asking).await;
    let took = begun.elapsed();
    if took > MOMENT {
        patience.0.fetch_add(u64::try_from(took.as_millis()).unwrap_or(u64::MAX / 2), Relaxed);
    }
    answer.unwrap_or_else(|_| Err(late()))
}
