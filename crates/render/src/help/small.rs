//! Small help on one op: what a search adds to a hit that is clearly ahead.

use serde_json::{Map, Value};

use super::short::short;
use toolcrib_catalog::Tool;
use toolcrib_definition::tokens::token_count;

/// Most tokens of small help.
const SMALL: usize = 160;
/// Tokens of help that are made; help on an op with many arguments is cut before its small size is known.
const MOST: usize = 1_000;
/// Fields of help, and of an argument in it, that a summary or a usage has.
const KNOWN: [&str; 8] = ["op", "summary", "usage", "effect", "call", "fill_in", "left_out", "more"];
const KNOWN_OF_ARGUMENT: [&str; 4] = ["type", "required", "enum", "fields"];

/// Short help that a search hit and its usage lack, with its estimated tokens; `None` if it is empty or too long.
pub fn small(tool: &Tool) -> Option<(Map<String, Value>, usize)> {
    let mut help = short(tool, MOST);
    help.retain(|field, _| !KNOWN.contains(&field.as_str()));
    if let Some(Value::Array(rows)) = help.get_mut("args") {
        let fields = |row: &mut Value| {
            let row = row.as_object_mut()?;
            row.retain(|field, _| !KNOWN_OF_ARGUMENT.contains(&field.as_str()));
            Some(row.len())
        };
        rows.retain_mut(|row| fields(row) > Some(1));
    }
    help.retain(|_, value| value.as_array().is_none_or(|list| !list.is_empty()));
    let tokens = token_count(&serde_json::to_string(&help).ok()?);
    (!help.is_empty() && tokens <= SMALL).then_some((help, tokens))
}
