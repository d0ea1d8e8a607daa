//! Connections for which there is no room: each is told so at once and closed a little later, without a task of its own, so
//! that however many come, those that are open go on.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};
use std::time::{Duration, Instant};

/// What they are told.
const NO_ROOM: &[u8] =
    b"HTTP/1.1 503 Service Unavailable\r\ncontent-type: application/json\r\ncontent-length: 142\r\n\
retry-after: 1\r\nconnection: close\r\n\r\n\
{\"ok\":false,\"error\":{\"code\":\"OVERLOADED\",\"message\":\"there are too many connections\",\
\"next_action\":\"try again in a second, on fewer of them\"}}\n";

/// How long a connection stays to be read from: closing it before what was sent has arrived could cost the client our answer.
const LINGER: Duration = Duration::from_secs(1);

/// How many stay at most.
const MOST: usize = 128;

/// Files that may be open where the system sets no limit for a process.
#[cfg(not(unix))]
const USUAL_FILES: usize = 1024;

/// The limit of files that this process may have open.
pub(super) fn files() -> usize {
    #[cfg(unix)]
    return match rustix::process::getrlimit(rustix::process::Resource::Nofile).current {
        Some(files) => usize::try_from(files).unwrap_or(usize::MAX),
        None => usize::MAX,
    };
    #[cfg(not(unix))]
    USUAL_FILES
}

/// The connections that were told, oldest first.
pub(super) struct TurnedAway {
    told: VecDeque<(Instant, TcpStream)>,
    most: usize,
    /// Held so that one more connection can be taken, and told, when no file can be opened any more.
    spare: Option<File>,
}

impl TurnedAway {
    pub(super) fn new(files: usize) -> Self {
        Self { told: VecDeque::new(), most: MOST.min(files / 8), spare: spare() }
    }

    /// Says that there is no room. A connection that has just come takes an answer of this size without waiting.
    pub(super) fn tell(&mut self, mut stream: TcpStream) {
        let _ = stream.write(NO_ROOM);
        let _ = stream.shutdown(Shutdown::Write);
        match self.spare.is_some() {
            true => self.told.push_back((Instant::now(), stream)),
            false => close(stream),
        }
        let excess = self.told.len().saturating_sub(self.most);
        self.told.drain(..excess).for_each(|(_, stream)| close(stream));
        self.spare = self.spare.take().or_else(spare);
    }

    /// Whether the last connection that could be taken was taken, and is to be told.
    pub(super) fn is_last(&self) -> bool {
        self.spare.is_none()
    }

    /// Gives back what files there are to give; false where there are none.
    pub(super) fn make_room(&mut self) -> bool {
        let had = !self.told.is_empty() || self.spare.is_some();
        self.told.drain(..).for_each(|(_, stream)| close(stream));
        self.spare = None;
        had
    }

    /// Waits until the oldest has stayed long enough, and closes it.
    pub(super) async fn sweep(&mut self) {
        let Some((since, _)) = self.told.front() else { return std::future::pending().await };
        tokio::time::sleep_until((*since + LINGER).into()).await;
        self.told.pop_front().into_iter().for_each(|(_, stream)| close(stream));
    }
}

fn spare() -> Option<File> {
    File::open(if cfg!(windows) { "NUL" } else { "/dev/null" }).ok()
}

/// Closes a connection, with what has arrived on it read.
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
    use super::NO_ROOM;

    #[test]
    fn the_answer_without_room_is_as_long_as_it_says() {
        let text = std::str::from_utf8(NO_ROOM).unwrap();
        let (head, body) = text.split_once("\r\n\r\n").unwrap();
        assert!(head.contains(&format!("content-length: {}\r\n", body.len())), "{}", body.len());
        serde_json::from_str::<serde_json::Value>(body).unwrap();
    }
}
