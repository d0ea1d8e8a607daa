//! Results that are too long for a context: the beginning is returned with the [shape](shape_of) of the whole, all of it is
//! stored, and a cursor gives the rest.
//!
//! A long list is cut between its items, and a text between characters. Anything else is read on as pieces of its JSON. A text in
//! base64 is never cut: it is left out, with its size in its place. A caller can also select fields of any result.

use std::borrow::Cow;
use std::fmt::Write;
use std::io;

use serde::Serialize;
use serde_json::{Map, Value, json};

use super::{Call, Notes};
use crate::state::{MAX_BYTES_OF_CALLER, StateError, StateStore, StoredResult, now, random_id};
use crate::tool_error::{ErrorCode, ToolError};
use toolcrib_catalog::arguments::FieldError;
use toolcrib_definition::finding::{nearest, pointer_join, pointer_unescape};
use toolcrib_definition::{clean_line, quoted};
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
    let shape = shape_of(&result);
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

/// The fields of the next part of a stored result, of at most `limit` bytes unless one item is longer; with `select`, these
/// fields of the whole result.
pub async fn next_page(
    state: &StateStore,
    caller: &str,
    cursor: &str,
    (select, limit): (Option<Value>, usize),
) -> Result<Map<String, Value>, ToolError> {
    let no_cursor = || {
        let next = "send the `cursor` of `meta.more`, or the `next` of the last part, as it is";
        ToolError::new(ErrorCode::ValidationError, "this is no cursor of a result", next)
            .field("/cursor", "this is no cursor")
    };
    let pointers = read_select(select)?;
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
    if !pointers.is_empty() {
        let (fields, missing) = select_fields(result, &pointers);
        check_all_selected(&missing)?;
        return selected(state, caller, fields, limit).await;
    }
    let at = stored.get("at").and_then(Value::as_str).unwrap_or_default();
    let long = result.pointer(at).ok_or_else(no_cursor)?;
    let (mut fields, next) = part_at(long, position, limit).ok_or_else(no_cursor)?;
    fields.extend(next.map(|next| ("next".to_string(), next.cursor(id).into())));
    Ok(fields)
}

/// Selected fields; of long ones the beginning, and `next` for the rest.
async fn selected(
    state: &StateStore,
    caller: &str,
    selected: Value,
    limit: usize,
) -> Result<Map<String, Value>, ToolError> {
    if !is_longer(&selected, limit) {
        return Ok(Map::from_iter([("fields".to_string(), selected)]));
    }
    let Cut { page, more, cursor } = cut(state, caller, selected, limit).await;
    let mut fields = Map::from_iter([("fields".to_string(), page), ("more".to_string(), more.into())]);
    if let Some(cursor) = cursor {
        let cursor = cursor.map_err(|error| {
            let message =
                format!("the selected fields are too long, and the rest cannot be stored ({error})");
            ToolError::new(ErrorCode::StateUnavailable, message, "select less, or try again")
        })?;
        fields.insert("next".into(), cursor.into());
    }
    Ok(fields)
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
        digits.parse().ok().filter(|_| is_ours).map(|position| (id, kind(position)))
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
fn part_at(long: &Value, at: Position, limit: usize) -> Option<(Map<String, Value>, Option<Position>)> {
    let (fields, next) = match (at, long) {
        (Position::Item(from), Value::Array(items)) => {
            let rest = items.get(from..)?;
            let end = from + fitting(rest, limit).max(1).min(rest.len());
            let fields = json!({ "items": items[from..end], "from": from, "of": items.len() });
            (fields, (end < items.len()).then_some(Position::Item(end)))
        }
        (Position::Item(_), _) => return None,
        (Position::Byte(from), long) => {
            let text = text_of(long);
            let rest = text.get(from..)?;
            let end = from + rest.floor_char_boundary(limit.max(MIN_PIECE));
            let fields = json!({ "part": text[from..end], "from": from, "bytes": text.len() });
            (fields, (end < text.len()).then_some(Position::Byte(end)))
        }
    };
    match fields {
        Value::Object(fields) => Some((fields, next)),
        _ => None,
    }
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
        other => is_longer_json(other, limit),
    }
}

/// Whether a value takes more than `limit` bytes as compact JSON.
pub(super) fn is_longer_json(value: &Value, limit: usize) -> bool {
    serde_json::to_writer(Count { bytes: 0, limit }, value).is_err()
}

/// The bytes of a value as compact JSON.
pub(super) fn length(value: &impl Serialize) -> usize {
    let mut count = Count { bytes: 0, limit: usize::MAX };
    let _ = serde_json::to_writer(&mut count, value);
    count.bytes
}

/// Levels that are described.
const LEVELS: usize = 3;
/// Most fields of an object that are named.
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

