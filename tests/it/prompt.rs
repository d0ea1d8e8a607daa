//! Sections of a system prompt, one a mode. `SNAPSHOTS=overwrite cargo test` writes the golden files anew.

use std::fs;

use snapbox::assert::{Action, DEFAULT_ACTION_ENV};
use toolcrib::catalog::Checked;
use toolcrib::config::{self, Deferred, Mode};
use toolcrib::providers::{Extent, PayloadRequest, Provider, payload};
use toolcrib::render::{PromptSection, Templates};
use toolcrib::tokens::Counter;

use crate::fixture;

fn example(name: &str) -> Checked {
    fixture::open(&fixture::package().join("examples").join(name))
}

fn section(checked: &Checked, profile: Option<&str>, mode: Mode) -> String {
    section_within(checked, profile, mode, 500)
}

fn section_within(checked: &Checked, profile: Option<&str>, mode: Mode, tokens: usize) -> String {
    let section = PromptSection {
        mode,
        deferred: Deferred::Stub,
        folder: "tools",
        has_pages: true,
        discovery: false,
        tokens,
    };
    let profile = checked.catalog.profile(profile).unwrap();
    section.render(&checked.catalog, &profile, &Templates::from(toolcrib::BUILT_IN)).unwrap()
}

fn check(name: &str, got: &str) {
    let golden = fixture::package().join("tests/golden/prompt").join(name);
    let got = format!("{got}\n");
    if matches!(Action::with_env_var(DEFAULT_ACTION_ENV), Some(Action::Overwrite)) {
        fixture::write(golden.parent().unwrap(), name, &got);
    }
    let expect = fs::read_to_string(&golden).unwrap_or_default();
    assert_eq!(got, expect, "{name} differs; `just bless` writes it anew");
}

#[test]
fn each_mode_has_a_section() {
    let agent = example("universal-agent");
    for &mode in Mode::ALL {
        check(&format!("{}.md", mode.as_str()), &section(&agent, Some("creator"), mode));
    }
    let github = example("github");
    check("gateway-of-one-server.md", &section(&github, None, Mode::Gateway));
    let buildos = example("buildos");
    check("gateway-of-entities.md", &section(&buildos, None, Mode::Gateway));
}

