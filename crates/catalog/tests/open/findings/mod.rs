//! Each finding code from the smallest input that causes it, and what a finding says.

mod cases;

use std::collections::BTreeSet;
use std::fs::File;

use serde_json::{Value, json};
use tempfile::TempDir;
use toolcrib_definition::finding::{Code, Finding};

use cases::{CASES, GOOD};

use crate::fixture;

/// Codes whose fixture is no text, tested below; codes that only payloads have, tested in `findings.rs` and `strict.rs` of
/// `crates/providers/tests/formats/rules/`; and those of a server that goes away (`live/follow.rs` of `tests/it`), of a client's
/// configuration (`live/client.rs`), of lists of live servers, and of labelled queries (`eval.rs`).
const ELSEWHERE: [Code; 11] = [
    Code::FileTooLarge,
    Code::SourceStale,
    Code::ServerDisabled,
    Code::ClientSetting,
    Code::LabelInvalid,
    Code::LabelUnknown,
    Code::DefinitionLeftOut,
    Code::DefinitionRepaired,
    Code::PayloadToolLeftOut,
    Code::PayloadStrictOff,
    Code::PayloadSchemaLoosened,
];

/// Where a code was found, all of them.
fn found(folder: &TempDir, code: &str) -> Vec<(String, Option<usize>, String)> {
    let checked = fixture::open(folder.path());
    let findings = checked.findings.iter().filter(|finding| finding.code.as_str() == code);
    let place = |finding: &Finding| {
        assert!(!finding.message.contains('\n') && !finding.message.is_empty(), "{}", finding.message);
        let place = finding.place.clone().unwrap_or_default();
        (place.file, place.line, place.pointer)
    };
    findings.map(place).collect()
}

