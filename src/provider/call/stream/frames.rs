//! Frames of AWS (`application/vnd.amazon.eventstream`): two lengths and their checksum, headers, a JSON payload, and a
//! checksum of the whole. An event becomes `{"TYPE": PAYLOAD}`, as the SDKs show it.

use super::event::{Event, text};

/// Bytes of lengths and their checksum.
const PRELUDE: usize = 12;
/// Bytes of a checksum.
const CHECKSUM: usize = 4;
/// Bytes of the longest frame: AWS allows 16 MB of payload and 128 KB of headers.
const MAX_FRAME: usize = 17 << 20;
/// The type of a header that is text.
const TEXT: u8 = 7;

/// Frames of a stream.
#[derive(Debug, Default)]
pub(super) struct Frames {
    bytes: Vec<u8>,
}

impl Frames {
    pub(super) fn push(&mut self, bytes: &[u8], events: &mut Vec<Event>) -> Result<(), String> {
        self.bytes.extend_from_slice(bytes);
        let mut read = 0;
        while let Some(length) = frame_length(&self.bytes[read..])? {
            let Some(frame) = self.bytes.get(read..read + length) else { break };
            events.extend(event(frame)?);
            read += length;
        }
        self.bytes.drain(..read);
        Ok(())
    }
}

/// The length of the frame at the beginning; `None` until its prelude is there.
fn frame_length(bytes: &[u8]) -> Result<Option<usize>, String> {
    let Some(prelude) = bytes.get(..PRELUDE) else { return Ok(None) };
    let length = number(&prelude[..4]);
    let is_sound = (PRELUDE + CHECKSUM..=MAX_FRAME).contains(&length)
        && number(&prelude[4..8]) <= length - PRELUDE - CHECKSUM
        && crc32(&prelude[..8]) == number(&prelude[8..]);
    if is_sound { Ok(Some(length)) } else { Err("a frame has a wrong length or checksum".into()) }
}

fn event(frame: &[u8]) -> Result<Option<Event>, String> {
    let (content, checksum) = frame.split_at(frame.len() - CHECKSUM);
    if crc32(content) != number(checksum) {
        return Err("a frame has a wrong checksum".into());
    }
    let (headers, payload) = content[PRELUDE..].split_at(number(&frame[4..8]));
    let kind = [":event-type", ":exception-type"].into_iter().find_map(|name| header(headers, name));
    let Some(kind) = kind else { return Ok(None) };
    let kind = serde_json::to_string(&kind).unwrap_or_default();
    let payload = text(payload.to_vec())?;
    let payload = if payload.trim().is_empty() { "{}" } else { &payload };
    Ok(Some(Event { data: format!("{{{kind}:{payload}}}") }))
}

/// The header of this name, if it is text.
fn header(mut headers: &[u8], wanted: &str) -> Option<String> {
    loop {
        let (name, rest) = sized(headers, 1)?;
        let (&kind, rest) = rest.split_first()?;
        let (value, rest) = match kind {
            0 | 1 => rest.split_at(0),
            2 => rest.split_at_checked(1)?,
            3 => rest.split_at_checked(2)?,
            4 => rest.split_at_checked(4)?,
            5 | 8 => rest.split_at_checked(8)?,
            6 | TEXT => sized(rest, 2)?,
            9 => rest.split_at_checked(16)?,
            _ => return None,
        };
        if name == wanted.as_bytes() {
            return (kind == TEXT).then(|| String::from_utf8_lossy(value).into_owned());
        }
        headers = rest;
    }
}

/// A part after its length of so many bytes, and the rest.
fn sized(bytes: &[u8], width: usize) -> Option<(&[u8], &[u8])> {
    let (length, rest) = bytes.split_at_checked(width)?;
    rest.split_at_checked(number(length))
}

fn number(bytes: &[u8]) -> usize {
    bytes.iter().fold(0, |number, byte| number << 8 | usize::from(*byte))
}

/// The checksum of IEEE 802.3.
fn crc32(bytes: &[u8]) -> usize {
    const fn entry(index: u32) -> u32 {
        let (mut value, mut bit) = (index, 0);
        while bit < 8 {
            value = if value & 1 == 1 { 0xEDB8_8320 ^ (value >> 1) } else { value >> 1 };
            bit += 1;
        }
        value
    }
    const TABLE: [u32; 256] = {
        let (mut table, mut index) = ([0; 256], 0);
        while index < 256 {
            table[index] = entry(index as u32);
            index += 1;
        }
        table
    };
    let step = |crc: u32, byte: &u8| TABLE[usize::from(crc as u8 ^ byte)] ^ (crc >> 8);
    !bytes.iter().fold(u32::MAX, step) as usize
}
