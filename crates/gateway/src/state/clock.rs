//! The time of day. State contains it; nothing that is made from a catalog does.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use chrono::DateTime;

/// Milliseconds of Unix time.
#[expect(clippy::disallowed_methods, reason = "traces, leases and retention are about time")]
pub fn now() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, millis)
}

/// A span in milliseconds.
pub fn millis(span: Duration) -> i64 {
    i64::try_from(span.as_millis()).unwrap_or(i64::MAX / 4).min(i64::MAX / 4)
}

/// A time as people read it: `2026-11-22 12:30:05`, in UTC.
pub fn utc(at: i64) -> String {
    DateTime::from_timestamp_millis(at).unwrap_or_default().format("%F %T").to_string()
}

#[cfg(test)]
mod tests {
    use super::utc;

    #[test]
    fn times_are_read_by_the_calendar() {
        assert_eq!(utc(0), "1970-01-01 00:00:00");
        assert_eq!(utc(951_827_696_123), "2000-02-29 12:34:56");
        assert_eq!(utc(1_795_350_605_000), "2026-11-22 12:30:05");
        assert_eq!(utc(-1), "1969-12-31 23:59:59");
        for odd in [i64::MIN, i64::MAX] {
            assert!(!utc(odd).is_empty());
        }
    }
}
