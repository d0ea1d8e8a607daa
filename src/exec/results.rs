//! Results that are too long for a context: the first part is returned with the [shape](shape_of) of the whole, all of it is
//! stored, and a [cursor](Position) gives the rest.
//!
//! Parts are whole items of lists, whole fields of objects, and pieces of texts. Nothing is cut within JSON, a character or
//! base64: a text in base64 that is too long is left out, with its size in its place.

use std::io;

use serde_json::{Map, Value, json};

use super::call::{Call, RunNotes};
use super::select;
use crate::finding::pointer_join;
use crate::refusal::{ErrorCode, Refusal};
use crate::state::{StateStore, StoredResult, now, random_id};
use crate::tool::clean_line;

/// Milliseconds that the rest of a result is stored: after an hour, no agent reads on.
const RESULT_TTL_MS: i64 = 3_600_000;

/// Bytes of the id of a stored result. It is in the cursor beside each part, and is its caller's alone.
const ID_BYTES: usize = 11;

/// A part of a stored result.
#[derive(Clone, Debug, PartialEq)]
pub struct Part {
    /// `items`, `fields` or `part`, its place, and `next` if there is more.
    pub fields: Map<String, Value>,
}

/// The result; of a long one its beginning, and `meta.more` has its shape, its size and the cursor of the rest.
pub(super) async fn first_page(call: &Call, result: Value, notes: &mut RunNotes) -> Value {
    let limit = call.config().exec.result_bytes.max(1);
    if !is_longer(&result, limit) {
        return result;
    }
    let (shape, text) = (shape_of(&result), result.to_string());
    let FirstPage { page, mut more, next } = beginning_of(result, limit);
    more.extend(shape.map(|shape| ("shape".to_string(), shape.into())));
    match next {
        None => notes.warnings.push(format!("the result is longer than {limit} bytes; data is left out")),
        Some(next) => match store(call.state(), &call.context.caller().name, text).await {
            Ok(id) => {
                let cursor = next.cursor(&id);
                notes.warnings.push(format!(
                    "the result is longer than {limit} bytes and cut; read on with read_result {{\"cursor\": \"{cursor}\"}}"
                ));
                more.insert("cursor".into(), cursor.into());
            }
            Err(error) => {
                let warning = format!(
                    "the result is cut after {limit} bytes, and the rest could not be stored ({error})"
                );
                notes.warnings.push(warning);
            }
        },
    }
    notes.continuation = Some(Value::Object(more));
    page
}

/// Stores a result for its caller; its id.
async fn store(state: &StateStore, caller: &str, text: String) -> Result<String, String> {
    let mut id = random_id("re");
    id.truncate(ID_BYTES);
    let kept = StoredResult { id, caller: caller.to_string(), text, until: now() + RESULT_TTL_MS };
    let stored = state.store_result(&kept).await.map_err(|error| error.to_string());
    stored.map(|()| kept.id)
}

/// The next part of a stored result, at most `limit` bytes; with `select`, these fields of the whole result.
pub async fn next_page(
    state: &StateStore,
    caller: &str,
    cursor: &str,
    (select, limit): (Option<Value>, usize),
) -> Result<Part, Refusal> {
    let no_cursor = || {
        let next = "send the `cursor` of `meta.more`, or the `next` of the last part, as it is";
        Refusal::new(ErrorCode::ValidationError, "this is no cursor of a result", next)
            .field("/cursor", "this is no cursor")
    };
    let pointers = select::read(select)?;
    let (id, position) = Position::read(cursor).ok_or_else(no_cursor)?;
    let kept = state.stored_result(caller, id).await.map_err(|error| {
        let message = format!("the rest of the result cannot be read now ({error})");
        Refusal::new(ErrorCode::StateUnavailable, message, "try again, or send the call again")
    })?;
    let Some(kept) = kept else {
        let next = "send the call again; narrow it so that its result is shorter, if it can be";
        let message = "the rest of this result is no longer stored";
        return Err(Refusal::new(ErrorCode::CursorExpired, message, next));
    };
    let result: Value = serde_json::from_str(&kept.text).map_err(|_| no_cursor())?;
    if !pointers.is_empty() {
        return selected(state, caller, select::take(&result, &pointers), limit).await;
    }
    let page = page_at(&result, &position, limit).ok_or_else(no_cursor)?;
    let next = page.next.map(|next| ("next".to_string(), next.cursor(id).into()));
    Ok(Part { fields: page.fields.into_iter().chain(next).collect() })
}

