//! The time that one call may wait for state, in total: a database that hangs delays a call once, and not once for every
//! use of state.
use super::database::{Result, StateError};

use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

use tokio::time::timeout;

/// Seconds that one call may wait for state in total: after that, a call without state is better than a later one.
const LONGEST: Duration = Duration::from_secs(5);

/// Milliseconds of a wait that is not counted: a database that works is as slow at times.
const MOMENT: Duration = Duration::from_millis(100);

tokio::task_local! {
    static OF_CALL: WaitBudget;
}

/// The milliseconds that a call has waited. The calls of a batch share them.
#[derive(Clone, Debug, Default)]
pub struct WaitBudget(Arc<AtomicU64>);

impl WaitBudget {
    /// The budget of the current call; a new one outside of calls.
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

/// The result of a request to the database, within the budget of the call. A call without budget makes no request.
pub(super) async fn waited<T>(asking: impl Future<Output = Result<T>>) -> Result<T> {
    let budget = WaitBudget::current();
    let begun = Instant::now();
    let late = || StateError::Failed("the database did not answer in time".into());
    let left = budget.left();
    if left.is_zero() {
        return Err(late());
    }
    let answer = timeout(left, asking).await;
    let took = begun.elapsed();
    if took > MOMENT {
        budget.0.fetch_add(u64::try_from(took.as_millis()).unwrap_or(u64::MAX / 2), Relaxed);
    }
    answer.unwrap_or_else(|_| Err(late()))
}
