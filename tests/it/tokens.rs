//! `toolcrib tokens`: its tables, its JSON and its budget, and the README, which shows what it says. The counts are tested in
//! `crates/providers/tests/formats/tokens.rs`.

use std::fs;

use serde_json::Value;
use snapbox::assert::{Action, DEFAULT_ACTION_ENV};
use toolcrib::config::{self, Mode};
use toolcrib::providers::Provider;
use toolcrib::render::Templates;
use toolcrib::report::{self, Options};

use crate::fixture;

#[test]
fn a_budget_without_a_payload_fails_the_command() {
    let tool = r#"[{"name":"read_tool_doc","description":"Mine.","description_mode":"deferred","parameters":{"type":"object"}},
        {"name":"other","description":"Is another one.","description_mode":"full","parameters":{"type":"object"}}]"#;
    let folder = fixture::folder(&[("tools.json", tool)]);
    let run =
        fixture::run(&["tokens", fixture::text(folder.path()), "--mode", "hybrid", "--budget", "1000000"]);
    assert_eq!(run.code, 1);
    assert!(run.stderr.contains("both named `read_tool_doc`"), "{}", run.stderr);
}

#[test]
fn the_command_shows_tables_and_json_and_keeps_to_the_budget() {
    let arguments = ["tokens", "examples/github", "--profile", "core"];
    let run = fixture::run(&arguments);
    assert!(run.code == 0 && run.stdout.starts_with("117 tools, "), "{}", run.stderr);
    assert_eq!(run.stdout.lines().count(), 1, "{}", run.stdout);
    let run = fixture::run(&[&arguments[..], &["--verbose"]].concat());
    assert!(run.stdout.contains("\ncore: 117 tools, 10 full and 107 deferred\nmode"), "{}", run.stdout);
    assert!(run.stdout.contains("publish no") && run.stdout.contains("97 more tools with --json"));
    assert!(run.stdout.lines().all(|line| line.chars().count() <= 120), "{}", run.stdout);

    let run = fixture::run(&[&arguments[..], &["--json", "--mode", "hybrid", "--budget", "3000"]].concat());
    assert_eq!(run.code, 1);
    assert!(run.stderr.contains("error: profile core: hybrid binds "), "{}", run.stderr);
    let report: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(report["profiles"][0]["modes"].as_array().unwrap().len(), 1);
    assert!(report["profiles"][0]["modes"][0]["tokens"]["bound"].is_u64());
    assert_eq!(report["tools"].as_array().unwrap().len(), 117);
    assert!(report["over_budget"][0]["modes"].is_array());

    assert_eq!(fixture::run(&["tokens", "examples/github", "--profile", "cores"]).code, 2);
}

const BEGIN: &str = "<!-- tokens:begin -->\n";
const END: &str = "<!-- tokens:end -->\n";

#[test]
fn the_readme_shows_what_is_measured() {
    let path = fixture::package().join("README.md");
    let readme = fs::read_to_string(&path).unwrap();
    let (before, rest) = readme.split_once(BEGIN).expect("the marker before the table");
    let (shown, after) = rest.split_once(END).expect("the marker after the table");
    let measured = readme_table();
    if matches!(Action::with_env_var(DEFAULT_ACTION_ENV), Some(Action::Overwrite)) {
        fs::write(&path, [before, BEGIN, &measured, END, after].concat()).unwrap();
        return;
    }
    assert_eq!(shown, measured, "renew it: SNAPSHOTS=overwrite cargo test --test it tokens::the_readme");
}

fn readme_table() -> String {
    let reports = [("universal-agent", "creator"), ("github", "core")].map(|(example, profile)| {
        let checked = fixture::open(&fixture::package().join("examples").join(example));
        let payload = config::Payload { provider: Provider::OpenAi, ..Default::default() };
        let options = Options { profile: Some(profile), mode: None, payload, budget: None };
        report::report(&checked.catalog, &Templates::from(toolcrib::BUILT_IN), options).unwrap()
    });
    let [few, many] = reports.each_ref().map(|report| report.tools.len());
    let mut table = format!(
        "| mode | {few} tools: each request | {few} tools: whole task | {many} tools: each request | {many} tools: whole task |\n\
         | --- | ---: | ---: | ---: | ---: |\n"
    );
    for mode in [Mode::Full, Mode::Hybrid, Mode::Gateway, Mode::Files] {
        let cells = reports.each_ref().map(|report| {
            let row = report.profiles[0].modes.iter().find(|row| row.mode == mode).unwrap();
            let row = row.tokens.as_ref().unwrap();
            let each = grouped(row.bound + row.prompt);
            format!("{each} | {} ({:.0} %)", grouped(row.task), row.task_percent.unwrap())
        });
        table += &format!("| `{}` | {} |\n", mode.as_str(), cells.join(" | "));
    }
    table
}

fn grouped(number: usize) -> String {
    if number < 1000 { number.to_string() } else { format!("{},{:03}", number / 1000, number % 1000) }
}
