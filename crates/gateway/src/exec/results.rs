//! Results that are too long for a context: the beginning is returned with the shape of the whole, all of it is
//! stored, and a cursor gives the rest.
//!
//! A long list is cut between its items, and a text between characters. Anything else begins with a preview in its own form, and
//! is read as pieces of its JSON. A text in
//! base64 is never cut: it is left out, with its size in its place.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt::Write;

use serde::Serialize;
use serde_json::Value;
use serde_with::skip_serializing_none;

use crate::state::{StateError, StateStore, StoredResult, now, random_id};
use toolcrib_catalog::results::{is_longer_json, length, shape_of};
use toolcrib_definition::document::pointer_join;
use toolcrib_front::long_work::apart;

/// Milliseconds that the rest of a result is stored: after an hour, no agent reads on.
const RESULT_TTL_MS: i64 = 3_600_000;

/// Bytes of the id of a stored result. It is in the cursor of each part, and is its caller's alone.
const ID_BYTES: usize = 11;

/// Bytes from which a text may be base64: shorter ones are words.
const MIN_BASE64: usize = 256;

/// Fewest bytes of a text that are shown: a character has up to four.
pub(super) const MIN_PIECE: usize = 4;

/// Bytes that are kept for each field of a long object.
const MIN_FIELD: usize = 16;

/// Levels of objects around the long part of a result.
const MAX_AROUND: usize = 8;

/// The results of one caller: where the rest of long ones is stored, and the bytes from which a result is long.
#[derive(Clone, Copy, Debug)]
pub struct Results<'s> {
    pub state: &'s StateStore,
    pub caller: &'s str,
    pub limit: usize,
}

/// A result, or the beginning of a long one, with the warning about that.
pub(super) struct Page {
    pub(super) value: Value,
    pub(super) more: Option<More>,
    pub(super) warning: Option<String>,
}

/// The size of a long value, and of what is shown of its long part.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, Serialize)]
pub struct More {
    /// Pointer to the long part.
    at: Option<String>,
    shown: Option<usize>,
    of: Option<usize>,
    format: Option<&'static str>,
    shown_bytes: Option<usize>,
    bytes: usize,
    shape: Option<String>,
    cursor: Option<String>,
}

/// A long value, cut.
pub(super) struct Cut {
    /// The value, with the beginning of its long part.
    pub(super) page: Value,
    pub(super) more: More,
    /// The cursor of the rest, which is stored; `None` where data is left out.
    pub(super) cursor: Option<Result<String, StateError>>,
}

/// The position of the next part in the long part of a result.
#[derive(Clone, Copy)]
pub(super) enum Position {
    Item(usize),
    Byte(usize),
}

impl Position {
    /// The cursor of this position: `ID.`, then `i` and an item, or `b` and a byte.
    pub(super) fn cursor(self, id: &str) -> String {
        match self {
            Position::Item(index) => format!("{id}.i{index}"),
            Position::Byte(byte) => format!("{id}.b{byte}"),
        }
    }
}

impl Results<'_> {
    /// The result; of a long one its beginning, with its shape, its size and the cursor of the rest.
    pub(super) async fn first_page(&self, result: Value) -> Page {
        let limit = self.limit;
        if !is_longer(&result, limit) {
            return Page { value: result, more: None, warning: None };
        }
        let shape = (result.is_object() || result.is_array()).then(|| shape_of(&result));
        let Cut { page, more, cursor } = self.cut(result).await;
        let warning = match &cursor {
            None => format!("the result is longer than {limit} bytes; data is left out"),
            Some(Ok(cursor)) => format!(
                "the result is longer than {limit} bytes and cut; read on with read_result {{\"cursor\": \"{cursor}\"}}"
            ),
            Some(Err(error)) => {
                format!("the result is cut after {limit} bytes, and the rest could not be stored ({error})")
            }
        };
        let more = More { shape, cursor: cursor.and_then(Result::ok), ..more };
        Page { value: page, more: Some(more), warning: Some(warning) }
    }

    /// Cuts a long value, and stores all of it for its caller, with the pointer to its long part.
    pub(super) async fn cut(&self, mut value: Value) -> Cut {
        let bytes = length(&value);
        let (page, more, next) = apart(bytes, || {
            let at = long_part(&value, self.limit);
            let (begun, more, next) = beginning_of(&value, &at, self.limit);
            let next = next.map(|position| {
                let head = format!("{{\"at\":{},\"result\":", Value::from(at.as_str()));
                let mut text = String::with_capacity(head.len() + bytes + 1);
                let _ = write!(text, "{head}{value}}}");
                (position, text)
            });
            if let Some(place) = value.pointer_mut(&at) {
                *place = begun;
            }
            (value, more, next)
        });
        let Some((position, text)) = next else { return Cut { page, more, cursor: None } };
        let mut id = random_id("re");
        id.truncate(ID_BYTES);
        let kept = StoredResult { id, caller: self.caller.to_string(), text, until: now() + RESULT_TTL_MS };
        let cursor = position.cursor(&kept.id);
        let stored = self.state.store_result(kept).await;
        Cut { page, more, cursor: Some(stored.map(|()| cursor)) }
    }
}

