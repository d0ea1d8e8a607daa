//! An object within JSON with comments, and the places of its members in the text: an edit leaves every other byte alone.

use indexmap::IndexMap;
use serde_json::value::RawValue;

use toolcrib_definition::document::{pointer_unescape, without_comments};

/// An object: from its `{` to its `}`.
#[derive(Debug)]
pub(super) struct JsonMap {
    pub(super) open: usize,
    /// The place of the `}`.
    pub(super) close: usize,
    pub(super) members: Vec<Member>,
}

/// A member: from the quote before its name to the end of its value.
#[derive(Debug)]
pub(super) struct Member {
    pub(super) name: String,
    pub(super) begin: usize,
    pub(super) end: usize,
    /// The place of the comma between it and the next one.
    pub(super) comma: Option<usize>,
}

impl JsonMap {
    /// The object at a pointer; `None` where the text has none.
    pub(super) fn at(text: &str, pointer: &str) -> Option<Self> {
        let blank = without_comments(text);
        let mut raw: &RawValue = serde_json::from_str(&blank).ok()?;
        for token in pointer.split('/').skip(1) {
            raw = members_of(raw)?.get(&*pointer_unescape(token)).copied()?;
        }
        let members = members_of(raw)?;
        let place = |part: &str| part.as_ptr() as usize - blank.as_ptr() as usize;
        let open = place(raw.get());
        let mut after = open + 1;
        let members = members.into_iter().map(|(name, value)| {
            let begin = after + blank[after..].find('"').unwrap_or_default();
            let end = place(value.get()) + value.get().len();
            let comma = end + blank[end..].len() - blank[end..].trim_start().len();
            let comma = blank[comma..].starts_with(',').then_some(comma);
            after = comma.map_or(end, |comma| comma + 1);
            Member { name, begin, end, comma }
        });
        Some(Self { open, members: members.collect(), close: open + raw.get().len() - 1 })
    }

    /// The text with `new` members in the place of those that go, on lines like theirs, or after the others where none goes.
    /// Each member that stays keeps what stands before it.
    pub(super) fn replaced(&self, text: &str, goes: impl Fn(&str) -> bool, new: &[String]) -> String {
        let on_lines = |before: &str| new.iter().map(|new| format!("{}{new}", indent_of(before))).collect();
        let mut parts: Vec<String> = Vec::new();
        let mut waiting = true;
        let mut after = self.open + 1;
        for member in &self.members {
            if !goes(&member.name) {
                parts.push(text[after..member.comma.unwrap_or(member.end)].to_string());
            } else if std::mem::take(&mut waiting) {
                parts.extend::<Vec<_>>(on_lines(&text[after..member.begin]));
            }
            after = member.comma.map_or(member.end, |comma| comma + 1);
        }
        let tail = &text[after..self.close];
        if waiting && !new.is_empty() {
            let Some(last) = self.members.last() else {
                let (before, after) = text.split_at(self.open + 1);
                return format!("{before}{}{after}", new.join(", "));
            };
            let new: Vec<String> = on_lines(&text[..last.begin]);
            return format!("{},{}{}", &text[..last.end], new.join(","), &text[last.end..]);
        }
        let tail = if parts.is_empty() { tail.trim_start_matches(',') } else { tail };
        format!("{}{}{tail}{}", &text[..=self.open], parts.join(","), &text[self.close..])
    }
}

/// The last line break and the blanks after it; empty without a line break.
pub(super) fn indent_of(before: &str) -> &str {
    let Some(line) = before.rfind('\n') else { return "" };
    let begin = if before[..line].ends_with('\r') { line - 1 } else { line };
    let blanks = before[line + 1..].len() - before[line + 1..].trim_start_matches([' ', '\t']).len();
    &before[begin..line + 1 + blanks]
}

/// The members of an object, in order, as they stand in the text.
fn members_of(object: &RawValue) -> Option<IndexMap<String, &RawValue>> {
    serde_json::from_str(object.get()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "{ // é\n  \"x\": 1,\n  \"mcp\": {\n    // first\n    \"a\": {\"n\": \"}\"}, // of a\n    /* b */ \"b\": [1],\n    \"c\": 2,\n  },\n}\n";

    fn replaced(goes: &[&str], new: &str) -> String {
        let new: Vec<String> = new.split_whitespace().map(str::to_string).collect();
        JsonMap::at(TEXT, "/mcp").unwrap().replaced(TEXT, |name| goes.contains(&name), &new)
    }

    #[test]
    fn an_edit_leaves_every_other_byte_alone() {
        assert_eq!(replaced(&[], ""), TEXT);
        let b = " // of a\n    /* b */ \"b\": [1]";
        assert_eq!(replaced(&["b"], "\"d\":3"), TEXT.replace(b, "\n    \"d\":3"));
        let all = ["a", "b", "c"];
        assert_eq!(replaced(&all, "\"d\":3"), "{ // é\n  \"x\": 1,\n  \"mcp\": {\n    \"d\":3,\n  },\n}\n");
        assert_eq!(replaced(&all, ""), "{ // é\n  \"x\": 1,\n  \"mcp\": {\n  },\n}\n");
        assert_eq!(replaced(&[], "\"d\":3"), TEXT.replace("\"c\": 2", "\"c\": 2,\n    \"d\":3"));
    }

    #[test]
    fn a_text_without_the_object_has_no_map() {
        for text in ["", "{", "[]", "{\"mcp\": 1}", "{\"mcp\": {\"a\": }}"] {
            assert!(JsonMap::at(text, "/mcp").is_none(), "{text}");
        }
    }
}
