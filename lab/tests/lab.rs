//! The lab, on the tasks of the repository.

use std::process::Command;

use serde_json::{Value, json};

const GITHUB: [&str; 3] = ["examples/github", "--tasks", "examples/github/tasks.jsonl"];

fn lab(arguments: &[&[&str]]) -> Value {
    let lab = Command::new(env!("CARGO_BIN_EXE_toolcrib-lab"))
        .current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
        .args(arguments.concat())
        .arg("--json")
        .output()
        .unwrap();
    assert!(lab.status.success(), "{}", String::from_utf8_lossy(&lab.stderr));
    serde_json::from_slice(&lab.stdout).unwrap()
}

fn of<'r>(report: &'r Value, mode: &str, field: &str) -> &'r Value {
    let modes = report["modes"].as_array().unwrap();
    &modes.iter().find(|cost| cost["mode"] == mode).unwrap()[field]
}

#[test]
fn every_mode_makes_all_calls_of_the_tasks() {
    let report = &lab(&[&["simulate"], &GITHUB, &["--host", "0,10000"]])[0];
    assert_eq!((&report["tasks"], &report["calls"]), (&json!(4), &json!(11)));
    for mode in ["full", "hybrid", "native", "gateway"] {
        assert_eq!(of(report, mode, "refused"), 0, "{mode}: {report:#}");
    }
    // 11 calls and 4 last answers.
    assert_eq!(of(report, "full", "turns"), 3.8);
    let percent = of(report, "gateway", "percent");
    assert!(percent[0].as_f64() < Some(40.0) && percent[0].as_f64() < percent[1].as_f64(), "{percent}");
    assert!(of(report, "gateway", "right_found").as_f64() >= Some(80.0), "{report:#}");
}

#[test]
fn a_batched_agent_takes_fewer_turns_and_a_cache_makes_turns_cheap() {
    let gateway = |more: &[&str], field: &str| {
        let report = lab(&[&["simulate", "--mode", "gateway", "--host", "10000"], &GITHUB, more]);
        of(&report[0], "gateway", field).clone()
    };
    assert!(gateway(&["--batched"], "turns").as_f64() < gateway(&[], "turns").as_f64());
    let percent = |cache| gateway(&["--prompt-cache", cache], "percent")[0].as_f64();
    assert!(percent("cold") < percent("none"), "the host's context is written once, and not in each turn");
}

#[test]
fn a_choice_is_at_most_ten_percent_worse_than_hindsight() {
    let tasks = ["tests/data/tasks/tau2-retail.jsonl", "tests/data/tasks/tau2-airline.jsonl"];
    let others = ["--distractors", "examples/github", "tests/data/catalogs/livemcpbench-servers.json"];
    let catalog = ["tune", "tests/data/tasks/tau2-tools.json", "--host", "10000", "--size", "300", "--tasks"];
    let report = &lab(&[&catalog, &tasks, &others])[0];
    let choice = &report["choices"][0];
    assert!(choice["over_hindsight"].as_f64() <= Some(10.0), "{choice:#}");
    assert!(choice["judged"]["percent"].as_f64() <= Some(100.0), "{choice:#}");
}

#[test]
fn calls_of_tasks_are_counted() {
    let usage = &lab(&[&["usage"], &GITHUB])[0];
    assert_eq!(usage["sessions"], 4);
    assert_eq!(usage["never_called"].as_array().unwrap().len(), 117 - 11);
}
