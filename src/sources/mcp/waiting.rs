//! The count of calls that wait for a session.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// A call that waits for a session.
pub(super) struct Waiting<'c>(&'c AtomicUsize);

impl<'c> Waiting<'c> {
    pub(super) fn start(waiting: &'c AtomicUsize) -> Self {
        waiting.fetch_add(1, Relaxed);
        Self(waiting)
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Relaxed);
    }
}
