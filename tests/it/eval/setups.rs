//! `eval --setup`: every setup that can be configured is measured, side by side with the first.

use serde_json::{Value, json};
use tempfile::TempDir;

use super::eval;
use crate::fixture::{self, Run, run_with, text};
use crate::repair::{http, server};
use crate::semantic::{KEY, Mode, TOOLS, Vectors};

const LABELS: &str = r#"{"query": "quaxolotl coming?", "gold": ["get_forecast"]}
{"query": "refund a customer", "gold": ["refund_payment"]}
{"query": "plimthorg", "gold": ["create_branch"]}
{"query": "zzyzx", "gold": []}
"#;

/// A catalog whose words know one of three queries, and its vectors all; with these models.
fn catalog(vectors: Option<&str>, llm: Option<&str>) -> TempDir {
    let mut config = "[eval]\nqueries = [\"labels.jsonl\"]\n".to_string();
    if let Some(url) = vectors {
        config +=
            &format!("[search.semantic]\nurl = \"{url}\"\nmodel = \"small\"\nkey_env = \"VECTORS_KEY\"\n");
    }
    if let Some(url) = llm {
        config += &format!("[search.llm]\nurl = \"{url}\"\nmodel = \"judge\"\n");
    }
    fixture::folder(&[("tools.json", TOOLS), ("toolcrib.toml", &config), ("labels.jsonl", LABELS)])
}

fn measured(folder: &TempDir, more: &[&str]) -> (Value, Run) {
    let command = ["eval", text(folder.path())];
    let run = run_with(&[&command, more].concat(), "", &[("VECTORS_KEY", KEY)]);
    (serde_json::from_str(&run.stdout).unwrap_or_default(), run)
}

/// An answer of a chat model, with its tokens.
fn says(content: &str) -> String {
    let usage = json!({"prompt_tokens": 100, "completion_tokens": 7});
    http("200 OK", &json!({"choices": [{"message": {"content": content}}], "usage": usage}).to_string())
}

