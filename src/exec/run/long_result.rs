//! Results that are too long for a context. The first part is returned, all of it is stored, and a cursor gives the rest:
//! whole items of a list, whole fields of an object, or pieces of a text. An item that is too long alone comes as pieces of
//! its JSON.

use std::borrow::Cow;
use std::io;

use serde_json::{Map, Value};

use crate::exec::call::{Call, RunNotes};
use crate::exec::select;
use crate::finding::pointer_join;
use crate::refusal::{ErrorCode, Refusal};
use crate::state::{StateStore, StoredResult, now, random_id};
use crate::tool::clean_line;

/// Milliseconds that the rest of a result is stored: after an hour, no agent reads on.
const RESULT_TTL_MS: i64 = 3_600_000;

/// Bytes of the id of a stored result. It is in the cursor beside each part, and is its caller's alone.
const ID_BYTES: usize = 11;

/// Fewest bytes of a text that are shown: a character has up to four.
const MIN_PIECE: usize = 4;

/// Levels of objects around the long part of a result.
const MAX_AROUND: usize = 8;

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
    let FirstPage { page, mut more, next } = first_part(result, limit);
    more.extend(shape.map(|shape| ("shape".to_string(), shape.into())));
    match next {
        None => {}
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
    let (mut fields, next) = next_part(&result, &position, limit).ok_or_else(no_cursor)?;
    fields.extend(next.map(|next| ("next".to_string(), next.cursor(id).into())));
    Ok(Part { fields })
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
    let FirstPage { page, more, next } = first_part(selected, limit);
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

/// A position in a result: the path of its long part, the item or field there, and the byte of a text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Position {
    base: Vec<usize>,
    index: Option<usize>,
    byte: Option<usize>,
}

impl Position {
    /// The cursor of this position: `ID.`, then `k` and an index for each level of the path, `i` and an index, `b` and a byte.
    fn cursor(&self, id: &str) -> String {
        let step = |mark: char| move |number: &usize| format!("{mark}{number}");
        let steps = self.base.iter().map(step('k')).chain(self.index.iter().map(step('i')));
        let steps: String = steps.chain(self.byte.iter().map(step('b'))).collect();
        format!("{id}.{steps}")
    }

    /// The id and the position of a cursor.
    fn read(cursor: &str) -> Option<(&str, Self)> {
        let (id, mut rest) = cursor.trim().split_once('.')?;
        let mut position = Self::default();
        while let Some(mark) = rest.chars().next() {
            let digits = rest.get(1..)?;
            let end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
            let number = digits[..end].parse().ok()?;
            rest = &digits[end..];
            match mark {
                'k' if position.index.is_none() && position.base.len() < MAX_AROUND => {
                    position.base.push(number)
                }
                'i' if position.index.is_none() => position.index = Some(number),
                'b' if rest.is_empty() => position.byte = Some(number),
                _ => return None,
            }
        }
        let is_id = id.len() <= 64
            && id.starts_with("re_")
            && id.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        (is_id && (position.byte.is_some() || position.index.is_some())).then_some((id, position))
    }
}

/// The first part of a long value.
struct FirstPage {
    /// The value, with the beginning of its long part.
    page: Value,
    /// Pointer, shown items or bytes, and size of the long part.
    more: Map<String, Value>,
    /// The position of the next part, if there is one.
    next: Option<Position>,
}

/// The first part of a value that is longer than `limit`: all that is beside its long part, and the beginning of that.
fn first_part(mut page: Value, limit: usize) -> FirstPage {
    let (base, at) = long_part(&page, limit);
    let long = page.pointer(&at).unwrap_or(&Value::Null);
    let room = (limit + length(long)).saturating_sub(length(&page)).max(MIN_PIECE);
    let mut more = Map::new();
    if !at.is_empty() || !long.is_string() {
        more.insert("at".into(), at.as_str().into());
    }
    let (begun, index, byte) = match long {
        Value::String(text) => {
            let end = text.floor_char_boundary(room);
            more.extend([("shown_bytes".into(), end.into()), ("bytes".into(), text.len().into())]);
            (text[..end].into(), None, (end < text.len()).then_some(end))
        }
        _ => {
            let (taken, count) = (fitting(long, 0, room), children(long));
            let sizes = [("shown", taken), ("of", count), ("bytes", length(long))];
            more.extend(sizes.map(|(name, size)| (name.to_string(), size.into())));
            (part_of(long, 0, taken), (taken < count).then_some(taken), None)
        }
    };
    let has_more = index.is_some() || byte.is_some();
    if let Some(place) = page.pointer_mut(&at) {
        *place = begun;
    }
    FirstPage { page, more, next: has_more.then_some(Position { base, index, byte }) }
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

/// The part at a position, at most `limit` bytes, and the position after it; `None` where the value has no such position.
fn next_part(value: &Value, at: &Position, limit: usize) -> Option<(Map<String, Value>, Option<Position>)> {
    let long = at.base.iter().try_fold(value, |value, index| child(value, *index).map(|(_, child)| child))?;
    let (count, moved) = (children(long), |index, byte| Position { base: at.base.clone(), index, byte });
    let mut fields = Map::new();
    let text = match at.index {
        None => Cow::Borrowed(long.as_str()?),
        Some(index) => {
            let (name, item) = child(long, index)?;
            let taken = if at.byte.is_some() { 0 } else { fitting(long, index, limit) };
            if taken > 0 {
                let kind = if long.is_object() { "fields" } else { "items" };
                fields.insert(kind.into(), part_of(long, index, taken));
                fields.extend([("from".to_string(), index.into()), ("of".to_string(), count.into())]);
                let next = Some(index + taken).filter(|next| *next < count);
                return Some((fields, next.map(|next| moved(Some(next), None))));
            }
            fields.insert("at".into(), pointer_join("", &name).into());
            item.as_str().map_or_else(|| Cow::Owned(item.to_string()), Cow::Borrowed)
        }
    };
    let from = at.byte.unwrap_or_default();
    if from > text.len() || !text.is_char_boundary(from) {
        return None;
    }
    let end = text.floor_char_boundary(from.saturating_add(limit.max(MIN_PIECE)));
    fields.insert("part".into(), text[from..end].into());
    fields.extend([("from".to_string(), from.into()), ("bytes".to_string(), text.len().into())]);
    let next = match end < text.len() {
        true => Some(moved(at.index, Some(end))),
        false => {
            at.index.map(|index| index + 1).filter(|next| *next < count).map(|next| moved(Some(next), None))
        }
    };
    Some((fields, next))
}

/// These children of a list or an object.
fn part_of(value: &Value, from: usize, taken: usize) -> Value {
    match value {
        Value::Array(items) => items.iter().skip(from).take(taken).cloned().collect(),
        Value::Object(fields) => {
            let fields = fields.iter().skip(from).take(taken);
            fields.map(|(name, field)| (name.clone(), field.clone())).collect()
        }
        plain => plain.clone(),
    }
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
