//! `pick` and `payload --pick`: the few tools that an input may need.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use toolcrib::search::pick::{Keyword, Options, pick};

use crate::fixture::{self, run, text};
use crate::serve::client;

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
    assert_eq!(payload(&["--pick", "refund a customer", "--max", "1", "--surface", "full"]).0, bound);
    let input = r#"[{"role": "user", "content": "refund a customer"}]"#;
    assert_eq!(payload(&["--pick", input, "--max", "1"]).0, bound);

    let (bound, _) = payload(&["--pick", "drop a database", "--allow-unsafe", "--max", "1"]);
    assert_eq!(names(&bound), ["drop_database"]);
}

#[test]
fn with_a_surface_the_rest_is_there_as_it_has_it() {
    let with = |surface| payload(&["--pick", "refund a customer", "--max", "1", "--surface", surface]).0;
    let hybrid = with("hybrid");
    assert_eq!(
        names(&hybrid),
        ["read_tool_doc", "refund_payment", "list_orders", "drop_database", "get_forecast"]
    );
    assert_eq!(hybrid["tools"][1]["function"]["parameters"]["required"], json!(["amount"]));
    let gateway = with("gateway");
    assert_eq!(names(&gateway), ["tool_search", "tool_help", "tool_exec", "tool_batch", "refund_payment"]);
    assert_eq!(names(&with("toolset")), ["load_toolset", "refund_payment"]);
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
    let options = Options { scorer: Some(std::sync::Arc::new(Keyword::over(tools))), ..Options::default() };
    let started = Instant::now();
    let picks = pick(&json!("what is the factorial of 12"), tools, &options);
    let took = started.elapsed();
    assert_eq!(picks.candidates.len(), 3);
    // The aim is a tenth of a millisecond for each, of a build that is optimised, on a machine that does nothing else.
    assert!(took < Duration::from_millis(2) * tools.len() as u32, "{took:?} for {} tools", tools.len());
}

/// Tools that only read may be called; writes are refused.
const READS_ONLY: &str = "[exec]\nallow = \"read\"\n[state]\nurl = \"state.db\"\n";

/// The candidates of a pick, with their reasons.
fn told(answer: &Value) -> Vec<(&str, &str)> {
    let candidates = answer["candidates"].as_array().unwrap().iter();
    candidates.map(|one| (one["tool"].as_str().unwrap(), one["reason"].as_str().unwrap())).collect()
}

fn call(folder: &tempfile::TempDir, function: &str, arguments: &Value) -> Value {
    let run = run(&["call", function, &arguments.to_string(), text(folder.path())]);
    serde_json::from_str(&run.stdout).unwrap_or_else(|_| panic!("{}", run.stderr))
}

#[test]
fn a_tool_that_failed_in_the_session_for_good_goes_down_and_the_pick_says_so() {
    let backend = "\"backend\": {\"type\": \"static\", \"content\": \"paid\"}, \"effect\"";
    let tools = TOOLS.replacen("\"effect\"", backend, 1);
    let folder = fixture::folder(&[("tools.json", &tools), ("toolcrib.toml", READS_ONLY)]);
    let asked = |session: Option<&str>| {
        let mut asked = json!({"input": "refund the orders of a customer", "debug": true});
        if let Some(session) = session {
            asked["session"] = session.into();
        }
        call(&folder, "pick", &asked)
    };
    let alone = asked(None);
    assert_eq!(told(&alone)[0].0, "refund_payment");
    assert_eq!(asked(Some("s-1")), alone, "a session in which nothing was tried changes nothing");
    let refused =
        call(&folder, "tool_exec", &json!({"op": "refund_payment", "args": {"amount": 5}, "session": "s-1"}));
    assert_eq!(refused["error"]["code"], "PERMISSION_DENIED", "{refused}");

    let again = asked(Some("s-1"));
    assert_eq!(again["went_down"], json!([{"tool": "refund_payment", "outcome": "PERMISSION_DENIED"}]));
    assert_eq!(told(&again)[0].0, "list_orders", "{again}");
    let refund = again["candidates"].as_array().unwrap().iter().find(|one| one["tool"] == "refund_payment");
    let refund = refund.unwrap_or_else(|| panic!("{again}"));
    assert!(refund["reason"].as_str().unwrap().ends_with("; tried before: failed with PERMISSION_DENIED"));
    let tried = &refund["provenance"]["details"]["tried"];
    assert_eq!(
        (&tried["outcome"], &tried["score_before"]),
        (&json!("PERMISSION_DENIED"), &alone["candidates"][0]["score"])
    );
    // A server of the same state answers alike, whichever way the session is named.
    let server = crate::serve::Server::start(text(folder.path()), &[], &[]);
    let question = json!({"input": "refund the orders of a customer", "debug": true});
    let named: Value = client()
        .post(server.url("/v1/pick"))
        .header("x-session-id", "s-1")
        .json(&question)
        .send()
        .unwrap()
        .json()
        .unwrap();
    assert_eq!(named, again);
    let mut question = question;
    question["session"] = "s-1".into();
    let answer: Value = server.post("pick", question.to_string()).json().unwrap();
    assert_eq!(answer, again);
    // Other sessions, and no session, know nothing of it.
    assert_eq!((&asked(Some("s-2")), &asked(None)), (&alone, &alone));
}

