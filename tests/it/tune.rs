//! The choice of a surface and of full tools by tasks (docs/tune.md).

use std::fs;
use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::fixture::{self, Run, run, text};
use crate::serve::{Server, client};

const TASKS: &str = "examples/github/tasks.jsonl";

/// A configuration with comments, profiles, and other orders than a program would write.
const CONFIG: &str = r#"# Ours.
[payload] # how tools are bound
surface = "gateway" # for now

[profile.daily]
# Chosen by hand.
full = [
  "issue_read", # for triage
  "get_me",     # always
]
deferred = ["get_*", "issue_write"]
description_mode = "full"

[[source]]
path = "tools.json"

[[overlay]]
match = "*" # nothing is sent anywhere
backend = { type = "static", content = { ok = true } }
approval = false

[[overlay]]
match = "list_branches"
description_mode = "full"

[exec]
allow = "destructive"
"#;

fn tune(more: &[&str]) -> Run {
    run(&[&["tune", "examples/github", "--tasks", TASKS], more].concat())
}

fn json_of(run: &Run) -> Value {
    assert_eq!(run.code, 0, "{}", run.stderr);
    serde_json::from_str(&run.stdout).unwrap()
}

/// The tools of GitHub with this configuration.
pub fn github(config: &str) -> TempDir {
    let tools = fs::read_to_string("examples/github/tools.json").unwrap();
    fixture::folder(&[("toolcrib.toml", config), ("tools.json", &tools)])
}

/// The tasks of the example, made twice by an agent over HTTP, in sessions whose names begin with `s-`.
pub fn recorded(folder: &Path) -> String {
    let state = folder.join("state.db");
    let mut server = Server::start(text(folder), &["--state", text(&state)], &[]);
    let post = |function: &str, session: &str, body: Value| {
        let asking = client().post(server.url(&format!("/v1/{function}"))).header("x-session-id", session);
        let sent = asking.header("content-type", "application/json").body(body.to_string()).send().unwrap();
        sent.json::<Value>().unwrap()
    };
    for (place, task) in tasks().iter().chain(&tasks()).enumerate() {
        let session = format!("s-{place}");
        post("tool_search", &session, json!({ "queries": [task["task"], "order a \u{1b}[31mpizza"] }));
        for call in task["calls"].as_array().unwrap() {
            let input = json!({ "op": call["name"], "args": call["arguments"] });
            assert_eq!(post("tool_exec", &session, input)["ok"], true, "{call}");
        }
    }
    // A call that fails is in no task, and is a call nonetheless.
    post("tool_help", "s-0", json!({ "path": "issue_write" }));
    assert_eq!(post("tool_exec", "s-0", json!({ "op": "issue_write", "args": {} }))["ok"], false);
    assert_eq!(post("tool_exec", "idle", json!({ "op": "issue_write", "args": {} }))["ok"], false);
    server.terminate();
    assert_eq!(server.ended(Duration::from_secs(20)), Some(0));
    text(&state).to_string()
}