#[test]
fn every_configured_setup_is_measured_side_by_side() {
    let vectors = Vectors::serve();
    // The tools are numbered as words rank them, and without words in their order.
    let (url, asked) = server(["{\"2\": 0.9}", "{\"1\": 1}", "{\"1\": 1}", "{}"].map(says).into());
    let folder = catalog(Some(&vectors.url), Some(&url));
    let (report, run) = measured(&folder, &["--setup", "all", "--at-once", "1", "--json"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    let setups = report["setups"].as_array().unwrap();
    let told: Vec<(&str, &Value, &Value)> = setups
        .iter()
        .map(|one| (one["setup"].as_str().unwrap(), &one["mean"]["recall_1"], &one["mean"]["abstention"]))
        .collect();
    let (third, two, all) = (json!(1.0 / 3.0), json!(2.0 / 3.0), json!(1.0));
    let expect = [
        ("words", &third, &all),
        ("vectors", &all, &all),
        ("fused", &all, &all),
        ("pick:keyword", &third, &all),
        ("pick:embedding", &all, &all),
        ("pick:hybrid", &all, &all),
        ("pick:llm", &two, &all),
    ];
    assert_eq!(told, expect);
    assert!(setups[0].get("difference").is_none());
    let fused = &setups[2]["difference"];
    assert_eq!((&fused["to"], &fused["files"][0]), (&json!("words"), &fused["mean"]));
    assert_eq!(fused["mean"]["recall_1"]["difference"], json!(2.0 / 3.0));
    assert_eq!(fused["mean"]["recall_1"]["high"], json!(1.0));
    let same = json!({"difference": 0.0, "low": 0.0, "high": 0.0});
    assert_eq!(
        (&setups[3]["difference"]["mean"]["mrr"], setups[3]["difference"]["mean"].get("ece")),
        (&same, None)
    );
    // Four queries; their vectors are asked for once.
    let chat = json!({"model": "judge", "calls": 4, "failed": 0, "input_tokens": 400, "output_tokens": 28});
    assert_eq!((&report["models"][0]["model"], &report["models"][1]), (&json!("small"), &chat));
    assert!(run.stderr.contains("judge: 4 calls; 400 tokens read, 28 written"), "{}", run.stderr);
    assert_eq!(asked.iter().count(), 4);
    assert_eq!(vectors.asked().iter().filter(|text| text.as_str() == "plimthorg").count(), 1);

    // The first is what is measured without the option, which asks no model.
    let (plain, _) = measured(&folder, &["--json"]);
    for field in ["registry_version", "files", "mean", "calibration", "worst"] {
        assert_eq!(setups[0][field], plain[field], "{field}");
    }
    assert!(vectors.asked().is_empty());
}

#[test]
fn the_table_has_each_setup_and_its_difference_to_the_first_and_is_the_same_again() {
    let vectors = Vectors::serve();
    let folder = catalog(Some(&vectors.url), None);
    let arguments = ["--setup", "words", "--setup", "fused", "--setup", "words", "--at-once", "3"];
    let [one, other] = [0, 1].map(|_| measured(&folder, &arguments).1);
    assert_eq!((one.code, &one.stdout), (0, &other.stdout), "{}", one.stderr);
    let line = |beginning: &str| {
        let lines: Vec<&str> = one.stdout.lines().filter(|line| line.starts_with(beginning)).collect();
        assert_eq!(lines.len(), 1, "{beginning}: {}", one.stdout);
        lines[0].split_whitespace().collect::<Vec<_>>().join(" ")
    };
    assert!(line("labels.jsonl  words").starts_with("labels.jsonl words 4 1 33.3 33.3"));
    assert!(line("labels.jsonl  fused").starts_with("labels.jsonl fused 4 1 100.0 100.0"));
    assert!(line("difference to words").ends_with("R@1 R@5 NDCG@10 MRR no_match"));
    assert!(line("fused").starts_with("fused +66.7 (0.0 to +100.0)"), "{}", one.stdout);
    assert!(one.stdout.contains("Worst of words first:") && one.stdout.contains("paired bootstrap"));
}

#[test]
fn a_setup_without_its_model_says_which_lines_to_add() {
    let folder = catalog(None, None);
    for (setup, lines) in [
        ("vectors", "[search.semantic]\n    url = "),
        ("fused", "[search.semantic]\n    url = "),
        ("pick:hybrid", "[search.semantic]\n    url = "),
        ("pick:llm", "[search.llm]\n    url = "),
    ] {
        let (_, run) = measured(&folder, &["--setup", "words", "--setup", setup]);
        assert_eq!((run.code, run.stdout.as_str()), (2, ""), "{setup}");
        assert!(run.stderr.contains(lines) && run.stderr.contains(setup), "{}", run.stderr);
    }
    let (_, run) = measured(&folder, &["--setup", "pick:keywrod"]);
    assert!(run.code == 2 && run.stderr.contains("a similar value exists: 'pick:keyword'"), "{}", run.stderr);
    let (all, run) = measured(&folder, &["--setup", "all", "--json"]);
    let setups: Vec<&Value> = all["setups"].as_array().unwrap().iter().map(|one| &one["setup"]).collect();
    assert_eq!((run.code, setups), (0, vec![&json!("words"), &json!("pick:keyword")]));
    assert_eq!(all["models"], json!([]));
    let folder = catalog(Some("http://127.0.0.1:1"), None);
    let (_, run) = measured(&folder, &["--setup", "fused", "--offline"]);
    assert!(run.code == 2 && run.stderr.contains("with --offline, no model is asked"), "{}", run.stderr);
}

#[test]
fn thresholds_hold_for_the_first_setup() {
    let vectors = Vectors::serve();
    let folder = catalog(Some(&vectors.url), None);
    let with = |setups: [&str; 2]| {
        let [one, other] = setups;
        measured(&folder, &["--setup", one, "--setup", other, "--min-recall-1", "0.9", "--json"])
    };
    let (report, run) = with(["words", "fused"]);
    assert_eq!((run.code, &report["missed"][0]["measure"]), (1, &json!("recall_1")));
    let (report, run) = with(["fused", "words"]);
    assert_eq!((run.code, &report["missed"]), (0, &json!([])), "{}", run.stderr);
}

#[test]
fn a_model_that_does_not_answer_is_told_and_fails_the_run() {
    let vectors = Vectors::serve();
    vectors.set(Mode::Answers(500, String::new(), "{}".into()));
    let (_, run) = measured(&catalog(Some(&vectors.url), None), &["--setup", "words", "--setup", "fused"]);
    assert_eq!((run.code, run.stdout.as_str()), (1, ""), "{}", run.stderr);
    assert!(
        run.stderr.contains("`fused` has no answer from its model, and nothing was measured"),
        "{}",
        run.stderr
    );

    // Once it has answered, a failure is tried again; after that, words count, as in `pick`.
    let broken = || http("500 X", "{}");
    let answers = vec![says("{}"), broken(), says("{}"), broken(), broken(), says("{}")];
    let (url, _asked) = server(answers);
    let (report, run) =
        measured(&catalog(None, Some(&url)), &["--setup", "pick:llm", "--at-once", "1", "--json"]);
    assert_eq!((run.code, &report["setups"][0]["unanswered_by_model"]), (1, &json!(1)), "{}", run.stderr);
    assert_eq!((&report["models"][0]["calls"], &report["models"][0]["failed"]), (&json!(6), &json!(3)));
    assert!(run.stderr.contains("not all queries were answered"), "{}", run.stderr);
}

#[test]
fn one_setup_alone_has_no_difference() {
    let folder = fixture::folder(&[("tools.json", TOOLS), ("labels.jsonl", LABELS)]);
    let labels = folder.path().join("labels.jsonl");
    let run = eval(&folder, &["--queries", text(&labels), "--setup", "pick:keyword"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert!(run.stdout.contains("pick:keyword") && !run.stdout.contains("difference"), "{}", run.stdout);
}
