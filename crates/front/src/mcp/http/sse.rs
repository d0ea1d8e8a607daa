//! Server-sent events: each within a limit, in Unicode, and at the pace of a reader.

use std::borrow::Cow;
use std::io;

use axum::body::Bytes;
use futures_util::StreamExt;
use futures_util::stream::BoxStream;
use rmcp::transport::common::client_side_sse::BoxedSseResponse;
use sse_stream::{Sse, SseStream};

use super::super::message::{ListNotes, readable};
use super::super::pace::{MAX_NOTIFICATIONS, paced};

/// Most bytes of an answer, or of one event.
pub(super) const MAX_ANSWER: usize = 16 << 20;

/// The events of an answer, each within the limit, in Unicode.
pub(super) fn events(response: reqwest::Response) -> BoxedSseResponse {
    let mut rest = Vec::new();
    let mut size = 0;
    let mut is_line_end = false;
    let within = response.bytes_stream().map(move |chunk| {
        let chunk = chunk.map_err(io::Error::other)?;
        for byte in &chunk {
            size = if *byte == b'\n' && is_line_end { 0 } else { size + 1 };
            is_line_end = *byte == b'\n' || (is_line_end && *byte == b'\r');
            if size > MAX_ANSWER {
                return Err(io::Error::other(format!("an event is longer than {} MiB", MAX_ANSWER >> 20)));
            }
        }
        Ok(in_unicode(&mut rest, &chunk).into_bytes().into())
    });
    let size = |chunk: &io::Result<Bytes>| chunk.as_ref().map_or(0, Bytes::len);
    let within: BoxStream<'static, io::Result<Bytes>> = paced(within, MAX_ANSWER, size).boxed();
    SseStream::from_bytes_stream(within).boxed()
}

/// The text in a piece of a stream; `rest` is the beginning of a character at its end.
fn in_unicode(rest: &mut Vec<u8>, piece: &[u8]) -> String {
    rest.extend_from_slice(piece);
    let mut text = String::with_capacity(rest.len());
    let mut left = Vec::new();
    let mut chunks = rest.utf8_chunks().peekable();
    while let Some(chunk) = chunks.next() {
        text.push_str(chunk.valid());
        match chunk.invalid() {
            [] => {}
            invalid if chunks.peek().is_none() => left = invalid.to_vec(),
            _ => text.push('\u{fffd}'),
        }
    }
    *rest = left;
    text
}

pub(super) fn readable_events(events: BoxedSseResponse, notes: ListNotes) -> BoxedSseResponse {
    let read = move |event: Result<Sse, _>| {
        event.map(|event| {
            let data =
                event.data.and_then(|data| readable(data.as_bytes(), None, &notes).map(Cow::into_owned));
            Sse { data: data.filter(|data| !data.is_empty()), ..event }
        })
    };
    paced(events, MAX_NOTIFICATIONS, |_| 1).map(read).boxed()
}
