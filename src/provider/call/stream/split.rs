//! Bytes into events, wherever the chunks end. Every byte is looked at once.

use super::event::{DONE, Event, text};
use super::frames::Frames;

/// A splitter, which sees by the first byte how a stream is framed.
#[derive(Debug, Default)]
pub(super) struct Splitter {
    framing: Option<Framing>,
    error: Option<String>,
}

#[derive(Debug)]
enum Framing {
    ServerSent(ServerSent),
    Json(JsonTexts),
    Frames(Frames),
}

impl Splitter {
    pub(super) fn push(&mut self, bytes: &[u8], events: &mut Vec<Event>) {
        // After a mistake the stream is not read on, so that the borders of chunks make no difference.
        let mut rest = if self.error.is_none() { bytes } else { &[] };
        while self.framing.is_none() {
            let Some((&first, after)) = rest.split_first() else { return };
            self.framing = match first {
                // White space, and the marks of UTF-8.
                b' ' | b'\t' | b'\r' | b'\n' | 0xEF | 0xBB | 0xBF => None,
                b'{' | b'[' => Some(Framing::Json(JsonTexts::default())),
                0 => Some(Framing::Frames(Frames::default())),
                _ => Some(Framing::ServerSent(ServerSent::default())),
            };
            if self.framing.is_none() {
                rest = after;
            }
        }
        let pushed = match &mut self.framing {
            Some(Framing::ServerSent(lines)) => lines.push(rest, events),
            Some(Framing::Json(texts)) => texts.push(rest, events),
            Some(Framing::Frames(frames)) => frames.push(rest, events),
            None => Ok(()),
        };
        if let Err(error) = pushed {
            self.error.get_or_insert(error);
        }
    }

    /// The event at the end of a stream that has no blank line after it.
    pub(super) fn end(&mut self) -> Result<Option<Event>, String> {
        if let Some(error) = self.error.take() {
            return Err(error);
        }
        match &mut self.framing {
            Some(Framing::ServerSent(lines)) => lines.end(),
            _ => Ok(None),
        }
    }
}

/// Server-sent events: lines that end in LF, CR or both; a blank line ends an event.
#[derive(Debug, Default)]
struct ServerSent {
    line: Vec<u8>,
    after_cr: bool,
    data: Option<String>,
}

impl ServerSent {
    fn push(&mut self, mut bytes: &[u8], events: &mut Vec<Event>) -> Result<(), String> {
        loop {
            if std::mem::take(&mut self.after_cr) && bytes.first() == Some(&b'\n') {
                bytes = &bytes[1..];
            }
            let Some(end) = bytes.iter().position(|byte| matches!(byte, b'\n' | b'\r')) else {
                self.line.extend_from_slice(bytes);
                return Ok(());
            };
            self.line.extend_from_slice(&bytes[..end]);
            self.after_cr = bytes[end] == b'\r';
            bytes = &bytes[end + 1..];
            events.extend(self.end_line()?);
            if bytes.is_empty() {
                return Ok(());
            }
        }
    }

    fn end_line(&mut self) -> Result<Option<Event>, String> {
        let line = text(std::mem::take(&mut self.line))?;
        if line.is_empty() {
            return Ok(self.data.take().map(|data| Event { data }));
        }
        if let Some(value) = line.strip_prefix("data:") {
            let value = value.strip_prefix(' ').unwrap_or(value);
            match &mut self.data {
                Some(data) => {
                    data.push('\n');
                    data.push_str(value);
                }
                None => self.data = Some(value.into()),
            }
        }
        // Comments, and the fields `event`, `id` and `retry`: the data says what an event is.
        Ok(None)
    }

    /// A stream that was recorded without its last blank line. Half an event is none.
    fn end(&mut self) -> Result<Option<Event>, String> {
        if self.line.is_empty() || self.end_line().is_ok() {
            let is_whole = |data: &String| {
                data.trim() == DONE || serde_json::from_str::<serde::de::IgnoredAny>(data).is_ok()
            };
            return Ok(self.data.take().filter(is_whole).map(|data| Event { data }));
        }
        Ok(None)
    }
}

/// JSON texts one after another: one a line, indented over several, or the items of a list.
#[derive(Debug, Default)]
struct JsonTexts {
    text: Vec<u8>,
    depth: usize,
    in_string: bool,
    escaped: bool,
}

impl JsonTexts {
    fn push(&mut self, bytes: &[u8], events: &mut Vec<Event>) -> Result<(), String> {
        for &byte in bytes {
            if self.depth == 0 {
                match byte {
                    b'{' => self.depth = 1,
                    // The list around the texts, or between them.
                    b'[' | b']' | b',' | b' ' | b'\t' | b'\r' | b'\n' => continue,
                    other => return Err(format!("byte {other} is no beginning of a JSON object")),
                }
                self.text.push(byte);
                continue;
            }
            self.text.push(byte);
            match byte {
                _ if self.escaped => self.escaped = false,
                b'\\' if self.in_string => self.escaped = true,
                b'"' => self.in_string = !self.in_string,
                _ if self.in_string => {}
                b'{' | b'[' => self.depth += 1,
                b'}' | b']' => self.depth -= 1,
                _ => {}
            }
            if self.depth == 0 {
                events.push(Event { data: text(std::mem::take(&mut self.text))? });
            }
        }
        Ok(())
    }
}
