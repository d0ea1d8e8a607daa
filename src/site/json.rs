//! JSON and other long texts on a page.

use serde_json::Value;

use crate::tool::clean_text;

/// Most bytes of JSON in one place of a page.
const MAX_JSON: usize = 64 << 10;

/// JSON to read and to copy.
pub(super) fn json_text(value: &Value) -> String {
    let compact = value.to_string();
    let text =
        if compact.len() <= 72 { compact } else { serde_json::to_string_pretty(value).unwrap_or_default() };
    cut(clean_text(&text).into(), MAX_JSON)
}

/// A text of bounded length.
pub(super) fn cut(mut text: String, most: usize) -> String {
    if text.len() > most {
        text.truncate(text.floor_char_boundary(most));
        text.push_str("\n… cut here; registry.json has all of it");
    }
    text
}
