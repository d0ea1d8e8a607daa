//! `toolcrib eval`: labelled queries are read leniently and checked, measures are right, thresholds fail what is below.

mod sets;

use std::fs;

use serde_json::{Value, json};
use snapbox::assert::{Action, DEFAULT_ACTION_ENV};
use tempfile::TempDir;
use toolcrib::report::retrieval::{self, LabelFile, Labels};
use toolcrib::search::{Hit, SearchResult, Verdict};

use crate::fixture::{self, Run, run, text};

const TOOLS: &str = r#"
- { name: create_issue, op: forge.issue.create, aliases: [open_ticket], description: Opens an issue., parameters: { type: object } }
- { name: list.pages, description: Lists the pages of the wiki., parameters: { type: object } }
- { name: delete_page, description: Deletes one page of the wiki., parameters: { type: object } }
"#;

/// A catalog with labels beside it, and a configuration that ends like this.
fn catalog(labels: &[u8], eval: &str) -> TempDir {
    let config = format!("[[source]]\npath = \"tools.yaml\"\n\n{eval}");
    let folder = fixture::folder(&[("tools.yaml", TOOLS), ("toolcrib.toml", &config)]);
    fs::write(folder.path().join("labels.jsonl"), labels).unwrap();
    folder
}

/// Runs `eval` on a catalog, with these arguments more.
fn eval(folder: &TempDir, more: &[&str]) -> Run {
    run(&[&["eval", text(folder.path())], more].concat())
}

/// Runs `eval` on these labels; they stand beside the catalog.
fn eval_json(labels: &str) -> Value {
    let folder = catalog(labels.as_bytes(), "[eval]\nqueries = [\"labels.jsonl\"]");
    serde_json::from_str(&eval(&folder, &["--json"]).stdout).unwrap()
}

/// The findings of `check` about labels: code, line, column, message, help.
fn checked(folder: &TempDir) -> (i32, Vec<Value>) {
    let run = run(&["check", "--json", text(folder.path())]);
    let report: Value = serde_json::from_str(&run.stdout).unwrap();
    let about = |finding: &&Value| finding["code"].as_str().unwrap().starts_with("label-");
    (run.code, report["findings"].as_array().unwrap().iter().filter(about).cloned().collect())
}

const RIGHT: &str = r#"{"query": "create_issue", "gold": ["create_issue"]}
{"query": "list.pages", "gold": ["list.pages"], "note": "an exact name", "id": 17}
{"query": "xyzzy plugh", "gold": []}
"#;

#[test]
fn what_is_found_counts_and_what_none_serves_should_not_be() {
    let report = eval_json(RIGHT);
    let row = &report["files"][0];
    assert_eq!((&row["queries"], &row["unanswerable"]), (&json!(3), &json!(1)));
    for measure in ["recall_1", "recall_5", "ndcg", "refused", "recall_5_answered"] {
        assert_eq!(row[measure], json!(1.0), "{measure}");
    }
    assert_eq!(row["wrong_no_match"], json!(0.0));
    assert_eq!((&report["worst"], &report["missed"]), (&json!([]), &json!([])));
    assert_eq!((&report["tools"], &report["unusable_labels"]), (&json!(3), &json!(0)));
    assert!(report["registry_version"].is_string());
}

#[test]
fn gold_may_be_any_name_and_each_tool_counts_once() {
    let report = eval_json(
        r#"{"query": "create_issue", "gold": ["open_ticket", "forge.issue.create", "create_issue"]}
{"query": "list.pages", "gold": ["list_pages"]}"#,
    );
    let row = &report["files"][0];
    assert_eq!((&row["queries"], &row["recall_1"]), (&json!(2), &json!(1.0)));
}