#[test]
fn what_was_tried_may_be_said_and_what_may_still_work_stays() {
    let folder = fixture::folder(&[("tools.json", TOOLS)]);
    let first = |tried: Value| {
        let answer =
            call(&folder, "pick", &json!({"input": "refund the orders of a customer", "tried": tried}));
        let (tool, reason) = told(&answer)[0];
        (tool.to_string(), reason.to_string(), answer)
    };
    let with = |outcome: &str| first(json!([{"tool": "refund_payment", "outcome": outcome}]));
    for goes_down in
        ["NOT_FOUND", "NOT_AUTHORIZED", "NO_BACKEND", "BACKEND_ERROR", "LOOP_STOPPED", "it gave no money"]
    {
        let (tool, _, answer) = with(goes_down);
        assert_eq!(tool, "list_orders", "{goes_down}");
        assert_eq!(answer["went_down"][0]["outcome"], goes_down);
    }
    for (stays, says) in [
        ("ok", "; tried before: ok"),
        ("RATE_LIMITED", "; tried before: failed with RATE_LIMITED"),
        ("VALIDATION_ERROR", "; tried before: failed with VALIDATION_ERROR"),
    ] {
        let (tool, reason, answer) = with(stays);
        assert_eq!((tool.as_str(), answer.get("went_down")), ("refund_payment", None), "{stays}");
        assert!(reason.ends_with(says), "{reason}");
    }
    let (tool, _, answer) = first(json!(["refund_payment", "no_such_tool"]));
    assert_eq!((tool.as_str(), &answer["tried_unknown"]), ("list_orders", &json!(["no_such_tool"])));
    // Where only tools that went down would fit, none does.
    let all = json!({"input": "drop a database", "allow_unsafe": true, "tried": ["drop_database"]});
    assert_eq!(call(&folder, "pick", &all)["verdict"], "no_match");

    let (bound, run) = payload(&[
        "--pick",
        "refund the orders of a customer",
        "--max",
        "1",
        "--tried",
        "refund_payment=NO_BACKEND",
        "nope",
    ]);
    assert_eq!(names(&bound), ["list_orders"], "{}", run.stderr);
    assert!(
        run.stderr.contains("goes down, since it was tried: refund_payment: NO_BACKEND"),
        "{}",
        run.stderr
    );
    assert!(run.stderr.contains("tried, and no tool here: nope"), "{}", run.stderr);
}

#[test]
fn a_question_in_other_words_keeps_the_words_of_the_one_before() {
    let config = "[state]\nurl = \"state.db\"\n";
    let github = std::fs::read_to_string(fixture::package().join("examples/github/tools.json")).unwrap();
    let folder = fixture::folder(&[("tools.json", &github), ("toolcrib.toml", config)]);
    let pick = |input: &str, session: Option<&str>| {
        let mut asked = json!({"input": input, "max_candidates": 5, "debug": true});
        if let Some(session) = session {
            asked["session"] = session.into();
        }
        call(&folder, "pick", &asked)
    };
    let (before, now) = ("merge a pull request", "accept the changes of Anna's branch");
    let alone = pick(now, None);
    assert!(!told(&alone).iter().any(|(tool, _)| *tool == "merge_pull_request"), "{alone}");
    pick(before, Some("s-1"));
    let again = pick(now, Some("s-1"));
    assert_eq!(again["earlier_question"], before);
    assert_eq!(told(&again)[0].0, told(&alone)[0].0, "the first hit of the new question stays first");
    let merge = told(&again).into_iter().find(|(tool, _)| *tool == "merge_pull_request");
    assert!(merge.unwrap().1.ends_with("; with the earlier question"), "{again}");
    // A question about another job stands alone.
    let other = "list the discussions";
    pick(before, Some("s-2"));
    assert_eq!(pick(other, Some("s-2")), pick(other, None));
    // A search counts like a pick.
    call(&folder, "tool_search", &json!({"query": before, "session": "s-3"}));
    assert_eq!(pick(now, Some("s-3")), again);
}

