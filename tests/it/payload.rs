//! `toolcrib payload`: what the program prints, says and does. The bodies themselves are tested in
//! `crates/providers/tests/formats/payload.rs`.

use serde_json::{Value, json};
use toolcrib::providers::Provider;

use crate::fixture::{self, run, text};

const GITHUB: [&str; 2] = ["payload", "examples/github"];

fn program(arguments: &[&str]) -> fixture::Run {
    run(&[&GITHUB[..], arguments].concat())
}

#[test]
fn more_tools_than_a_provider_takes_are_refused_before_anything_is_printed() {
    let tool = |index: usize| {
        format!("- {{name: tool_{index}, description: Counts to {index}., parameters: {{type: object}}}}\n")
    };
    let tools: String = (0..131).map(tool).collect();
    let config = "[profile.few]\ninclude = [\"tool_1*\"]\n";
    let folder = fixture::folder(&[("tools.yaml", tools.as_str()), ("toolcrib.toml", config)]);
    let run = run(&["payload", text(folder.path()), "--provider", "openai", "--mode", "full"]);
    assert_eq!((run.code, run.stdout.as_str()), (1, ""));
    for said in ["takes 128", "binds 131", "3 too many", "--mode gateway or", "--profile few"] {
        assert!(run.stderr.contains(said), "{said}: {}", run.stderr);
    }
    let few = fixture::run(&["payload", text(folder.path()), "--provider", "openai", "--profile", "few"]);
    assert_eq!(few.code, 0, "{}", few.stderr);
}

#[test]
fn the_same_input_gives_the_same_bytes_on_one_line_or_indented() {
    let arguments = ["--profile", "core", "--provider", "anthropic"];
    let (first, second) = (program(&arguments), program(&arguments));
    assert_eq!(first.stdout, second.stdout);
    assert_eq!(first.stdout.lines().count(), 1);
    let pretty = program(&[&arguments[..], &["--pretty"]].concat());
    let value = |text: &str| serde_json::from_str::<Value>(text).unwrap();
    assert!(pretty.stdout.lines().count() > 100);
    assert_eq!(value(&pretty.stdout), value(&first.stdout));
}

#[test]
fn a_mode_that_a_provider_lacks_is_said() {
    let native = program(&["--profile", "core", "--provider", "mistral", "--mode", "native"]);
    let hybrid = program(&["--profile", "core", "--provider", "mistral", "--mode", "hybrid"]);
    assert_eq!(native.stdout, hybrid.stdout);
    assert!(native.stderr.contains("mistral") && native.stderr.contains("hybrid"), "{}", native.stderr);
}

#[test]
fn tools_left_out_are_named_and_severities_are_configured() {
    let tools = "- {name: good, description: Does good., parameters: {type: object}}\n- {name: bad, description: Does not.}\n";
    let of = |config: &str, more: &[&str]| {
        let folder = fixture::folder(&[("tools.yaml", tools), ("toolcrib.toml", config)]);
        let arguments = ["payload", text(folder.path()), "--provider", "gemini", "--mode", "full"];
        run(&[&arguments[..], more].concat())
    };
    let left_out = of("", &[]);
    assert_eq!(left_out.code, 0);
    assert!(left_out.stderr.contains("warning[payload-tool-left-out]: bad: "), "{}", left_out.stderr);
    assert!(left_out.stdout.contains("\"good\"") && !left_out.stdout.contains("\"bad\""));
    assert!(of("", &["--verbose"]).stderr.contains("tools.yaml:2:3"));
    assert!(!of("[lint.severity]\npayload-tool-left-out = \"off\"\n", &[]).stderr.contains("left-out"));
    let strict = of("[lint.severity]\npayload-tool-left-out = \"error\"\n", &[]);
    assert_eq!((strict.code, strict.stdout.as_str()), (1, ""));
}

#[test]
fn every_mode_that_a_hint_names_fits() {
    let tools: Vec<Value> = (0..600)
        .map(|index| serde_json::json!({"name": format!("t{index}"), "description": "Get it.", "parameters": {"type": "object"}}))
        .collect();
    let folder = fixture::folder(&[("a.json", Value::from(tools).to_string().as_str())]);
    for provider in ["openai", "openai-responses", "gemini", "gemini-interactions"] {
        let arguments = ["payload", text(folder.path()), "--provider", provider, "--mode"];
        let refused = run(&[&arguments[..], &["full"]].concat());
        assert_eq!(refused.code, 1);
        let hint = refused.stderr.split("--mode ").nth(1).unwrap().split(';').next().unwrap();
        for mode in hint.trim().split(" or ") {
            assert_eq!(run(&[&arguments[..], &[mode]].concat()).code, 0, "{provider} {mode}");
        }
    }
}

