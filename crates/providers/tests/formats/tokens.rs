//! The token report: its counts are exact, its parts add up, and a budget is kept or not.

use std::collections::HashMap;

use serde_json::{Value, json};
use toolcrib_catalog::Checked;
use toolcrib_catalog::config::{self, Mode, ModeChoice};
use toolcrib_definition::embedded_files;
use toolcrib_providers::report::{self, Measured, Options, Report};
use toolcrib_providers::{PayloadRequest, Provider};
use toolcrib_render::{BuiltIn, Templates};

use crate::fixture;

/// The templates of what agents read, as the program embeds them.
const BUILT_IN: BuiltIn = BuiltIn {
    templates: &embedded_files! { "../../templates":
        "docs/index.md",
        "docs/page.md",
        "docs/tool.md",
        "prompt/discovery.md",
        "prompt/files.md",
        "prompt/full.md",
        "prompt/gateway-with-tools.md",
        "prompt/gateway.md",
        "prompt/hybrid.md",
        "prompt/native.md",
    },
    workspace: &[],
};

fn example(name: &str) -> Checked {
    fixture::open(&fixture::package().join("examples").join(name))
}

fn options(provider: Provider) -> Options<'static> {
    let payload = config::Payload { provider, ..Default::default() };
    Options { profile: None, mode: None, payload, budget: None }
}

fn count(checked: &Checked, options: Options<'_>) -> Report {
    report::report(&checked.catalog, &Templates::from(BUILT_IN), options).unwrap()
}

fn on(report: &Report, mode: Mode) -> &Measured {
    let modes = &report.profiles[0].modes;
    modes.iter().find(|row| row.mode == mode).and_then(|row| row.tokens.as_ref()).unwrap()
}

/// Tools that take one argument, bound as they say.
fn tools(count: usize, mode: &str) -> Checked {
    let tool = |number: usize| {
        json!({
            "name": format!("tool_{number}"), "description": format!("Does thing {number} at length, and says so."),
            "short_description": "Does it", "description_mode": mode, "category": "Things",
            "parameters": {"type": "object", "properties": {"name": {"type": "string", "description": "Which one."}}},
        })
    };
    let tools: Vec<Value> = (0..count).map(tool).collect();
    fixture::open_text("tools.json", &Value::from(tools).to_string())
}

#[test]
fn counts_are_those_of_the_text_that_is_sent() {
    let checked = example("github");
    let profile = checked.catalog.profile(Some("triage")).unwrap();
    let o200k = tiktoken::get_encoding("o200k_base").unwrap();
    for provider in [Provider::OpenAi, Provider::Anthropic, Provider::OpenAiResponses, Provider::Bedrock] {
        let report = count(&checked, Options { profile: Some("triage"), ..options(provider) });
        for mode in [Mode::Full, Mode::Hybrid, Mode::Native, Mode::Gateway] {
            let catalog = &checked.catalog;
            let request =
                PayloadRequest { catalog, profile: &profile, provider, mode, options: Default::default() };
            let text = toolcrib_providers::payload(request).unwrap().body.to_string();
            assert_eq!(on(&report, mode).sent, o200k.count(&text), "{} {}", provider.as_str(), mode.as_str());
        }
    }
}

#[test]
fn parts_add_up_for_every_provider() {
    let checked = example("universal-agent");
    for &provider in Provider::ALL {
        let report = count(&checked, Options { profile: Some("creator"), ..options(provider) });
        for &mode in Mode::ALL {
            let row = on(&report, mode);
            let parts = row.parts.sum() + row.wrapping;
            assert_eq!(parts, row.bound, "{} {}", provider.as_str(), mode.as_str());
            assert!(row.bound <= row.sent);
        }
        assert!(on(&report, Mode::Hybrid).parts.own_functions > 0, "{}", provider.as_str());
        assert_eq!(on(&report, Mode::Files).bound, 0);
        assert_eq!(report.tools.len() + report.left_out.len(), 27);
        assert!(report.tools.is_sorted_by(|a, b| a.full >= b.full));
    }
}

