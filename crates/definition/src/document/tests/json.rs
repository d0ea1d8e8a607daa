//! JSON: messages, and spans that agree with the values.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::super::{
    Document, Format, MAX_OTHERS_VALUES, from_json, from_others, has_too_many_values, pointer_join,
};

fn document(text: &str) -> Document {
    Document::parse("f", text.into(), Format::Json).unwrap()
}

#[track_caller]
fn fails(text: &str, expect: &str) {
    let finding = Document::parse("f", text.into(), Format::Json).unwrap_err();
    let place = finding.place.unwrap();
    let help = finding.help.map_or(String::new(), |help| format!(" ({help})"));
    let message = finding.message.replace("not valid JSON: ", "");
    assert_eq!(format!("{}:{} {message}{help}", place.line.unwrap(), place.column.unwrap()), expect);
}

#[test]
fn mistakes_are_named_where_they_are() {
    fails("", "1:1 the file is empty");
    fails(" \n", "1:1 the file is empty");
    fails("[1,\n 2,]", "2:4 a comma before a closing bracket (remove the comma)");
    fails("{\n\"a\": 1\n\"é\": 2}", "3:1 expected `,` or `}`");
    fails(
        "{\"é\": x}",
        "1:7 a value is due here (values are objects, arrays, \"text\", numbers, true, false and null)",
    );
    fails("{} {}", "1:4 more text after the end of the value (put several values into an array)");
    fails("[1", "1:2 the file ends inside an array (close it with `]`)");
    fails(
        "{\"a\": \"b\nc\"}",
        "1:9 a control character in a string (write a line break as `\\n` and a tab as `\\t`)",
    );
    fails("{a: 1}", "1:2 a key in double quotes is due here");
    fails("[1e999]", "1:6 a number that is too large (put it in quotes)");
}

