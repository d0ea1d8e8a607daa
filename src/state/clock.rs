//! The time of day. What is kept has it, and nothing that is made of a catalog.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Milliseconds of Unix time.
#[expect(clippy::disallowed_methods, reason = "traces, leases and retention are about time")]
pub fn now() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, millis)
}

/// A span in milliseconds.
pub fn millis(span: Duration) -> i64 {
    i64::try_from(span.as_millis()).unwrap_or(i64::MAX / 4).min(i64::MAX / 4)
}