#[test]
fn native_deferral_keeps_definitions_out_of_the_context() {
    let checked = tools(30, "deferred");
    for provider in [Provider::Anthropic, Provider::OpenAiResponses, Provider::GeminiInteractions] {
        let report = count(&checked, options(provider));
        let native = on(&report, Mode::Native);
        assert!(native.sent > on(&report, Mode::Full).sent, "{}", provider.as_str());
        assert!(native.bound * 3 < native.sent, "{}: {native:?}", provider.as_str());
        assert_eq!(native.parts.schemas, 0);
    }
    let report = count(&checked, options(Provider::Mistral));
    let row = report.profiles[0].modes.iter().find(|row| row.mode == Mode::Native).unwrap();
    assert_eq!(row.as_mode, Mode::Hybrid);
    assert!(report.table().contains("native: mistral cannot defer tools by itself; it is as hybrid"));
}

#[test]
fn more_tools_than_a_provider_takes_are_counted_and_marked() {
    let report = count(&tools(130, "deferred"), options(Provider::OpenAi));
    let full = &report.profiles[0].modes[0];
    assert_eq!((full.mode, full.over_limit), (Mode::Full, Some(128)));
    assert!(on(&report, Mode::Full).bound > 130 * 20);
    let table = report.table();
    assert!(table.contains("full: over the limit of 128") && !table.contains("gateway: over"), "{table}");
}

#[test]
fn a_profile_without_a_payload_has_a_reason() {
    let checked = fixture::open_text(
        "tools.json",
        r#"[{"name":"read_tool_doc","description":"Mine.","description_mode":"deferred","parameters":{"type":"object"}}]"#,
    );
    let report = count(&checked, options(Provider::OpenAi));
    let row = &report.profiles[0].modes[1];
    assert!(row.tokens.is_none() && row.problem.as_ref().unwrap().contains("read_tool_doc"));
    assert!(on(&report, Mode::Full).bound > 0);
    assert!(report.table().contains("hybrid: `read_tool_doc`"));
}

/// One tool is named like a function of ours, or two meet in one name: the others cost what they cost.
#[test]
fn a_clash_hides_no_tool() {
    let tool = |name: &str| {
        json!({"name": name, "description": "Does it.", "description_mode": "deferred", "category": "Things",
            "parameters": {"type": "object", "properties": {"path": {"type": "string", "description": "Which one."}}}})
    };
    let open = |names: &[&str]| -> Checked {
        let tools: Vec<Value> = names.iter().map(|name| tool(name)).collect();
        fixture::open_text("tools.json", &Value::from(tools).to_string())
    };
    let costs = |names: &[&str], provider| {
        let report = count(&open(names), options(provider));
        assert!(report.left_out.is_empty(), "{:?}", report.left_out);
        let of = |tool: &report::ToolReport| (tool.name.clone(), (tool.full, tool.stub, tool.compact));
        report.tools.iter().map(of).collect::<HashMap<_, _>>()
    };
    let plain = costs(&["good"], Provider::OpenAi);
    assert!(plain["good"].1.is_some() && plain["good"].2.is_some());
    let beside = costs(&["good", "read_tool_doc"], Provider::OpenAi);
    assert_eq!(beside["good"], plain["good"]);
    let (full, stub, compact) = beside["read_tool_doc"];
    assert!(full > 20 && stub.is_none() && compact.is_none(), "it cannot be deferred");
    let meeting = costs(&["a-b", "a_b"], Provider::Cohere);
    assert!(
        meeting.len() == 2 && meeting.values().all(|(_, stub, compact)| stub.is_some() && compact.is_some())
    );
    let report = count(&open(&["good", "read_tool_doc"]), options(Provider::OpenAi));
    assert!(report.table().lines().any(|line| line.starts_with("read_tool_doc ") && line.contains("  -  ")));
}