#[test]
fn below_a_threshold_is_exit_code_1_and_says_which() {
    let labels = "{\"query\": \"create_issue\", \"gold\": [\"delete_page\"]}\n";
    let folder =
        catalog(labels.as_bytes(), "[eval]\nqueries = [\"labels.jsonl\"]\nat_least = { recall_1 = 90 }");
    let run = eval(&folder, &[]);
    assert_eq!(run.code, 1, "{}", run.stderr);
    assert!(run.stderr.contains("labels.jsonl: recall_1 is 0.0 %, below 90"), "{}", run.stderr);
    assert!(
        run.stdout.contains("labels.jsonl:1  create_issue") && run.stdout.contains("wanted  delete_page")
    );
    // The command line wins; files named there have no configured thresholds.
    assert_eq!(eval(&folder, &["--at-least", "recall_1=0"]).code, 0);
    let file = folder.path().join("labels.jsonl");
    assert_eq!(eval(&folder, &["--queries", text(&file)]).code, 0);
    let run = eval(&folder, &["--queries", text(&file), "--at-least", "ndcg=100,recall_1=50", "--json"]);
    assert_eq!(run.code, 1);
    let report: Value = serde_json::from_str(&run.stdout).unwrap();
    let missed = report["missed"].as_array().unwrap();
    assert!(missed.len() == 2 && missed[0].as_str().unwrap().contains(": ndcg is "), "{missed:?}");
}

#[test]
fn a_threshold_that_nothing_can_tell_is_not_reached() {
    let folder = catalog(b"{\"query\": \"create_issue\", \"gold\": [\"create_issue\"]}", "");
    let file = folder.path().join("labels.jsonl");
    let run = eval(&folder, &["--queries", text(&file), "--at-least", "refused=50"]);
    assert_eq!(run.code, 1);
    assert!(run.stderr.contains("refused cannot be measured"), "{}", run.stderr);
}

#[test]
fn queries_of_others_are_unanswerable_whatever_they_name() {
    let folder = catalog(RIGHT.as_bytes(), "[eval]\nqueries = [\"labels.jsonl\"]");
    let others = "{\"query\": \"xyzzy\", \"gold\": [\"somewhere_else\"]}\n{\"query\": \"frotz\"}\n";
    fixture::write(folder.path(), "others.jsonl", others);
    let (mine, others) = (folder.path().join("labels.jsonl"), folder.path().join("others.jsonl"));
    let both =
        ["--queries", text(&mine), "--unanswerable", text(&others), "--at-least", "refused=100", "--json"];
    let run = eval(&folder, &both);
    assert_eq!(run.code, 0, "{}", run.stderr);
    let report: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(
        (&report["files"][1]["unanswerable"], &report["files"][1]["recall_5"]),
        (&json!(2), &Value::Null)
    );
    assert_eq!(report["files"][1]["refused"], json!(1.0));
}

#[test]
fn a_bad_line_is_a_finding_and_takes_no_good_one_down() {
    let mut labels =
        b"\xEF\xBB\xBF{\"query\": \"create_issue\", \"gold\": [\"create_issue\"]}\r\n\n".to_vec();
    labels.extend(b"{\"query\": \"pages\", \"gold\": \"list.pages\"}\n"); // 3: no list
    labels.extend(b"{\"query\": \" \", \"gold\": []}\n"); // 4: empty
    labels.extend(b"{\"query\": \"a\xFF\", \"gold\": []}\n"); // 5: not UTF-8
    labels.extend(b"{\"query\": \"pages\"}\n"); // 6: nothing said of what serves it
    labels.extend(b"  {\"query\": \"pages\", \"gold\": [\"list.pages\"}\n"); // 7: wrong JSON
    labels.extend(format!("{{\"query\": \"{}\", \"gold\": []}}\n", "x ".repeat(100_000)).bytes()); // 8: huge
    labels.extend(b"[\"pages\"]\n"); // 9: no object
    labels.extend("[".repeat(30_000).bytes()); // 10: deep
    labels.extend(b"\n{\"query\": \"delete_page\", \"gold\": [\"delete_page\"]}"); // 11: good, without a line end
    let folder = catalog(&labels, "[eval]\nqueries = [\"labels.jsonl\"]");
    let (code, findings) = checked(&folder);
    assert_eq!(code, 1);
    let lines: Vec<&Value> = findings.iter().map(|finding| &finding["line"]).collect();
    assert_eq!(lines, [3, 4, 5, 6, 7, 8, 9, 10], "{findings:#?}");
    assert!(findings.iter().all(|finding| finding["code"] == "label-invalid"), "{findings:#?}");
    assert!(findings.iter().all(|finding| finding["message"].as_str().unwrap().len() < 200));
    assert_eq!((&findings[4]["file"], &findings[4]["column"]), (&json!("labels.jsonl"), &json!(43)));
    let run = eval(&folder, &["--json"]);
    let report: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!((run.code, &report["files"][0]["queries"]), (1, &json!(2)), "{}", run.stderr);
    assert_eq!((&report["files"][0]["recall_1"], &report["unusable_labels"]), (&json!(1.0), &json!(8)));
    assert!(
        run.stderr.contains("labels.jsonl:7:43") && run.stderr.contains("not all labels"),
        "{}",
        run.stderr
    );
}

