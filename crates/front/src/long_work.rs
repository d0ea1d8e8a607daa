//! Work on long texts of others, apart from the threads that serve connections.

use tokio::runtime::{Handle, RuntimeFlavor};

/// Bytes from which work on a text is long.
const LONG: usize = 256 << 10;

/// Does work on a text of this many bytes. While it is long, another thread takes over the other tasks of this one; a runtime
/// with a single thread has one client alone.
pub fn apart<T>(bytes: usize, work: impl FnOnce() -> T) -> T {
    let has_others =
        || Handle::try_current().is_ok_and(|runtime| runtime.runtime_flavor() == RuntimeFlavor::MultiThread);
    if bytes > LONG && has_others() { tokio::task::block_in_place(work) } else { work() }
}
