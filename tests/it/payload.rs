//! `toolcrib payload`: every provider's body on every surface for one small catalog, byte for byte, and what the program
//! says and does beside it. `SNAPSHOTS=overwrite cargo test` writes the golden files anew.

use std::fs;

use serde_json::{Map, Value};
use snapbox::assert::{Action, DEFAULT_ACTION_ENV};
use toolcrib::config::{Deferred, Surface};
use toolcrib::provider::{PayloadRequest, Provider, payload};

use crate::fixture::{self, run, text};

#[test]
fn every_provider_on_every_surface() {
    let folder = fixture::package().join("tests/golden/payload");
    let checked = fixture::open(&folder);
    assert_eq!(fixture::codes(&checked).iter().filter(|(code, ..)| *code == "schema-invalid").count(), 0);
    let profile = checked.catalog.profile(Some("agent")).unwrap();
    for &provider in Provider::ALL {
        let body = |surface, deferred, load: &[String]| {
            let options = toolcrib::config::Payload { deferred, ..checked.catalog.config.payload };
            let request = PayloadRequest {
                catalog: &checked.catalog,
                profile: &profile,
                provider,
                surface,
                options,
                load,
            };
            payload(request).unwrap().body
        };
        let mut bodies = Map::new();
        for &surface in Surface::ALL {
            bodies.insert(surface.as_str().into(), body(surface, Deferred::Stub, &["Notes".into()]));
        }
        bodies.insert("hybrid, compact".into(), body(Surface::Hybrid, Deferred::Compact, &[]));
        check(&format!("{}.json", provider.as_str()), &Value::Object(bodies));
    }
}

fn check(name: &str, bodies: &Value) {
    let golden = fixture::package().join("tests/golden/payload").join(name);
    let got = format!("{bodies:#}\n");
    if matches!(Action::with_env_var(DEFAULT_ACTION_ENV), Some(Action::Overwrite)) {
        fs::write(&golden, &got).unwrap();
    }
    let expect = fs::read_to_string(&golden).unwrap_or_default();
    assert!(got == expect, "{name} differs; `just bless` writes it anew, and `git diff` shows what");
}

const GITHUB: [&str; 3] = ["payload", "--catalog", "examples/github"];

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
    let run =
        run(&["payload", "--catalog", text(folder.path()), "--provider", "openai", "--surface", "full"]);
    assert_eq!((run.code, run.stdout.as_str()), (1, ""));
    for said in ["takes 128", "binds 131", "3 too many", "--surface gateway or", "--profile few"] {
        assert!(run.stderr.contains(said), "{said}: {}", run.stderr);
    }
    let few = fixture::run(&[
        "payload",
        "--catalog",
        text(folder.path()),
        "--provider",
        "openai",
        "--profile",
        "few",
    ]);
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
fn a_surface_that_a_provider_lacks_is_said() {
    let native = program(&["--profile", "core", "--provider", "mistral", "--surface", "native"]);
    let hybrid = program(&["--profile", "core", "--provider", "mistral"]);
    assert_eq!(native.stdout, hybrid.stdout);
    assert!(native.stderr.contains("mistral") && native.stderr.contains("hybrid"), "{}", native.stderr);
}

#[test]
fn toolsets_are_loaded_by_category_in_the_order_given() {
    let names = |load: &[&str]| -> Vec<String> {
        let run =
            program(&[&["--profile", "core", "--provider", "openai", "--surface", "toolset"], load].concat());
        let body: Value = serde_json::from_str(&run.stdout).unwrap_or_else(|_| panic!("{}", run.stderr));
        let name = |tool: &Value| tool["function"]["name"].as_str().unwrap().to_string();
        body["tools"].as_array().unwrap().iter().map(name).collect()
    };
    let (none, one, two) = (names(&[]), names(&["--load", "Gists"]), names(&["--load", "Gists", "issues"]));
    assert_eq!(none[0], "load_toolset");
    assert!(one.starts_with(&none) && two.starts_with(&one));
    assert!(one.len() > none.len() && two.len() > one.len());
    let unknown = program(&["--provider", "openai", "--surface", "toolset", "--load", "Gist"]);
    assert_eq!((unknown.code, unknown.stdout.as_str()), (2, ""));
    assert!(unknown.stderr.contains("did you mean \"Gists\"?"), "{}", unknown.stderr);
}

