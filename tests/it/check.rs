//! `toolcrib check`: each finding code from the smallest input that causes it, the report, severities, exit codes.

mod cases;

use std::collections::BTreeSet;
use std::fs::File;

use serde_json::{Value, json};
use tempfile::TempDir;
use toolcrib::finding::Code;

use crate::fixture::{self, text};

use cases::CASES;
pub use cases::GOOD;

/// Codes whose fixture is no text, tested below, and codes that only payloads have, tested in `findings.rs` and `strict.rs`
/// of `crates/providers/tests/formats/rules/`, or only a server that goes away, in `live/follow.rs`, or only a client's configuration, in `live/client.rs`, or only lists of live servers, or only labelled
/// queries, in `eval.rs`.
const ELSEWHERE: [Code; 10] = [
    Code::FileTooLarge,
    Code::SourceStale,
    Code::ServerDisabled,
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
    let place = |finding: &toolcrib::finding::Finding| {
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
    assert_eq!(fixture::run(&["check", text(folder.path())]).code, 1);
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
    let names: Vec<&str> = checked.catalog.tools.iter().map(|tool| tool.name.as_str()).collect();
    assert_eq!(names, ["x", "read_file"]);
}

#[test]
fn the_json_report() {
    let folder =
        fixture::folder(&[("a.yaml", "name: a\ndescripton: Reads text.\nparameters:\n  type: dict\n")]);
    let run = fixture::run(&["check", "--json", text(folder.path())]);
    assert_eq!(run.code, 1);
    let report: Value = serde_json::from_str(&run.stdout).unwrap();
    let keys = |value: &Value| value.as_object().unwrap().keys().cloned().collect::<BTreeSet<_>>();
    let set = |names: &[&str]| names.iter().map(ToString::to_string).collect::<BTreeSet<_>>();
    assert_eq!(keys(&report), set(&["findings", "summary", "registry_version", "tools", "files"]));
    assert_eq!((&report["tools"], &report["files"]), (&json!(1), &json!(1)));
    assert_eq!(report["registry_version"].as_str().unwrap().len(), 16);
    let findings = report["findings"].as_array().unwrap();
    for finding in findings {
        assert_eq!(
            keys(finding),
            set(&["code", "severity", "tool", "message", "file", "line", "column", "path", "help"])
        );
        assert!(Code::parse(finding["code"].as_str().unwrap()).is_some());
    }
    let count = |severity: &str| findings.iter().filter(|finding| finding["severity"] == severity).count();
    let summary = json!({ "errors": count("error"), "warnings": count("warning"), "infos": count("info") });
    assert_eq!(report["summary"], summary);
    let first = &findings[0];
    assert_eq!(
        (&first["code"], &first["line"], &first["column"]),
        (&json!("field-unknown"), &json!(2), &json!(1))
    );
    assert_eq!(
        (&first["path"], &first["help"]),
        (&json!("/descripton"), &json!("did you mean `description`?"))
    );
}

#[test]
fn the_text_report_points_at_the_line() {
    let folder =
        fixture::folder(&[("a.yaml", "name: a\ndescripton: Reads text.\nparameters: {type: object}\n")]);
    let run = fixture::run(&["check", text(folder.path())]);
    assert!(
        run.stdout.contains("error[field-unknown]") && run.stdout.contains("a.yaml:2:1"),
        "{}",
        run.stdout
    );
    assert!(run.stdout.contains("descripton: Reads text."), "{}", run.stdout);
    assert!(run.stderr.contains("1 tool: 1 error"), "{}", run.stderr);
    assert!(!run.stdout.contains('\u{1b}'), "colours in a pipe");
}

#[test]
fn exit_codes() {
    let check = |files: &[(&str, &str)], more: &[&str], expect: i32| {
        let folder = fixture::folder(files);
        let run = fixture::run(&[&["check", text(folder.path())], more].concat());
        assert_eq!(run.code, expect, "{files:?} {more:?}\n{}{}", run.stdout, run.stderr);
    };
    let warned = "name: a\nparameters: {type: object}\n";
    check(&[("a.yaml", GOOD)], &[], 0);
    check(&[("a.yaml", GOOD)], &["--strict"], 0);
    check(&[("a.yaml", warned)], &[], 0);
    check(&[("a.yaml", warned)], &["--strict"], 1);
    check(&[("a.yaml", "name: a\ndescription: Reads text.\n")], &[], 1);
    check(&[("a.yaml", "name: a: b\n")], &[], 1);
    check(&[("a.yaml", GOOD)], &["--no-such-flag"], 2);
    assert_eq!(fixture::run(&["check", "no/such/folder"]).code, 2);
    assert_eq!(fixture::run(&[]).code, 2);
    assert_eq!(fixture::run(&["--help"]).code, 0);
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
fn the_examples_have_no_errors() {
    for example in ["examples/universal-agent", "examples/buildos", "examples/github", "starter"] {
        let run = fixture::run(&["check", example]);
        assert_eq!(run.code, 0, "{example}\n{}", run.stdout);
    }
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
    let schema = serde_json::json!({
        "type": "object", "required": ["pth"],
        "properties": {
            "path": {"type": "strng", "description": "P."},
            "mode": {"enum": ["fast", "slow"], "default": "quick", "description": "M."},
            "when": {"type": "string", "format": "date-tme", "description": "W."},
            "own": {"type": "string", "format": "snowflake", "description": "O."},
        },
        "allOf": [{"required": ["elsewhere"]}],
    });
    let tools = |schema: &serde_json::Value| {
        serde_json::json!([{"name": "a", "description": "Reads the file.", "parameters": schema}]).to_string()
    };
    let told = |schema: &serde_json::Value| -> Vec<String> {
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
fn a_syntax_error_shows_its_line() {
    let folder = fixture::folder(&[("tools.yaml", "- name: x\n  description: \"abc\n  parameters: {}\n")]);
    let run = fixture::run(&["check", fixture::text(folder.path())]);
    assert!(
        run.stdout.contains("tools.yaml:3:3") && run.stdout.contains("3 |   parameters: {}"),
        "{}",
        run.stdout
    );
}

#[test]
fn a_name_that_is_empty_is_told_as_such() {
    let tools = r#"[{"name": "", "inputSchema": {}}, {"nme": "a", "inputSchema": {}}, {"name": "b", "inputSchema": {}}]"#;
    let checked = fixture::open_text("tools.json", tools);
    let nameless = checked.findings.iter().filter(|finding| finding.code.as_str() == "definition-invalid");
    let help: Vec<&str> = nameless.filter_map(|finding| finding.help.as_deref()).collect();
    assert_eq!(help, ["its `name` is empty, or no text: name it by what it does", "write `name` for `nme`"]);
}

/// A catalog in a folder below the working folder, with an error and a name that needs escaping.
fn faulty() -> TempDir {
    fixture::folder(&[(
        "sub dir/a,b.json",
        "[{\"name\": \"x\", \"parameters\": {\"type\": \"object\", \"additionalProperties\": false}, \"examples\": [{\"arguments\": {\"b\": 1}}]}, {\"name\": \"y\"}]",
    )])
}

fn run_in(folder: &TempDir, arguments: &[&str]) -> fixture::Run {
    fixture::ended(fixture::program(arguments).current_dir(folder.path()).output().unwrap())
}

#[test]
fn findings_for_github_name_the_file_from_the_working_folder() {
    let folder = faulty();
    let run = run_in(&folder, &["check", "sub dir", "--format", "github"]);
    assert_eq!(run.code, 1, "{}", run.stderr);
    let lines: Vec<&str> = run.stdout.lines().collect();
    assert!(
        !lines.is_empty()
            && lines.iter().all(|line| line.starts_with("::error ") || line.starts_with("::warning "))
    );
    assert!(lines[0].contains("file=sub dir/a%2Cb.json,line=1,col="), "{}", lines[0]);
    assert!(lines[0].contains(",title=") && lines[0].contains("%0Ahelp: "), "{}", lines[0]);
}

#[test]
fn sarif_holds_to_its_schema() {
    let schema = include_str!("../data/schemas/sarif-2.1.0.json");
    let schema: Value = serde_json::from_str(schema).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    for folder in [faulty(), fixture::folder(&[("tools.json", "[]")])] {
        let run = run_in(&folder, &["check", ".", "--format", "sarif", "--verbose"]);
        let sarif: Value = serde_json::from_str(&run.stdout).unwrap();
        let mistakes: Vec<String> = validator.iter_errors(&sarif).map(|error| error.to_string()).collect();
        assert!(mistakes.is_empty(), "{mistakes:?}");
    }
    let folder = faulty();
    let run = run_in(&folder, &["check", "sub dir", "--format", "sarif"]);
    let sarif: Value = serde_json::from_str(&run.stdout).unwrap();
    let result = &sarif["runs"][0]["results"][0];
    let rule = result["ruleIndex"].as_u64().unwrap() as usize;
    assert_eq!(sarif["runs"][0]["tool"]["driver"]["rules"][rule]["id"], result["ruleId"]);
    let place = &result["locations"][0]["physicalLocation"];
    assert_eq!(place["artifactLocation"]["uri"], "sub%20dir/a%2Cb.json");
    assert_eq!(place["region"]["startLine"], 1);
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
        let mut schemas = checked.catalog.tools.iter().map(|tool| tool.parameters.schema());
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
fn only_lost_tools_and_arguments_fail_commands_that_write() {
    let run = |tools: Value, expect: i32| {
        let folder = fixture::folder(&[("tools.json", &tools.to_string())]);
        let root = text(folder.path());
        let (out, workspace) = (folder.path().join("out"), folder.path().join("workspace"));
        for command in [
            vec!["render", root, "--out", text(&out)],
            vec!["seed", text(&workspace), root],
            vec!["payload", root, "--provider", "openai"],
        ] {
            let run = fixture::run(&command);
            assert_eq!(run.code, expect, "{command:?} {tools}: {}", run.stderr);
        }
    };
    let tool = |more: Value| {
        let mut tool = json!({"name": "a", "description": "Reads it.", "parameters": {"type": "object", "properties": {"n": {"type": "integer"}}}});
        tool.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        json!([tool])
    };
    run(tool(json!({"parameters": {"type": "object", "properties": {"n": 5}}})), 0);
    run(tool(json!({"examples": [{"arguments": {"n": "many"}}]})), 0);
    run(tool(json!({"effect": "writes", "colour": "red"})), 0);
    run(tool(json!({"parameters": {"type": "object", "properties": "n"}})), 1);
    run(tool(json!({"parameters": 5})), 1);
    run(
        json!([{"description": "no name", "parameters": {"type": "object"}}, {"name": "b", "parameters": {"type": "object"}}]),
        1,
    );
}
