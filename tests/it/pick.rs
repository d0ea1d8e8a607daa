//! `pick` and `payload --pick`: the few tools that an input may need.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use toolcrib::search::pick::{Options, Scored, scores};
use toolcrib::search::{Index, IndexEntry, SearchRequest};

use crate::fixture::{self, run, text};

const TOOLS: &str = r#"[
  {"name": "refund_payment", "description": "Refund a customer.", "effect": "write", "parameters": {"type": "object", "properties": {"amount": {"type": "number"}}, "required": ["amount"]}},
  {"name": "list_orders", "description": "List the orders of a customer.", "effect": "read", "parameters": {"type": "object", "properties": {}}},
  {"name": "drop_database", "description": "Drop a database.", "effect": "destructive", "safe": false, "parameters": {"type": "object", "properties": {}}},
  {"name": "get_forecast", "description": "Weather of tomorrow.", "effect": "read", "parameters": {"type": "object", "properties": {}}}
]"#;

fn names(payload: &Value) -> Vec<&str> {
    let tools = payload["tools"].as_array().map(Vec::as_slice).unwrap_or_default();
    tools.iter().map(|tool| tool["function"]["name"].as_str().unwrap()).collect()
}

fn payload(more: &[&str]) -> (Value, fixture::Run) {
    let folder = fixture::folder(&[("tools.json", TOOLS)]);
    let command = ["payload", text(folder.path()), "--provider", "openai"];
    let run = run(&[&command, more].concat());
    (serde_json::from_str(&run.stdout).unwrap_or_default(), run)
}

#[test]
fn the_tools_that_are_picked_are_bound_whole_and_nothing_else() {
    let (bound, run) = payload(&["--pick", "refund a customer", "--max", "1"]);
    assert_eq!((run.code, names(&bound)), (0, vec!["refund_payment"]), "{}", run.stderr);
    assert_eq!(bound["tools"][0]["function"]["parameters"]["required"], json!(["amount"]));
    assert!(run.stderr.contains("picked refund_payment (") && run.stderr.contains("1 unsafe tool left out"));
    let again = payload(&["--pick", "refund a customer", "--max", "1"]).1;
    assert_eq!((again.stdout, again.stderr), (run.stdout, run.stderr));
    assert_eq!(payload(&["--pick", "refund a customer", "--max", "1", "--mode", "full"]).0, bound);
    let input = r#"[{"role": "user", "content": "refund a customer"}]"#;
    assert_eq!(payload(&["--pick", input, "--max", "1"]).0, bound);

    let (bound, _) = payload(&["--pick", "drop a database", "--allow-unsafe", "--max", "1"]);
    assert_eq!(names(&bound), ["drop_database"]);
}

#[test]
fn with_a_mode_the_rest_is_there_as_it_has_it() {
    let with = |mode| payload(&["--pick", "refund a customer", "--max", "1", "--mode", mode]).0;
    let hybrid = with("hybrid");
    assert_eq!(
        names(&hybrid),
        ["read_tool_doc", "refund_payment", "list_orders", "drop_database", "get_forecast"]
    );
    assert_eq!(hybrid["tools"][1]["function"]["parameters"]["required"], json!(["amount"]));
    let gateway = with("gateway");
    assert_eq!(names(&gateway), ["tool_search", "tool_help", "tool_exec", "tool_batch", "refund_payment"]);
    assert_eq!(names(&with("files")), ["refund_payment"]);
}

#[test]
fn an_empty_pick_binds_nothing_and_says_what_to_do() {
    let (bound, run) = payload(&["--pick", "xyzzy"]);
    assert_eq!((run.code, bound), (0, json!({})));
    assert!(
        run.stderr.contains("no tool is picked: say the task as an action and its object"),
        "{}",
        run.stderr
    );
    for wrong in [&["--max", "3"][..], &["--pick", "x", "--max", "0"], &["--pick", "x", "--min-score", "2"]] {
        assert_eq!(payload(wrong).1.code, 2, "{wrong:?}");
    }
    let (_, run) = payload(&["--pick", "x", "--scorer", "llm"]);
    assert_eq!(run.code, 2);
    assert!(
        run.stderr.contains("`search.llm` is not configured") && run.stderr.contains("help: "),
        "{}",
        run.stderr
    );
}

#[test]
fn a_chat_model_may_score_and_when_it_fails_words_do() {
    let says = r#"{"choices": [{"message": {"content": "{\"2\": 0.9}"}}]}"#;
    for (status, body, first, fallback) in [
        ("200 OK", says, "list_orders", None),
        ("500 X", "{}", "refund_payment", Some("scored by words, since llm failed: the model answered 500")),
    ] {
        let (url, asked) = crate::repair::server(vec![crate::repair::http(status, body)]);
        let config = format!("[search.llm]\nurl = \"{url}\"\nmodel = \"judge\"\n");
        let folder = fixture::folder(&[("tools.json", TOOLS), ("toolcrib.toml", config.as_str())]);
        let call = r#"{"input": "refund a customer", "scorer": "llm", "debug": true}"#;
        let run = run(&["call", "pick", call, text(folder.path())]);
        let answer: Value = serde_json::from_str(&run.stdout).unwrap();
        assert_eq!(answer["candidates"][0]["tool"], first, "{answer}");
        assert_eq!(answer.get("fallback").and_then(Value::as_str), fallback, "{answer}");
        let asked = asked.recv().unwrap();
        let provenance = &answer["candidates"][0]["provenance"];
        match fallback {
            None => {
                let question = asked.body["messages"][1]["content"].as_str().unwrap();
                let details = &provenance["details"];
                assert!(details["prompt"].as_str().unwrap().ends_with(question), "{provenance}");
                assert_eq!((&details["model"], &details["rank_by_words"]), (&json!("judge"), &json!(2)));
                assert_eq!(provenance["scorer"], "llm");
            }
            Some(_) => assert_eq!(provenance["scorer"], "keyword"),
        }
        assert!(asked.body["messages"][1]["content"].as_str().unwrap().contains("1. refund_payment: "));
        assert!(!asked.body.to_string().contains("drop_database"), "unsafe tools are not shown");
    }
}

#[test]
fn many_tools_are_scored_at_once() {
    let (_, checked) = fixture::catalog("bfcl-functions.json");
    let tools = &checked.catalog.tools;
    let entries: Vec<IndexEntry> = tools.iter().map(|tool| IndexEntry::from(&**tool)).collect();
    let index = Index::new(&entries);
    let started = Instant::now();
    let query = "what is the factorial of 12";
    let found = index.find(SearchRequest { query, within: None, limit: tools.len() });
    let words = scores(&found, tools.len());
    let options = Options { min_score: 0.0, ..Options::default() };
    let picks = Scored::Done(words.clone()).picks(tools, "keyword", &options, words);
    let took = started.elapsed();
    assert_eq!(picks.candidates.len(), 3);
    // The aim is a tenth of a millisecond for each, of a build that is optimised, on a machine that does nothing else.
    assert!(took < Duration::from_millis(2) * tools.len() as u32, "{took:?} for {} tools", tools.len());
}
