//! TOML: conversion of its values, refusals, and spans.

use serde_json::json;

use super::super::{Document, Format};
use super::*;
use crate::finding::Finding;

fn read(text: &str) -> Result<Value, Finding> {
    Document::parse("f", text.into(), Format::Toml).map(|document| document.value)
}

#[track_caller]
fn fails(text: &str, expect: &str) {
    let finding = read(text).unwrap_err();
    let place = finding.place.unwrap();
    assert_eq!(format!("{}:{} {}", place.line.unwrap(), place.column.unwrap(), finding.message), expect);
}

#[test]
fn what_json_has_no_word_for_becomes_text() {
    let text = "z = 1979-05-27T07:32:00Z\na = [nan, inf, -inf, 0x1F, 1_000, 1.5, 99999999999999999999]\nm = 07:32:00";
    assert_eq!(
        read(text).unwrap(),
        json!({"z": "1979-05-27T07:32:00Z", "a": ["nan", "inf", "-inf", 31, 1000, 1.5, "99999999999999999999"], "m": "07:32:00"})
    );
}

#[test]
fn tables_keep_the_order_of_the_text() {
    let value =
        read("z = 1\n[m]\nb.c = 1\na = 2\n[[tools]]\nname = 'x'\n[[tools]]\nname = 'y'\n[a]").unwrap();
    let expect = r#"{"z":1,"m":{"b":{"c":1},"a":2},"tools":[{"name":"x"},{"name":"y"}],"a":{}}"#;
    assert_eq!(value.to_string(), expect);
}

#[test]
fn mistakes_are_named_where_they_are() {
    fails("a = 1\na = 2", "2:1 the key is there twice");
    fails("a = 1\nb = \n", "2:5 not valid TOML: string values must be quoted, expected literal string");
}

#[test]
fn values_are_found_again() {
    let text = "title = 'é'\n[[tools]]\nname = 'x'\nargs = { a = [1, 'two'] }\n[tools.deep.er]\nk = 1\n";
    #[track_caller]
    fn check(text: &str, pointer: &str, expect: &str) {
        let (tree, ends) = PointerTree::new([pointer].into_iter());
        let spans = spans(text, &tree);
        let span = tree.nearest(ends[0].unwrap(), &spans).unwrap();
        assert_eq!(text[span.start()..].lines().next().unwrap(), expect);
    }
    check(text, "", "title = 'é'");
    check(text, "/tools", "tools]]");
    check(text, "/tools/0/name", "name = 'x'");
    check(text, "/tools/0/args/a/1", "'two'] }");
    check(text, "/tools/0/deep/er/k", "k = 1");
    check(text, "/tools/0/deep/er/gone", "er]");
    check(text, "/tools/0", "[[tools]]");
}

#[test]
fn a_long_text_is_refused_unread() {
    let finding = read(
        &"a=1
"
        .repeat(300_000),
    )
    .unwrap_err();
    assert_eq!(finding.code.as_str(), "file-too-large");
    assert_eq!(finding.message, "larger than 1 MiB, the most for TOML");
}