#[test]
fn labels_are_checked_against_the_names_of_the_catalog() {
    let labels = r#"{"query": "new issue", "gold": ["create_issue", "craete_isue"]}
{"query": "pages", "gold": ["show_everything"]}
"#;
    let folder = catalog(labels.as_bytes(), "[eval]\nqueries = [\"labels.jsonl\", \"gone.jsonl\"]");
    let (code, findings) = checked(&folder);
    assert_eq!(code, 1);
    let told: Vec<[&Value; 4]> =
        findings.iter().map(|one| ["code", "file", "line", "column"].map(|key| &one[key])).collect();
    let expect = [
        json!(["label-unknown", "labels.jsonl", 1, 49]),
        json!(["label-unknown", "labels.jsonl", 2, 29]),
        json!(["label-invalid", "toolcrib.toml", 5, 28]),
    ];
    assert_eq!(json!(told), json!(expect));
    assert_eq!(findings[0]["help"], "did you mean `create_issue`?");
    // A query without any tool that is known must not turn into one that no tool serves.
    let run = eval(&folder, &["--json"]);
    let report: Value = serde_json::from_str(&run.stdout).unwrap();
    let row = &report["files"][0];
    assert_eq!((run.code, &row["queries"], &row["unanswerable"]), (1, &json!(1), &json!(0)));
    // Severities are configured as everywhere.
    let quiet = "[lint.severity]\nlabel-unknown = \"off\"\nlabel-invalid = \"info\"\n\n[eval]\nqueries = [\"labels.jsonl\"]";
    let folder = catalog(labels.as_bytes(), quiet);
    assert_eq!(checked(&folder).0, 0);
    assert_eq!(eval(&folder, &[]).code, 0);
}

#[test]
fn a_command_line_that_means_nothing() {
    let folder = catalog(b"", "");
    for (arguments, says) in [
        (&[][..], "there are no labelled queries"),
        (&["--queries", "nowhere.jsonl"], "there are no labelled queries at nowhere.jsonl"),
        (&["--queries", "README.md", "--at-least", "recall_5=120"], "a percentage from 0 to 100"),
        (&["--queries", "README.md", "--at-least", "recall_5=0.8"], "write 80"),
        (&["--queries", "README.md", "--at-least", "recall_4=90"], "there are recall_1, recall_5, ndcg"),
    ] {
        let run = eval(&folder, arguments);
        assert_eq!(run.code, 2, "{arguments:?}: {}", run.stderr);
        assert!(run.stderr.contains(says), "{arguments:?}: {}", run.stderr);
    }
}

#[test]
fn what_labels_hold_never_steers_a_terminal() {
    let labels = "{\"query\": \"\\u001b[31mred\\nforged: line\", \"gold\": [\"delete_page\"], \"note\": \"a\\u202eb\"}\n";
    let folder = catalog(labels.as_bytes(), "[eval]\nqueries = [\"labels.jsonl\"]");
    let out = eval(&folder, &[]).stdout;
    assert!(!out.contains(['\u{1b}', '\u{202e}']) && !out.contains("\nforged"), "{out}");
}

#[test]
fn the_same_labels_give_the_same_report() {
    for name in ["examples/buildos", "examples/github"] {
        let [one, other] = [0, 1].map(|_| run(&["eval", "--json", name]));
        assert_eq!(one.code, 0, "{}", one.stderr);
        assert_eq!(one.stdout, other.stdout);
    }
}

/// The labels of a text, against a catalog of ten tools that go by their places: `tool_0` and so on.
fn labelled(folder: &TempDir, lines: &[Value]) -> Labels {
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    let path = folder.path().join("labels.jsonl");
    fs::write(&path, text).unwrap();
    let file = LabelFile { path, shown: "labels.jsonl".into(), is_unanswerable: false, named_at: None };
    file.read(&ten_tools().catalog)
}

fn ten_tools() -> toolcrib::catalog::Checked {
    let tools: Vec<Value> = (0..10)
        .map(|number| json!({"name": format!("tool_{number}"), "description": "Does.", "parameters": {"type": "object"}}))
        .collect();
    fixture::open_text("tools.json", &Value::from(tools).to_string())
}