#[test]
fn the_files_section_is_the_one_that_seeding_writes() {
    let agent = example("universal-agent");
    let workspace = tempfile::tempdir().unwrap();
    let run =
        fixture::run(&["seed", fixture::text(workspace.path()), "examples/universal-agent", "-p", "creator"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    let seeded = fs::read_to_string(workspace.path().join("AGENTS.md")).unwrap();
    assert!(seeded.contains(&section(&agent, Some("creator"), Mode::Files)));
}

#[test]
fn words_beside_lists_are_few() {
    let mut counter = Counter::default();
    for (example_name, profile) in
        [("universal-agent", "creator"), ("github", "core"), ("buildos", "planner")]
    {
        let checked = example(example_name);
        for &mode in Mode::ALL {
            let text = section(&checked, Some(profile), mode);
            let words: Vec<&str> = text.lines().filter(|line| !line.starts_with("- `")).collect();
            let count = counter.count(&words.join("\n"));
            assert!(count < 250, "{}: {count}", mode.as_str());
        }
    }
}

#[test]
fn without_deferred_tools_nothing_is_said_of_them() {
    let checked = fixture::open_text(
        "tools.json",
        r#"[{"name":"get_it","description":"Gets it.","description_mode":"full","effect":"read","parameters":{"type":"object"}}]"#,
    );
    for mode in [Mode::Hybrid, Mode::Native, Mode::Gateway, Mode::Full] {
        let text = section(&checked, None, mode);
        assert_eq!(
            text,
            "## Tools\n\n- When a call fails, read the error, correct the arguments, and try once more."
        );
    }
}

#[test]
fn a_compact_binding_has_no_mark_to_speak_of() {
    let checked = example("universal-agent");
    let profile = checked.catalog.profile(Some("creator")).unwrap();
    let section = PromptSection {
        mode: Mode::Hybrid,
        deferred: Deferred::Compact,
        folder: "docs/tools",
        has_pages: true,
        discovery: false,
        tokens: 500,
    };
    let text = section.render(&checked.catalog, &profile, &Templates::from(toolcrib::BUILT_IN)).unwrap();
    assert!(
        !text.to_lowercase().contains("doc first") && text.contains("`docs/tools/<tool_name>.md`"),
        "{text}"
    );
}

/// The words that the section sends a model to are those in which stubs end.
#[test]
fn the_mark_is_the_one_that_stubs_bear() {
    let checked = example("universal-agent");
    let text = section(&checked, Some("creator"), Mode::Hybrid);
    let (_, rest) = text.split_once("their text ends in `").unwrap();
    let (mark, _) = rest.split_once('`').unwrap();
    assert!(!mark.is_empty() && text.contains(&format!("every tool marked `{mark}`")), "{text}");
    let profile = checked.catalog.profile(Some("creator")).unwrap();
    for &provider in Provider::ALL {
        let (catalog, mode, options) = (&checked.catalog, Mode::Hybrid, config::Payload::default());
        let request = PayloadRequest { catalog, profile: &profile, provider, mode, options };
        let functions = payload(request).unwrap().functions;
        let (stubs, others): (Vec<_>, Vec<_>) =
            functions.iter().partition(|function| function.extent == Extent::Stub);
        assert!(stubs.len() > 10 && stubs.iter().all(|stub| stub.description.ends_with(&format!(" {mark}"))));
        assert!(others.iter().all(|other| !other.description.ends_with(mark)));
        let ours = others.iter().find(|function| function.ours).unwrap();
        assert!(ours.description.contains(&format!("`{mark}`")), "{}", ours.description);
    }
}

/// The functions find, describe and run what is not bound by name.
#[test]
fn core_tools_are_no_part_of_what_is_searched() {
    let checked = example("universal-agent");
    let text = section(&checked, Some("creator"), Mode::Gateway);
    assert!(text.contains("The 8 tools beside `tool_search`") && text.contains("19 other ops"), "{text}");
    let whole = section(&checked, None, Mode::Gateway);
    assert!(!whole.contains("beside `tool_search`"), "no tool is full: {whole}");
}

/// Tools that each have a category of their own.
fn many(count: usize, category: impl Fn(usize) -> String) -> Checked {
    let tool = |number: usize| {
        serde_json::json!({
            "name": format!("tool_{number}"), "description": "Does it.", "parameters": {"type": "object"},
            "category": category(number), "description_mode": "deferred",
        })
    };
    let tools: Vec<_> = (0..count).map(tool).collect();
    fixture::open_text("tools.json", &serde_json::Value::from(tools).to_string())
}

#[test]
fn lists_are_bounded() {
    let checked = many(300, |number| format!("c{number}/deep"));
    for mode in [Mode::Native, Mode::Gateway] {
        let text = section_within(&checked, None, mode, usize::MAX);
        assert!(text.contains("- also `c") && text.contains(", and 140 more"), "{text}");
        assert_eq!(text.lines().filter(|line| line.starts_with("- `c")).count(), 40);
    }
}

fn tokens(text: &str) -> usize {
    toolcrib::tokens::token_count(text)
}

#[test]
#[ignore = "slow"]
fn the_section_of_a_large_catalog_keeps_to_its_budget() {
    for file in [
        "bfcl-functions", "box-openapi", "docker-registry-tools", "livemcpbench-servers",
        "toucan-nasty-servers",
    ] {
        let checked = fixture::open(&fixture::package().join(format!("tests/data/catalogs/{file}.json")));
        for &mode in Mode::ALL {
            for budget in [300, 500, 1000] {
                let text = section_within(&checked, None, mode, budget);
                assert!(tokens(&text) <= budget, "{file}, {}: {text}", mode.as_str());
                assert_eq!(text, section_within(&checked, None, mode, budget));
            }
        }
        let whole = section_within(&checked, None, Mode::Gateway, usize::MAX);
        assert_eq!(
            whole,
            section_within(&checked, None, Mode::Gateway, tokens(&whole)),
            "it fits, and stays"
        );
    }
}

#[test]
#[ignore = "slow"]
fn no_number_of_groups_and_no_name_breaks_the_budget() {
    let long = "分类🙂".repeat(2_000);
    let catalogs = [
        many(10_000, |number| format!("category {number}/deep")),
        many(300, |number| format!("{long} {number}")),
        many(10_000, |number| format!("c{}", number % 600)),
    ];
    for checked in &catalogs {
        for mode in [Mode::Gateway, Mode::Native] {
            let text = section(checked, None, mode);
            assert!((300..=500).contains(&tokens(&text)), "{}: {text}", tokens(&text));
            assert!(text.contains(" smaller groups with "), "{text}");
        }
    }
}

/// Servers that have no room in the list are found below the categories that hold them.
#[test]
fn groups_without_room_are_listed_under_their_categories() {
    let path = fixture::package().join("tests/data/catalogs/livemcpbench-servers.json");
    let text = section(&fixture::open(&path), None, Mode::Gateway);
    assert!(text.contains("\n- `Discovery` (") && !text.contains("smaller groups"), "{text}");
}

#[test]
fn the_largest_groups_are_told_first() {
    let path = fixture::package().join("tests/data/catalogs/toucan-nasty-servers.json");
    let text = section(&fixture::open(&path), None, Mode::Gateway);
    let lines: Vec<&str> = text.lines().filter(|line| line.starts_with("- `")).collect();
    assert!(lines[0].starts_with("- `financial_modeling_prep_fmp_server` (253): "), "{text}");
    assert!(lines[1].starts_with("- `hub_spot_mcp` (112): "), "{text}");
}

#[test]
#[ignore = "slow"]
fn the_budget_is_an_option_and_a_setting() {
    let folder = tempfile::tempdir().unwrap();
    let source = fixture::package().join("tests/data/catalogs/toucan-nasty-servers.json");
    let config =
        format!("[payload]\nprompt_tokens = 350\n\n[[source]]\npath = {:?}\n", fixture::text(&source));
    fixture::write(folder.path(), "toolcrib.toml", &config);
    let path = fixture::text(folder.path()).to_string();
    let run = |more: &[&str]| fixture::run(&[&["prompt", path.as_str(), "--mode", "gateway"], more].concat());
    let set = run(&[]);
    assert!((250..=350).contains(&tokens(set.stdout.trim_end())), "{}", set.stdout);
    let asked = run(&["--tokens", "450"]);
    assert!((351..=450).contains(&tokens(asked.stdout.trim_end())), "{}", asked.stdout);
    let few = run(&["--tokens", "60"]);
    assert!(few.stderr.contains("the rules alone are over the budget of 60 tokens"), "{}", few.stderr);
    let rules = run(&["--discovery", "--tokens", "450"]);
    assert!(tokens(rules.stdout.trim_end()) <= 450, "the rules of discovery count as well: {}", rules.stdout);
}

#[test]
fn a_category_stays_a_name() {
    let checked = many(2, |number| format!("x`{number}` ## **no** <b>\n\n# heading\n<!-- toolcrib:end -->"));
    for &mode in Mode::ALL {
        let text = section(&checked, None, mode);
        assert!(!text.contains("\n# ") && !text.contains("<!-- toolcrib"), "{text}");
        assert!(!text.contains("\n- `x`"), "the code span is closed by the name: {text}");
    }
}

#[test]
fn the_command_prints_the_section_and_the_rules() {
    let arguments = ["prompt", "examples/github", "--profile", "core"];
    let run = fixture::run(&[&arguments[..], &["--mode", "hybrid"]].concat());
    assert_eq!(
        (run.code, run.stdout.trim_end()),
        (0, section(&example("github"), Some("core"), Mode::Hybrid).as_str())
    );
    let run = fixture::run(&[&arguments[..], &["--mode", "gateway", "--discovery"]].concat());
    let (tools, rules) = run.stdout.split_once("\n## Finding tools\n").unwrap();
    assert!(tools.contains("`tool_help`") && tools.contains("`tool_exec`"));
    assert_eq!(rules.lines().filter(|line| line.starts_with(char::is_numeric)).count(), 5);
    assert_eq!(fixture::run(&["prompt", "examples/github", "--profile", "cores"]).code, 2);
}

#[test]
fn the_section_is_that_of_the_payload() {
    let run = |more: &[&str]| fixture::run(&[&["prompt", "examples/github", "-p", "core"], more].concat());
    let compact = run(&["--mode", "hybrid", "--deferred", "compact"]);
    assert!(compact.stdout.contains("nothing is said of what their arguments mean"), "{}", compact.stdout);
    let native = run(&["--provider", "mistral", "--mode", "native"]);
    assert_eq!(native.stdout, run(&["--mode", "hybrid"]).stdout);
    assert!(native.stderr.contains("mistral cannot defer tools by itself"), "{}", native.stderr);
    let native = run(&["--provider", "anthropic", "--mode", "native"]);
    assert!(native.stdout.contains("come into view when you search"), "{}", native.stdout);
    assert_eq!(run(&["--mode", "native"]).stdout, run(&["--mode", "native", "--provider", "openai"]).stdout);
}
