//! Reading sources of all formats, and their mistakes.

use proptest::prelude::*;
use serde_json::json;

use super::*;

const FORMATS: [Format; 3] = [Format::Json, Format::Yaml, Format::Toml];

fn parse(text: impl Into<Vec<u8>>, format: Format) -> Result<Value, Finding> {
    Document::parse("f", text.into(), format).map(|document| document.value)
}

#[track_caller]
fn fails(text: impl Into<Vec<u8>>, format: Format, expect: &str) {
    let finding = parse(text, format).unwrap_err();
    let place = finding.place.unwrap();
    let spot =
        place.line.zip(place.column).map_or(String::new(), |(line, column)| format!("{line}:{column} "));
    assert_eq!(format!("{} {spot}{}", finding.code, finding.message), expect);
}

#[test]
fn one_mistake_does_not_cost_the_whole_file() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a.jsonl");
    let read = |text: &str| {
        std::fs::write(&file, text).unwrap();
        super::super::open(&file, "a.jsonl").map(|document| (document.value, document.repairs))
    };
    for (text, value, lines) in [
        (r#"{"a": "cut \ud83d", "b": "\ud83d\ude00"}"#, json!({"a": "cut \u{fffd}", "b": "\u{1f600}"}), 1),
        (r#"{"a": 1, "b": 2, "a": 3}"#, json!({"a": 3, "b": 2}), 1),
        (r#"[{"maximum": Infinity}, {"b": NaN}]"#, json!([{"maximum": "Infinity"}, {"b": "NaN"}]), 1),
        ("{\"a\": 1}\n{broken\n\n{\"b\": 2}\n", json!([{"a": 1}, {"b": 2}]), 2),
    ] {
        let (read, repairs) = read(text).unwrap();
        assert_eq!((read, repairs.len()), (value, 1), "{text}");
        assert_eq!(repairs[0].place.as_ref().unwrap().line, Some(lines));
    }
    assert!(read("[1,").is_err() && read("{broken\n{too").is_err());
    std::fs::write(&file, r#"{"a": 1, "a": 2}"#).unwrap();
    assert!(
        Document::read("f", std::fs::read(&file).unwrap(), Format::Json).is_err(),
        "configurations are strict"
    );
}

#[test]
fn one_value_in_three_notations() {
    let expect = json!({"name": "a", "tags": ["x", "no"], "n": {"deep": true, "pi": 3.5}});
    let json = "\u{feff}{\"name\": \"a\", \"tags\": [\"x\", \"no\"], \"n\": {\"deep\": true, \"pi\": 3.5}}";
    assert_eq!(parse(json, Format::Json).unwrap(), expect);
    assert_eq!(parse("name: a\ntags: [x, no]\nn:\n  deep: true\n  pi: 3.5\n", Format::Yaml).unwrap(), expect);
    assert_eq!(parse("name='a'\ntags=['x','no']\n[n]\ndeep=true\npi=3.5", Format::Toml).unwrap(), expect);
    assert_eq!(Format::of_extension("YML"), Some(Format::Yaml));
    assert_eq!(Format::of_extension("md"), None);
}

#[test]
fn what_is_no_text_says_where_it_stops_being_text() {
    fails(
        b"{\n \"\xC3\xA9\xFF\": 1}",
        Format::Json,
        "file-unreadable 2:4 not UTF-8 text: byte 0xFF at offset 6",
    );
    fails(b"\xFF\xFE{\0}\0", Format::Json, "file-unreadable 1:1 not UTF-8 text: byte 0xFF at offset 0");
}

#[test]
fn limits_are_kept() {
    for format in FORMATS {
        let finding = parse("#".repeat(MAX_BYTES as usize + 1), format).unwrap_err();
        assert_eq!((finding.code, finding.message.as_str()), (Code::FileTooLarge, "larger than 64 MiB"));
    }
}

#[test]
fn deep_nesting_is_refused_at_once_in_every_form() {
    let deep = 100_000;
    for text in ["[", "{\"a\":", "[{\"a\":", "{", "- ", "? ", "&a [", "!a [", "\""] {
        for format in FORMATS {
            assert!(parse(text.repeat(deep), format).is_err(), "{format:?} {text:?}");
            assert!(parse(format!("a={}", text.repeat(deep)), Format::Toml).is_err());
        }
    }
    let brackets = |levels: usize| "[".repeat(levels) + &"]".repeat(levels);
    fails(brackets(128), Format::Json, "file-invalid 1:128 nested too deeply: 128 levels or more");
    fails(brackets(128), Format::Yaml, "file-invalid 1:128 nested too deeply: 128 levels or more");
    fails(
        format!("a={}", brackets(100)),
        Format::Toml,
        "file-invalid 1:83 nested too deeply: 80 levels or more",
    );
    assert!(parse(brackets(127), Format::Json).is_ok());
    assert!(parse(brackets(127), Format::Yaml).is_ok());
    assert!(parse(format!("a={}", brackets(79)), Format::Toml).is_ok());
    let dotted = format!("[{0}]\n{0} = {1}", vec!["a"; 79].join("."), brackets(79));
    assert!(parse(dotted, Format::Toml).is_err());
}

#[test]
fn too_many_values_are_refused() {
    let many = format!("[{}0]", "0,".repeat(4_100_000));
    assert_eq!(parse(many.clone(), Format::Json).unwrap_err().code, Code::FileTooLarge);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn no_bytes_make_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        for format in FORMATS {
            let _ = parse(bytes.clone(), format);
        }
    }

    #[test]
    fn no_text_makes_it_panic(text in "[\\[\\]{}:,\"'a1.=\\- \n\t#&*!|>?%@~<\\\\é\u{feff}\r]{0,80}") {
        for format in FORMATS {
            if let Err(finding) = parse(text.clone(), format) {
                let place = finding.place.unwrap();
                prop_assert!(place.line.unwrap() <= text.matches('\n').count() + 1);
                prop_assert!(place.column.unwrap() <= text.chars().count() + 1);
            }
        }
    }
}