/// Finds what the query says: places and confidences, `3:0.9 1:0.5`; with `-` in front, that nothing fits.
fn as_told(query: &str) -> SearchResult {
    let hits = query.split_whitespace().filter_map(|word| word.split_once(':'));
    let hit = |(entry, confidence): (&str, &str)| Hit {
        entry: entry.parse().unwrap(),
        score: 1.0,
        confidence: confidence.parse().unwrap(),
        reason: String::new(),
    };
    let verdict = if query.starts_with('-') { Verdict::NoMatch } else { Verdict::Match };
    SearchResult { verdict, hits: hits.map(hit).collect() }
}

#[test]
fn a_known_ranking_by_hand() {
    let folder = tempfile::tempdir().unwrap();
    let labels = labelled(
        &folder,
        &[
            json!({"query": "3:0.95 1:0.5", "gold": ["tool_3"]}),
            json!({"query": "0:0.75 1:0.5 2:0.4", "gold": ["tool_2", "tool_9"]}),
            json!({"query": "- 4:0.25", "gold": ["tool_4"]}),
            json!({"query": "5:0.85", "gold": []}),
            json!({"query": "- 6:0.15", "gold": []}),
            json!({"query": "7:0.3 8:0.2", "gold": ["tool_8"]}),
        ],
    );
    let checked = ten_tools();
    let report = retrieval::evaluate(&checked.catalog, &[labels], &as_told, 10, &|| {});
    let row = &report.files[0];
    let close = |name: &str, expect: f64| {
        let got = row.measures[name].unwrap();
        assert!((got - expect).abs() < 1e-6, "{name}: {got} and not {expect}");
    };
    close("recall_1", 2.0 / 4.0);
    close("recall_5", 3.5 / 4.0);
    let third = 0.5 / (1.0 + 1.0 / 3f64.log2());
    close("ndcg", (1.0 + third + 1.0 + 1.0 / 3f64.log2()) / 4.0);
    close("refused", 0.5);
    close("wrong_no_match", 0.25);
    close("recall_5_answered", 2.5 / 4.0);
    // Nothing at all first, the more confident before the less; then what came too late.
    let lines: Vec<usize> = report.worst.iter().map(|wrong| wrong.line).collect();
    assert_eq!(lines, [4, 3, 2, 6]);
    let second = &report.worst[2];
    assert_eq!(second.gold, [("tool_2".to_string(), Some(3)), ("tool_9".to_string(), None)]);
    assert_eq!((second.verdict, second.hits[0].0.as_str()), ("match", "tool_0"));
}

#[test]
fn the_page_on_search_shows_what_is_printed() {
    let command: &[&str] = &["eval", "examples/buildos", "--worst", "1"];
    shows("docs/search.md", "eval", &[command]);
}

#[test]
fn the_page_on_search_shows_a_match_and_none() {
    let fits = ["search", "move a document under a folder", "examples/buildos", "--limit", "2"];
    let nothing = ["search", "water the plants", "examples/github"];
    shows("docs/search.md", "search", &[&fits, &nothing]);
}

/// Whether a page has, between its markers, what these commands print.
#[track_caller]
fn shows(page: &str, marker: &str, commands: &[&[&str]]) {
    let path = fixture::package().join(page);
    let text = fs::read_to_string(&path).unwrap();
    let [begin, end] = ["begin", "end"].map(|edge| format!("<!-- {marker}:{edge} -->\n"));
    let (before, rest) = text.split_once(&begin).expect("the marker before the transcript");
    let (shown, after) = rest.split_once(&end).expect("the marker after the transcript");
    let quoted = |word: &&str| if word.contains(' ') { format!("\"{word}\"") } else { word.to_string() };
    let printed = commands.iter().map(|command| {
        let typed: Vec<String> = command.iter().map(quoted).collect();
        format!("$ toolcrib {}\n{}", typed.join(" "), run(command).stdout)
    });
    let printed = format!("```text\n{}```\n", printed.collect::<Vec<_>>().join("\n"));
    if matches!(Action::with_env_var(DEFAULT_ACTION_ENV), Some(Action::Overwrite)) {
        fs::write(&path, [before, &begin, &printed, &end, after].concat()).unwrap();
        return;
    }
    assert_eq!(shown, printed, "renew it: SNAPSHOTS=overwrite cargo test --test it eval::the_page");
}