/// Selected fields; of long ones the beginning, and `next` for the rest.
async fn selected(
    state: &StateStore,
    caller: &str,
    (selected, missing): (Value, Vec<select::Missing>),
    limit: usize,
) -> Result<Part, Refusal> {
    select::check_all_found(&missing)?;
    let mut fields = Map::new();
    if !is_longer(&selected, limit) {
        fields.insert("fields".into(), selected);
        return Ok(Part { fields });
    }
    let text = selected.to_string();
    let FirstPage { page, more, next } = beginning_of(selected, limit);
    fields.insert("fields".into(), page);
    fields.insert("more".into(), more.into());
    if let Some(next) = next {
        let id = store(state, caller, text).await.map_err(|error| {
            let message =
                format!("the selected fields are too long, and the rest cannot be stored ({error})");
            Refusal::new(ErrorCode::StateUnavailable, message, "select less, or try again")
        })?;
        fields.insert("next".into(), next.cursor(&id).into());
    }
    Ok(Part { fields })
}

/// Longest path of a cursor; JSON is nested less deeply.
const MAX_PATH: usize = 140;

/// A position in a value, by the indexes of children.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Position {
    /// Path of the long part.
    base: Vec<usize>,
    /// Path from there to the next child; of a position within a text, to the text.
    path: Vec<usize>,
    /// The byte of a text.
    byte: Option<usize>,
}

impl Position {
    /// Another position in the same long part.
    fn moved(&self, path: Vec<usize>, byte: Option<usize>) -> Self {
        Self { base: self.base.clone(), path, byte }
    }

    /// The cursor of this position: `ID.`, then `k` and an index for each level of the long part, `i` and an index for each
    /// below it, `b` and a byte.
    fn cursor(&self, id: &str) -> String {
        let step = |mark: char| move |index: &usize| format!("{mark}{index}");
        let steps = self.base.iter().map(step('k')).chain(self.path.iter().map(step('i')));
        let steps: String = steps.chain(self.byte.iter().map(step('b'))).collect();
        format!("{id}.{steps}")
    }

    /// The id and the position of a cursor.
    fn read(cursor: &str) -> Option<(&str, Self)> {
        let (id, place) = cursor.trim().split_once('.')?;
        let is_id = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let (mut position, mut rest) = (Self::default(), place);
        while let Some(mark) = rest.chars().next() {
            let digits = rest.get(1..)?;
            let end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
            let index = digits[..end].parse().ok()?;
            rest = &digits[end..];
            match mark {
                'k' if position.path.is_empty() => position.base.push(index),
                'i' => position.path.push(index),
                'b' if rest.is_empty() => position.byte = Some(index),
                _ => return None,
            }
        }
        let is_whole = position.byte.is_some() || !position.path.is_empty();
        let is_short = position.base.len() + position.path.len() <= MAX_PATH;
        (id.len() <= 64 && id.starts_with("re_") && id.chars().all(is_id) && is_whole && is_short)
            .then_some((id, position))
    }
}

/// Bytes from which a text may be base64: shorter ones are words.
const MIN_BASE64: usize = 256;
/// Fewest bytes of a text that are shown: a character has up to four.
const MIN_PIECE: usize = 4;
/// Levels of objects around the long part of a result.
const MAX_AROUND: usize = 8;

/// The first part of a long value.
struct FirstPage {
    /// The value, with the beginning of its long part.
    page: Value,
    /// Pointer, shown items or bytes, and size of the long part.
    more: Map<String, Value>,
    /// The position of the next part, if there is one.
    next: Option<Position>,
}

