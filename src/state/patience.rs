//! The wait of one call for state, in total. A database that hangs delays a call once, and not once for every use of
//! state.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

use tokio::time::timeout;

use super::StateError;

/// Longest wait of one call.
const LONGEST: Duration = Duration::from_secs(5);

/// Longest wait that is not counted: it is normal work.
const MOMENT: Duration = Duration::from_millis(100);

tokio::task_local! {
    static OF_CALL: Patience;
}

/// Milliseconds that a call has waited. The calls of a batch share it.
#[derive(Clone, Debug, Default)]
pub struct Patience(Arc<AtomicU64>);

impl Patience {
    /// Patience of the current call; a new one outside of calls.
    pub fn current() -> Self {
        OF_CALL.try_with(Clone::clone).unwrap_or_default()
    }

    /// Runs a future as a part of this call.
    pub fn with<F: Future>(self, doing: F) -> impl Future<Output = F::Output> {
        OF_CALL.scope(self, doing)
    }

    fn left(&self) -> Duration {
        LONGEST.saturating_sub(Duration::from_millis(self.0.load(Relaxed)))
    }
}

/// The result of a request, as long as the call may still wait. A call that has waited long enough makes no request
/// at all.
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