#[test]
fn a_provider_searches_by_words_or_by_regular_expressions() {
    let native = |arguments: &[&str]| {
        program(&[&["--profile", "core", "--mode", "native", "--provider"], arguments].concat())
    };
    let by_words: Value = serde_json::from_str(&native(&["anthropic"]).stdout).unwrap();
    assert_eq!(by_words["tools"][0]["type"], "tool_search_tool_bm25_20251119");
    let by_regex: Value = serde_json::from_str(&native(&["anthropic", "--search", "regex"]).stdout).unwrap();
    let search = json!({"type": "tool_search_tool_regex_20251119", "name": "tool_search_tool_regex"});
    assert_eq!(by_regex["tools"][0], search);
    let other = native(&["openai-responses", "--search", "regex"]);
    assert!(other.stderr.contains("no search by regular expressions"), "{}", other.stderr);
    assert_eq!(other.stdout, native(&["openai-responses"]).stdout);
}

#[test]
fn langchain_defers_by_extras_and_says_how_they_reach_the_provider() {
    let run = program(&["--profile", "core", "--mode", "native", "--provider", "langchain"]);
    let tools: Vec<Value> = serde_json::from_str(&run.stdout).unwrap();
    let deferred = |tool: &&Value| tool["extras"] == json!({"defer_loading": true});
    assert!(tools.iter().any(|tool| tool.get("extras").is_none()));
    assert!(tools.iter().filter(deferred).count() > 10);
    let keys = |tool: &Value| tool.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    let arguments_of_a_tool_object = ["name", "description", "args_schema", "extras"];
    assert!(tools.iter().filter(deferred).all(|tool| keys(tool) == arguments_of_a_tool_object));
    assert!(run.stderr.contains("StructuredTool(**entry)"), "{}", run.stderr);
}

#[test]
fn the_functions_of_discovery_can_be_bound() {
    let names = |provider: &str| -> Vec<String> {
        let run = program(&["--provider", provider, "--mode", "files", "--discovery"]);
        let body: Value = serde_json::from_str(&run.stdout).unwrap_or_else(|_| panic!("{}", run.stderr));
        let name = |tool: &Value| {
            tool.pointer("/function/name").unwrap_or(&tool["name"]).as_str().unwrap().to_string()
        };
        body["tools"].as_array().unwrap().iter().map(name).collect()
    };
    let discovery = ["list", "search_nodes", "search_tool_by_category", "expand_tool", "call_tool"];
    assert_eq!(names("openai"), discovery);
    assert_eq!(names("mcp"), discovery);
}

#[test]
fn headers_that_a_payload_needs_are_said() {
    let native = ["--profile", "core", "--provider", "anthropic", "--mode", "native"];
    let beta = "anthropic-beta: advanced-tool-use-2025-11-20";
    let plain = program(&native);
    assert!(plain.stderr.contains(&format!("send the header `{beta}`")), "{}", plain.stderr);
    let headers = program(&[&native[..], &["--headers"]].concat());
    assert_eq!((headers.stdout.as_str(), headers.stderr.as_str()), (format!("{beta}\n").as_str(), ""));
    let json = program(&[&native[..], &["--json"]].concat());
    let json: Value = serde_json::from_str(&json.stdout).unwrap();
    assert_eq!(json["headers"][0]["value"], "advanced-tool-use-2025-11-20");
    assert_eq!(json["headers"][0]["reason"], "defer_loading");
    assert_eq!(json["body"], serde_json::from_str::<Value>(&plain.stdout).unwrap());
    for &provider in Provider::ALL {
        let arguments =
            ["--profile", "core", "--mode", "hybrid", "--provider", provider.as_str(), "--headers"];
        let hybrid = program(&arguments);
        assert_eq!((hybrid.stdout.as_str(), hybrid.stderr.as_str()), ("", ""), "{}", provider.as_str());
    }
}

