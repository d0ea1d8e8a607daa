//! Refuses connections beyond the limit: each gets 503 at once and is closed a little later, without a task of its own.
//! The accepted connections go on, however many are refused.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};
use std::time::{Duration, Instant};

/// The whole answer to a refused connection.
const OVERLOADED: &[u8] =
    b"HTTP/1.1 503 Service Unavailable\r\ncontent-type: application/json\r\ncontent-length: 142\r\n\
retry-after: 1\r\nconnection: close\r\n\r\n\
{\"ok\":false,\"error\":{\"code\":\"OVERLOADED\",\"message\":\"there are too many connections\",\
\"next_action\":\"try again in a second, on fewer of them\"}}\n";

/// Seconds that a refused connection stays open: if it is closed before its request has arrived, the client may lose the
/// answer.
const LINGER: Duration = Duration::from_secs(1);

/// Refused connections that stay open at a time, at most.
const MOST: usize = 128;

/// Files that may be open at a time where the system sets no limit for a process.
#[cfg(not(unix))]
const USUAL_FILES: usize = 1024;

/// The limit of files that this process may have open.
pub(super) fn file_limit() -> usize {
    #[cfg(unix)]
    return match rustix::process::getrlimit(rustix::process::Resource::Nofile).current {
        Some(files) => usize::try_from(files).unwrap_or(usize::MAX),
        None => usize::MAX,
    };
    #[cfg(not(unix))]
    USUAL_FILES
}

/// The refused connections, oldest first.
pub(super) struct RefusedConnections {
    open: VecDeque<(Instant, TcpStream)>,
    most: usize,
    /// Reserved, so that one more connection can be accepted and refused when no file can be opened any more.
    spare: Option<File>,
}

impl RefusedConnections {
    pub(super) fn new(files: usize) -> Self {
        Self { open: VecDeque::new(), most: MOST.min(files / 8), spare: spare() }
    }

    /// Refuses a connection. A new connection takes an answer of this size without waiting.
    pub(super) fn refuse(&mut self, mut stream: TcpStream) {
        let _ = stream.write(OVERLOADED);
        let _ = stream.shutdown(Shutdown::Write);
        match self.spare.is_some() {
            true => self.open.push_back((Instant::now(), stream)),
            false => close(stream),
        }
        let excess = self.open.len().saturating_sub(self.most);
        self.open.drain(..excess).for_each(|(_, stream)| close(stream));
        self.spare = self.spare.take().or_else(spare);
    }

    /// Whether the reserve is used, so that the next connection must be refused.
    pub(super) fn is_exhausted(&self) -> bool {
        self.spare.is_none()
    }

    /// Frees file descriptors: closes refused connections and gives up the reserve. False when there were none.
    pub(super) fn free_files(&mut self) -> bool {
        let had = !self.open.is_empty() || self.spare.is_some();
        self.open.drain(..).for_each(|(_, stream)| close(stream));
        self.spare = None;
        had
    }

    /// Waits until the oldest connection has stayed open for [`LINGER`], and closes it.
    pub(super) async fn close_oldest(&mut self) {
        let Some((since, _)) = self.open.front() else { return std::future::pending().await };
        tokio::time::sleep_until((*since + LINGER).into()).await;
        self.open.pop_front().into_iter().for_each(|(_, stream)| close(stream));
    }
}

fn spare() -> Option<File> {
    File::open(if cfg!(windows) { "NUL" } else { "/dev/null" }).ok()
}

/// Closes a connection after reading all data that has arrived.
fn close(mut stream: TcpStream) {
    let mut ignored = [0; 4096];
    for _ in 0..16 {
        if !stream.read(&mut ignored).is_ok_and(|count| count > 0) {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::OVERLOADED;

    #[test]
    fn the_answer_without_room_is_as_long_as_it_says() {
        let text = std::str::from_utf8(OVERLOADED).unwrap();
        let (head, body) = text.split_once("\r\n\r\n").unwrap();
        assert!(head.contains(&format!("content-length: {}\r\n", body.len())), "{}", body.len());
        serde_json::from_str::<serde_json::Value>(body).unwrap();
    }
}
