//! Output of a program: read to its end, so that the program never blocks, and kept up to a limit.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::sync::Notify;
use tokio::task::JoinHandle;

/// Milliseconds to read on after the program has ended: its children may hold the pipe open.
const CLOSE_GRACE: Duration = Duration::from_millis(200);

/// A pipe that is read in the background.
pub(super) struct Pipe {
    shared: Arc<Shared>,
    reader: JoinHandle<()>,
}

struct Shared {
    captured: Mutex<Captured>,
    overflow: Notify,
}

/// The bytes of a pipe that were kept.
#[derive(Clone, Default)]
pub(super) struct Captured {
    pub(super) bytes: Vec<u8>,
    pub(super) is_cut: bool,
    /// Bytes written in all, where only the end is kept.
    written: usize,
}

impl Captured {
    pub(super) fn text(&self) -> String {
        String::from_utf8_lossy(&self.bytes).into_owned()
    }
}

impl Pipe {
    /// Keeps the beginning.
    pub(super) fn head(pipe: Option<impl AsyncRead + Unpin + Send + 'static>, most: usize) -> Self {
        Self::read(pipe, move |captured, read| {
            let room = most.saturating_sub(captured.bytes.len());
            captured.bytes.extend_from_slice(&read[..read.len().min(room)]);
            captured.is_cut |= read.len() > room;
        })
    }

    /// Keeps the last `most` bytes; more than `limit` bytes in all are an overflow.
    pub(super) fn tail(
        pipe: Option<impl AsyncRead + Unpin + Send + 'static>,
        most: usize,
        limit: usize,
    ) -> Self {
        Self::read(pipe, move |captured, read| {
            captured.written = captured.written.saturating_add(read.len());
            captured.is_cut |= captured.written > limit;
            captured.bytes.extend_from_slice(read);
            let excess = captured.bytes.len().saturating_sub(most);
            captured.bytes.drain(..excess);
        })
    }

    fn read(
        pipe: Option<impl AsyncRead + Unpin + Send + 'static>,
        keep: impl Fn(&mut Captured, &[u8]) + Send + 'static,
    ) -> Self {
        let shared = Arc::new(Shared { captured: Mutex::default(), overflow: Notify::new() });
        let to = Arc::clone(&shared);
        let reader = tokio::spawn(async move {
            let Some(mut pipe) = pipe else { return };
            let mut buffer = vec![0; 16 << 10];
            while let Ok(count @ 1..) = pipe.read(&mut buffer).await {
                let mut captured = to.captured.lock().unwrap_or_else(PoisonError::into_inner);
                keep(&mut captured, &buffer[..count]);
                if captured.is_cut {
                    to.overflow.notify_one();
                }
            }
        });
        Self { shared, reader }
    }

    /// Waits until more was written than the limit.
    pub(super) async fn overflow(&self) {
        self.shared.overflow.notified().await;
    }

    /// The kept bytes, once the program has ended.
    pub(super) async fn captured(mut self) -> Captured {
        let _ = tokio::time::timeout(CLOSE_GRACE, &mut self.reader).await;
        self.reader.abort();
        let mut captured = self.shared.captured.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut *captured)
    }
}

impl Drop for Pipe {
    fn drop(&mut self) {
        self.reader.abort();
    }
}