#[test]
fn tools_left_out_are_named_and_severities_are_configured() {
    let tools = "- {name: good, description: Does good., parameters: {type: object}}\n- {name: bad, description: Does not.}\n";
    let of = |config: &str, more: &[&str]| {
        let folder = fixture::folder(&[("tools.yaml", tools), ("toolcrib.toml", config)]);
        let arguments =
            ["payload", "--catalog", text(folder.path()), "--provider", "gemini", "--surface", "full"];
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
fn a_tool_named_like_the_search_of_its_provider_is_a_clash() {
    let tools =
        r#"[{"name": "tool_search_tool_bm25", "description": "Get it.", "parameters": {"type": "object"}}]"#;
    let checked = fixture::open_text("a.json", tools);
    let profile = checked.catalog.profile(None).unwrap();
    let on = |surface| {
        let request = PayloadRequest {
            catalog: &checked.catalog,
            profile: &profile,
            provider: Provider::Anthropic,
            surface,
            options: Default::default(),
            load: &[],
        };
        payload(request).map(|payload| payload.body)
    };
    assert!(on(Surface::Hybrid).is_ok());
    assert!(on(Surface::Native).unwrap_err().to_string().contains("its own search"));
}

#[test]
fn every_surface_that_a_hint_names_fits() {
    let tools: Vec<Value> = (0..600)
        .map(|index| serde_json::json!({"name": format!("t{index}"), "description": "Get it.", "parameters": {"type": "object"}}))
        .collect();
    let folder = fixture::folder(&[("a.json", Value::from(tools).to_string().as_str())]);
    for provider in ["openai", "openai-responses", "gemini", "gemini-interactions"] {
        let arguments = ["payload", "--catalog", text(folder.path()), "--provider", provider, "--surface"];
        let refused = run(&[&arguments[..], &["full"]].concat());
        assert_eq!(refused.code, 1);
        let hint = refused.stderr.split("--surface ").nth(1).unwrap().split(';').next().unwrap();
        for surface in hint.trim().split(" or ") {
            assert_eq!(run(&[&arguments[..], &[surface]].concat()).code, 0, "{provider} {surface}");
        }
    }
}

#[test]
fn nothing_hidden_in_a_text_reaches_a_model() {
    let hidden = "\u{202e}x\u{200b}";
    let property = |more: &str| {
        format!(r#"{{"type": "string", "description": "a{hidden}", "title": "b{hidden}", {more}}}"#)
    };
    let tools = format!(
        r#"[{{"name": "t", "title": "T{hidden}", "description": "Do it{hidden} now.", "parameters": {{
          "type": "object", "$comment": "c{hidden}", "properties": {{"a": {}, "b": {}}},
          "oneOf": [{{"properties": {{"p{hidden}": {{}}}}, "required": ["p{hidden}"]}}, {{"required": ["a"]}}]}},
          "result_schema": {{"type": "object", "properties": {{"r": {{"description": "r{hidden}"}}}}}}}}]"#,
        property(&format!(r#""default": "d{hidden}""#)),
        property(&format!(r#""pattern": "e{hidden}", "format": "f{hidden}""#)),
    );
    let checked = fixture::open_text("a.json", &tools);
    let profile = checked.catalog.profile(None).unwrap();
    for &provider in Provider::ALL {
        let options = Default::default();
        let request = PayloadRequest {
            catalog: &checked.catalog,
            profile: &profile,
            provider,
            surface: Surface::Full,
            options,
            load: &[],
        };
        let body = payload(request).unwrap().body;
        texts(&body, &mut |text| {
            assert!(!text.contains(['\u{202e}', '\u{200b}']), "{}: {text:?}", provider.as_str());
        });
    }
}

/// Shows what models read as text: descriptions and titles at any depth.
fn texts(value: &Value, show: &mut dyn FnMut(&str)) {
    match value {
        Value::Object(fields) => fields.iter().for_each(|(key, value)| match value {
            Value::String(text) if matches!(key.as_str(), "description" | "title" | "$comment") => show(text),
            value => texts(value, show),
        }),
        Value::Array(items) => items.iter().for_each(|item| texts(item, show)),
        _ => {}
    }
}
