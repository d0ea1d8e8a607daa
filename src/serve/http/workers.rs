//! The threads that serve connections, one per core. A connection stays with its thread, so that answering a request
//! wakes no other one; waking one would cost more than a small answer.

use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use tokio::runtime::{Builder, Handle};
use tokio::sync::watch;

/// Bytes of a thread's stack: without optimisation, a call with the deepest arguments takes nearly the usual two megabytes.
const STACK_BYTES: usize = 8 << 20;

/// Threads, each with a runtime of its own.
pub(super) struct Workers {
    runtimes: Vec<Handle>,
    next: AtomicUsize,
    /// The threads end when this is dropped.
    _running: watch::Sender<()>,
}

impl Workers {
    /// Starts a thread for each core.
    pub(super) fn start() -> io::Result<Self> {
        let (running, ended) = watch::channel(());
        let cores = thread::available_parallelism().map_or(1, usize::from);
        let start = |_| {
            let runtime = Builder::new_current_thread().enable_all().build()?;
            let (handle, mut ended) = (runtime.handle().clone(), ended.clone());
            let work = move || while runtime.block_on(ended.changed()).is_ok() {};
            thread::Builder::new().name("http".into()).stack_size(STACK_BYTES).spawn(work)?;
            Ok(handle)
        };
        let runtimes = (0..cores).map(start).collect::<io::Result<_>>()?;
        Ok(Self { runtimes, next: AtomicUsize::new(0), _running: running })
    }

    /// Runs a task on the thread whose turn it is.
    pub(super) fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        let turn = self.next.fetch_add(1, Ordering::Relaxed) % self.runtimes.len();
        self.runtimes[turn].spawn(task);
    }
}
