//! Runs slow work, such as pages and the file of all docs: a few at once, and on separate threads, so that other
//! requests do not wait for it.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::spawn_blocking;
use tokio::time::timeout;

use crate::guard::MISTAKE;
use crate::serve::response::problem::{Problem, ProblemCode};

/// Most pieces of slow work at once.
const MAX_PARALLEL: usize = 4;

/// Longest wait of a request for its turn.
const QUEUE_TIMEOUT: Duration = Duration::from_secs(2);

/// Places for slow work.
#[derive(Clone, Debug)]
pub(super) struct BlockingPool(Arc<Semaphore>);

impl Default for BlockingPool {
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(MAX_PARALLEL)))
    }
}

impl BlockingPool {
    /// Runs the work when its turn comes, unless the wait is too long.
    pub(super) async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Problem> {
        match timeout(QUEUE_TIMEOUT, Arc::clone(&self.0).acquire_owned()).await {
            Ok(Ok(turn)) => run_with_permit(turn, work).await,
            _ => Err(Problem::overloaded("too many pages are made at once")),
        }
    }

    /// Runs the next part of started work, without a limit to the wait.
    pub(super) async fn run_next<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Problem> {
        match Arc::clone(&self.0).acquire_owned().await {
            Ok(turn) => run_with_permit(turn, work).await,
            Err(_) => Err(mistake()),
        }
    }
}

/// The place is taken as long as the work runs, even when nobody waits for it any more.
async fn run_with_permit<T: Send + 'static>(
    turn: OwnedSemaphorePermit,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Problem> {
    let work = move || {
        let _turn = turn;
        work()
    };
    spawn_blocking(work).await.map_err(|_| mistake())
}

fn mistake() -> Problem {
    Problem::new(ProblemCode::Internal, MISTAKE)
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    #[test]
    fn beyond_a_few_the_next_is_refused_and_what_panics_gives_its_turn_back() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let heavy = BlockingPool::default();
            let (release, held) = mpsc::channel::<()>();
            let held = Arc::new(std::sync::Mutex::new(held));
            let all: Vec<_> = (0..MAX_PARALLEL)
                .map(|_| {
                    let (heavy, held) = (heavy.clone(), Arc::clone(&held));
                    tokio::spawn(async move { heavy.run(move || held.lock().unwrap().recv()).await })
                })
                .collect();
            tokio::task::yield_now().await;
            assert!(heavy.run(|| ()).await.is_err());
            drop(release);
            for one in all {
                assert!(one.await.unwrap().is_ok());
            }
            for _ in 0..2 * MAX_PARALLEL {
                assert!(heavy.run(|| panic!("on purpose")).await.is_err());
            }
            assert!(heavy.run(|| ()).await.is_ok());
        });
    }
}
