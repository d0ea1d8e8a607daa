//! Findings get their lines, whatever the text and the pointers are.

use proptest::prelude::*;

use super::super::Format;
use super::*;
use crate::finding::{Code, Place};

fn finding(file: &str, pointer: &str) -> Finding {
    Finding::new(Code::SchemaInvalid, "m").at(Place::new(file, pointer))
}

fn document(file: &str, text: &str, format: Format) -> Document {
    Document::parse(file, text.into(), format).unwrap()
}

#[test]
fn each_finding_is_located_in_its_own_document() {
    let documents = [
        document("a.json", "{\"tools\": [\n  {\"é\": 1, \"name\": \"x\"},\n  {}\n]}", Format::Json),
        document("b.yaml", "tools:\n  - name: x\n", Format::Yaml),
        document("c.toml", "[[tools]]\nname = 'x'\n", Format::Toml),
    ];
    let mut findings = vec![
        finding("a.json", "/tools/1/name"),
        finding("b.yaml", "/tools/0/name"),
        finding("a.json", "/tools/0/name"),
        finding("c.toml", "/tools/0/name"),
        finding("elsewhere", "/tools"),
        finding("a.json", "no pointer"),
        Finding::new(Code::SchemaInvalid, "no place"),
    ];
    findings[1].place.as_mut().unwrap().line = Some(77);
    locate(&documents, &mut findings);
    let lines: Vec<_> = findings
        .iter()
        .map(|finding| finding.place.as_ref().and_then(|place| place.line.zip(place.column)))
        .collect();
    let spot = |line, column| Some((line, column));
    assert_eq!(lines, [spot(3, 3), None, spot(2, 12), spot(2, 1), None, spot(1, 1), None]);
    assert_eq!(findings[1].place.as_ref().unwrap().line, Some(77), "what is located already stays");
}

proptest! {
    #[test]
    fn any_text_and_pointer(text in "[\\[\\]{}:,\"'a1=\\- \n#&*|~\\\\é]{0,60}", pointers in prop::collection::vec("(/[a1~\\-]{0,2}){0,4}", 0..6)) {
        for format in [Format::Json, Format::Yaml, Format::Toml] {
            // This holds for a text that could not be read, too.
            let document = Document { file: "f".into(), format, text: text.as_str().into(), value: serde_json::Value::Null, repairs: Vec::new() };
            let mut findings: Vec<Finding> = pointers.iter().map(|pointer| finding("f", pointer)).collect();
            locate(&[document], &mut findings);
            for finding in findings {
                let place = finding.place.unwrap();
                prop_assert!(place.line.unwrap() <= text.matches('\n').count() + 1);
                prop_assert!(place.column.unwrap() >= 1);
            }
        }
    }
}
