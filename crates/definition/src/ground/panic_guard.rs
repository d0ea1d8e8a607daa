//! Catches panics, so that a panic ends only the call in which it happens.

use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::Poll;

/// The error of work that panicked. The panic hook logs the place and the message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Panicked;

/// The message that a caller gets.
pub const MISTAKE: &str = "this is a mistake in toolcrib";

/// Runs some work, and returns its result, or an error if it panicked. After a panic, the state of the work is
/// dropped.
pub async fn guarded<T>(work: impl Future<Output = T>) -> Result<T, Panicked> {
    let mut work = pin!(work);
    let guarded = poll_fn(|context| match catch_unwind(AssertUnwindSafe(|| work.as_mut().poll(context))) {
        Ok(poll) => poll.map(Ok),
        Err(_) => Poll::Ready(Err(Panicked)),
    });
    guarded.await
}

/// Locks a mutex, even if another holder of the lock has panicked.
pub fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Like [`guarded`], for synchronous work.
pub fn guarded_now<T>(work: impl FnOnce() -> T) -> Result<T, Panicked> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|_| Panicked)
}
