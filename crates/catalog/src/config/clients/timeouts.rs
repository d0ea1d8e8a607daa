//! The times that a client waits for a server: to start and list its tools, and to answer a call.

use serde_json::{Map, Value};

use super::format::{ClientFormat, OPENCODE};
use crate::config::difference::Difference;

/// Where clients count in seconds or milliseconds, a timeout from this number on is one in milliseconds.
const MILLISECONDS: f64 = 1000.0;

/// Keys of the time for the start, and whether they count in seconds.
const START: [(&str, bool); 4] = [
    ("startup_timeout_sec", true),
    ("startup_timeout_ms", false),
    ("initTimeout", false),
    ("connectionTimeout", false),
];

/// The seconds for the start and for a call.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Timeouts {
    pub(super) start: Option<u64>,
    pub(super) call: Option<u64>,
    /// The times that are longer here, by parts of a second.
    pub(super) rounded: Vec<Difference>,
}

impl Timeouts {
    /// The times of an entry. A client counts plain timeouts in seconds, or in milliseconds.
    pub(super) fn of(entry: &Map<String, Value>, format: &ClientFormat, counts_seconds: bool) -> Self {
        let mut rounded = Vec::new();
        let mut seconds = |key: &str, value: Option<&Value>, counts_seconds: bool| {
            let time = value?.as_f64().filter(|time| *time > 0.0)?;
            let exact = if counts_seconds { time } else { time / MILLISECONDS };
            let seconds = exact.ceil() as u64;
            if exact.fract() > 0.0 {
                let given = format!("{time} {}", if counts_seconds { "seconds" } else { "milliseconds" });
                rounded.push(Difference::Time { key: key.into(), given, seconds });
            }
            Some(seconds)
        };
        let start = START.iter().find_map(|(key, counts)| seconds(key, entry.get(*key), *counts));
        let call = seconds("tool_timeout_sec", entry.get("tool_timeout_sec"), true);
        let (start, call) = match entry.get("timeout") {
            // opencode has a time for each of the two, and once had one for the list alone.
            Some(Value::Object(both)) => {
                let mut part = |key: &str| seconds("timeout", both.get(key), false);
                (start.or_else(|| part("startup")), call.or_else(|| part("request")))
            }
            plain => {
                let is_short = plain.and_then(Value::as_f64).is_some_and(|time| time < MILLISECONDS);
                let plain = || seconds("timeout", plain, counts_seconds || is_short);
                if *format == OPENCODE { (start.or_else(plain), call) } else { (start, call.or_else(plain)) }
            }
        };
        Self { start, call, rounded }
    }
}
