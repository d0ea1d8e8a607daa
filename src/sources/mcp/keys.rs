//! Checks lines of JSON for repeated keys before the SDK reads them: the SDK keeps one of two equal keys without a
//! word.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, ReadBuf};

use crate::finding::from_json_bytes;

/// Bytes that are read at once.
const CHUNK: usize = 8 * 1024;

/// A stream of lines. `told` is called with the error of each line with a repeated key, and says whether the line is
/// passed on. A line that is longer than `longest` is not checked.
pub(crate) struct KeyCheck<R, F> {
    from: R,
    longest: usize,
    told: F,
    /// The beginning of a line.
    line: Vec<u8>,
    is_too_long: bool,
    /// Checked bytes, and the number of them that were passed on.
    ready: Vec<u8>,
    handed: usize,
    has_ended: bool,
}

impl<R, F: FnMut(&[u8], String) -> bool> KeyCheck<R, F> {
    pub(crate) fn new(from: R, longest: usize, told: F) -> Self {
        let (line, ready) = Default::default();
        Self { from, longest, told, line, is_too_long: false, ready, handed: 0, has_ended: false }
    }

    fn take(&mut self, chunk: &[u8]) {
        for piece in chunk.split_inclusive(|byte| *byte == b'\n') {
            self.line.extend_from_slice(piece);
            if piece.ends_with(b"\n") {
                self.end_line();
            } else if self.line.len() > self.longest {
                self.is_too_long = true;
                self.ready.append(&mut self.line);
            }
        }
    }

    fn end_line(&mut self) {
        let is_looked_at = !std::mem::take(&mut self.is_too_long);
        let problem = if is_looked_at { key_twice(&self.line) } else { None };
        if problem.is_none_or(|problem| (self.told)(&self.line, problem)) {
            self.ready.append(&mut self.line);
        }
        self.line.clear();
    }
}

/// The error for a repeated key in a JSON text, if there is one.
pub(crate) fn key_twice(text: &[u8]) -> Option<String> {
    from_json_bytes(text).err().filter(serde_json::Error::is_data).map(|error| error.to_string())
}

impl<R: AsyncRead + Unpin, F: FnMut(&[u8], String) -> bool + Unpin> AsyncRead for KeyCheck<R, F> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = &mut *self;
        while this.handed == this.ready.len() && !this.has_ended {
            (this.handed, this.ready) = Default::default();
            let mut chunk = [0; CHUNK];
            let mut read = ReadBuf::new(&mut chunk);
            ready!(Pin::new(&mut this.from).poll_read(context, &mut read))?;
            this.has_ended = read.filled().is_empty();
            match this.has_ended {
                true => this.end_line(),
                false => this.take(read.filled()),
            }
            if this.ready.is_empty() && !this.has_ended {
                // The receiver of the error gets its turn before more is read.
                context.waker().wake_by_ref();
                return Poll::Pending;
            }
        }
        let rest = this.ready.get(this.handed..).unwrap_or_default();
        let count = rest.len().min(buffer.remaining());
        buffer.put_slice(rest.get(..count).unwrap_or_default());
        this.handed += count;
        Poll::Ready(Ok(()))
    }
}