/// The next part of a value.
struct NextPage {
    /// `items`, `fields` or `part`, and its place.
    fields: Map<String, Value>,
    /// The position of the part after it, if there is one.
    next: Option<Position>,
}

/// The first part of a value that is longer than `limit`: all that is beside its long part, and the beginning of that.
fn beginning_of(value: Value, limit: usize) -> FirstPage {
    let (base, at) = long_part(&value, limit);
    let long = value.pointer(&at).unwrap_or(&Value::Null);
    let room = (limit + length(long)).saturating_sub(length(&value)).max(MIN_PIECE);
    let mut more = Map::new();
    if !at.is_empty() || !long.is_string() {
        more.insert("at".into(), at.as_str().into());
    }
    let (begun, path) = beginning(long, room);
    more.extend(extent(long, &begun));
    let next = path.map(|(path, byte)| Position { base, path, byte });
    let mut page = value;
    if let Some(place) = page.pointer_mut(&at) {
        *place = begun;
    }
    FirstPage { page, more, next }
}

/// The part that makes a value long: the list, object or text that is most of it. Its path and its pointer.
fn long_part(value: &Value, limit: usize) -> (Vec<usize>, String) {
    let (mut path, mut pointer, mut long) = (Vec::new(), String::new(), value);
    let (whole, mut bytes) = (length(value), length(value));
    while let Value::Object(fields) = long
        && path.len() < MAX_AROUND
    {
        let sizes = fields.iter().map(|(name, field)| (name, field, length(field))).enumerate();
        let Some((index, (name, field, size))) = sizes.max_by_key(|(_, (_, _, size))| *size) else { break };
        let has_parts = matches!(field, Value::String(_) | Value::Array(_) | Value::Object(_));
        if !has_parts || size * 2 <= bytes || (whole - size) * 2 > limit {
            break;
        }
        path.push(index);
        pointer = pointer_join(&pointer, name);
        (long, bytes) = (field, size);
    }
    (path, pointer)
}

type Path = (Vec<usize>, Option<usize>);

/// The beginning of a value that is longer than `room`, and the path to its next part.
fn beginning(value: &Value, room: usize) -> (Value, Option<Path>) {
    let count = children(value);
    let taken = fitting(value, 0, room);
    let (first, path) = match value {
        Value::String(text) if is_base64(text) => return (left_out(text), None),
        Value::String(text) => {
            let end = text.floor_char_boundary(room.max(MIN_PIECE));
            return (text[..end].into(), (end < text.len()).then(|| (Vec::new(), Some(end))));
        }
        _ if taken > 0 || count == 0 => (None, (taken < count).then(|| (vec![taken], None))),
        _ => {
            let (first, path) =
                child(value, 0).map_or((Value::Null, None), |(_, first)| beginning(first, room));
            let path = match path {
                Some((mut path, byte)) => {
                    path.insert(0, 0);
                    Some((path, byte))
                }
                None => (count > 1).then(|| (vec![1], None)),
            };
            (Some(first), path)
        }
    };
    let begun = match (value, first) {
        (Value::Array(_), Some(first)) => vec![first].into(),
        (Value::Array(items), None) => items.iter().take(taken).cloned().collect(),
        (Value::Object(fields), Some(first)) => {
            fields.keys().take(1).map(|name| (name.clone(), first.clone())).collect()
        }
        (Value::Object(fields), None) => {
            fields.iter().take(taken).map(|(name, field)| (name.clone(), field.clone())).collect()
        }
        (plain, _) => plain.clone(),
    };
    (begun, path)
}

/// Shown and whole size of a part.
fn extent(long: &Value, begun: &Value) -> Vec<(String, Value)> {
    let sizes = match (long, begun) {
        (Value::String(text), begun) => {
            let shown = if is_base64(text) { 0 } else { begun.as_str().map_or(0, str::len) };
            json!({ "shown_bytes": shown, "bytes": text.len() })
        }
        (long, begun) => json!({ "shown": children(begun), "of": children(long), "bytes": length(long) }),
    };
    sizes.as_object().cloned().unwrap_or_default().into_iter().collect()
}

