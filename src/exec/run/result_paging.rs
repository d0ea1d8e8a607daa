//! Paging of results that are too long for a context: they are cut and stored, and a cursor gives the rest.

use std::io;

use serde_json::{Map, Value, json};

use crate::exec::call::{Call, RunNotes};
use crate::refusal::{ErrorCode, Refusal};
use crate::state::{StateStore, StoredResult, now, random_id};

/// Milliseconds that the rest of a result is stored: after an hour, no agent reads on.
const RESULT_TTL_MS: i64 = 3_600_000;

/// Bytes of the id of a stored result. It is in the cursor beside each part, and is its caller's alone.
const ID_BYTES: usize = 11;

/// A part of a stored result.
#[derive(Clone, Debug, PartialEq)]
pub struct Part {
    /// `items` or `part`, its position, and `next` if there is more.
    pub fields: Map<String, Value>,
}

/// The unit in which a result is paged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PageUnit {
    /// Items of a list.
    Items,
    /// Bytes of a text.
    Bytes,
    /// Bytes of one long item of a list, from this byte of its JSON on.
    Item(usize),
}

/// The result; of a long one its beginning, and `meta.more` has the cursor of the rest.
pub(super) async fn first_page(call: &Call, result: Value, notes: &mut RunNotes) -> Value {
    let limit = call.config().exec.result_bytes.max(1);
    if !is_longer(&result, limit) {
        return result;
    }
    let mut id = random_id("re");
    id.truncate(ID_BYTES);
    let (kept, cursor, page, mut more) = match split_first_page(result, limit) {
        FirstPage::Items { text, list_at, page, count, items } => {
            let more = json!({ "at": list_at, "shown": items, "of": count, "bytes": text.len() });
            (text, encode_cursor(&id, PageUnit::Items, items), page, more)
        }
        FirstPage::Text { text, part, is_plain } => {
            let more = json!({ "shown_bytes": part.len(), "bytes": text.len() });
            let cursor = encode_cursor(&id, PageUnit::Bytes, part.len());
            let page = if is_plain { Value::from(part) } else { json!({ "part": part }) };
            (text, cursor, page, more)
        }
    };
    let kept = StoredResult {
        id,
        caller: call.context.caller().name.to_string(),
        text: kept,
        until: now() + RESULT_TTL_MS,
    };
    match call.state().store_result(&kept).await {
        Ok(()) => {
            notes.warnings.push(format!(
                "the result is longer than {limit} bytes and cut; read on with read_result {{\"cursor\": \"{cursor}\"}}"
            ));
            more["cursor"] = cursor.into();
        }
        Err(error) => {
            let warning =
                format!("the result is cut after {limit} bytes, and the rest could not be stored ({error})");
            notes.warnings.push(warning);
        }
    }
    notes.continuation = Some(more);
    page
}

/// The beginning of a result, and the text that is stored for later parts.
enum FirstPage {
    Items { text: String, list_at: String, page: Value, count: usize, items: usize },
    Text { text: String, part: String, is_plain: bool },
}

/// Splits a result after whole items of its long list; without such a list, within its text.
fn split_first_page(result: Value, limit: usize) -> FirstPage {
    let longest = match &result {
        Value::Array(_) => Some(String::new()),
        Value::Object(fields) => {
            let lists =
                fields.iter().filter(|(_, value)| value.as_array().is_some_and(|list| list.len() > 1));
            let longest = lists.map(|(name, list)| (length(list), name)).max_by_key(|(bytes, _)| *bytes);
            // Only a list that is most of the result is worth cutting.
            longest.filter(|(bytes, _)| bytes * 2 > length(&result)).map(|(_, name)| name.clone())
        }
        _ => None,
    };
    let name = match longest {
        Some(name) => name,
        None => return text(result, limit),
    };
    let mut page = result;
    let place = if page.is_array() { Some(&mut page) } else { page.get_mut(&name) };
    let Some(Value::Array(list)) = place else { return text(page, limit) };
    let all = std::mem::take(list);
    let room = limit.saturating_sub(length(&page));
    let items = fitting(&all, 0, room);
    let place = if page.is_array() { Some(&mut page) } else { page.get_mut(&name) };
    let Some(place) = place else { return text(Value::Array(all), limit) };
    if items == 0 {
        *place = Value::Array(all);
        return text(page, limit);
    }
    *place = all.iter().take(items).cloned().collect();
    let list_at = if page.is_array() { String::new() } else { crate::finding::pointer_join("", &name) };
    let count = all.len();
    FirstPage::Items { text: Value::Array(all).to_string(), list_at, page, count, items }
}

fn text(result: Value, limit: usize) -> FirstPage {
    let (text, is_plain) = match result {
        Value::String(text) => (text, true),
        other => (other.to_string(), false),
    };
    let part = text[..floor(&text, limit)].to_string();
    FirstPage::Text { text, part, is_plain }
}