// `select`: fields of a result, by JSON Pointers. `*` in a pointer stands for every item of a list.

/// Most pointers of a call, and the longest one in bytes.
const MAX_POINTERS: usize = 50;
const MAX_POINTER: usize = 1000;
/// The step for every item of a list.
const EVERY: &str = "*";

/// Reads the field `select`: a list of pointers, or one alone.
pub(super) fn read_select(given: Option<Value>) -> Result<Vec<String>, ToolError> {
    let pointers = match given {
        None | Some(Value::Null) => return Ok(Vec::new()),
        Some(Value::String(only)) => vec![Value::String(only)],
        Some(Value::Array(pointers)) => pointers,
        Some(_) => return Err(misshapen_select("/select")),
    };
    if pointers.len() > MAX_POINTERS {
        let message =
            format!("`select` has {} pointers, and at most {MAX_POINTERS} are read", pointers.len());
        return Err(ToolError::invalid(message, "select the fields above them").field("/select", "too many"));
    }
    let pointer = |(index, pointer): (usize, Value)| match pointer {
        Value::String(pointer) if pointer.len() > MAX_POINTER => {
            let message = format!("`select` has a pointer of {} bytes", pointer.len());
            let problem = format!("longer than {MAX_POINTER} bytes");
            Err(ToolError::invalid(message, "select a field above it")
                .field(&format!("/select/{index}"), &problem))
        }
        Value::String(pointer) if pointer.starts_with('/') => Ok(pointer),
        _ => Err(misshapen_select(&format!("/select/{index}"))),
    };
    pointers.into_iter().enumerate().map(pointer).collect()
}

fn misshapen_select(at: &str) -> ToolError {
    let expected = "JSON Pointers such as \"/total\" and \"/items/*/id\"";
    ToolError::invalid(format!("`select` is a list of {expected}"), format!("send {expected}"))
        .with_field(FieldError::new(at, "this is no JSON Pointer").expecting("a text that begins with /"))
}

/// Refuses pointers to fields that the schema of a result does not know.
pub(super) fn check_select(pointers: &[String], schema: &Value) -> Result<(), ToolError> {
    let unknown = pointers.iter().enumerate().find_map(|(index, pointer)| {
        let problem = unknown_field(pointer, schema)?;
        Some((index, pointer, problem))
    });
    unknown.map_or(Ok(()), |(index, pointer, problem)| Err(refused_pointer(index, pointer, &problem)))
}

/// Refuses pointers to nothing in a result.
fn check_all_selected(missing: &[Missing]) -> Result<(), ToolError> {
    missing
        .first()
        .map_or(Ok(()), |missing| Err(refused_pointer(missing.index, &missing.pointer, &missing.nearest)))
}

fn refused_pointer(index: usize, pointer: &str, problem: &str) -> ToolError {
    let message = format!("the result has nothing at `{}`; {problem}", quoted(pointer));
    let next = "correct `select`, or leave it out for the whole result";
    ToolError::invalid(message, next).field(&format!("/select/{index}"), problem)
}

fn pointer_steps(pointer: &str) -> impl Iterator<Item = String> + '_ {
    pointer.split('/').skip(1).map(|step| pointer_unescape(step).into_owned())
}

/// The names near a step that a schema does not know; `None` where it knows them all, or leaves them open.
fn unknown_field(pointer: &str, schema: &Value) -> Option<String> {
    let root = schema;
    let mut at = schema;
    let mut path = String::new();
    for step in pointer_steps(pointer) {
        if let Some(target) = at.get("$ref").and_then(Value::as_str) {
            at = root.pointer(target.strip_prefix('#')?)?;
        }
        if at.get("type").is_some_and(|kind| kind == "array") {
            at = at.get("items").filter(|_| step == EVERY || step.parse::<usize>().is_ok())?;
        } else {
            let is_open = ["additionalProperties", "patternProperties", "anyOf", "oneOf", "allOf", "if"]
                .iter()
                .any(|word| at.get(*word).is_some_and(|rule| *rule != Value::Bool(false)));
            let known = at.get("properties").and_then(Value::as_object).filter(|_| !is_open)?;
            let Some(property) = known.get(&step) else { return Some(nearest_names(&path, &step, known)) };
            at = property;
        }
        path = format!("{path}/{step}");
    }
    None
}

/// The names that an object has at a pointer, nearest first.
fn nearest_names(path: &str, step: &str, known: &Map<String, Value>) -> String {
    let near = nearest(step, known.keys().map(String::as_str));
    let rest = known.keys().map(String::as_str).filter(|name| !near.contains(name));
    let names: Vec<String> = near.iter().copied().chain(rest).take(MAX_NAMES).map(quoted).collect();
    let place = if path.is_empty() { "it has".to_string() } else { format!("`{}` has", quoted(path)) };
    if names.is_empty() { format!("{place} no fields") } else { format!("{place} {}", names.join(", ")) }
}

