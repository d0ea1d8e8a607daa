//! A connection with a timeout for writes: a client that does not read its answer is disconnected.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep, sleep};

/// Bytes per second that a client must read: slower reading does not extend the timeout.
const MIN_BYTES_PER_SECOND: u64 = 1024;

/// A stream that fails when no more can be written within the timeout. The timer runs only while a write waits, so
/// that a client that keeps up costs nothing.
pub(super) struct WriteTimeout<S> {
    stream: S,
    timeout: Duration,
    waiting: Option<Pin<Box<Sleep>>>,
}

impl<S> WriteTimeout<S> {
    pub(super) fn new(stream: S, patience: Duration) -> Self {
        Self { stream, timeout: patience, waiting: None }
    }

    fn written(&mut self, written: usize, wanted: usize) {
        if written >= wanted {
            self.waiting = None;
        } else if let Some(waiting) = &mut self.waiting {
            let gained = Duration::from_micros(written as u64 * 1_000_000 / MIN_BYTES_PER_SECOND);
            let deadline = (waiting.deadline() + gained).min(Instant::now() + self.timeout);
            waiting.as_mut().reset(deadline);
        }
    }

    fn wait(&mut self, context: &mut Context<'_>) -> Poll<io::Result<usize>> {
        let waiting = self.waiting.get_or_insert_with(|| Box::pin(sleep(self.timeout)));
        ready!(waiting.as_mut().poll(context));
        Poll::Ready(Err(io::Error::new(io::ErrorKind::TimedOut, "the client does not read")))
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for WriteTimeout<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for WriteTimeout<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        match Pin::new(&mut self.stream).poll_write(context, bytes) {
            Poll::Pending => self.wait(context),
            done => {
                self.written(done_bytes(&done), bytes.len());
                done
            }
        }
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        match Pin::new(&mut self.stream).poll_write_vectored(context, slices) {
            Poll::Pending => self.wait(context),
            done => {
                self.written(done_bytes(&done), slices.iter().map(|slice| slice.len()).sum());
                done
            }
        }
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

fn done_bytes(done: &Poll<io::Result<usize>>) -> usize {
    match done {
        Poll::Ready(Ok(bytes)) => *bytes,
        _ => 0,
    }
}
