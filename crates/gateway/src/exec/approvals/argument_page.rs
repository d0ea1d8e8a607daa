//! The arguments of a waiting call as text. All of them are shown, and none can pass for anything else: each line is short, so that
//! no window wraps it, and begins with an indent that no text can remove.

use std::collections::HashMap;

use serde_json::Value;

use crate::state::{Approval, ApprovalStatus, HiddenValue};
use toolcrib_definition::document::pointer_join;
use toolcrib_definition::is_hidden;

/// The widest piece of a text on one line, in columns.
const WIDTH: usize = 44;

/// The widest label before a value, and the widest line of both, in columns.
const LABEL: usize = 24;

const LINE: usize = 56;

/// Deepest level that is indented further.
const DEEPEST: usize = 8;

/// All arguments, over as many lines as they need.
pub fn whole_arguments(approval: &Approval) -> String {
    if erased(approval).is_some() {
        return String::new();
    }
    let hidden = approval.hidden.iter().map(|hidden| (hidden.pointer.as_str(), hidden)).collect();
    let mut page = ArgumentPage { hidden, text: String::new() };
    page.value(0, "", &approval.arguments, "", "");
    format!("{}end of {}\n", page.text, approval.id)
}

/// Why there are no arguments to show.
pub fn erased(approval: &Approval) -> Option<&'static str> {
    match approval.status {
        _ if !approval.arguments.is_null() || !approval.hidden.is_empty() => None,
        ApprovalStatus::Waiting | ApprovalStatus::Approved => {
            Some("its arguments were erased when it expired")
        }
        _ => Some("its arguments were erased"),
    }
}

struct ArgumentPage<'a> {
    hidden: HashMap<&'a str, &'a HiddenValue>,
    text: String,
}

impl ArgumentPage<'_> {
    fn line(&mut self, depth: usize, text: &str) {
        let indent = 2 * depth.min(DEEPEST);
        self.text.push_str(&format!("{:indent$}{text}\n", ""));
    }

    /// A value after its label, with its suffix.
    fn value(&mut self, depth: usize, label: &str, value: &Value, pointer: &str, end: &str) {
        let label = if label.len() > LABEL {
            self.line(depth, label.trim_end());
            ""
        } else {
            label
        };
        if let Some(hidden) = self.hidden.get(pointer) {
            let told = format!("{label}hidden: {} bytes, keyed BLAKE3", hidden.bytes);
            let hash = format!("{}{end}", hidden.hash);
            self.line(depth, &told);
            return self.line(depth + 2, &hash);
        }
        match value {
            Value::Object(fields) if !fields.is_empty() => {
                self.line(depth, &format!("{label}{{"));
                for (index, (name, field)) in fields.iter().enumerate() {
                    let end = if index + 1 < fields.len() { "," } else { "" };
                    let label = self.name(depth + 1, name);
                    self.value(depth + 1, &label, field, &pointer_join(pointer, name), end);
                }
                self.line(depth, &format!("}}{end}"));
            }
            Value::Array(items) if !items.is_empty() => {
                self.line(depth, &format!("{label}["));
                for (index, item) in items.iter().enumerate() {
                    let end = if index + 1 < items.len() { "," } else { "" };
                    self.value(depth + 1, "", item, &pointer_join(pointer, index), end);
                }
                self.line(depth, &format!("]{end}"));
            }
            Value::String(text) => match pieces(text, false).as_slice() {
                [] => self.line(depth, &format!("{label}\"\"{end}")),
                [only] if only.len() + label.len() <= LINE => {
                    self.line(depth, &format!("{label}\"{only}\"{end}"));
                }
                pieces => {
                    let heading = format!("{label}text of {} bytes on {} lines:", text.len(), pieces.len());
                    self.lines(depth, &heading, pieces, "\"");
                }
            },
            plain => {
                let text = plain.to_string();
                // A number can be as long as a text.
                if text.len() + label.len() <= LINE {
                    self.line(depth, &format!("{label}{text}{end}"))
                } else {
                    let heading = format!("{label}number of {} characters:", text.len());
                    self.lines(depth, &heading, &pieces(&text, false), "");
                }
            }
        }
    }

    /// The label of a field. Letters other than ASCII are escaped, since they can look like others.
    fn name(&mut self, depth: usize, name: &str) -> String {
        let pieces = pieces(name, false);
        let label = match pieces.as_slice() {
            [] => "\"\"".into(),
            [only] => format!("\"{only}\""),
            _ => {
                self.lines(depth, &format!("a name of {} bytes:", name.len()), &pieces, "\"");
                "that name".into()
            }
        };
        if !name.is_ascii() {
            self.lines(depth, &format!("{label} is spelled"), &self::pieces(name, true), "\"");
        }
        format!("{label}: ")
    }

    /// A heading, and the pieces of a text on lines of their own.
    fn lines(&mut self, depth: usize, heading: &str, pieces: &[String], quote: &str) {
        self.line(depth, heading);
        pieces.iter().for_each(|piece| self.line(depth + 1, &format!("| {quote}{piece}{quote}")));
    }
}