/// A pointer to nothing in a result.
pub struct Missing {
    index: usize,
    pointer: String,
    nearest: String,
}

impl Missing {
    /// The warning about it.
    pub(super) fn warning(&self) -> String {
        format!("the result has nothing at `{}`; {}", quoted(&self.pointer), self.nearest)
    }
}

/// The selected fields of a result by their pointers, and the pointers to nothing.
pub(super) fn select_fields(result: &Value, pointers: &[String]) -> (Value, Vec<Missing>) {
    let mut fields = Map::new();
    let mut missing = Vec::new();
    for (index, pointer) in pointers.iter().enumerate() {
        let steps: Vec<String> = pointer_steps(pointer).collect();
        match selected_value(result, &steps, String::new()) {
            Ok(value) => {
                fields.insert(pointer.clone(), value);
            }
            Err(nearest) => missing.push(Missing { index, pointer: pointer.clone(), nearest }),
        }
    }
    (Value::Object(fields), missing)
}

fn selected_value(value: &Value, steps: &[String], path: String) -> Result<Value, String> {
    let Some((step, rest)) = steps.split_first() else { return Ok(value.clone()) };
    let below = format!("{path}/{step}");
    match value {
        // Items may lack what others have.
        Value::Array(items) if step == EVERY => {
            let found = items
                .iter()
                .filter_map(|item| selected_value(item, rest, below.clone()).ok())
                .collect::<Vec<_>>();
            if found.is_empty() && !items.is_empty() {
                let problem = items.first().map(|item| selected_value(item, rest, below));
                return Err(problem.and_then(Result::err).unwrap_or_default());
            }
            Ok(found.into())
        }
        Value::Array(items) => {
            let item = step.parse::<usize>().ok().and_then(|index| items.get(index));
            let count = items.len();
            let none =
                || format!("`{}` is a list of {count} items: `*` stands for every item", quoted(&path));
            selected_value(item.ok_or_else(none)?, rest, below)
        }
        Value::Object(fields) => match fields.get(step) {
            Some(field) => selected_value(field, rest, below),
            None => Err(nearest_names(&path, step, fields)),
        },
        _ => Err(format!("`{}` has no fields", quoted(&path))),
    }
}

// Pointers into whole answers, for the references of steps and batches.

/// The value at a pointer into an answer.
pub fn part_of(answer: &Map<String, Value>, pointer: &str) -> Option<Value> {
    let rest = pointer.strip_prefix('/')?;
    let (name, rest) = rest.find('/').map_or((rest, ""), |at| rest.split_at(at));
    answer.get(&*pointer_unescape(name))?.pointer(rest).cloned()
}

/// The part of a pointer that exists, with the keys there. The walk ends where the answer ends, however long the pointer is.
pub fn reached(answer: &Map<String, Value>, pointer: &str) -> String {
    let names = |fields: &Map<String, Value>| fields.keys().take(12).cloned().collect::<Vec<_>>().join(", ");
    let mut found = format!("; at `` there is {}", names(answer));
    let (mut at, mut path): (Option<&Value>, String) = (None, String::new());
    for step in pointer.split('/').skip(1) {
        let name = pointer_unescape(step);
        let next = match at {
            None => answer.get(&*name),
            Some(Value::Object(fields)) => fields.get(&*name),
            Some(Value::Array(items)) => name.parse::<usize>().ok().and_then(|index| items.get(index)),
            Some(_) => None,
        };
        let Some(next) = next else { break };
        (at, path) = (Some(next), format!("{path}/{step}"));
        match next {
            Value::Object(fields) => found = format!("; at `{path}` there is {}", names(fields)),
            Value::Array(items) => found = format!("; at `{path}` there are {} items", items.len()),
            _ => {}
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_pointer_of_any_length_is_explained_or_refused() {
        let answer = json!({"result": {"a/b": [{"id": 1}], "n": 2}, "ok": true});
        let answer = answer.as_object().unwrap();
        for (pointer, expected) in [
            ("/results/x", "; at `` there is result, ok"),
            ("/result/n/deep", "; at `/result` there is a/b, n"),
            ("/result/a~1b/7", "; at `/result/a~1b` there are 1 items"),
            (&"/x".repeat(500_000), "; at `` there is result, ok"),
        ] {
            assert_eq!(reached(answer, pointer), expected);
        }
        let long = format!("/{}", "x".repeat(MAX_POINTER));
        assert!(read_select(Some(json!([long]))).is_err());
        assert!(read_select(Some(json!(["/result"]))).is_ok());
    }
}
