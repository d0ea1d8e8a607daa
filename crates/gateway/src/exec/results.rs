//! Results that are too long for a context: the beginning is returned with the [shape](shape_of) of the whole, all of it is
//! stored, and a cursor gives the rest.
//!
//! A long list is cut between its items, and a text between characters. Anything else is read on as pieces of its JSON. A text in
//! base64 is never cut: it is left out, with its size in its place.

use std::borrow::Cow;
use std::fmt::Write;

use serde::Serialize;
use serde_json::{Map, Value};
use serde_with::skip_serializing_none;

use super::call::{Call, Notes};
use super::json_length::{is_longer_json, length};
use super::select::{check_select, found_nothing, read_select, selected};
use super::shape::shape_of;
use crate::state::{MAX_BYTES_OF_CALLER, StateError, StateStore, StoredResult, now, random_id};
use crate::tool_error::{ErrorCode, Result, ToolError};
use toolcrib_definition::document::pointer_join;
use toolcrib_front::long_work::apart;

/// Milliseconds that the rest of a result is stored: after an hour, no agent reads on.
const RESULT_TTL_MS: i64 = 3_600_000;

/// Bytes of the id of a stored result. It is in the cursor of each part, and is its caller's alone.
const ID_BYTES: usize = 11;

/// Bytes from which a text may be base64: shorter ones are words.
const MIN_BASE64: usize = 256;

/// Fewest bytes of a text that are shown: a character has up to four.
const MIN_PIECE: usize = 4;

/// Levels of objects around the long part of a result.
const MAX_AROUND: usize = 8;

/// A long value, cut.
struct Cut {
    /// The value, with the beginning of its long part.
    page: Value,
    /// Pointer, shown items or bytes, and size of the long part.
    more: Map<String, Value>,
    /// The cursor of the rest, which is stored; `None` where data is left out.
    cursor: Option<Result<String, StateError>>,
}

/// The position of the next part in the long part of a result.
#[derive(Clone, Copy)]
enum Position {
    Item(usize),
    Byte(usize),
}

/// The result; of a long one its beginning, and `meta.more` has its shape, its size and the cursor of the rest.
pub(super) async fn first_page(call: &Call, result: Value, notes: &mut Notes) -> Value {
    let limit = call.config().exec.result_bytes.max(1);
    if !is_longer(&result, limit) {
        return result;
    }
    let shape = (result.is_object() || result.is_array()).then(|| shape_of(&result));
    let Cut { page, mut more, cursor } = cut(call.state(), &call.context.caller.name, result, limit).await;
    more.extend(shape.map(|shape| ("shape".to_string(), shape.into())));
    notes.warnings.push(match cursor {
        None => format!("the result is longer than {limit} bytes; data is left out"),
        Some(Ok(cursor)) => {
            let warning = format!(
                "the result is longer than {limit} bytes and cut; read on with read_result {{\"cursor\": \"{cursor}\"}}"
            );
            more.insert("cursor".into(), cursor.into());
            warning
        }
        Some(Err(error)) => {
            format!("the result is cut after {limit} bytes, and the rest could not be stored ({error})")
        }
    });
    notes.continuation = Some(Value::Object(more));
    page
}

