//! Whole tasks on each surface (docs/simulate.md).

use serde_json::Value;

use crate::fixture::{self, Run, folder, text};

const GITHUB: [&str; 4] = ["simulate", "examples/github", "--tasks", "examples/github/tasks.jsonl"];

fn run(more: &[&str]) -> Run {
    fixture::run(&[&GITHUB, more].concat())
}

fn report(more: &[&str]) -> Value {
    let run = run(&[&["--json"], more].concat());
    assert_eq!(run.code, 0, "{}", run.stderr);
    serde_json::from_str(&run.stdout).unwrap()
}

/// A field of a surface in a report.
fn of<'r>(report: &'r Value, surface: &str, field: &str) -> &'r Value {
    let surfaces = report["surfaces"].as_array().unwrap();
    &surfaces.iter().find(|cost| cost["surface"] == surface).unwrap()[field]
}

#[test]
fn every_surface_makes_all_calls_of_the_tasks() {
    let reports = report(&["--host", "0,10000"]);
    let report = &reports[0];
    assert_eq!((report["tasks"].as_u64(), report["calls"].as_u64()), (Some(4), Some(11)));
    for surface in ["full", "hybrid", "native", "toolset", "gateway"] {
        assert_eq!(of(report, surface, "refused_right"), 0, "{surface}: {report:#}");
    }
    // 11 calls and 4 last answers.
    assert_eq!(of(report, "full", "turns"), 3.8);
    assert_eq!(of(report, "full", "percent"), &serde_json::json!([100.0, 100.0]));
    let percent = of(report, "gateway", "percent");
    assert!(percent[0].as_f64() < Some(40.0) && percent[0].as_f64() < percent[1].as_f64(), "{percent}");
    assert!(of(report, "gateway", "right_found").as_f64() >= Some(80.0), "{report:#}");
}

#[test]
fn a_batched_agent_takes_fewer_turns() {
    let turns = |more: &[&str]| of(&report(more)[0], "gateway", "turns").as_f64().unwrap();
    assert!(turns(&["--batched"]) < turns(&[]));
}

#[test]
fn a_prompt_cache_makes_turns_cheap() {
    let percent = |cache: &str| {
        of(&report(&["--prompt-cache", cache, "--host", "10000"])[0], "gateway", "percent")[0]
            .as_f64()
            .unwrap()
    };
    assert!(percent("cold") < percent("none"), "the host's context is written once, and not in each turn");
}

#[test]
fn a_mistake_is_refused_and_corrected() {
    let report = report(&["--noise", "3", "--surface", "gateway"]);
    assert_eq!(of(&report[0], "gateway", "refused_right"), 0);
    assert_eq!(of(&report[0], "gateway", "accepted_wrong"), 0);
}

#[test]
fn sizes_keep_the_tools_of_the_tasks_and_say_from_where_a_surface_gains() {
    let sizes = report(&["--size", "5,117"]);
    let tools = |at: usize| sizes[at]["tools"].as_u64().unwrap();
    assert_eq!((tools(0), tools(1)), (11, 117), "eleven tools are needed");
    assert_eq!(sizes[0]["unknown_calls"], 0);
    let table = run(&["--size", "5,117"]);
    assert!(table.stdout.contains("less than full from"), "{}", table.stdout);
    assert_eq!(table.stdout, run(&["--size", "5,117"]).stdout, "the same bytes each time");
}

#[test]
fn a_budget_and_unusable_tasks_are_failures_that_say_why() {
    let over = run(&["--surface", "gateway", "--budget", "1"]);
    assert_eq!(over.code, 1);
    assert!(over.stderr.contains("`gateway` costs") && over.stderr.contains("budget"), "{}", over.stderr);
    let bad = folder(&[("tasks.jsonl", "{\"task\": \"x\", \"calls\": []}\n{\"tusk\": 1}\n")]);
    let tasks = bad.path().join("tasks.jsonl");
    let told = fixture::run(&["simulate", "examples/github", "--tasks", text(&tasks)]);
    assert_eq!(told.code, 1);
    assert!(
        told.stderr.contains("tasks.jsonl:2") && told.stderr.contains("missing field"),
        "{}",
        told.stderr
    );
}

#[test]
fn a_picture_has_a_line_for_each_surface_and_the_same_bytes_each_time() {
    let place = tempfile::tempdir().unwrap();
    let draw = |name: &str| {
        let file = place.path().join(name);
        let run = run(&["--size", "40,117", "--host", "0,10000", "--picture", text(&file)]);
        assert_eq!(run.code, 0, "{}", run.stderr);
        std::fs::read_to_string(file).unwrap()
    };
    let picture = draw("one.svg");
    assert_eq!(picture, draw("two.svg"));
    assert!(
        picture.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\"") && picture.contains("10,000 tokens")
    );
    assert_eq!(picture.matches("<polyline").count(), 4, "{picture}");
    for surface in ["hybrid", "native", "toolset", "gateway", "full"] {
        assert!(picture.contains(&format!(">{surface}</text>")), "{surface}");
    }
    let one = run(&["--picture", text(&place.path().join("three.svg"))]);
    assert!(one.code == 2 && one.stderr.contains("a picture needs two sizes"), "{}", one.stderr);
}

#[test]
fn a_surface_that_is_not_there_is_left_out_with_the_reason() {
    let told = run(&["--provider", "openai", "--host", "0"]).stdout;
    assert!(told.contains("native is left out: it is the same as hybrid, since the provider"), "{told}");
    assert!(told.contains("core is left out: it is the same as gateway, since no tool"), "{told}");
    // One of the tools of this catalog is called `tool_search`, as our function is.
    let folder =
        folder(&[("tasks.jsonl", r#"{"task": "x", "calls": [{"name": "calculate_triangle_area"}]}"#)]);
    let (catalog, tasks) = ("tests/data/catalogs/bfcl-functions.json", folder.path().join("tasks.jsonl"));
    let told = fixture::run(&[
        "simulate",
        catalog,
        "--tasks",
        text(&tasks),
        "--surface",
        "native",
        "--surface",
        "gateway",
    ]);
    assert_eq!(told.code, 0, "{}", told.stderr);
    assert!(told.stdout.contains("native is left out: `tool_search`"), "{}", told.stdout);
}

#[test]
fn without_tasks_a_command_says_what_tasks_are_and_how_to_get_some() {
    for command in ["simulate", "tune", "usage"] {
        let run = fixture::run(&[command, "examples/github"]);
        assert_eq!(run.code, 2, "{command}: {}", run.stderr);
        for words in ["there are no tasks", "a task is a line of JSON", "--tasks FILE", "serve --state FILE"]
        {
            assert!(run.stderr.contains(words), "{command}: {words}: {}", run.stderr);
        }
    }
    let line = fixture::run(&["simulate", "examples/github"]).stderr;
    let example = line.lines().find(|line| line.trim_start().starts_with('{')).unwrap().trim();
    let folder = fixture::folder(&[("tasks.jsonl", example)]);
    let tasks = folder.path().join("tasks.jsonl");
    let run = fixture::run(&["simulate", "examples/github", "--tasks", fixture::text(&tasks)]);
    assert_eq!(run.code, 0, "{}", run.stderr);
}