/// Without a mode, a payload has the one on which a whole task is estimated to cost least, and says why.
#[test]
fn auto_is_the_mode_that_costs_a_task_least() {
    let chosen = |more: &[&str]| {
        let run = program(&[more, &["--json"]].concat());
        let payload: Value = serde_json::from_str(&run.stdout).unwrap();
        let mode = payload["mode"].as_str().unwrap().to_string();
        let named = more.contains(&"--mode");
        let note = format!("the mode is {mode} (auto): a task takes about ");
        assert_eq!(run.stderr.contains(&note), !named, "{}", run.stderr);
        assert_eq!(payload["notes"].to_string().contains(&note), !named);
        mode
    };
    // 117 tools, all deferred, and then ten of them in full.
    assert_eq!(chosen(&["--provider", "openai"]), "gateway");
    assert_eq!(chosen(&["--provider", "anthropic"]), "native");
    assert_eq!(chosen(&["--provider", "anthropic", "--search", "client"]), "gateway");
    assert_eq!(chosen(&["--provider", "openai", "--profile", "core"]), "gateway");
    assert_eq!(chosen(&["--provider", "openai", "--mode", "hybrid"]), "hybrid");
    // A provider takes no more than 128 tools, whatever they cost.
    let tools_for = |provider: &str, count: usize, host: usize| {
        let tool = |index: usize| serde_json::json!({"name": format!("tool_{index}"), "description": "Does it.", "parameters": {"type": "object"}});
        let tools: Vec<Value> = (0..count).map(tool).collect();
        let config = format!("[payload]\nhost_tokens = {host}\n");
        let folder =
            fixture::folder(&[("tools.json", &Value::from(tools).to_string()), ("toolcrib.toml", &config)]);
        let run = fixture::run(&["payload", fixture::text(folder.path()), "--provider", provider, "--json"]);
        let payload: Value = serde_json::from_str(&run.stdout).unwrap_or_else(|_| panic!("{}", run.stderr));
        payload["mode"].as_str().unwrap().to_string()
    };
    let tools = |count: usize, host: usize| tools_for("openai", count, host);
    assert_eq!(tools(20, 10_000), "full");
    assert_eq!(tools(128, 100_000), "full", "a further request costs more than all tools");
    assert_eq!(tools(129, 100_000), "gateway");
    assert_eq!(tools(120, 0), "gateway", "a further request costs little");
    // Gemini shows the names of deferred tools, which cost more than functions.
    assert_eq!(tools_for("gemini-interactions", 511, 10_000), "gateway");
    assert_eq!(tools_for("langchain", 200, 10_000), "gateway");
}

#[test]
fn the_configured_provider_is_the_one_of_every_command_that_names_no_other() {
    let tools = r#"[{"name": "f", "description": "Does it.", "parameters": {"type": "object"}}]"#;
    let config = "[payload]\nprovider = \"anthropic\"\n";
    let folder = fixture::folder(&[("tools.json", tools), ("toolcrib.toml", config)]);
    let server = r#"{"mcpServers": {"a": {"command": "toolcrib-has-no-such-program"}}}"#;
    fixture::write(folder.path(), "client/mcp.json", server);
    let catalog = text(folder.path());
    let printed = |command: &str, more: &[&str], stdin: &str| {
        fixture::run_with(&[&[command, catalog], more].concat(), stdin, &[]).stdout
    };
    assert!(printed("payload", &["--mode", "full"], "").contains("input_schema"));
    assert!(printed("payload", &["--mode", "full", "--provider", "openai"], "").contains("parameters"));
    assert!(printed("tokens", &["--verbose"], "").contains("\nTokens for anthropic "));
    assert_eq!(
        printed("prompt", &["--mode", "native"], ""),
        printed("prompt", &["--mode", "native", "--provider", "anthropic"], "")
    );
    let response = r#"{"content": [{"type": "tool_use", "id": "c", "name": "f", "input": {}}]}"#;
    let calls = printed("parse", &[], response);
    assert!(calls.contains(r#""call_id":"c""#), "{calls}");
    let answered = calls.replace(r#""call_id":"c""#, r#""call_id":"c","envelope":{"ok":true,"result":1}"#);
    assert!(printed("results", &[], &answered).contains("tool_result"));
    let client = folder.path().join("client/mcp.json");
    assert_eq!(toolcrib::config::read(&client).config.payload.provider, Provider::Mcp);
}
