//! One bad tool never fails a request: it is left out by name; and names that meet are an error that names both.

use serde_json::{Value, json};
use toolcrib_catalog::config::{self, Mode};
use toolcrib_catalog::{Checked, Profile};
use toolcrib_definition::finding::Code;
use toolcrib_providers::ProviderFormat;
use toolcrib_providers::call::Parser;
use toolcrib_providers::{Payload, PayloadError, PayloadRequest, Provider};

use super::judge::Case;
use super::report::Report;
use super::{JUDGES, mode, sweep};
use crate::fixture;

const GOOD: &str = r#"{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]}"#;

fn definition(name: &str, parameters: &str) -> String {
    format!(r#"{{"name":"{name}","description":"Reads things.","parameters":{parameters}}}"#)
}

fn catalog(tools: &[(&str, &str)]) -> Checked {
    let tools: Vec<String> = tools.iter().map(|(name, parameters)| definition(name, parameters)).collect();
    fixture::open_text("a.json", &format!("[{}]", tools.join(",")))
}

/// A payload in each mode and for each provider, held to the rules.
fn everywhere(checked: &Checked, mut see: impl FnMut(Provider, Mode, &Payload<'_>)) {
    let deferred = |profile: &mut toolcrib_catalog::Profile<'_>| {
        profile
            .tools
            .iter_mut()
            .skip(1)
            .for_each(|entry| entry.mode = toolcrib_definition::DescriptionMode::Deferred);
    };
    let mut profile = checked.catalog.profile(None).unwrap();
    deferred(&mut profile);
    let mut report = Report::default();
    for judge in JUDGES {
        for asked in [Mode::Full, Mode::Hybrid, Mode::Native] {
            for options in [config::Payload::default(), mode::compact()] {
                let (catalog, provider) = (&checked.catalog, judge.provider);
                let request = PayloadRequest { catalog, profile: &profile, provider, mode: asked, options };
                let payload = toolcrib_providers::payload(request).unwrap();
                report.payload = format!("{} {}", provider.as_str(), asked.as_str());
                let case = Case { options, payload: &payload };
                sweep::judged(judge, &case, &mut report);
                mode::judged(judge, &case, &profile, &mut report);
                see(provider, asked, &payload);
            }
        }
    }
    report.close();
}

#[test]
fn a_tool_that_cannot_be_bound_is_left_out() {
    for bad in [
        r#"{"type":"array","items":{"type":"string"}}"#,
        r#"{"type":"object","properties":{"a":{"$ref":"https://example.com/a.json"}}}"#,
    ] {
        let checked = catalog(&[("good", GOOD), ("bad", bad), ("fine", GOOD)]);
        everywhere(&checked, |provider, mode, payload| {
            let name = format!("{} {} {bad}", provider.as_str(), mode.as_str());
            let left: Vec<_> =
                payload.findings.iter().filter(|finding| finding.code == Code::PayloadToolLeftOut).collect();
            assert_eq!(left.len(), 1, "{name} {:?}", payload.findings);
            assert_eq!(left[0].tool.as_deref(), Some("bad"), "{name}");
            assert_eq!(left[0].place.as_ref().unwrap().file, "a.json", "{name}");
            assert!(left[0].message.contains(provider.as_str()), "{name} {}", left[0].message);
            let bound: Vec<&str> = payload
                .functions
                .iter()
                .filter(|function| !function.ours)
                .map(|function| function.name.as_str())
                .collect();
            assert_eq!(bound, ["good", "fine"], "{name}");
        });
    }
}

/// Every tool of a catalog is bad: the request has no tools, and is a request still.
#[test]
fn nothing_is_left() {
    let checked = catalog(&[("bad", r#"{"type":"array"}"#)]);
    for judge in JUDGES {
        let profile = checked.catalog.profile(None).unwrap();
        let (catalog, provider, mode, options) =
            (&checked.catalog, judge.provider, Mode::Full, config::Payload::default());
        let payload = toolcrib_providers::payload(PayloadRequest {
            catalog,
            profile: &profile,
            provider,
            mode,
            options,
        })
        .unwrap();
        let expect = match provider {
            Provider::Mcp => json!({"tools": []}),
            Provider::LangChain => json!([]),
            _ => json!({}),
        };
        assert_eq!(payload.body, expect, "{}", provider.as_str());
    }
}

#[test]
fn a_schema_that_cannot_be_said_is_loosened() {
    let either = r#"{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"string"}},"anyOf":[{"required":["a"]},{"required":["b"]}]}"#;
    let checked = catalog(&[("good", GOOD), ("either", either)]);
    everywhere(&checked, |provider, mode, payload| {
        let loosened: Vec<_> =
            payload.findings.iter().filter(|finding| finding.code == Code::PayloadSchemaLoosened).collect();
        let refuses = !matches!(
            provider,
            Provider::Gemini
                | Provider::GeminiInteractions
                | Provider::Mistral
                | Provider::Cohere
                | Provider::Mcp
        );
        if refuses && mode == Mode::Full {
            let name = format!("{} {}", provider.as_str(), mode.as_str());
            assert_eq!(loosened.len(), 1, "{name} {:?}", payload.findings);
            assert_eq!(loosened[0].tool.as_deref(), Some("either"), "{name}");
        }
        assert!(loosened.iter().all(|finding| finding.tool.as_deref() != Some("good")), "{loosened:?}");
    });
}

/// Schemas that break one rule or another of nearly every provider.
#[test]
fn odd_schemas_are_made_to_fit() {
    let odd = [
        r#"{}"#,
        r#"{"type":"object"}"#,
        r#"{"type":"object","properties":{}}"#,
        r#"{"type":["object","null"],"properties":{"a":{"type":"string"}}}"#,
        r#"{"$schema":"http://json-schema.org/draft-07/schema#","$id":"https://example.com/x","type":"object","properties":{"a":{"type":"string"}}}"#,
        r##"{"$ref":"#/$defs/a","$defs":{"a":{"type":"object","properties":{"b":{"type":"integer"}},"required":["b"]}}}"##,
        r##"{"type":"object","properties":{"tree":{"$ref":"#/$defs/tree"}},"$defs":{"tree":{"type":"object","properties":{"value":{"type":"string"},"children":{"type":"array","items":{"$ref":"#/$defs/tree"}}}}}}"##,
        r##"{"type":"object","properties":{"self":{"$ref":"#"}}}"##,
        r##"{"type":"object","properties":{"a":{"$ref":"#/definitions/x"}},"definitions":{"x":{"type":"string","description":"An x."}}}"##,
        r##"{"type":"object","properties":{"a":{"$ref":"#/$defs/x","description":"Beside."}},"$defs":{"x":{"type":"string"}}}"##,
        r##"{"type":"object","properties":{"a":{"$ref":"#/properties/b"},"b":{"type":"integer"}}}"##,
        r#"{"oneOf":[{"type":"object","properties":{"a":{"type":"string"}},"required":["a"]},{"type":"object","properties":{"b":{"type":"string"}},"required":["b"]}]}"#,
        r#"{"allOf":[{"type":"object","properties":{"a":{"type":"string"}}},{"properties":{"b":{"type":"string"}},"required":["b"]}]}"#,
        r#"{"type":"object","properties":{"$filter":{"type":"string"},"filter[x]":{"type":"string"},"@type":{"type":"string"},"":{"type":"string"}},"required":["$filter"]}"#,
        r#"{"type":"object","properties":{"a":{"type":"object","properties":{"b c":{"type":"string"}},"required":["b c"]}}}"#,
        r#"{"type":"object","properties":{"list":{"type":"array"},"free":{"type":"object"},"any":{},"yes":true,"no":false}}"#,
        r#"{"type":"object","properties":{"a":{"type":["string","null"]},"b":{"type":["array","string"]},"c":{"const":1},"d":{"enum":[1,null,"x"]}}}"#,
        r#"{"type":"object","properties":{"a":{"type":"string","nullable":true},"b":{"type":"integer","exclusiveMinimum":true,"minimum":1}}}"#,
        r#"{"type":"object","properties":{"a":{"type":"array","items":[{"type":"string"},{"type":"integer"}]}}}"#,
        r#"{"type":"object","properties":{"a":{"type":"string"}},"required":["a","missing"]}"#,
        r#"{"type":"object","properties":{"type":{"type":"string"},"properties":{"type":"object"},"$ref":{"type":"string"},"items":{"type":"array"},"required":{"type":"boolean"},"title":{"type":"string"},"description":{"type":"string"}},"required":["type","title"]}"#,
        r#"{"type":"object","enum":[{"a":1},{"a":2}]}"#,
        r#"{"type":"object","not":{"required":["a"]},"properties":{"a":{"type":"string"}}}"#,
        r#"{"type":"object","patternProperties":{"^x-":{"type":"string"}},"additionalProperties":{"type":"integer"}}"#,
        r#"{"type":"object","properties":{"a":{"if":{"type":"string"},"then":{"minLength":2},"else":{"type":"integer"}}}}"#,
    ];
    let names: Vec<String> = (0..odd.len()).map(|index| format!("odd_{index}")).collect();
    let tools: Vec<(&str, &str)> = names.iter().map(String::as_str).zip(odd).collect();
    let checked = catalog(&tools);
    assert_eq!(checked.catalog.tools.len(), odd.len());
    everywhere(&checked, |_, _, _| {});
}

/// The canonical schema is what it was.
#[test]
fn the_canonical_schema_is_untouched() {
    for file in ["notion-openapi.json", "universal-agent-openai.json"] {
        let (_, checked) = fixture::catalog(file);
        let written = || -> Vec<String> {
            checked.catalog.tools.iter().map(|tool| tool.input.parameters.schema().to_string()).collect()
        };
        let before = written();
        everywhere(checked, |_, _, _| {});
        assert!(before == written(), "{file}");
    }
}

#[track_caller]
fn clash(tools: &[(&str, &str)], provider: Provider, mode: Mode, expect: (&str, &str, &str)) {
    let checked = catalog(tools);
    let mut profile = checked.catalog.profile(None).unwrap();
    profile.tools.iter_mut().for_each(|entry| entry.mode = toolcrib_definition::DescriptionMode::Deferred);
    let (catalog, options) =
        (&checked.catalog, config::Payload { search: config::SearchBy::Client, ..Default::default() });
    let error =
        toolcrib_providers::payload(PayloadRequest { catalog, profile: &profile, provider, mode, options })
            .unwrap_err();
    let PayloadError::Clash { name, first, second, .. } = &error else { panic!("{error}") };
    let mut both = [first.as_str(), second];
    both.sort_unstable();
    assert_eq!((name.as_str(), both[0], both[1]), expect);
    assert!(error.to_string().contains(expect.1) && error.to_string().contains(expect.2), "{error}");
    assert!(!error.hint().is_empty());
}

#[test]
fn names_that_meet_are_an_error() {
    for &provider in Provider::ALL {
        let doc = [("read_tool_doc", GOOD)];
        clash(&doc, provider, Mode::Hybrid, ("read_tool_doc", "read_tool_doc", "read_tool_doc"));
        if provider.defers() {
            clash(
                &[("tool_search", GOOD)],
                provider,
                Mode::Native,
                ("tool_search", "tool_search", "tool_search"),
            );
        }
    }
}

/// The hash depends on the tool alone, so that a request with fewer tools has the same name.
#[test]
fn names_that_are_equal_on_one_wire_get_a_stable_hash_and_resolve_back() {
    let both = catalog(&[("get-balance", GOOD), ("get_balance", GOOD), ("x-y_z", GOOD), ("x_y-z", GOOD)]);
    let catalog = &both.catalog;
    let profile = catalog.profile(None).unwrap();
    let name_of = |profile: &Profile<'_>, tool: &str| {
        let (provider, mode, options) = (Provider::Cohere, Mode::Full, Default::default());
        let request = PayloadRequest { catalog, profile, provider, mode, options };
        let payload = toolcrib_providers::payload(request).unwrap();
        payload.functions.iter().find(|function| function.tool.names.canonical == tool).unwrap().name.clone()
    };
    assert_eq!(name_of(&profile, "get_balance"), "get_balance");
    let parser = Parser::new(catalog, Provider::Cohere);
    for tool in ["get-balance", "x-y_z", "x_y-z"] {
        let name = name_of(&profile, tool);
        let (stem, hash) = name.rsplit_once('_').unwrap();
        assert_eq!((stem, hash.len()), (tool.replace('-', "_").as_str(), 8));
        let tools =
            profile.tools.iter().filter(|entry| entry.tool.names.canonical == tool).copied().collect();
        assert_eq!(name_of(&Profile { tools, ..catalog.profile(None).unwrap() }, tool), name);
        let body =
            json!({"message": {"tool_calls": [{"id": "1", "function": {"name": name, "arguments": "{}"}}]}});
        let entries = parser.parse(&body.to_string()).unwrap();
        assert_eq!(entries[0].name.as_deref(), Some(tool));
        assert_eq!(parser.emitted(tool), name);
    }
}

/// Dots, spaces and length are mapped; nothing meets, and each function knows its tool.
#[test]
fn names_are_mapped_to_what_providers_take() {
    let long = "very_long_name_".repeat(9);
    let longer = format!("{long}x");
    let names = [
        "tool.help",
        "tool help",
        "get/things",
        "2fast",
        "_x",
        "naïve",
        long.as_str(),
        longer.as_str(),
        "a:b",
        "日本語",
    ];
    let tools: Vec<(&str, &str)> = names.iter().map(|name| (*name, GOOD)).collect();
    let checked = catalog(&tools);
    everywhere(&checked, |provider, mode, payload| {
        let tools: Vec<&str> = payload
            .functions
            .iter()
            .filter(|function| !function.ours)
            .map(|function| function.tool.names.canonical.as_str())
            .collect();
        assert_eq!(tools.len(), names.len(), "{} {}", provider.as_str(), mode.as_str());
        let emitted = payload.functions.iter().find(|function| function.tool.names.canonical == "tool.help");
        if let Some(function) = emitted.filter(|_| provider != Provider::Mcp) {
            assert!(function.name.starts_with("tool_help"), "{} {}", provider.as_str(), function.name);
        }
    });
}

/// A tool without a schema whose no-schema mode allows calls has an open schema.
#[test]
fn a_tool_without_a_schema_takes_anything() {
    let text =
        r#"[{"name":"run","description":"Runs.","allow_no_schema":true,"no_schema_mode":"read-only"}]"#;
    let checked = fixture::open_text("a.json", text);
    everywhere(&checked, |provider, mode, payload| {
        let function =
            payload.functions.iter().find(|function| function.tool.names.canonical == "run").unwrap();
        let open = |schema: &Value| jsonschema::is_valid(schema, &json!({"x": 1}));
        let name = format!("{} {}", provider.as_str(), mode.as_str());
        assert!(
            function.schema.as_ref().is_some_and(open) && !function.strict,
            "{name} {:?}",
            function.schema
        );
    });
}