/// The part at a position, at most `limit` bytes; `None` where the value has no such position.
fn page_at(value: &Value, at: &Position, limit: usize) -> Option<NextPage> {
    let base = at.base.iter().try_fold(value, |value, index| child(value, *index).map(|(_, child)| child))?;
    let (mut path, mut byte) = (at.path.clone(), at.byte);
    loop {
        let index = if byte.is_none() { path.pop()? } else { 0 };
        let (pointer, holder) = descend(base, &path)?;
        let mut fields = Map::new();
        if !path.is_empty() {
            fields.insert("at".into(), pointer.into());
        }
        if let Some(from) = byte {
            let Value::String(text) = holder else { return None };
            if from > text.len() || !text.is_char_boundary(from) {
                return None;
            }
            let end = text.floor_char_boundary(from.saturating_add(limit.max(MIN_PIECE)));
            fields.extend(piece(text, from, end));
            let next = if end < text.len() { Some((path, Some(end))) } else { following(base, path) };
            return Some(NextPage { fields, next: next.map(|(path, byte)| at.moved(path, byte)) });
        }
        let count = children(holder);
        if index > count || !matches!(holder, Value::Array(_) | Value::Object(_)) {
            return None;
        }
        let taken = fitting(holder, index, limit);
        if taken > 0 || index == count {
            fields.extend(taken_children(holder, index, taken));
            path.push(index + taken);
            let next = if index + taken < count { Some((path, None)) } else { after(base, path) };
            return Some(NextPage { fields, next: next.map(|(path, byte)| at.moved(path, byte)) });
        }
        let (name, long) = child(holder, index)?;
        path.push(index);
        match long {
            Value::String(text) if is_base64(text) => {
                fields.insert(
                    "at".into(),
                    pointer_join(&descend(base, &path[..path.len() - 1])?.0, name).into(),
                );
                fields.insert("part".into(), left_out(text));
                fields.insert("bytes".into(), text.len().into());
                let next = following(base, path);
                return Some(NextPage { fields, next: next.map(|(path, byte)| at.moved(path, byte)) });
            }
            Value::String(_) => byte = Some(0),
            _ => path.push(0),
        }
    }
}

fn piece(text: &str, from: usize, end: usize) -> [(String, Value); 3] {
    [
        ("part".into(), text[from..end].into()),
        ("from".into(), from.into()),
        ("bytes".into(), text.len().into()),
    ]
}

fn taken_children(holder: &Value, from: usize, taken: usize) -> Vec<(String, Value)> {
    let (name, value): (&str, Value) = match holder {
        Value::Object(fields) => {
            let fields = fields.iter().skip(from).take(taken);
            ("fields", fields.map(|(name, field)| (name.clone(), field.clone())).collect())
        }
        Value::Array(items) => ("items", items.iter().skip(from).take(taken).cloned().collect()),
        plain => ("items", plain.clone()),
    };
    let places = [("from".into(), from.into()), ("of".into(), children(holder).into())];
    [(name.to_string(), value)].into_iter().chain(places).collect()
}

/// The path after the child at the end of this one.
fn following(base: &Value, mut path: Vec<usize>) -> Option<Path> {
    *path.last_mut()? += 1;
    after(base, path)
}

/// This path, or the first one after it that has something.
fn after(base: &Value, mut path: Vec<usize>) -> Option<Path> {
    loop {
        let index = path.pop()?;
        if index < children(descend(base, &path)?.1) {
            path.push(index);
            return Some((path, None));
        }
        *path.last_mut()? += 1;
    }
}

/// The value at the end of a path, and its pointer.
fn descend<'v>(base: &'v Value, path: &[usize]) -> Option<(String, &'v Value)> {
    path.iter().try_fold((String::new(), base), |(pointer, value), index| {
        let (name, child) = child(value, *index)?;
        Some((pointer_join(&pointer, name), child))
    })
}

