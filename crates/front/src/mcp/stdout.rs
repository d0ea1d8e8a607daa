//! The lines of a server on stdout: messages for the SDK, and noise for the log.

use std::borrow::Cow;
use std::sync::Arc;

use super::client::RequestRoutes;
use super::json_lines::Line;
use super::message::{ListNotes, readable, unreadable};
use super::process::Log;

/// The longest line that the SDK reads.
pub(super) const MAX_LINE: usize = 16 << 20;

/// Most bytes of noise on stdout between two messages.
const MAX_NOISE: usize = 4 << 20;

/// The lines of a server on stdout. What is no message goes to the log.
pub(super) struct Lines {
    pub(super) notes: ListNotes,
    pub(super) routes: Arc<RequestRoutes>,
    pub(super) log: Log,
    /// Bytes since the last message.
    pub(super) noise: usize,
}

impl Lines {
    /// A line as the SDK reads it; `None` ends the connection.
    pub(super) fn read(&mut self, line: Line) -> Option<Vec<u8>> {
        let message = match line {
            Line::Whole(line) => {
                let read = readable(&line, None, &self.notes).or_else(|| self.nameless(&line));
                let read = read.map(|text| text.trim_end().to_string());
                if read.is_none() {
                    self.log.write(String::from_utf8_lossy(&line).trim());
                    self.noise += line.len();
                }
                read
            }
            Line::TooLong(scanner) => {
                self.noise += MAX_LINE;
                let why = format!("it is longer than {} MiB", MAX_LINE >> 20);
                scanner.answered().map(|id| unreadable(id, &why))
            }
            Line::Endless => {
                self.noise = usize::MAX;
                None
            }
        };
        if let Some(message) = message {
            self.noise = 0;
            return Some((message + "\n").into_bytes());
        }
        if self.noise > MAX_NOISE {
            self.routes
                .end_for(format!("it wrote over {} MiB to stdout that are no message", MAX_NOISE >> 20));
            return None;
        }
        Some(Vec::new())
    }

    /// An answer without a readable id, such as one that was cut off: it is for the request that waits, if there is one only.
    fn nameless<'t>(&self, line: &'t [u8]) -> Option<Cow<'t, str>> {
        let has = |key: &str| line.windows(key.len()).any(|bytes| bytes == key.as_bytes());
        if !line.trim_ascii_start().starts_with(b"{") || !has("\"jsonrpc\"") || has("\"method\"") {
            return None;
        }
        let id = serde_json::to_value(self.routes.only_unanswered()?).ok()?;
        readable(line, Some(&id), &self.notes)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;
    use tokio::io::AsyncReadExt;
    use tokio::sync::watch;

    use super::super::client::Handler;
    use super::super::json_lines::LineCheck;
    use super::super::secrets::FilledSecrets;
    use super::*;

    fn lines() -> Lines {
        let routes = Handler::new(watch::channel(None).1).routes;
        Lines { notes: ListNotes::default(), routes, log: Log::new("x", &FilledSecrets::default()), noise: 0 }
    }

    /// What the SDK gets to read of a stream, and the reason why it ended before its end.
    fn read(stream: Vec<u8>, longest: usize) -> (String, Option<String>) {
        let mut lines = lines();
        let mut text = String::new();
        let routes = Arc::clone(&lines.routes);
        let mut checked = LineCheck::new(std::io::Cursor::new(stream), longest, move |line| lines.read(line));
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(checked.read_to_string(&mut text)).unwrap();
        (text, routes.end())
    }

    #[test]
    fn noise_between_messages_is_left_out() {
        let message = "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n";
        let (text, end) =
            read(format!("\u{1b}[32mready\n[1]\n{message}{{}}\nx\n{message}").into_bytes(), MAX_LINE);
        assert_eq!((text, end), (message.repeat(2), None));
    }

    #[test]
    fn an_answer_that_is_too_long_is_an_error_at_once() {
        let long = format!("{{\"result\":\"{}\",\"id\":7,\"jsonrpc\":\"2.0\"}}\n", "x".repeat(20_000));
        let (text, end) = read(long.into_bytes(), 10_000);
        let error: Value = serde_json::from_str(&text).unwrap();
        assert_eq!((&error["id"], end), (&7.into(), None), "{error}");
        assert!(error["error"]["message"].as_str().unwrap().contains("longer than"), "{error}");
    }

    #[test]
    fn noise_without_an_end_ends_the_connection() {
        for noise in ["noise\n".repeat(MAX_NOISE / 6 + 10), "x".repeat(100_000)] {
            let (text, end) = read(noise.into_bytes(), 10_000);
            assert_eq!(text, "");
            assert!(end.is_some_and(|reason| reason.contains("to stdout")));
        }
    }
}