/// A budget cannot be kept where nothing can be sent.
#[test]
fn a_budget_fails_without_a_payload() {
    let tool = r#"[{"name":"read_tool_doc","description":"Mine.","description_mode":"deferred","parameters":{"type":"object"}},
        {"name":"other","description":"Is another one.","description_mode":"full","parameters":{"type":"object"}}]"#;
    let checked = fixture::open_text("tools.json", tool);
    let hybrid = Options { budget: Some(1_000_000), mode: Some(Mode::Hybrid), ..options(Provider::OpenAi) };
    let over = count(&checked, hybrid).over_budget;
    assert_eq!(over[0].bound, None);
    assert!(
        over[0].problem.as_ref().unwrap().contains("read_tool_doc") && over[0].modes.contains(&Mode::Full)
    );
    let message = over[0].message();
    assert!(
        message.contains("hybrid cannot be held to the budget of 1,000,000: `read_tool_doc`"),
        "{message}"
    );
    assert!(message.contains("help: take a mode that fits: full, "), "{message}");
}

#[test]
fn the_budget_of_a_mode_that_the_provider_lacks_is_that_of_the_mode_it_gets() {
    let checked = tools(20, "full");
    let over = |mode| {
        let options = Options { budget: Some(400), mode: Some(mode), ..options(Provider::Mistral) };
        count(&checked, options).over_budget.remove(0)
    };
    let (fallen, hybrid) = (over(Mode::Native), over(Mode::Hybrid));
    assert_eq!((fallen.mode, fallen.bound), (Mode::Hybrid, hybrid.bound));
}

/// Which mode costs least moves with the host's own tokens: with few, functions do; with many, the whole list does.
#[test]
fn the_beginning_of_a_list_decides_as_the_whole() {
    let templates = Templates::from(BUILT_IN);
    let mut decided = HashMap::new();
    for checked in [tools(150, "full"), tools(300, "full"), tools(300, "deferred"), example("github")] {
        let catalog = &checked.catalog;
        for host_tokens in [0, 5_000, 20_000, 200_000] {
            for provider in [Provider::Mcp, Provider::Anthropic] {
                let profile = &catalog.profile(None).unwrap();
                let options = config::Payload { provider, host_tokens, ..Default::default() };
                let request = PayloadRequest { catalog, profile, provider, mode: Mode::Full, options };
                let whole = report::auto_mode(&request, &templates);
                let soon = report::auto_mode_soon(&request, &templates);
                assert_eq!(soon.mode, whole.mode, "{} {}", soon.reason, whole.reason);
                *decided.entry((whole.mode == Mode::Full, soon == whole)).or_insert(0) += 1;
            }
        }
    }
    assert_eq!(decided.len(), 3, "{decided:?}");
}

#[test]
fn a_catalog_without_tools_costs_nothing() {
    let report = count(&fixture::open_text("tools.json", "[]"), options(Provider::OpenAi));
    assert_eq!(on(&report, Mode::Full).bound, 0);
    assert_eq!(on(&report, Mode::Full).saving_percent, None);
    assert!(report.tools.is_empty() && !report.table().contains("NaN"));
}

#[test]
fn the_budget_names_the_modes_that_fit() {
    let checked = tools(20, "full");
    let hybrid = |budget| {
        let payload = config::Payload { mode: ModeChoice::Hybrid, ..Default::default() };
        let report = count(&checked, Options { payload, budget: Some(budget), ..options(Provider::OpenAi) });
        let bound = on(&report, Mode::Hybrid).bound;
        (bound, report.over_budget)
    };
    let (bound, over) = hybrid(usize::MAX);
    assert!(over.is_empty());
    assert!(hybrid(bound).1.is_empty(), "as many as it may");
    let (_, over) = hybrid(470);
    assert_eq!((over[0].bound, &over[0].problem), (Some(bound), &None));
    assert_eq!(over[0].modes, [Mode::Files]);
    assert!(over[0].message().contains("help: take a mode that fits: files"), "{}", over[0].message());
}

#[test]
fn compact_binding_takes_more_than_stubs_and_less_than_all() {
    let report = count(&example("github"), options(Provider::OpenAi));
    let sum = |of: fn(&report::ToolReport) -> usize| report.tools.iter().map(of).sum::<usize>();
    let full = sum(|tool| tool.full);
    let (compact, stub) = (sum(|tool| tool.compact.unwrap()), sum(|tool| tool.stub.unwrap()));
    assert!(stub < compact && compact <= full, "{full} {compact} {stub}");
    assert!(report.tools.iter().all(|tool| tool.read > tool.doc));
}
