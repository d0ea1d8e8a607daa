//! A panic ends the call in which it happens, and nothing beside it.

use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::task::Poll;

/// That something has panicked; where and why, the panic hook has said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Panicked;

/// What a caller is told of it.
pub const MISTAKE: &str = "this is a mistake in toolcrib";

/// What comes of some work, or that it has panicked. After that, nothing of it is left.
pub async fn guarded<T>(work: impl Future<Output = T>) -> Result<T, Panicked> {
    let mut work = pin!(work);
    let guarded = poll_fn(|context| match catch_unwind(AssertUnwindSafe(|| work.as_mut().poll(context))) {
        Ok(poll) => poll.map(Ok),
        Err(_) => Poll::Ready(Err(Panicked)),
    });
    guarded.await
}

/// The same for work that waits for nothing.
pub fn guarded_now<T>(work: impl FnOnce() -> T) -> Result<T, Panicked> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|_| Panicked)
}
