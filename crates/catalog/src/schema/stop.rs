//! Work on arguments that ends soon after a caller stops it.

use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

thread_local! {
    static IS_STOPPED: RefCell<Option<Arc<AtomicBool>>> = const { RefCell::new(None) };
}

/// Runs work on arguments that ends soon after `stop` is set: no arguments are valid any more.
pub fn until_stopped<T>(stop: &Arc<AtomicBool>, work: impl FnOnce() -> T) -> T {
    struct Restored(Option<Arc<AtomicBool>>);
    impl Drop for Restored {
        fn drop(&mut self) {
            IS_STOPPED.set(self.0.take());
        }
    }
    let _restored = Restored(IS_STOPPED.replace(Some(Arc::clone(stop))));
    work()
}

pub(super) fn is_stopped() -> bool {
    IS_STOPPED.with_borrow(|stop| stop.as_ref().is_some_and(|stop| stop.load(Ordering::Relaxed)))
}
