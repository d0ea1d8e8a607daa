//! Paging of results that are too long for a context: the first part is returned, all of it is stored, and a cursor gives
//! the rest.

use serde_json::{Map, Value};

use super::result_cursor::Position;
use super::{result_page, result_shape};
use crate::exec::call::{Call, RunNotes};
use crate::exec::select;
use crate::refusal::{ErrorCode, Refusal};
use crate::state::{StateStore, StoredResult, now, random_id};

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
    if !result_page::is_longer(&result, limit) {
        return result;
    }
    let (shape, text) = (result_shape::of(&result), result.to_string());
    let result_page::FirstPage { page, mut more, next } = result_page::first_page(result, limit);
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
    let page = result_page::next_page(&result, &position, limit).ok_or_else(no_cursor)?;
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
    if !result_page::is_longer(&selected, limit) {
        fields.insert("fields".into(), selected);
        return Ok(Part { fields });
    }
    let text = selected.to_string();
    let result_page::FirstPage { page, more, next } = result_page::first_page(selected, limit);
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