fn tasks() -> Vec<Value> {
    let text = fs::read_to_string(TASKS).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Names of the tools that the tasks call.
fn called() -> Vec<String> {
    let calls = tasks().into_iter().flat_map(|task| task["calls"].as_array().unwrap().clone());
    calls.map(|call| call["name"].as_str().unwrap().to_string()).collect()
}

#[test]
fn half_of_the_tasks_choose_and_the_order_of_tasks_does_not_matter() {
    let tuned = tune(&["--json"]);
    let report = &json_of(&tuned)[0];
    assert_eq!(
        (&report["choosing"], &report["judging"], &report["calls"]),
        (&json!(2), &json!(2), &json!(11))
    );
    let choice = &report["choices"][0];
    assert_eq!(choice["surfaces"][0]["surface"], choice["surface"], "the cheapest one is taken: {choice:#}");
    assert!(choice["judged"]["percent"].as_f64() < Some(100.0), "{choice:#}");
    assert_eq!(report["never_called"].as_array().unwrap().len(), 117 - 11);

    let text_of = fs::read_to_string(TASKS).unwrap();
    let reversed = text_of.lines().rev().map(|line| format!("{line}\n")).collect::<String>();
    let folder = fixture::folder(&[("tasks.jsonl", &reversed)]);
    let file = folder.path().join("tasks.jsonl");
    let again = run(&["tune", "examples/github", "--tasks", text(&file), "--json"]);
    assert_eq!(again.stdout, tuned.stdout);
}

#[test]
fn a_choice_is_at_most_ten_percent_worse_than_hindsight() {
    let sizes = run(&[
        "tune",
        "tests/data/tasks/tau2-tools.json",
        "--tasks",
        "tests/data/tasks/tau2-retail.jsonl",
        "tests/data/tasks/tau2-airline.jsonl",
        "--size",
        "40,300",
        "--distractors",
        "examples/github",
        "tests/data/catalogs/livemcpbench-servers.json",
        "--host",
        "10000",
        "--json",
    ]);
    let sizes = json_of(&sizes);
    for report in sizes.as_array().unwrap() {
        for choice in report["choices"].as_array().unwrap() {
            let over = choice["over_hindsight"].as_f64().unwrap();
            assert!(over <= 10.0, "{} tools: {over} % over hindsight", report["tools"]);
            let judged = &choice["judged"];
            assert!(judged["percent"].as_f64() <= Some(100.0), "{judged}");
        }
        let judged = &report["choices"][0]["judged"];
        let turns = judged["turns"].as_f64().unwrap() / judged["turns_of_full"].as_f64().unwrap();
        assert!(turns <= 1.15, "{} tools: {turns} of the turns of full", report["tools"]);
    }
}

#[test]
fn a_written_patch_keeps_comments_and_order_and_makes_the_chosen_tools_full() {
    let folder = github(CONFIG);
    let arguments = ["tune", text(folder.path()), "--tasks", TASKS, "--surface", "core"];
    let shown = run(&[&arguments[..], &["--profile", "daily"]].concat());
    assert!(shown.stdout.contains("+++ b/toolcrib.toml"), "{}", shown.stdout);
    let file = folder.path().join("toolcrib.toml");
    assert_eq!(fs::read_to_string(&file).unwrap(), CONFIG, "a patch is only shown");

    let choice =
        &json_of(&run(&[&arguments[..], &["--profile", "daily", "--json"]].concat()))[0]["choices"][0];
    let written = run(&[&arguments[..], &["--profile", "daily", "--write"]].concat());
    assert_eq!(written.code, 0, "{}", written.stderr);
    let text_of = fs::read_to_string(&file).unwrap();
    for comment in [
        "# Ours.",
        "[payload] # how",
        "surface = \"core\" # for now",
        "# Chosen by hand.",
        "\"get_me\",     # always",
        "# nothing is sent",
    ] {
        assert!(text_of.contains(comment), "{comment}: {text_of}");
    }
    let place = |text_in: &str| text_of.find(text_in).unwrap();
    assert!(place("[payload]") < place("[profile.daily]") && place("[profile.daily]") < place("[[source]]"));

    let checked = fixture::open(folder.path());
    let profile = checked.catalog.profile(Some("daily")).unwrap();
    let mut full: Vec<&str> = profile.full().map(|tool| tool.name.as_str()).collect();
    let mut chosen: Vec<&str> =
        choice["full"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    full.sort_unstable();
    chosen.sort_unstable();
    assert!(!text_of.contains("# for triage"), "the comment of a tool that is gone: {text_of}");
    assert!(chosen.contains(&"get_me"), "{chosen:?}");
    assert_eq!(full, chosen, "and no tool is full by another setting");
    let again = run(&[&arguments[..], &["--profile", "daily", "--write"]].concat());
    assert!(again.stderr.contains("has these settings"), "{}", again.stderr);
    assert_eq!(fs::read_to_string(&file).unwrap(), text_of, "the same choice writes nothing new");
}

#[test]
fn recorded_sessions_choose_and_a_called_tool_is_never_hidden() {
    let folder = github(CONFIG);
    let state = recorded(folder.path());
    let arguments = ["tune", text(folder.path()), "--state", &state];
    let tuned = run(&[&arguments[..], &["--json"]].concat());
    assert!(tuned.stderr.contains("8 sessions are tasks, 1 sessions have no call"), "{}", tuned.stderr);
    let report = &json_of(&tuned)[0];
    assert_eq!((&report["tasks"], &report["calls"]), (&json!(8), &json!(22)));
    let never = report["never_called"].as_array().unwrap();
    let is_named = |name: &str| never.iter().any(|tool| tool["name"] == name);
    assert!(is_named("list_branches") && !is_named("get_me"), "{never:?}");
    assert!(!is_named("issue_write"), "a call that failed is a call");

    assert_eq!(run(&[&arguments[..], &["--write"]].concat()).code, 0);
    let checked = fixture::open(folder.path());
    let profile = checked.catalog.profile(Some("tuned")).unwrap();
    for name in called().iter().map(String::as_str).chain(["issue_write"]) {
        assert!(profile.tools.iter().any(|entry| entry.tool.name == name), "{name}");
    }
    let played = run(&["simulate", text(folder.path()), "--state", &state, "--profile", "tuned", "--json"]);
    let report = &json_of(&played)[0];
    assert_eq!(
        (&report["tasks"], &report["calls"], &report["unknown_calls"]),
        (&json!(8), &json!(22), &json!(0))
    );
}

#[test]
fn calls_outside_of_a_profile_are_named() {
    let report = &json_of(&tune(&["--profile", "triage", "--json"]))[0];
    let unknown = report["unknown"].as_array().unwrap();
    assert!(unknown.contains(&json!("push_files")) && !unknown.contains(&json!("get_me")), "{unknown:?}");
}

#[test]
fn what_cannot_be_chosen_or_written_is_refused() {
    let file = run(&["tune", "examples/github/tools.json", "--tasks", TASKS, "--write"]);
    assert_eq!(file.code, 2);
    assert!(file.stderr.contains("--write needs a folder"), "{}", file.stderr);
    assert_eq!(tune(&["--write", "--size", "20"]).code, 2, "other sizes are another catalog");
    let other = tune(&["--surface", "files"]);
    assert!(other.code == 2 && other.stderr.contains("does not choose `files`"), "{}", other.stderr);
    let tasks = fs::read_to_string(TASKS).unwrap();
    let folder = fixture::folder(&[("one.jsonl", tasks.lines().next().unwrap())]);
    let one = folder.path().join("one.jsonl");
    let one = run(&["tune", "examples/github", "--tasks", text(&one)]);
    assert!(one.code == 1 && one.stderr.contains("two tasks are needed"), "{}", one.stderr);
    let none = run(&["tune", "examples/github", "--state", "missing.db"]);
    assert!(none.code == 2 && none.stderr.contains("no state is stored yet"), "{}", none.stderr);
}
