//! The time of day. State contains it; nothing that is made from a catalog does.

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

/// A time as people read it: `2026-11-22 12:30:05`, in UTC.
pub fn utc(at: i64) -> String {
    let (days, seconds) = (at.div_euclid(86_400_000), at.rem_euclid(86_400_000) / 1000);
    // Days since 1 March of year 0, in eras of 400 years (Howard Hinnant's civil calendar).
    let days = days.saturating_add(719_468);
    let (era, day) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    let year = year + era * 400 + i64::from(month <= 2);
    let (hour, minute, second) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}")
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