#[test]
fn values_of_others_are_counted_before_they_are_read_and_words_are_none() {
    let check = |item: &str, count: usize, expect: bool| {
        let text = format!("[{}]", vec![item; count].join(","));
        assert_eq!(has_too_many_values(text.as_bytes()), expect, "{item}");
        assert_eq!(from_others::<Value>(text.as_bytes()).is_err(), expect, "{item}");
        assert_eq!(from_json(&text).is_err(), expect, "{item}");
    };
    check("0", MAX_OTHERS_VALUES - 2, false);
    check("0", MAX_OTHERS_VALUES + 1, true);
    check("[]", MAX_OTHERS_VALUES / 3 - 1, false);
    check("[]", MAX_OTHERS_VALUES / 3 + 1, true);
    check(r#"{"a":0}"#, MAX_OTHERS_VALUES / 3 - 1, false);
    check(r#"{"a":0}"#, MAX_OTHERS_VALUES / 3 + 1, true);
    check(r#""\\\",,,,,,,,{[""#, MAX_OTHERS_VALUES / 2, false);
}

#[track_caller]
fn slices(text: &str, pointers: &[&str], expect: &[Option<&str>]) {
    let pointers: Vec<String> = pointers.iter().map(ToString::to_string).collect();
    assert_eq!(document(text).slices(&pointers), expect);
}

#[test]
fn slices_are_the_very_bytes_of_the_values() {
    let text = r#" {"a": {"b" : [1.0, "x\"]", { "c":1e2 } ] }, "a/b~": 1.50, "\u0061\n": null} "#;
    slices(
        text,
        &["/a/b/0", "/a/b/1", "/a/b/2", "/a~1b~0", "/a\n", "/a/b/00", "/a/b/3", "nope", "/a/b/2"],
        &[
            Some("1.0"),
            Some(r#""x\"]""#),
            Some(r#"{ "c":1e2 }"#),
            Some("1.50"),
            Some("null"),
            None,
            None,
            None,
            Some(r#"{ "c":1e2 }"#),
        ],
    );
    slices(text, &[""], &[Some(text.trim())]);
}

#[test]
fn a_key_that_is_there_twice_is_named_where_it_is() {
    let twice = |text: &str, place: &str, key: &str| {
        fails(text, &format!("{place} the key {key} is there twice (remove one of the two)"));
    };
    twice(r#"{"a": {"b": 1}, "a": {"c": 2}}"#, "1:17", "\"a\"");
    twice("[{\"é\": [1],\n  \"x\": 1, \"é\"\n: 3}]", "2:11", "\"é\"");
    twice("{\"\\u0061\u{9b}\": 1, \"a\u{9b}\": 2}", "1:16", "\"a\\u{9b}\"");
    let many: String = (0..40).map(|index| format!("\"k{index}\": {index}, ")).collect();
    twice(&format!("{{{many}\"k3\": 1}}"), "1:422", "\"k3\"");
    let same_everywhere = r#"{"a": {"a": [{"a": 1}, {"a": 2}]}}"#;
    assert_eq!(document(same_everywhere).text.as_ref(), same_everywhere);
}

#[test]
fn the_parsers_own_names_are_keys_like_others() {
    let text = r#"{"$serde_json::private::RawValue": "{\"x\": 1}"}"#;
    assert_eq!(document(text).value, json!({"$serde_json::private::RawValue": "{\"x\": 1}"}));
}

pub(in super::super) fn any_json() -> impl Strategy<Value = Value> {
    let text = "[a-c/~\"\\\\\né0-9{}\\[\\],: ]{0,4}";
    let leaf = prop_oneof![Just(Value::Null), any::<i32>().prop_map(Value::from), text.prop_map(Value::from)];
    leaf.prop_recursive(4, 40, 5, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::vec((text, inner), 0..5).prop_map(|members| members.into_iter().collect()),
        ]
    })
}

/// The pointers to a value and everything below it.
pub(in super::super) fn pointers(value: &Value, at: &str, found: &mut Vec<String>) {
    found.push(at.to_owned());
    match value {
        Value::Array(elements) => {
            elements
                .iter()
                .enumerate()
                .for_each(|(index, element)| pointers(element, &pointer_join(at, index), found));
        }
        Value::Object(members) => {
            members.iter().for_each(|(key, member)| pointers(member, &pointer_join(at, key), found));
        }
        _ => {}
    }
}

proptest! {
    #[test]
    fn slices_agree_with_pointers(value in any_json(), pretty: bool, wrong in "(/[a-c0-9~/]{0,2}){0,3}", some: u64) {
        let text = if pretty { serde_json::to_string_pretty(&value) } else { serde_json::to_string(&value) }.unwrap();
        let document = document(&text);
        prop_assert_eq!(&document.value, &value);
        let mut wanted = vec![wrong];
        pointers(&value, "", &mut wanted);
        // Not all of them, so that there is something to skip.
        let mut index = 0;
        wanted.retain(|_| { index += 1; index == 1 || some >> (index % 64) & 1 == 1 });
        for (slice, pointer) in document.slices(&wanted).into_iter().zip(&wanted) {
            let parsed = slice.map(|slice| serde_json::from_str::<Value>(slice).unwrap());
            prop_assert_eq!(parsed.as_ref(), value.pointer(pointer), "{}", pointer);
        }
    }
}

#[test]
fn lines_of_values_are_an_array_of_them() {
    let text = "{\"a\": 1}\n\n  [2,\n 3]\n{\"b\": {\"c\": 4 }}\n";
    assert_eq!(document(text).value, json!([{"a": 1}, [2, 3], {"b": {"c": 4}}]));
    slices(text, &["/0/a", "/1", "/2/b", "/3"], &[Some("1"), Some("[2,\n 3]"), Some("{\"c\": 4 }"), None]);
    fails("{\"a\": 1}\n{\"b\": 1,\"b\": 2}", "2:9 the key \"b\" is there twice (remove one of the two)");
    fails("{}\n[1", "2:1 more text after the end of the value (put several values into an array)");
}

#[test]
fn comments_and_events_are_no_part_of_the_value() {
    let text = "// tools\n{\"a\": [1, /* é */ 2,],} // end\n";
    assert_eq!(document(text).value, json!({"a": [1, 2]}));
    slices(text, &["/a/1"], &[Some("2")]);
    fails(
        "// tools\n{\"a\": x}",
        "2:7 a value is due here (values are objects, arrays, \"text\", numbers, true, false and null)",
    );
    let events = "event: message\ndata: {\"id\": 1,\ndata:  \"result\": [ 2 ]}\n\ndata: {\"id\": 2}\n\n";
    assert_eq!(document(events).value, json!([{"id": 1, "result": [2]}, {"id": 2}]));
    slices(events, &["/0/result", "/1/id"], &[Some("[ 2 ]"), Some("2")]);
}
