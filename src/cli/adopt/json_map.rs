//! An object within JSON with comments, and the places of its members in the text: an edit leaves every other byte alone.

use std::fmt;

use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
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
            let name = pointer_unescape(token);
            let Members(members) = serde_json::from_str(raw.get()).ok()?;
            raw = members.into_iter().rev().find(|(known, _)| *known == name)?.1;
        }
        let Members(members) = serde_json::from_str(raw.get()).ok()?;
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

    /// The text with other members: each kept one with what stands before it, each new one on lines like those of the others.
    /// `change` gives for each member its new texts, none to remove it, or `None` to keep it.
    pub(super) fn edited(&self, text: &str, change: impl Fn(&Member) -> Option<Vec<String>>) -> String {
        let mut parts: Vec<String> = Vec::new();
        let mut after = self.open + 1;
        for member in &self.members {
            let before = &text[after..member.begin];
            match change(member) {
                None => parts.push(text[after..member.comma.unwrap_or(member.end)].to_string()),
                Some(new) => {
                    let indent = indent_of(before);
                    parts.extend(new.iter().map(|new| format!("{indent}{new}")));
                }
            }
            after = member.comma.map_or(member.end, |comma| comma + 1);
        }
        let tail = &text[after..self.close];
        let tail = if parts.is_empty() { tail.trim_start_matches(',') } else { tail };
        format!("{}{}{tail}{}", &text[..=self.open], parts.join(","), &text[self.close..])
    }

    /// The text with these members after the others.
    pub(super) fn with_more(&self, text: &str, new: &[String]) -> String {
        let Some(last) = self.members.last() else {
            let (before, after) = text.split_at(self.open + 1);
            return format!("{before}{}{after}", new.join(", "));
        };
        let indent = self.indent(text, last);
        let new: String = new.iter().map(|new| format!(",{indent}{new}")).collect();
        format!("{}{new}{}", &text[..last.end], &text[last.end..])
    }

    /// The whitespace before a member on a line of its own.
    pub(super) fn indent<'t>(&self, text: &'t str, member: &Member) -> &'t str {
        indent_of(&text[..member.begin])
    }
}

/// The last line break and the blanks after it; empty without a line break.
fn indent_of(before: &str) -> &str {
    let Some(line) = before.rfind('\n') else { return "" };
    let begin = if before[..line].ends_with('\r') { line - 1 } else { line };
    let blanks = before[line + 1..].len() - before[line + 1..].trim_start_matches([' ', '\t']).len();
    &before[begin..line + 1 + blanks]
}

/// The members of an object, in order, as they stand in the text.
struct Members<'t>(Vec<(String, &'t RawValue)>);

impl<'de: 't, 't> Deserialize<'de> for Members<'t> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Read;
        impl<'de> Visitor<'de> for Read {
            type Value = Vec<(String, &'de RawValue)>;

            fn expecting(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
                to.write_str("an object")
            }

            fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Self::Value, M::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(members)
            }
        }
        from.deserialize_map(Read).map(Members)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "{ // é\n  \"x\": 1,\n  \"mcp\": {\n    // first\n    \"a\": {\"n\": \"}\"}, // of a\n    /* b */ \"b\": [1],\n    \"c\": 2,\n  },\n}\n";

    fn edited(change: impl Fn(&str) -> Option<Vec<String>>) -> String {
        JsonMap::at(TEXT, "/mcp").unwrap().edited(TEXT, |member| change(&member.name))
    }

    #[test]
    fn an_edit_leaves_every_other_byte_alone() {
        assert_eq!(edited(|_| None), TEXT);
        let replaced = edited(|name| (name == "b").then(|| vec!["\"d\": 3".into()]));
        assert_eq!(replaced, TEXT.replace(" // of a\n    /* b */ \"b\": [1]", "\n    \"d\": 3"));
        let first = edited(|name| Some(if name == "a" { vec!["\"d\": 3".into()] } else { Vec::new() }));
        assert_eq!(first, "{ // é\n  \"x\": 1,\n  \"mcp\": {\n    \"d\": 3,\n  },\n}\n");
        assert_eq!(edited(|_| Some(Vec::new())), "{ // é\n  \"x\": 1,\n  \"mcp\": {\n  },\n}\n");
    }

    #[test]
    fn a_text_without_the_object_has_no_map() {
        for text in ["", "{", "[]", "{\"mcp\": 1}", "{\"mcp\": {\"a\": }}"] {
            assert!(JsonMap::at(text, "/mcp").is_none(), "{text}");
        }
    }
}
