//! YAML: conversion of its values, refusals, and spans.

use serde_json::{Value, json};

use super::super::{Document, Format};
use super::*;
use crate::finding::{Code, Finding};

fn read(text: &str) -> Result<Value, Finding> {
    Document::parse("f", text.into(), Format::Yaml).map(|document| document.value)
}

#[track_caller]
fn check(text: &str, expect: Value) {
    assert_eq!(read(text).unwrap(), expect);
}

#[track_caller]
fn fails(text: &str, expect: &str) {
    let finding = read(text).unwrap_err();
    let place = finding.place.unwrap();
    assert_eq!(format!("{}:{} {}", place.line.unwrap(), place.column.unwrap(), finding.message), expect);
}

#[test]
fn scalars_are_what_they_look_like() {
    check(
        "[no, yes, on, true, null, ~, 1_000, 0755, 0x1F]",
        json!(["no", "yes", "on", true, null, null, "1_000", "0755", 31]),
    );
    check("[.nan, .inf, -.inf, 1e3, 2020-01-02]", json!(["nan", "inf", "-inf", 1000.0, "2020-01-02"]));
    check(
        "[18446744073709551615, -9223372036854775808, 340282366920938463463374607431768211455]",
        json!([18446744073709551615u64, -9223372036854775808i64, 3.402823669209385e38]),
    );
    check("[!x a, !!str 1, !!binary aGk=, ! 2]", json!(["a", "1", "aGk=", "2"]));
    check("a: |\n  x\n  y\nb: >\n  x\n  y\n", json!({"a": "x\ny\n", "b": "x y\n"}));
}

#[test]
fn keys_become_text_as_they_are_written() {
    check(
        "200: a\n1.10: b\ntrue: c\nno: d\n~: e\n",
        json!({"200": "a", "1.10": "b", "true": "c", "no": "d", "null": "e"}),
    );
}

#[test]
fn a_stream_of_documents_is_an_array() {
    check("", Value::Null);
    check("# nothing\n", Value::Null);
    check("---\na: 1\n", json!({"a": 1}));
    check("a: 1\n---\n---\nb: 2\n...\n", json!([{"a": 1}, {"b": 2}]));
}

#[test]
fn aliases_and_merges_are_expanded() {
    check(
        "a: &a {x: 1}\nb: *a\nc: {<<: *a, y: 2}",
        json!({"a": {"x": 1}, "b": {"x": 1}, "c": {"x": 1, "y": 2}}),
    );
    let many = format!("a: &a x\nb: [{}]", "*a, ".repeat(2000));
    assert_eq!(read(&many).unwrap()["b"].as_array().unwrap().len(), 2000);
}

#[test]
fn mistakes_are_named_where_they_are() {
    fails("a: 1\nb: 2\na: 3\n", "3:1 the key `a` is there twice");
    fails("a: *b", "1:4 an alias without an anchor of its name before it");
    assert_eq!(read("a:\n\tb: 1").unwrap_err().help.as_deref(), Some("indent with spaces instead of tabs"));
}

#[test]
fn bombs_are_stopped_before_they_go_off() {
    let mut laughs = "a0: &a0 [lol]\n".to_owned();
    let mut deep = laughs.clone();
    for n in 1..2000 {
        let last = n - 1;
        if n < 40 {
            laughs += &format!("a{n}: &a{n} [{}]\n", vec![format!("*a{last}"); 9].join(","));
        }
        deep += &format!("a{n}: &a{n} [*a{last}]\n");
    }
    let long = format!("a: &a {}\nb: [{}]", "x".repeat(1 << 20), "*a,".repeat(40_000));
    let members: String = (0..20).map(|n| format!("k{n}: [l], ")).collect();
    let keys = format!("a: &a {{{members}}}\nb: [{}]", "{<<: *a},".repeat(20_000));
    let start = std::time::Instant::now();
    for bomb in [laughs, deep, long, keys] {
        let finding = read(&bomb).unwrap_err();
        assert_eq!(finding.code, Code::FileInvalid);
        assert!(
            finding.message.contains("aliases") || finding.message.contains("deep"),
            "{}",
            finding.message
        );
    }
    assert!(start.elapsed().as_secs() < 120);
}

#[test]
fn values_are_found_again() {
    let text = "# top\ntools:\n  - name: é\n    args: {a: 1, 'b': [x, \"y\"]}\n  -   - deep\nlast: |\n  text\nref: *a\n";
    let text = &text.replace("ref: *a", "anchor: &a {z: 1}\nref: *a");
    #[track_caller]
    fn check(text: &str, pointer: &str, expect: &str) {
        let (tree, ends) = PointerTree::new([pointer].into_iter());
        let spans = spans(text, &tree);
        let span = tree.nearest(ends[0].unwrap(), &spans).unwrap();
        assert_eq!(text[span.start()..].lines().next().unwrap(), expect);
    }
    check(text, "/tools", "tools:");
    check(text, "/tools/0", "name: é");
    check(text, "/tools/0/args/b", "'b': [x, \"y\"]}");
    check(text, "/tools/0/args/b/1", "\"y\"]}");
    check(text, "/tools/0/args/missing", "args: {a: 1, 'b': [x, \"y\"]}");
    check(text, "/tools/1/0", "deep");
    check(text, "/last", "last: |");
    check(text, "/ref/z", "ref: *a");
    check("a: 1\n---\nnull\n---\nb:\n  c: 2\n", "/1/b/c", "c: 2");
    check("a: 1\n---\nb: 2\n", "/0/a", "a: 1");
}

#[test]
fn a_wrong_indentation_is_not_helped_by_quotes() {
    let help = |text: &str| read(text).unwrap_err().help.unwrap_or_default();
    for text in [
        "name: x\n  description: y\n",
        "- name: x\n   description: y\n",
        "name: x\nparameters:\ntype: object\n properties: {}\n",
        "name: x\nparameters:\n    type: object\n  properties: {}\n",
        "- name: x\n description: y\n",
        "name: x\n\tdescription: y\n",
    ] {
        assert!(help(text).starts_with("indent"), "{text}: {}", help(text));
    }
    for text in ["name: a: b\n", "a: 1\nname: a: b\n", "name: x\n  two words: y\n"] {
        assert!(help(text).contains("in quotes"), "{text}: {}", help(text));
        assert!(!help(text).starts_with("indent"), "{text}");
    }
}
