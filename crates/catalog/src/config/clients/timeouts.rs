//! The times that a client waits for a server: to start and list its tools, and to answer a call.

use serde_json::{Map, Value};

use super::format::{ClientFormat, OPENCODE};

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
}

impl Timeouts {
    /// The times of an entry. A client counts plain timeouts in seconds, or in milliseconds.
    pub(super) fn of(entry: &Map<String, Value>, format: &ClientFormat, counts_seconds: bool) -> Self {
        let seconds = |value: Option<&Value>, counts_seconds: bool| {
            let time = value?.as_f64().filter(|time| *time > 0.0)?;
            Some((if counts_seconds { time } else { time / MILLISECONDS }).ceil() as u64)
        };
        let start = START.iter().find_map(|(key, counts)| seconds(entry.get(*key), *counts));
        let call = seconds(entry.get("tool_timeout_sec"), true);
        match entry.get("timeout") {
            // opencode has a time for each of the two, and once had one for the list alone.
            Some(Value::Object(both)) => {
                let part = |key: &str| seconds(both.get(key), false);
                Self { start: start.or(part("startup")), call: call.or(part("request")) }
            }
            plain => {
                let is_short = plain.and_then(Value::as_f64).is_some_and(|time| time < MILLISECONDS);
                let plain = seconds(plain, counts_seconds || is_short);
                if *format == OPENCODE {
                    Self { start: start.or(plain), call }
                } else {
                    Self { start, call: call.or(plain) }
                }
            }
        }
    }
}