#[test]
fn every_code_is_found_where_its_cause_is() {
    let mut seen: BTreeSet<Code> = ELSEWHERE.into();
    let mut wrong = Vec::new();
    for (code, files, (file, line, pointer)) in CASES {
        seen.insert(Code::parse(code).unwrap());
        let got = found(&fixture::folder(files), code);
        let fits = |(in_file, at, path): &(String, Option<usize>, String)| {
            in_file == file && (line.is_none() || at == line) && path == pointer
        };
        if !got.iter().any(fits) {
            wrong.push(format!("{code}: expected {file}:{line:?} {pointer:?}, got {got:?}"));
        }
    }
    let all: BTreeSet<Code> = Code::ALL.iter().copied().collect();
    let never: Vec<&Code> = all.difference(&seen).collect();
    assert!(never.is_empty(), "no fixture causes {never:?}");
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn a_file_over_the_limit() {
    let folder = fixture::folder(&[
        ("b.yaml", GOOD),
        ("toolcrib.toml", "[[source]]\npath = \"a.json\"\n\n[[source]]\npath = \"b.yaml\"\n"),
    ]);
    File::create(folder.path().join("a.json")).unwrap().set_len(65 << 20).unwrap();
    assert_eq!(found(&folder, "file-too-large"), [("a.json".to_string(), None, String::new())]);
}

#[test]
fn one_bad_definition_costs_no_other() {
    let folder = fixture::folder(&[
        ("a.json", "[{\"name\": }]"),
        (
            "b.yaml",
            &format!(
                "- 1\n- name: x\n  parameters: {{type: string}}\n- {}",
                GOOD.trim_end().replace('\n', "\n  ")
            ),
        ),
    ]);
    let checked = fixture::open(folder.path());
    let names: Vec<&str> = checked.catalog.tools.iter().map(|tool| tool.names.canonical.as_str()).collect();
    assert_eq!(names, ["x", "read_file"]);
}

#[test]
fn severities_and_ignores() {
    let tools = "- {name: a, parameters: {type: object}}\n- {name: b, parameters: {type: object}}\n";
    let check = |config: &str, expect: &[(&str, &str, &str)]| {
        let folder = fixture::folder(&[("toolcrib.toml", config), ("a.yaml", tools)]);
        let checked = fixture::open(folder.path());
        let got: Vec<(&str, &str, &str)> = checked
            .findings
            .iter()
            .filter(|finding| !matches!(finding.code, Code::ShortDerived | Code::EffectGuessed))
            .map(|finding| {
                (
                    finding.code.as_str(),
                    finding.severity.as_str(),
                    finding.tool.as_deref().unwrap_or_default(),
                )
            })
            .collect();
        assert_eq!(got, expect, "{config}");
    };
    let of = |severity| [("description-missing", severity, "a"), ("description-missing", severity, "b")];
    check("", &of("warning"));
    check("[lint.severity]\ndescription-missing = \"error\"\n", &of("error"));
    check("[lint.severity]\ndescription-missing = \"info\"\n", &of("info"));
    check("[lint.severity]\ndescription-missing = \"off\"\n", &[]);
    check(
        "[[lint.ignore]]\ncode = \"description-missing\"\nmatch = \"a\"\nreason = \"Old.\"\n",
        &of("warning")[1..],
    );
    check("[[lint.ignore]]\ncode = \"description-missing\"\n", &[]);
}

#[test]
fn an_entry_without_a_name_is_told_and_its_neighbours_stay() {
    let tool =
        |fields: &str| format!(r#"{{{fields}"description":"Reads a.","inputSchema":{{"type":"object"}}}}"#);
    let list = format!("[{},{},{}]", tool(r#""name":"a","#), tool(""), tool(r#""nme":"b","#));
    for text in [list.clone(), format!(r#"{{"tools":{list}}}"#)] {
        let checked = fixture::open_text("tools.json", &text);
        assert_eq!(checked.catalog.tools.len(), 1);
        let nameless: Vec<_> =
            checked.findings.iter().filter(|finding| finding.code == Code::DefinitionInvalid).collect();
        assert_eq!(nameless.len(), 2, "{text}");
        assert_eq!(nameless[1].help.as_deref(), Some("write `name` for `nme`"));
    }
}

#[test]
fn what_nobody_can_have_meant_in_a_schema_is_told() {
    let schema = json!({
        "type": "object", "required": ["pth"],
        "properties": {
            "path": {"type": "strng", "description": "P."},
            "mode": {"enum": ["fast", "slow"], "default": "quick", "description": "M."},
            "when": {"type": "string", "format": "date-tme", "description": "W."},
            "own": {"type": "string", "format": "snowflake", "description": "O."},
        },
        "allOf": [{"required": ["elsewhere"]}],
    });
    let tools = |schema: &Value| {
        json!([{"name": "a", "description": "Reads the file.", "parameters": schema}]).to_string()
    };
    let told = |schema: &Value| -> Vec<String> {
        let checked = fixture::open_text("tools.json", &tools(schema));
        let doubtful = checked.findings.iter().filter(|finding| finding.code == Code::SchemaDoubtful);
        doubtful.map(|finding| finding.place.clone().unwrap().pointer).collect()
    };
    let places =
        ["mode/default", "path/type", "when/format"].map(|at| format!("/0/parameters/properties/{at}"));
    let mut combined = told(&schema);
    combined.sort();
    assert_eq!(combined, places);
    let mut alone = schema.clone();
    alone.as_object_mut().unwrap().remove("allOf");
    assert!(told(&alone).contains(&"/0/parameters/required/0".to_string()));
}

#[test]
fn a_name_that_is_empty_is_told_as_such() {
    let tools = r#"[{"name": "", "inputSchema": {}}, {"nme": "a", "inputSchema": {}}, {"name": "b", "inputSchema": {}}]"#;
    let checked = fixture::open_text("tools.json", tools);
    let nameless = checked.findings.iter().filter(|finding| finding.code.as_str() == "definition-invalid");
    let help: Vec<&str> = nameless.filter_map(|finding| finding.help.as_deref()).collect();
    assert_eq!(help, ["its `name` is empty, or no text: name it by what it does", "write `name` for `nme`"]);
}

#[test]
fn what_looks_like_a_tool_in_a_folder_and_is_not_understood_is_an_error() {
    let schema = json!({"type": "object", "properties": {"phone": {"type": "string"}}});
    let check = |key: &str, parameters: Value, expect: &[&str]| {
        let tool = json!({"name": "send_sms", "description": "Sends a text.", key: parameters}).to_string();
        let folder = fixture::folder(&[("good.yaml", GOOD), ("sms.json", &tool)]);
        let checked = fixture::open(folder.path());
        let errors: Vec<&str> = checked.findings.errors().map(|finding| finding.code.as_str()).collect();
        assert_eq!(errors, expect, "{key}: {:#?}", checked.findings);
        let mut schemas = checked.catalog.tools.iter().map(|tool| tool.input.parameters.schema());
        let has_phone = schemas.any(|schema| schema["properties"].get("phone").is_some());
        assert_eq!(has_phone, expect.is_empty(), "{key}");
    };
    for key in ["parameter", "arguments", "params", "input_schemas"] {
        check(key, schema.clone(), &["definition-invalid"]);
    }
    check("inputSchema", schema.to_string().into(), &["definition-invalid"]);
    check("parameters", json!({"phone": "string", "text": "string"}), &[]);
    check("inputSchema", json!({"phone": "string", "text": "string"}), &[]);
    let other =
        json!({"name": "deploy", "description": "An action.", "inputs": {"phone": {"description": "P."}}});
    let folder = fixture::folder(&[("good.yaml", GOOD), ("action.json", &other.to_string())]);
    assert_eq!(fixture::open(folder.path()).findings.errors().count(), 0);
}

#[test]
fn a_keyword_that_is_none_is_told_with_the_nearest_word() {
    let schema = json!({"type": "object", "propertys": {}, "requried": ["a"], "properties": {
        "a": {"type": "string", "description": "A.", "x-note": 1, "example": "x"},
        "b": {"type": "string", "optional": true, "description": "B.", "ui:widget": "text"},
    }});
    let tools = json!([{"name": "a", "description": "Reads the file.", "parameters": schema}]).to_string();
    let checked = fixture::open_text("tools.json", &tools);
    let doubtful = checked.findings.iter().filter(|finding| finding.code == Code::SchemaDoubtful);
    let mut helps: Vec<&str> = doubtful.filter_map(|finding| finding.help.as_deref()).collect();
    helps.sort();
    let expect = ["properties", "required"].map(|word| format!("did you mean `{word}`?"));
    assert_eq!(helps, expect);
}

#[test]
fn a_key_of_a_tool_that_is_nearly_one_of_its_format_is_told() {
    for schema in ["inputSchema", "input_schema"] {
        let tool = json!({
            "name": "find_place", "descripton": "Finds a place by its name.", "anotations": {"readOnlyHint": true},
            schema: {"type": "object"}, "vendorNote": 1, "description_html": "<p>",
        });
        let checked = fixture::open_text("tools.json", &json!({"tools": [tool]}).to_string());
        let unknown = checked.findings.iter().filter(|finding| finding.code == Code::FieldUnknown);
        let mut helps: Vec<&str> = unknown.filter_map(|finding| finding.help.as_deref()).collect();
        helps.sort();
        assert_eq!(helps, ["did you mean `annotations`?", "did you mean `description`?"]);
    }
}

/// An OpenAPI document with operations that have these summaries.
fn document(summaries: &[&str]) -> String {
    let operation = |(at, summary): (usize, &&str)| {
        let operation = json!({ "operationId": format!("op_{at}"), "summary": summary, "responses": {} });
        (format!("/op/{at}"), json!({ "get": operation }))
    };
    let paths: serde_json::Map<String, Value> = summaries.iter().enumerate().map(operation).collect();
    json!({ "openapi": "3.0.0", "info": { "title": "T", "version": "1" }, "paths": paths }).to_string()
}

#[test]
fn weak_texts_of_a_document_are_one_warning_for_each_kind() {
    let of = |config: &str| {
        let document = document(&["", "", "", "Op 3", "Op 4", "Counts the sheep of a field"]);
        let folder = fixture::folder(&[("api.json", document.as_str()), ("toolcrib.toml", config)]);
        let checked = fixture::open(folder.path());
        let severities = |code: &str| {
            let of_code = checked.findings.iter().filter(|finding| finding.code.as_str() == code);
            of_code.map(|finding| finding.severity.as_str()).collect::<Vec<_>>()
        };
        (severities("description-missing"), severities("description-tautological"))
    };
    let (missing, tautological) = of("");
    assert_eq!(missing, ["warning", "info", "info", "info"]);
    assert_eq!(tautological, ["warning", "info", "info"]);
    let (missing, _) = of("[lint.severity]\ndescription-missing = \"warning\"");
    assert_eq!(missing, ["warning"; 3]);
}

#[test]
fn a_single_weak_text_of_a_document_keeps_its_own_message() {
    let folder = fixture::folder(&[("api.json", document(&["", "Counts the sheep of a field"]).as_str())]);
    let checked = fixture::open(folder.path());
    let found: Vec<_> =
        checked.findings.iter().filter(|finding| finding.code == Code::DescriptionMissing).collect();
    assert_eq!(found.len(), 1);
    assert_eq!(
        (found[0].message.as_str(), found[0].tool.as_deref()),
        ("the tool has no description", Some("op_0"))
    );
}

#[test]
fn two_files_with_one_name_are_named_to_rename_it_in_one_of_them() {
    let tool = |text: &str| {
        json!([{ "name": "greet", "description": text, "inputSchema": { "type": "object" } }]).to_string()
    };
    let (one, other) = (tool("Greets a person by name."), tool("Greets a whole room of people."));
    let folder = fixture::folder(&[("a.json", one.as_str()), ("sub/b.json", other.as_str())]);
    let checked = fixture::open(folder.path());
    let finding = checked.findings.iter().find(|finding| finding.code == Code::NameQualified).unwrap();
    assert_eq!(finding.severity.as_str(), "warning");
    let help = finding.help.as_deref().unwrap_or_default();
    assert!(help.starts_with("rename `greet` in `a.json` or `sub/b.json`"), "{help}");
}

#[test]
fn json_lines_in_a_folder_are_read() {
    let line =
        json!({ "name": "greet", "description": "Greets.", "inputSchema": { "type": "object" } }).to_string();
    let queries =
        "{\"query\": \"say hello\", \"gold\": [\"greet\"]}\n{\"query\": \"wave\", \"gold\": [\"greet\"]}\n";
    let folder = fixture::folder(&[("tools.jsonl", line.as_str()), ("queries.jsonl", queries)]);
    let checked = fixture::open(folder.path());
    assert_eq!(fixture::only(&checked).names.canonical, "greet");
    assert!(!checked.lost_input(), "{:?}", checked.findings);
}
