//! Lines of JSON on their way to the SDK, which keeps one of two equal keys and passes over a line that it cannot read, without
//! a word.

use std::io::{self, Cursor};
use std::mem::MaybeUninit;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use serde_json::Value;
use tokio::io::{AsyncRead, ReadBuf};

use super::id_scanner::IdScanner;
use toolcrib_definition::document::{from_json_bytes, has_too_many_values};

/// Bytes that are read at once.
const CHUNK: usize = 8 * 1024;

/// A line as it was read.
pub enum Line {
    /// A line with its end.
    Whole(Vec<u8>),
    /// A line over the limit, which is not kept: what was seen of its id.
    TooLong(IdScanner),
    /// The beginning of a line that is many times as long.
    Endless,
}

/// Multiple of the limit at which a line counts as endless.
const ENDLESS: usize = 2;

/// A line that the SDK would misread or pass over.
pub struct BadLine {
    /// The id of the message, where one can be made out.
    pub id: Option<Value>,
    /// Why it cannot be read.
    pub problem: LineProblem,
}

/// The reason why a line is bad.
pub enum LineProblem {
    /// An object has a key twice.
    KeyTwice(String),
    /// It is not JSON.
    NotJson(String),
    /// The message has a method, and this field is of another kind than messages of MCP have.
    WrongField(&'static str),
    /// It is longer than the limit.
    TooLong,
    /// It has more values than are read.
    TooManyValues,
}

/// A stream of lines, each as `read` hands it on to the SDK, until it returns `None`. A line that is longer than `longest` is
/// not kept.
pub struct LineCheck<R, F> {
    from: R,
    longest: usize,
    read: F,
    /// The beginning of a line.
    line: Vec<u8>,
    /// The search for the id of a line that is too long, and the length of the line so far.
    too_long: Option<(IdScanner, usize)>,
    /// Bytes that were checked, and how many of them were handed on.
    ready: Cursor<Vec<u8>>,
    has_ended: bool,
}

impl<R, F: FnMut(Line) -> Option<Vec<u8>>> LineCheck<R, F> {
    /// Reads `from`, and hands on what `read` makes of each line.
    pub fn new(from: R, longest: usize, read: F) -> Self {
        let (line, ready) = Default::default();
        Self { from, longest, read, line, too_long: None, ready, has_ended: false }
    }

    fn take(&mut self, chunk: &[u8]) {
        for piece in chunk.split_inclusive(|byte| *byte == b'\n') {
            if self.has_ended {
                return;
            }
            self.line.extend_from_slice(piece);
            if piece.ends_with(b"\n") {
                self.end_line();
            } else if self.line.len() > self.longest || self.too_long.is_some() {
                let (scanner, length) = self.too_long.get_or_insert_default();
                scanner.read(&self.line);
                *length += self.line.len();
                self.line.clear();
                if *length > self.longest.saturating_mul(ENDLESS) {
                    self.too_long = None;
                    self.hand_on(Line::Endless);
                }
            }
        }
    }

    fn end_line(&mut self) {
        let line = std::mem::take(&mut self.line);
        let line = match self.too_long.take() {
            Some((mut scanner, _)) => {
                scanner.read(&line);
                Line::TooLong(scanner)
            }
            None if line.is_empty() => return,
            None => Line::Whole(line),
        };
        self.hand_on(line);
    }

    fn hand_on(&mut self, line: Line) {
        match (self.read)(line) {
            Some(line) => self.ready.get_mut().extend(line),
            None => self.has_ended = true,
        }
    }
}

impl Line {
    /// The line, unless the SDK would misread it or pass over it.
    pub fn checked(self) -> Result<Vec<u8>, BadLine> {
        match self {
            Line::Whole(line) => problem_of(&line).map_or(Ok(line), Err),
            Line::TooLong(scanner) => Err(BadLine { id: scanner.id, problem: LineProblem::TooLong }),
            Line::Endless => Err(BadLine { id: None, problem: LineProblem::TooLong }),
        }
    }
}

/// The problem with a JSON text, if there is one. An empty text has no problem.
pub fn problem_of(text: &[u8]) -> Option<BadLine> {
    let problem = match from_json_bytes(text) {
        Ok(message) => LineProblem::WrongField(wrong_field(&message)?),
        Err(_) if text.trim_ascii().is_empty() => return None,
        Err(_) if has_too_many_values(text) => LineProblem::TooManyValues,
        Err(error) if error.is_data() => LineProblem::KeyTwice(error.to_string()),
        Err(error) => LineProblem::NotJson(error.to_string()),
    };
    Some(BadLine { id: IdScanner::of(text).id, problem })
}

/// The field of a request or a notification because of which the SDK would not know it as one, nor its id.
fn wrong_field(message: &Value) -> Option<&'static str> {
    match (message.get("method")?.is_string(), message.get("params")) {
        (false, _) => Some("method"),
        (true, Some(params)) if !params.is_object() && !params.is_null() => Some("params"),
        (true, _) => None,
    }
}

impl<R: AsyncRead + Unpin, F: FnMut(Line) -> Option<Vec<u8>> + Unpin> AsyncRead for LineCheck<R, F> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = &mut *self;
        while this.ready.position() == this.ready.get_ref().len() as u64 && !this.has_ended {
            this.ready = Cursor::default();
            let mut chunk = [MaybeUninit::uninit(); CHUNK];
            let mut read = ReadBuf::uninit(&mut chunk);
            ready!(Pin::new(&mut this.from).poll_read(context, &mut read))?;
            this.has_ended = read.filled().is_empty();
            if this.has_ended {
                this.end_line()
            } else {
                this.take(read.filled())
            }
            if this.ready.get_ref().is_empty() && !this.has_ended {
                // The reader of bad lines has a turn before more is read.
                context.waker().wake_by_ref();
                return Poll::Pending;
            }
        }
        Pin::new(&mut this.ready).poll_read(context, buffer)
    }
}
