//! Reports as a person sees them.

use proptest::prelude::*;

use super::*;
use crate::document::{Format, locate};

fn document(text: &str) -> Document {
    Document::parse("tools.json", text.into(), Format::Json).unwrap()
}

fn finding(code: Code, pointer: &str) -> Finding {
    Finding::new(code, "the message").at(Place::new("tools.json", pointer))
}

#[track_caller]
fn check(text: &str, mut findings: Vec<Finding>, limit: Option<usize>, expect: &str) {
    let documents = [document(text)];
    locate(&documents, &mut findings);
    let report = text_report(&findings, &documents, false, limit);
    assert_eq!(report.trim_end(), expect.trim(), "\n{report}");
}

const EXPECT: &str = r#"
error[config-invalid]: no place

error[schema-invalid]: the message
 --> tools.json:3:4
  |
3 |   {"parameters": 1}
  |    ^^^^^^^^^^^^
  |
  = help: mend it

warning[description-missing]: the message
 --> tools.json:2:3
  |
2 |   {"name": "x"},
  |   ^
  |
  = tool: x
  = help: say what it does and when to use it; models choose by it

2 errors, 1 warning
"#;

#[test]
fn errors_come_first_with_their_line() {
    let findings = vec![
        finding(Code::DescriptionMissing, "/0").tool("x"),
        finding(Code::SchemaInvalid, "/1/parameters").help("mend it"),
        Finding::new(Code::ConfigInvalid, "no place"),
    ];
    check("[\n  {\"name\": \"x\"},\n  {\"parameters\": 1}\n]", findings, None, EXPECT);
}

#[test]
fn many_findings_of_one_code_are_counted() {
    let findings = (0..30).map(|_| finding(Code::DescriptionMissing, "")).collect();
    let one = "warning[description-missing]: the message\n --> tools.json:1:1\n  |\n1 | []\n  | ^\n  |\n  \
               = help: say what it does and when to use it; models choose by it\n";
    let rest = "... and 28 more `description-missing`; `--json` lists them all\n\n30 warnings";
    check("[]", findings, Some(2), &format!("{one}\n{one}\n{rest}"));
}

#[test]
fn nothing_of_a_hostile_source_reaches_the_terminal_as_it_is() {
    let text = format!("[\"{}\", \"\u{202e}\u{9b}31m\", \"{}\"]", "a".repeat(1 << 20), "b".repeat(1 << 20));
    let documents = [document(&text)];
    let mut findings = vec![finding(Code::TextHidden, "/1").tool("\u{1b}[2J").help("a\nb\u{7}")];
    findings[0].message = "\u{1b}]0;title\u{7}\nerror: fake".into();
    locate(&documents, &mut findings);
    let report = text_report(&findings, &documents, false, None);
    assert!(report.len() < 1000 && !report.contains(['\u{1b}', '\u{7}', '\u{202e}', '\u{9b}']), "{report}");
    assert!(!report.contains("\nerror: fake"));
    assert!(report.contains("tools.json:1:1048582"), "the place is that in the file: {report}");
}

#[test]
fn machines_get_the_same_in_the_same_order() {
    let mut findings =
        vec![finding(Code::DescriptionMissing, "/0"), finding(Code::SchemaInvalid, "/1").tool("t")];
    locate(&[document("[1,\n2]")], &mut findings);
    let report = json_report(&findings);
    let first = json!({
        "code": "schema-invalid", "severity": "error", "tool": "t", "message": "the message",
        "file": "tools.json", "line": 2, "column": 1, "path": "/1",
        "help": "correct the schema; until then the tool is documented but cannot be called",
    });
    assert_eq!(report["findings"][0], first);
    assert_eq!(report["summary"], json!({"errors": 1, "warnings": 1, "infos": 0}));
    assert_eq!(text_report(&[], &[], true, None), "");
}

#[track_caller]
fn check_excerpt(source: &str, at: &str, expect: &str) {
    let found = excerpt(source, source.find(at).unwrap());
    assert_eq!(format!("{}\n{}", found.text, &found.text[found.mark.clone()]), expect);
}

#[test]
fn the_word_that_is_meant_is_marked() {
    check_excerpt("a\n  \"na\\\"me\": 1,\nb", "\"na", "  \"na\\\"me\": 1,\n\"na\\\"me\"");
    check_excerpt("name: x", "name", "name: x\nname");
    check_excerpt("[{}]", "{}", "[{}]\n{");
    check_excerpt(&format!("{}\nkey: 1", "x".repeat(99)), "1", "key: 1\n1");
    check_excerpt("\tkey = 'a", "'a", " key = 'a\n'a");
}

#[test]
fn one_long_line_is_cut_around_the_place() {
    let source = format!("{}\"here\"{}", "é".repeat(1 << 20), "x".repeat(1 << 20));
    let found = excerpt(&source, source.find('"').unwrap());
    assert!(found.text.chars().count() <= 170 && found.text.starts_with('…') && found.text.ends_with('…'));
    assert_eq!(&found.text[found.mark], "\"here\"");
}

#[test]
fn nothing_reaches_the_terminal_that_it_would_obey() {
    assert_eq!(visible("a\u{1b}[31mb\u{202e}\u{9b}c\nd", 99), "a\u{fffd}[31mb\u{fffd}\u{fffd}c d");
    assert_eq!(visible("abcdef", 3), "abc…");
}

proptest! {
    #[test]
    fn any_place_of_any_text_has_an_excerpt(source in "\\PC{0,300}|[a\" \\\\\n\r]{0,300}", offset in 0usize..400) {
        let found = excerpt(&source, offset);
        prop_assert!(found.text.get(found.mark.clone()).is_some());
        prop_assert!(!found.text.chars().any(char::is_control));
    }
}
