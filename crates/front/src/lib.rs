//! In front of servers: their sessions, their registries, the credentials that they want, and when what a catalog is made of
//! changes.

pub mod address;
pub mod credentials;
pub mod mcp;
pub mod telemetry;
pub mod watch;

use tokio::runtime::{Handle, RuntimeFlavor};
use tokio::task::block_in_place;

/// Bytes from which work on a text is long.
const LONG: usize = 256 << 10;

/// Does work on a text of this many bytes. While it is long, another thread takes over the other tasks of this one; a runtime
/// with a single thread has one client alone.
pub fn apart<T>(bytes: usize, work: impl FnOnce() -> T) -> T {
    let has_others =
        || Handle::try_current().is_ok_and(|runtime| runtime.runtime_flavor() == RuntimeFlavor::MultiThread);
    if bytes > LONG && has_others() { block_in_place(work) } else { work() }
}