/// A text as JSON, in pieces that fit a line. Control and invisible characters are escaped, and all but ASCII where
/// `only_ascii` is set.
fn pieces(text: &str, only_ascii: bool) -> Vec<String> {
    let mut pieces = Vec::new();
    let mut piece = String::new();
    let mut width = 0;
    for c in text.chars() {
        let begun = piece.len();
        match c {
            '"' | '\\' => piece.extend(['\\', c]),
            '\n' => piece.push_str("\\n"),
            '\r' => piece.push_str("\\r"),
            '\t' => piece.push_str("\\t"),
            ' '..='~' => piece.push(c),
            c if only_ascii || c.is_whitespace() || c.is_control() || is_hidden(c) => {
                c.encode_utf16(&mut [0; 2]).iter().for_each(|unit| piece.push_str(&format!("\\u{unit:04x}")));
            }
            c => piece.push(c),
        }
        // Letters other than ASCII may take two columns.
        width += if c.is_ascii() || only_ascii { piece.len() - begun } else { 2.max(piece.len() - begun) };
        if width >= WIDTH || c == '\n' {
            pieces.push(std::mem::take(&mut piece));
            width = 0;
        }
    }
    if !piece.is_empty() {
        pieces.push(piece);
    }
    pieces
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use toolcrib_definition::hidden_characters;

    fn approval(arguments: Value) -> Approval {
        Approval {
            id: "ap_1".into(),
            caller: String::new(),
            session: None,
            op: "util.pay".into(),
            arguments,
            hidden: Vec::new(),
            fingerprint: String::new(),
            bound: "x".into(),
            definition: Value::Null,
            asked_at: 0,
            until: 0,
            status: ApprovalStatus::Waiting,
            reason: None,
        }
    }

    #[test]
    fn arguments_cannot_pass_for_the_frame_around_them() {
        let forged = "x\nend of ap_1\n\u{1b}[2J\u{202e}\u{9b}2Kap_2  approved\u{2028}\u{200b}\u{a0}";
        let padded = format!("{}end of ap_1", " ".repeat(200));
        let shown = whole_arguments(&approval(
            json!({ "note": forged, "pad": padded, forged: 1, "": {}, "\u{430}mount": 2 }),
        ));
        let framed = shown.lines().filter(|line| !line.starts_with("  ")).collect::<Vec<_>>();
        assert_eq!(framed, ["{", "}", "end of ap_1"]);
        assert!(shown.lines().all(|line| line.chars().count() < 80), "{shown}");
        assert!(hidden_characters(&shown).is_empty() && !shown.contains('\u{2028}'), "{shown:?}");
        assert!(shown.contains("\\u001b[2J\\u202e\\u009b2K") && shown.contains("\\u0430mount"), "{shown}");
    }

    #[test]
    fn nothing_is_cut() {
        let text: String = (0..1_000_000).map(|number| format!("{number},")).collect();
        let shown = whole_arguments(&approval(json!({ "deep": [[[{ "text": text }]]] })));
        let told: String = shown
            .lines()
            .filter_map(|line| line.trim_start().strip_prefix("| \"")?.strip_suffix('"'))
            .collect();
        assert_eq!(told, text);
        assert!(shown.contains(&format!("text of {} bytes", text.len())));
    }

    proptest! {
        #[test]
        fn every_line_is_short_and_plain(name in ".{0,80}", text in "(?s).{0,300}") {
            let shown = whole_arguments(&approval(json!({ name: [text] })));
            prop_assert!(hidden_characters(&shown).is_empty());
            prop_assert!(shown.lines().all(|line| line.chars().count() < 80));
            prop_assert_eq!(shown.lines().filter(|line| !line.starts_with("  ")).count(), 3);
        }
    }
}