/// The beginning of the long part of a value, at a pointer; the size of this part, and the position at which it goes on.
fn beginning_of(value: &Value, at: &str, limit: usize) -> (Value, More, Option<Position>) {
    let long = value.pointer(at).unwrap_or(&Value::Null);
    let room = (limit + length(long)).saturating_sub(length(value)).max(MIN_PIECE);
    let is_part = !at.is_empty() || !long.is_string();
    let more = More { at: is_part.then(|| at.to_string()), ..More::default() };
    match long {
        Value::Array(items) if items.iter().all(|item| length(item) < limit) => {
            let shown = fitting(items, room);
            let more = More { shown: Some(shown), of: Some(items.len()), bytes: length(long), ..more };
            let next = (shown < items.len()).then_some(Position::Item(shown));
            (items.iter().take(shown).cloned().collect(), more, next)
        }
        Value::String(data) if is_base64(data) => {
            let more = More { shown_bytes: Some(0), bytes: data.len(), ..more };
            (format!("[base64, {} characters, left out]", data.len()).into(), more, None)
        }
        Value::String(text) => {
            let end = text.floor_char_boundary(room);
            let more = More { shown_bytes: Some(end), bytes: text.len(), ..more };
            (text[..end].into(), more, (end < text.len()).then_some(Position::Byte(end)))
        }
        _ => {
            let more = More { format: Some("json"), bytes: length(long), ..more };
            (preview(long, room), more, Some(Position::Byte(0)))
        }
    }
}

/// The beginning of a long value in its own form: items and fields from the first one on, and the beginnings of texts.
fn preview(value: &Value, room: usize) -> Value {
    match value {
        value if !is_longer(value, room) => value.clone(),
        Value::String(text) => format!("{}…", &text[..text.floor_char_boundary(room)]).into(),
        Value::Array(items) => {
            let whole = fitting(items, room);
            let next = items.get(whole).filter(|_| whole == 0).map(|first| preview(first, room));
            items[..whole].iter().cloned().chain(next).collect()
        }
        Value::Object(fields) => {
            let mut left = room;
            let names = fields.keys().take_while(|name| {
                left = left.saturating_sub(name.len() + MIN_FIELD);
                left > 0
            });
            let mut sizes: Vec<(&String, usize)> = names.map(|name| (name, length(&fields[name]))).collect();
            left += sizes.len() * MIN_FIELD;
            sizes.sort_by_key(|(_, size)| *size);
            // Short fields are whole, and long ones share what is left.
            let mut rooms = HashMap::new();
            for (index, (name, size)) in sizes.iter().enumerate() {
                let share = (*size).min(left / (sizes.len() - index));
                rooms.insert(*name, share);
                left -= share;
            }
            let field =
                |(name, field): (&String, &Value)| Some((name.clone(), preview(field, *rooms.get(name)?)));
            Value::Object(fields.iter().filter_map(field).collect())
        }
        plain => plain.clone(),
    }
}

/// The pointer to the part that makes a value long: the list, object or text that is most of it.
fn long_part(value: &Value, limit: usize) -> String {
    let mut pointer = String::new();
    let mut long = value;
    let whole = length(value);
    for _ in 0..MAX_AROUND {
        let fields = long.as_object().into_iter().flatten().map(|(name, field)| (name, field, length(field)));
        let Some((name, field, size)) = fields.max_by_key(|(.., size)| *size) else { break };
        let has_parts = matches!(field, Value::String(_) | Value::Array(_) | Value::Object(_));
        if !has_parts || size * 2 <= length(long) || (whole - size) * 2 > limit {
            break;
        }
        pointer = pointer_join(&pointer, name);
        long = field;
    }
    pointer
}

/// A text, or the JSON of anything else.
pub(super) fn text_of(value: &Value) -> Cow<'_, str> {
    match value {
        Value::String(text) => text.into(),
        other => other.to_string().into(),
    }
}

/// The number of items that fit into `room` bytes.
pub(super) fn fitting(items: &[Value], room: usize) -> usize {
    let mut bytes = 0;
    let fits = |item: &&Value| {
        bytes += length(item) + 1;
        bytes <= room
    };
    items.iter().take_while(fits).count()
}

/// Whether a text is data in base64 rather than words.
fn is_base64(text: &str) -> bool {
    let is_data_url =
        text.starts_with("data:") && text.get(..100).is_some_and(|start| start.contains(";base64,"));
    let data = if is_data_url { text.split_once(',').map_or("", |(_, data)| data) } else { text };
    let bytes = data.trim_end_matches('=').as_bytes();
    let is_digit = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'-' | b'_');
    let has = |kind: fn(&u8) -> bool| bytes.iter().any(kind);
    bytes.len() >= MIN_BASE64
        && bytes.iter().all(is_digit)
        && has(u8::is_ascii_uppercase)
        && has(u8::is_ascii_lowercase)
        && has(u8::is_ascii_digit)
}

pub(super) fn is_longer(value: &Value, limit: usize) -> bool {
    match value {
        Value::String(text) => text.len() > limit,
        other => is_longer_json(other, limit),
    }
}
