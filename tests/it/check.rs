//! `toolcrib check`: the report, exit codes, and what fails other commands. Each finding code from the smallest input that causes
//! it is in `crates/catalog/tests/open/findings/`.

use std::collections::BTreeSet;
use std::fs::File;

use serde_json::{Value, json};
use tempfile::TempDir;
use toolcrib::catalog::Checked;
use toolcrib::finding::Code;

use crate::fixture::{self, text};

/// A definition without any fault.
pub const GOOD: &str = "name: read_file\ndescription: Reads text from disk.\nparameters: {type: object}\n";

#[test]
fn a_file_over_the_limit_fails() {
    let folder = fixture::folder(&[
        ("b.yaml", GOOD),
        ("toolcrib.toml", "[[source]]\npath = \"a.json\"\n\n[[source]]\npath = \"b.yaml\"\n"),
    ]);
    File::create(folder.path().join("a.json")).unwrap().set_len(65 << 20).unwrap();
    assert_eq!(fixture::run(&["check", text(folder.path())]).code, 1);
}

#[test]
fn a_program_says_what_it_was_built_with_and_what_a_configuration_lacks() {
    let settings =
        "[state]\nurl = \"postgres://db/tools\"\n\n[telemetry]\notlp = \"http://localhost:4318\"\n";
    let folder = fixture::folder(&[("a.yaml", GOOD), ("toolcrib.toml", settings)]);
    let checked = fixture::run(&["check", text(folder.path())]);
    let version = fixture::run(&["--version"]).stdout;
    assert!(version.starts_with(&format!("toolcrib {}", env!("CARGO_PKG_VERSION"))), "{version}");
    for (name, has) in [("postgres", cfg!(feature = "postgres")), ("otel", cfg!(feature = "otel"))] {
        let told = checked.stderr.contains(&format!("with the feature `{name}`"));
        assert_eq!((version.contains(name), told), (has, !has), "{version}{}", checked.stderr);
    }
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
fn the_examples_have_no_errors() {
    for example in ["examples/universal-agent", "examples/buildos", "examples/github", "starter"] {
        let run = fixture::run(&["check", example]);
        assert_eq!(run.code, 0, "{example}\n{}", run.stdout);
    }
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
fn a_short_finding_is_a_line_that_editors_jump_to() {
    let folder = faulty();
    let run = run_in(&folder, &["check", "sub dir", "--format", "short"]);
    assert_eq!(run.code, 1, "{}", run.stderr);
    let is_short = |line: &str| {
        let rest = line.strip_prefix("sub dir/a,b.json:1:").unwrap_or_default();
        let severity = rest.split(": ").nth(1);
        matches!(severity, Some("error" | "warning")) && rest.ends_with(']')
    };
    assert!(run.stdout.lines().count() > 1 && run.stdout.lines().all(is_short), "{}", run.stdout);
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

#[test]
fn a_repaired_value_fails_check_and_no_command_that_writes() {
    let document = json!({
        "openapi": "3.0.0", "info": {"title": "T", "version": "1"},
        "paths": {"/x": {"delete": {
            "operationId": "delete_x", "description": "Deletes the x of this name.",
            "parameters": [{"name": "force", "in": "query", "required": "true", "schema": {"type": "boolean"}}],
            "requestBody": {"required": "true", "content": {"application/json": {"schema": {
                "type": "object", "required": "name",
                "properties": {"name": {"type": "string", "maxLength": "10", "nullable": "true"}},
            }}}},
            "responses": {},
        }}},
    });
    let folder = fixture::folder(&[("api.json", &document.to_string())]);
    let catalog = folder.path().join("api.json");
    let run = |command: &[&str]| fixture::run(&[command, &[text(&catalog)]].concat()).code;
    let out = folder.path().join("out");
    assert_eq!(run(&["render", "--out", text(&out)]), 0);
    assert_eq!(run(&["seed", text(&folder.path().join("workspace"))]), 0);
    assert_eq!(run(&["check"]), 1);
}

#[test]
fn derived_structure_is_told_and_can_be_kept() {
    let names = ["create_issue", "list_issues", "get_issue"];
    let tools: Vec<Value> = names.iter().map(|name| json!({"name": name, "parameters": {}})).collect();
    let root = fixture::folder(&[("tools.json", &json!(tools).to_string())]);
    let is_told =
        |checked: &Checked| fixture::codes(checked).iter().any(|(code, ..)| *code == "category-derived");
    assert!(is_told(&fixture::open(root.path())));
    let lines = fixture::run(&["check", "--suggest", text(root.path())]).stdout;
    assert_eq!(
        lines,
        "[[overlay]]\nmatch = [\"create_issue\", \"list_issues\", \"get_issue\"]\ncategory = \"Issues\"\n"
    );
    fixture::write(root.path(), "toolcrib.toml", &lines);
    let kept = fixture::open(root.path());
    assert!(!is_told(&kept));
    assert_eq!(kept.catalog.named("get_issue").unwrap().category().to_string(), "Issues");
}
