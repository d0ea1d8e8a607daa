//! Long arrays: the same value as the usual parser's, and the same mistakes.

use serde_json::{Value, json};

use super::super::{Document, Format, Limits};
use super::*;

/// A text that is a long array of tools, with an element of one's own in the middle.
fn long(around: (&str, &str), own: &str) -> String {
    let tool = json!({ "name": "look_up", "description": "Looks \"up\" [a] {thing}, \\ and é.\n".repeat(20), "n": [1, 2.5, null, true] });
    let tools = vec![tool.to_string(); LONG / 500];
    let (first, last) = tools.split_at(tools.len() / 2);
    format!("{}{}, {own},\n {}{}", around.0, first.join(",\n"), last.join(" , "), around.1)
}

const ROOT: (&str, &str) = (" [ ", "\n]\n");
const MEMBER: (&str, &str) = ("{\"a\": [1, \"]\"], \"tools\" : [", "], \"b\": {\"c\": [[]]}}");

#[test]
fn a_long_array_has_the_value_that_it_has() {
    for around in [ROOT, MEMBER] {
        for own in ["[]", "{}", "[[\"]\", {\"}\": \"\\\"\"}]]", "-1e3", "\"\\u005d\\\\\""] {
            let text = long(around, own);
            let expect: Value = serde_json::from_str(&text).unwrap();
            assert_eq!(parse(&text, 128), Some(expect), "{around:?} {own}");
        }
    }
}

#[test]
fn mistakes_in_a_long_array_are_told_as_in_a_short_one() {
    let deep = format!("{}{}", "[".repeat(200), "]".repeat(200));
    let messages = [
        ("1 2", "expected `,` or `]`"),
        ("1,", "a value is due here"),
        ("{\"a\": 1, \"a\": 2}", "the key \"a\" is there twice"),
        ("{\"a\" 1}", "expected `:`"),
        (deep.as_str(), "128 levels or more"),
        ("tru", "a value is due here"),
    ];
    for around in [ROOT, MEMBER] {
        for (own, expect) in messages {
            let text = long(around, own);
            assert_eq!(parse(&text, 128), None, "{own}");
            let finding = Document::parse("f", text.into(), Format::Json, &Limits::default()).unwrap_err();
            assert!(finding.message.contains(expect), "{own}: {}", finding.message);
        }
        let trailing = format!("{} x", long(around, "1"));
        assert_eq!(parse(&trailing, 128), None);
        let twice = long(("{\"tools\": 1, \"tools\": [", "]}"), "1");
        assert_eq!(parse(&twice, 128), None);
    }
}