#[test]
fn a_job_that_is_done_lends_no_words_to_the_next_question() {
    let github = std::fs::read_to_string(fixture::package().join("examples/github/tools.json")).unwrap();
    let mut tools: Vec<Value> = serde_json::from_str(&github).unwrap();
    // Native definitions may have a backend.
    for tool in &mut tools {
        tool["parameters"] = tool["inputSchema"].take();
        tool["backend"] = json!({"type": "static", "content": "done"});
        tool.as_object_mut().unwrap().retain(|field, _| field != "inputSchema" && field != "annotations");
    }
    let config = "[[source]]\npath = \"tools.json\"\ntrust = \"run\"\n[exec]\nallow = \"destructive\"\n[state]\nurl = \"state.db\"\n";
    let folder = fixture::folder(&[("tools.json", &json!(tools).to_string()), ("toolcrib.toml", config)]);
    let ask = |input: &str| call(&folder, "pick", &json!({"input": input, "session": "s-1"}));
    let now = "finish the pull request of Anna";
    ask("merge a pull request");
    assert_eq!(ask(now)["earlier_question"], "merge a pull request");
    let merge = json!({"op": "merge_pull_request", "args": {"owner": "a", "repo": "b", "pullNumber": 1}, "session": "s-1"});
    let merged = call(&folder, "tool_exec", &merge);
    assert_eq!(merged["ok"], true, "{merged}");
    let after = ask("finish the pull request of Ben");
    assert!(after.get("earlier_question").is_none(), "{after}");
    assert_eq!(told(&ask("merge a pull request"))[0].1.split("; ").last(), Some("tried before: ok"));
}

#[test]
fn a_backend_that_is_away_goes_down_and_one_that_refused_the_arguments_stays() {
    let (refuses, _asked) =
        crate::repair::server(vec![crate::repair::http("422 X", "{\"amount\": \"too much\"}")]);
    let backend = |server: &str| {
        format!(
            "\"backend\": {{\"type\": \"http\", \"server\": \"{server}\", \"method\": \"POST\", \"path\": \"/do\"}}, \"effect\""
        )
    };
    let tools = TOOLS.replacen("\"effect\"", &backend("refuses"), 1);
    let end = tools.find("list_orders").unwrap();
    let tools = format!("{}{}", &tools[..end], tools[end..].replacen("\"effect\"", &backend("away"), 1));
    let config = format!(
        "[exec]\nallow = \"write\"\n[state]\nurl = \"state.db\"\n[server.refuses]\nurl = \"{refuses}\"\n[server.away]\nurl = \"http://127.0.0.1:1\"\n"
    );
    let folder = fixture::folder(&[("tools.json", &tools), ("toolcrib.toml", &config)]);
    for op in ["refund_payment", "list_orders"] {
        let args = if op == "refund_payment" { json!({"amount": 5}) } else { json!({}) };
        let refused = call(&folder, "tool_exec", &json!({"op": op, "args": args, "session": "s-1"}));
        assert_eq!(refused["error"]["code"], "BACKEND_ERROR", "{refused}");
    }
    let again = call(&folder, "pick", &json!({"input": "refund the orders of a customer", "session": "s-1"}));
    assert_eq!(again["went_down"], json!([{"tool": "list_orders", "outcome": "BACKEND_ERROR"}]));
    let (first, reason) = told(&again)[0];
    assert_eq!(first, "refund_payment");
    assert!(reason.ends_with("; tried before: failed with BACKEND_ERROR"), "{again}");
}