/// Cuts a long value, and stores all of it for its caller, with the pointer to its long part.
async fn cut(state: &StateStore, caller: &str, mut value: Value, limit: usize) -> Cut {
    let bytes = length(&value);
    let (page, more, next) = apart(bytes, || {
        let at = long_part(&value, limit);
        let (begun, more, next) = beginning_of(&value, &at, limit);
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
    let kept = StoredResult { id, caller: caller.to_string(), text, until: now() + RESULT_TTL_MS };
    let cursor = position.cursor(&kept.id);
    let stored = state.store_result(kept).await;
    Cut { page, more, cursor: Some(stored.map(|()| cursor)) }
}

/// A part of a stored result.
#[skip_serializing_none]
#[derive(Clone, Debug, Serialize)]
pub struct ResultPart {
    #[serde(flatten)]
    pub piece: Piece,
    /// The cursor of the next part.
    pub next: Option<String>,
}

#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
pub enum Piece {
    /// Items of a list.
    Items { items: Vec<Value>, from: usize, of: usize },
    /// Bytes of a text, or of anything else as JSON.
    Text { part: String, from: usize, bytes: usize },
    /// Selected fields; `more` says how they are cut.
    Fields {
        fields: Value,
        #[serde(skip_serializing_if = "Map::is_empty")]
        more: Map<String, Value>,
    },
}

impl ResultPart {
    /// The value of the part; `None` if its place within others would be lost.
    pub(crate) fn whole(&self) -> Option<Cow<'_, Value>> {
        match &self.piece {
            Piece::Items { items, .. } => Some(Cow::Owned(items.as_slice().into())),
            Piece::Text { part, .. } => Some(Cow::Owned(part.as_str().into())),
            Piece::Fields { fields, more } => more.is_empty().then_some(Cow::Borrowed(fields)),
        }
    }
}

/// The next part of a stored result, of at most `limit` bytes unless one item is longer; with `select`, these fields of the
/// whole result.
pub async fn next_page(
    state: &StateStore,
    caller: &str,
    cursor: &str,
    (select, limit): (Option<Value>, usize),
) -> Result<ResultPart> {
    let no_cursor = || {
        let next = "send the `cursor` of `meta.more`, or the `next` of the last part, as it is";
        ToolError::new(ErrorCode::ValidationError, "this is no cursor of a result", next)
            .field("/cursor", "this is no cursor")
    };
    let select = read_select(select)?;
    select.iter().try_for_each(|expression| check_select(expression, None))?;
    let (id, position) = Position::read(cursor).ok_or_else(no_cursor)?;
    let kept = state.stored_result(caller, id).await.map_err(|error| {
        let message = format!("the rest of the result cannot be read now ({error})");
        ToolError::new(ErrorCode::StateUnavailable, message, "try again, or send the call again")
    })?;
    let Some(kept) = kept else {
        let next = "send the call again; narrow it so that its result is shorter, if it can be";
        let message = format!(
            "the rest of this result is no longer stored: results are stored for an hour, and newer ones replace the oldest \
             when those of one caller have more than {} MiB",
            MAX_BYTES_OF_CALLER >> 20
        );
        return Err(ToolError::new(ErrorCode::CursorExpired, message, next));
    };
    let stored: Value = serde_json::from_str(&kept.text).map_err(|_| no_cursor())?;
    let result = stored.get("result").ok_or_else(no_cursor)?;
    if let Some(expression) = select {
        let part = selected(&expression, result)?;
        found_nothing(&part, result).map_or(Ok(()), Err)?;
        return selected_page(state, caller, part, limit).await;
    }
    let at = stored.get("at").and_then(Value::as_str).unwrap_or_default();
    let long = result.pointer(at).ok_or_else(no_cursor)?;
    let (piece, next) = part_at(long, position, limit).ok_or_else(no_cursor)?;
    Ok(ResultPart { piece, next: next.map(|next| next.cursor(id)) })
}

/// A selected part; of a long one the beginning, and `next` for the rest.
async fn selected_page(state: &StateStore, caller: &str, fields: Value, limit: usize) -> Result<ResultPart> {
    if !is_longer(&fields, limit) {
        return Ok(ResultPart { piece: Piece::Fields { fields, more: Map::new() }, next: None });
    }
    let Cut { page, more, cursor } = cut(state, caller, fields, limit).await;
    let next = cursor.transpose().map_err(|error| {
        let message = format!("the selected part is too long, and the rest cannot be stored ({error})");
        ToolError::new(ErrorCode::StateUnavailable, message, "select less, or try again")
    })?;
    Ok(ResultPart { piece: Piece::Fields { fields: page, more }, next })
}

impl Position {
    /// The cursor of this position: `ID.`, then `i` and an item, or `b` and a byte.
    fn cursor(self, id: &str) -> String {
        match self {
            Position::Item(index) => format!("{id}.i{index}"),
            Position::Byte(byte) => format!("{id}.b{byte}"),
        }
    }

    /// The id and the position of a cursor.
    fn read(cursor: &str) -> Option<(&str, Self)> {
        let (id, place) = cursor.trim().split_once('.')?;
        let is_id = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let kind: fn(usize) -> Self = if place.starts_with('i') { Position::Item } else { Position::Byte };
        let digits =
            place.strip_prefix(['i', 'b']).filter(|rest| rest.bytes().all(|b| b.is_ascii_digit()))?;
        let is_ours = id.len() <= 64 && id.starts_with("re_") && id.chars().all(is_id);
        if is_ours { Some((id, kind(digits.parse().ok()?))) } else { None }
    }
}

/// The beginning of the long part of a value, at a pointer; the size of this part, and the position at which it goes on.
fn beginning_of(value: &Value, at: &str, limit: usize) -> (Value, Map<String, Value>, Option<Position>) {
    let long = value.pointer(at).unwrap_or(&Value::Null);
    let room = (limit + length(long)).saturating_sub(length(value)).max(MIN_PIECE);
    let mut more = Map::new();
    if !at.is_empty() || !long.is_string() {
        more.insert("at".into(), at.into());
    }
    let (begun, next) = match long {
        Value::Array(items) if items.iter().all(|item| length(item) < limit) => {
            let shown = fitting(items, room);
            more.insert("shown".into(), shown.into());
            more.insert("of".into(), items.len().into());
            more.insert("bytes".into(), length(long).into());
            let next = (shown < items.len()).then_some(Position::Item(shown));
            (items.iter().take(shown).cloned().collect(), next)
        }
        Value::String(data) if is_base64(data) => {
            more.insert("shown_bytes".into(), 0.into());
            more.insert("bytes".into(), data.len().into());
            (format!("[base64, {} characters, left out]", data.len()).into(), None)
        }
        _ => {
            let text = text_of(long);
            let end = text.floor_char_boundary(room);
            if !long.is_string() {
                more.insert("format".into(), "json".into());
            }
            more.insert("shown_bytes".into(), end.into());
            more.insert("bytes".into(), text.len().into());
            (text[..end].into(), (end < text.len()).then_some(Position::Byte(end)))
        }
    };
    (begun, more, next)
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

/// The part at a position and the position after it; `None` where the value has no such position.
fn part_at(long: &Value, at: Position, limit: usize) -> Option<(Piece, Option<Position>)> {
    Some(match (at, long) {
        (Position::Item(from), Value::Array(items)) => {
            let rest = items.get(from..)?;
            let end = from + fitting(rest, limit).max(1).min(rest.len());
            let piece = Piece::Items { items: items[from..end].to_vec(), from, of: items.len() };
            (piece, (end < items.len()).then_some(Position::Item(end)))
        }
        (Position::Item(_), _) => return None,
        (Position::Byte(from), long) => {
            let text = text_of(long);
            let rest = text.get(from..)?;
            let end = from + rest.floor_char_boundary(limit.max(MIN_PIECE));
            let piece = Piece::Text { part: text[from..end].to_string(), from, bytes: text.len() };
            (piece, (end < text.len()).then_some(Position::Byte(end)))
        }
    })
}

/// A text, or the JSON of anything else.
fn text_of(value: &Value) -> Cow<'_, str> {
    match value {
        Value::String(text) => text.into(),
        other => other.to_string().into(),
    }
}

/// The number of items that fit into `room` bytes.
fn fitting(items: &[Value], room: usize) -> usize {
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

fn is_longer(value: &Value, limit: usize) -> bool {
    match value {
        Value::String(text) => text.len() > limit,
        other => is_longer_json(other, limit),
    }
}