/// The number of items after `from` that fit into `room` bytes.
fn fitting(items: &[Value], from: usize, room: usize) -> usize {
    let mut left = room;
    let fits = |item: &&Value| {
        let bytes = length(item) + 1;
        let fits = bytes <= left;
        left = left.saturating_sub(bytes);
        fits
    };
    items.get(from..).unwrap_or_default().iter().take_while(fits).count()
}

/// The last character boundary at or before this byte.
fn floor(text: &str, at: usize) -> usize {
    let at = at.min(text.len());
    (0..=at).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0)
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

/// A cursor: id of the result, unit, and position.
fn encode_cursor(id: &str, unit: PageUnit, at: usize) -> String {
    match unit {
        PageUnit::Items => format!("{id}.i{at}"),
        PageUnit::Bytes => format!("{id}.b{at}"),
        PageUnit::Item(byte) => format!("{id}.i{at}b{byte}"),
    }
}

fn decode_cursor(cursor: &str) -> Option<(&str, PageUnit, usize)> {
    let (id, place) = cursor.trim().split_once('.')?;
    let is_id =
        id.len() <= 64 && id.starts_with("re_") && id.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    let (unit, at) = match (place.chars().next()?, place.get(1..)?.split_once('b')) {
        ('i', None) => (PageUnit::Items, &place[1..]),
        ('i', Some((at, byte))) => (PageUnit::Item(byte.parse().ok()?), at),
        ('b', None) => (PageUnit::Bytes, &place[1..]),
        _ => return None,
    };
    let at = at.parse().ok()?;
    is_id.then_some((id, unit, at))
}

/// A part of an item that is too long by itself, from a byte of its JSON on.
fn piece(id: &str, item: &Value, (index, of): (usize, usize), from: usize, limit: usize) -> Part {
    let text = item.to_string();
    let end = floor(&text, from.saturating_add(limit.max(4)));
    let mut fields = Map::new();
    fields.insert("item".into(), index.into());
    fields.insert("of".into(), of.into());
    fields.insert("part".into(), text[from..end].into());
    fields.insert("from".into(), from.into());
    fields.insert("bytes".into(), text.len().into());
    let next = match end < text.len() {
        true => Some(encode_cursor(id, PageUnit::Item(end), index)),
        false => (index + 1 < of).then(|| encode_cursor(id, PageUnit::Items, index + 1)),
    };
    if let Some(next) = next {
        fields.insert("next".into(), next.into());
    }
    Part { fields }
}

/// The next part of a stored result, at most `limit` bytes.
pub async fn next_page(
    state: &dyn StateStore,
    caller: &str,
    cursor: &str,
    limit: usize,
) -> Result<Part, Refusal> {
    let no_cursor = || {
        let next = "send the `cursor` of `meta.more`, or the `next` of the last part, as it is";
        Refusal::new(ErrorCode::ValidationError, "this is no cursor of a result", next)
            .field("/cursor", "this is no cursor")
    };
    let (id, unit, at) = decode_cursor(cursor).ok_or_else(no_cursor)?;
    let kept = state.stored_result(caller, id).await.map_err(|error| {
        let message = format!("the rest of the result cannot be read now ({error})");
        Refusal::new(ErrorCode::StateUnavailable, message, "try again, or send the call again")
    })?;
    let Some(kept) = kept else {
        let next = "send the call again; narrow it so that its result is shorter, if it can be";
        let message = "the rest of this result is no longer stored";
        return Err(Refusal::new(ErrorCode::CursorExpired, message, next));
    };
    let mut fields = Map::new();
    let next = match unit {
        PageUnit::Bytes => {
            if at > kept.text.len() || !kept.text.is_char_boundary(at) {
                return Err(no_cursor());
            }
            let end = floor(&kept.text, at.saturating_add(limit.max(4)));
            fields.insert("part".into(), kept.text[at..end].into());
            fields.insert("from".into(), at.into());
            fields.insert("bytes".into(), kept.text.len().into());
            (end < kept.text.len()).then_some(end)
        }
        PageUnit::Item(byte) => {
            let Ok(Value::Array(items)) = serde_json::from_str(&kept.text) else { return Err(no_cursor()) };
            let item = items.get(at).filter(|item| item.to_string().is_char_boundary(byte));
            let item = item.ok_or_else(no_cursor)?;
            return Ok(piece(id, item, (at, items.len()), byte, limit));
        }
        PageUnit::Items => {
            let Ok(Value::Array(items)) = serde_json::from_str(&kept.text) else { return Err(no_cursor()) };
            if at > items.len() {
                return Err(no_cursor());
            }
            let end = at + fitting(&items, at, limit);
            if end == at
                && let Some(item) = items.get(at)
            {
                return Ok(piece(id, item, (at, items.len()), 0, limit));
            }
            fields.insert("items".into(), items[at..end].into());
            fields.insert("from".into(), at.into());
            fields.insert("of".into(), items.len().into());
            (end < items.len()).then_some(end)
        }
    };
    if let Some(next) = next {
        fields.insert("next".into(), encode_cursor(id, unit, next).into());
    }
    Ok(Part { fields })
}
