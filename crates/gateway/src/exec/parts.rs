//! Reads on in a result that was cut: its next part, or a selected part of all of it.

use std::borrow::Cow;

use serde::Serialize;
use serde_json::Value;
use serde_with::skip_serializing_none;

use super::results::{Cut, MIN_PIECE, More, Position, Results, fitting, is_longer, text_of};
use super::select::{check_select, found_nothing, read_select, selected};
use crate::state::MAX_BYTES_OF_CALLER;
use crate::tool_error::{ErrorCode, Result, ToolError};

/// A part of a stored result.
#[skip_serializing_none]
#[derive(Clone, Debug, Serialize)]
pub struct ResultPart {
    #[serde(flatten)]
    pub piece: Piece,
    /// The cursor of the next part.
    pub next: Option<String>,
}

#[skip_serializing_none]
#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
pub enum Piece {
    /// Items of a list.
    Items { items: Vec<Value>, from: usize, of: usize },
    /// Bytes of a text, or of anything else as JSON.
    Text { part: String, from: usize, bytes: usize },
    /// A selected part; `more` says how it is cut.
    Fields { fields: Value, more: Option<More> },
}

impl ResultPart {
    /// The value of the part; `None` if its place within others would be lost.
    pub(crate) fn whole(&self) -> Option<Cow<'_, Value>> {
        match &self.piece {
            Piece::Items { items, .. } => Some(Cow::Owned(items.as_slice().into())),
            Piece::Text { part, .. } => Some(Cow::Owned(part.as_str().into())),
            Piece::Fields { fields, more } => more.is_none().then_some(Cow::Borrowed(fields)),
        }
    }
}

impl Results<'_> {
    /// The next part of a stored result, of at most `limit` bytes unless one item is longer; with `select`, a part of the whole
    /// result.
    pub async fn next_page(&self, cursor: &str, select: Option<Value>) -> Result<ResultPart> {
        let select = read_select(select)?;
        select.iter().try_for_each(|expression| check_select(expression, None))?;
        let (id, position, stored) = self.stored(cursor).await?;
        let result = stored.get("result").ok_or_else(no_cursor)?;
        if let Some(expression) = select {
            let part = selected(&expression, result)?;
            found_nothing(&part, result).map_or(Ok(()), Err)?;
            return self.selected_page(part).await;
        }
        let at = stored.get("at").and_then(Value::as_str).unwrap_or_default();
        let long = result.pointer(at).ok_or_else(no_cursor)?;
        let (piece, next) = part_at(long, position, self.limit).ok_or_else(no_cursor)?;
        Ok(ResultPart { piece, next: next.map(|next| next.cursor(id)) })
    }

    /// All of the stored result that a cursor goes on in.
    pub(crate) async fn whole(&self, cursor: &str) -> Result<Value> {
        let (.., mut stored) = self.stored(cursor).await?;
        stored.get_mut("result").map(Value::take).ok_or_else(no_cursor)
    }

    /// The id and position of a cursor, and the stored result with the pointer to its long part.
    async fn stored<'c>(&self, cursor: &'c str) -> Result<(&'c str, Position, Value)> {
        let (id, position) = position_of(cursor).ok_or_else(no_cursor)?;
        let kept = self.state.stored_result(self.caller, id).await.map_err(|error| {
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
        let stored: Value = serde_json::from_str(&kept).map_err(|_| no_cursor())?;
        Ok((id, position, stored))
    }

    /// All of a stored result from a position on, with its media type.
    pub async fn rest(&self, cursor: &str) -> Result<(String, &'static str)> {
        let (_, position, stored) = self.stored(cursor).await?;
        let at = stored.get("at").and_then(Value::as_str).unwrap_or_default();
        let long = stored.get("result").and_then(|result| result.pointer(at)).ok_or_else(no_cursor)?;
        let media_type = if long.is_string() { "text/plain" } else { "application/json" };
        let (piece, _) = part_at(long, position, usize::MAX).ok_or_else(no_cursor)?;
        Ok(match piece {
            Piece::Items { items, .. } => (Value::Array(items).to_string(), media_type),
            Piece::Text { part, .. } => (part, media_type),
            Piece::Fields { fields, .. } => (fields.to_string(), media_type),
        })
    }

    /// A selected part; of a long one the beginning, and `next` for the rest.
    async fn selected_page(&self, fields: Value) -> Result<ResultPart> {
        if !is_longer(&fields, self.limit) {
            return Ok(ResultPart { piece: Piece::Fields { fields, more: None }, next: None });
        }
        let Cut { page, more, cursor } = self.cut(fields).await;
        let next = cursor.transpose().map_err(|error| {
            let message = format!("the selected part is too long, and the rest cannot be stored ({error})");
            ToolError::new(ErrorCode::StateUnavailable, message, "select less, or try again")
        })?;
        Ok(ResultPart { piece: Piece::Fields { fields: page, more: Some(more) }, next })
    }
}

fn no_cursor() -> ToolError {
    let next = "send the `cursor` of `meta.more`, or the `next` of the last part, as it is";
    ToolError::new(ErrorCode::ValidationError, "this is no cursor of a result", next)
        .field("/cursor", "this is no cursor")
}

/// The id and the position of a cursor.
fn position_of(cursor: &str) -> Option<(&str, Position)> {
    let (id, place) = cursor.trim().split_once('.')?;
    let is_id = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let kind: fn(usize) -> Position = if place.starts_with('i') { Position::Item } else { Position::Byte };
    let digits = place.strip_prefix(['i', 'b']).filter(|rest| rest.bytes().all(|b| b.is_ascii_digit()))?;
    let is_ours = id.len() <= 64 && id.starts_with("re_") && id.chars().all(is_id);
    if is_ours { Some((id, kind(digits.parse().ok()?))) } else { None }
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
