//! A panic ends the call in which it happens, and nothing beside it.

use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::Poll;

/// A panic happened; its place and message are in the log, by the panic hook.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Panicked;

/// The message that a caller gets.
pub const MISTAKE: &str = "this is a mistake in toolcrib";

/// The result of some work, or the fact that it panicked. The work's own state is dropped then.
pub async fn guarded<T>(work: impl Future<Output = T>) -> Result<T, Panicked> {
    let mut work = pin!(work);
    let guarded = poll_fn(|context| match catch_unwind(AssertUnwindSafe(|| work.as_mut().poll(context))) {
        Ok(poll) => poll.map(Ok),
        Err(_) => Poll::Ready(Err(Panicked)),
    });
    guarded.await
}

/// The content of a lock, whether or not another holder of it has panicked.
pub fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Like [`guarded`], for work that awaits nothing.
pub fn guarded_now<T>(work: impl FnOnce() -> T) -> Result<T, Panicked> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|_| Panicked)
}