/// The child at this index, with its name.
fn child(value: &Value, index: usize) -> Option<(String, &Value)> {
    match value {
        Value::Array(items) => items.get(index).map(|item| (index.to_string(), item)),
        Value::Object(fields) => fields.iter().nth(index).map(|(name, field)| (name.clone(), field)),
        _ => None,
    }
}

fn children(value: &Value) -> usize {
    match value {
        Value::Array(items) => items.len(),
        Value::Object(fields) => fields.len(),
        _ => 0,
    }
}

/// The number of children after `from` that fit into `room` bytes. A value without parts always fits.
fn fitting(value: &Value, from: usize, room: usize) -> usize {
    let mut left = room;
    let mut fits = |bytes: usize, child: &Value, is_first: bool| {
        let has_parts = matches!(child, Value::String(_) | Value::Array(_) | Value::Object(_));
        let fits = bytes <= left || (is_first && !has_parts);
        left = left.saturating_sub(bytes);
        fits
    };
    match value {
        Value::Array(items) => {
            let items = items.iter().skip(from).enumerate();
            items.take_while(|(index, item)| fits(length(item) + 1, item, *index == 0)).count()
        }
        Value::Object(fields) => {
            let fields = fields.iter().skip(from).enumerate();
            let bytes = |name: &str, field: &Value| length(field) + name.len() + 4;
            fields.take_while(|(index, (name, field))| fits(bytes(name, field), field, *index == 0)).count()
        }
        _ => 0,
    }
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

/// The words in place of a text in base64.
fn left_out(text: &str) -> Value {
    format!("[base64, {} characters, left out]", text.len()).into()
}

/// A writer that counts bytes, and fails at a limit.
struct Count {
    bytes: usize,
    limit: usize,
}

impl io::Write for Count {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.bytes += bytes.len();
        if self.bytes > self.limit { Err(io::ErrorKind::FileTooLarge.into()) } else { Ok(bytes.len()) }
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn is_longer(value: &Value, limit: usize) -> bool {
    match value {
        Value::String(text) => text.len() > limit,
        other => serde_json::to_writer(Count { bytes: 0, limit }, other).is_err(),
    }
}

/// The bytes of a value as compact JSON.
fn length(value: &Value) -> usize {
    let mut count = Count { bytes: 0, limit: usize::MAX };
    let _ = serde_json::to_writer(&mut count, value);
    count.bytes
}

/// Levels that are described.
const LEVELS: usize = 3;
/// Fields of an object that are named.
const MAX_NAMES: usize = 12;
/// Characters of a name.
const NAME: usize = 40;
/// Bytes from which the size of a text is said.
const LONG: usize = 200;

/// The shape of an object or a list; `None` for anything else.
fn shape_of(value: &Value) -> Option<String> {
    (value.is_object() || value.is_array()).then(|| shape(value, LEVELS))
}

fn shape(value: &Value, levels: usize) -> String {
    match value {
        Value::Null => "null".into(),
        Value::Bool(_) => "boolean".into(),
        Value::Number(_) => "number".into(),
        Value::String(text) if text.len() < LONG => "text".into(),
        Value::String(text) => format!("text of {} bytes", text.len()),
        Value::Array(items) => match items.first().filter(|_| levels > 0) {
            Some(first) => format!("[{} of {}]", items.len(), shape(first, levels - 1)),
            None => format!("[{}]", items.len()),
        },
        Value::Object(fields) if levels == 0 => format!("{{{} fields}}", fields.len()),
        Value::Object(fields) => {
            let name = |name: &str| clean_line(&name.chars().take(NAME).collect::<String>());
            let named = fields.iter().take(MAX_NAMES);
            let mut shown: Vec<String> = named
                .map(|(known, field)| format!("{}: {}", name(known), shape(field, levels - 1)))
                .collect();
            if fields.len() > MAX_NAMES {
                shown.push(format!("{} more", fields.len() - MAX_NAMES));
            }
            format!("{{{}}}", shown.join(", "))
        }
    }
}
