//! Strict tools: within the subset, or strict is off and a finding says why.

use serde_json::{Value, json};
use toolcrib_catalog::Checked;
use toolcrib_catalog::config::{self, Mode};
use toolcrib_definition::finding::Code;
use toolcrib_providers::{PayloadRequest, Provider};

use super::JUDGES;
use super::judge::Case;
use super::report::Report;
use super::sweep;
use crate::fixture;

/// Providers with strict mode for one function.
const STRICT: [Provider; 6] = [
    Provider::OpenAi,
    Provider::OpenAiResponses,
    Provider::Anthropic,
    Provider::Bedrock,
    Provider::Mistral,
    Provider::LangChain,
];

fn tool(name: &str, parameters: &Value) -> Value {
    json!({"name": name, "description": "Reads things.", "parameters": parameters, "strict": true})
}

fn catalog(tools: &[Value]) -> Checked {
    fixture::open_text("a.json", &Value::from(tools).to_string())
}

/// The names that are strict in the body, and those that a finding says are not.
fn strict(checked: &Checked, provider: Provider, mode: Mode) -> (Vec<String>, Vec<String>) {
    let judge = JUDGES.into_iter().find(|judge| judge.provider == provider).unwrap();
    let profile = checked.catalog.profile(None).unwrap();
    let options = config::Payload::default();
    let request = PayloadRequest { catalog: &checked.catalog, profile: &profile, provider, mode, options };
    let payload = toolcrib_providers::payload(request).unwrap();
    let mut report = Report::of(format!("strict {}", provider.as_str()));
    sweep::judged(judge, &Case { options, payload: &payload }, &mut report);
    report.close();
    let found = (judge.found)(&payload.body).into_iter().filter(|function| function.strict);
    let off = payload.findings.iter().filter(|finding| finding.code == Code::PayloadStrictOff);
    let off = off.map(|finding| {
        assert!(
            finding.message.len() > "bound without `strict`: ".len() && finding.place.is_some(),
            "{finding:?}"
        );
        finding.tool.clone().unwrap()
    });
    (found.map(|function| function.name.to_string()).collect(), off.collect())
}

/// Whether a schema is bound strictly by each, or reported; by those who are not strict at all it is reported too.
#[track_caller]
fn check(parameters: &Value, strictly: &[Provider]) {
    let checked = catalog(&[tool("one", parameters)]);
    let one = vec!["one".to_string()];
    for &provider in Provider::ALL {
        let expect = match strictly.contains(&provider) {
            true => (one.clone(), vec![]),
            false => (vec![], one.clone()),
        };
        assert_eq!(strict(&checked, provider, Mode::Full), expect, "{} {parameters}", provider.as_str());
    }
}

const OPENAI: [Provider; 4] =
    [Provider::OpenAi, Provider::OpenAiResponses, Provider::Mistral, Provider::LangChain];

#[test]
fn what_fits_every_subset_is_strict() {
    let text = json!({"type": "string"});
    check(
        &json!({"type": "object", "properties": {"a": text}, "required": ["a"], "additionalProperties": false}),
        &STRICT,
    );
    check(
        &json!({"type": "object", "additionalProperties": false, "required": ["a", "b", "c"], "properties": {
            "a": {"type": "array", "items": {"type": "integer"}},
            "b": {"enum": ["x", "y"], "type": "string"},
            "c": {"type": "object", "properties": {"d": {"type": "boolean"}}, "required": ["d"], "additionalProperties": false},
        }}),
        &STRICT,
    );
}

#[test]
fn what_is_optional_may_be_null_where_all_is_required() {
    let parameters = json!({"type": "object", "additionalProperties": false, "required": ["a"], "properties": {"a": {"type": "string"}, "b": {"type": "integer"}}});
    check(&parameters, &STRICT);
    let checked = catalog(&[tool("one", &parameters)]);
    let profile = checked.catalog.profile(None).unwrap();
    let (mode, options) = (Mode::Full, config::Payload::default());
    let request = PayloadRequest {
        catalog: &checked.catalog,
        profile: &profile,
        provider: Provider::OpenAi,
        mode,
        options,
    };
    let body = toolcrib_providers::payload(request).unwrap().body;
    let bound = &body["tools"][0]["function"]["parameters"];
    let takes = |arguments: Value| jsonschema::is_valid(bound, &arguments);
    assert!(takes(json!({"a": "x", "b": 1})) && takes(json!({"a": "x", "b": null})), "{bound}");
    assert!(!takes(json!({"a": null, "b": 1})) && !takes(json!({"a": "x"})), "{bound}");
}

#[test]
fn what_no_subset_can_say_is_not_strict() {
    let free = json!({"type": "object"});
    check(
        &json!({"type": "object", "properties": {"a": free}, "required": ["a"], "additionalProperties": false}),
        &[],
    );
    let open = json!({"type": "object", "properties": {}, "additionalProperties": {"type": "string"}});
    check(
        &json!({"type": "object", "properties": {"a": open}, "required": ["a"], "additionalProperties": false}),
        &[],
    );
    let mapped = json!({"type": "object", "patternProperties": {"^x": {"type": "string"}}});
    check(
        &json!({"type": "object", "properties": {"a": mapped}, "required": ["a"], "additionalProperties": false}),
        &[],
    );
}

#[test]
fn recursion_is_for_openai_alone() {
    let node = json!({"type": "object", "properties": {"next": {"anyOf": [{"$ref": "#/$defs/node"}, {"type": "null"}]}}, "required": ["next"], "additionalProperties": false});
    check(
        &json!({"type": "object", "properties": {"a": {"$ref": "#/$defs/node"}}, "required": ["a"], "additionalProperties": false, "$defs": {"node": node}}),
        &OPENAI,
    );
}

/// Whether such a schema is loosened or loses `strict` is the view's choice; what it emits is within the subset, which
/// `strict` has judged, or a finding names it.
#[test]
fn limits_are_taken_out_or_strict_is() {
    for property in [
        json!({"type": "string", "minLength": 1, "maxLength": 5}),
        json!({"type": "string", "format": "uri-template"}),
        json!({"type": "string", "pattern": "^(?=a)b"}),
        json!({"type": "integer", "minimum": 1, "maximum": 5, "multipleOf": 2}),
        json!({"type": "array", "items": {"type": "string"}, "minItems": 2, "maxItems": 3, "uniqueItems": true}),
        json!({"type": "array"}),
        json!({"type": "string", "default": "x", "examples": ["y"]}),
        json!({"allOf": [{"type": "string"}, {"minLength": 1}]}),
        json!({"oneOf": [{"type": "string"}, {"type": "integer"}]}),
        json!({"not": {"type": "string"}}),
        json!({"$ref": "#/properties/b", "description": "As b."}),
        json!(true),
        json!({}),
    ] {
        let parameters = json!({"type": "object", "properties": {"a": property, "b": {"type": "string"}}, "required": ["a", "b"], "additionalProperties": false});
        let checked = catalog(&[tool("one", &parameters)]);
        for provider in STRICT {
            let (on, off) = strict(&checked, provider, Mode::Full);
            assert_eq!(on.len() + off.len(), 1, "{} {property}: {on:?} {off:?}", provider.as_str());
        }
    }
}

/// Deep schemas, long enums: over a limit of the subset.
#[test]
fn limits_of_size_switch_strict_off() {
    let mut deep = json!({"type": "string"});
    for _ in 0..12 {
        deep = json!({"type": "object", "properties": {"a": deep}, "required": ["a"], "additionalProperties": false});
    }
    let values: Vec<String> = (0..1_001).map(|index| format!("v{index}")).collect();
    let long = json!({"type": "object", "properties": {"a": {"type": "string", "enum": values}}, "required": ["a"], "additionalProperties": false});
    for parameters in [deep, long] {
        let checked = catalog(&[tool("one", &parameters)]);
        for provider in OPENAI {
            assert_eq!(
                strict(&checked, provider, Mode::Full),
                (vec![], vec!["one".to_string()]),
                "{}",
                provider.as_str()
            );
        }
    }
}

/// 20 tools, 24 optional and 16 union parameters in one request; who comes first is strict.
#[test]
fn a_request_has_so_many_strict_tools() {
    let text = json!({"type": "string"});
    let plain = json!({"type": "object", "properties": {"a": text}, "required": ["a"], "additionalProperties": false});
    let optional = json!({"type": "object", "properties": {"a": text, "b": text, "c": text, "d": text}, "additionalProperties": false});
    let either = json!({"anyOf": [{"type": "string"}, {"type": "integer"}]});
    let union = json!({"type": "object", "properties": {"a": either, "b": either}, "required": ["a", "b"], "additionalProperties": false});
    for (parameters, most) in [(plain, 20), (optional, 6), (union, 8)] {
        let tools: Vec<Value> = (0..25).map(|index| tool(&format!("t{index}"), &parameters)).collect();
        let checked = catalog(&tools);
        for provider in [Provider::Anthropic, Provider::Bedrock] {
            let (on, off) = strict(&checked, provider, Mode::Full);
            let first: Vec<String> = (0..most).map(|index| format!("t{index}")).collect();
            assert_eq!((on, off.len()), (first, 25 - most), "{}", provider.as_str());
        }
        let (on, off) = strict(&checked, Provider::OpenAi, Mode::Full);
        assert_eq!((on.len(), off.len()), (25, 0));
    }
}

/// Bedrock's root says less than a schema may; strict, it would say something else.
#[test]
fn what_the_root_loses_is_not_held_to() {
    let patterns = json!({"type": "object", "patternProperties": {"^x-": {"type": "string"}}, "additionalProperties": false});
    let more = json!({"type": "object", "properties": {"a": {"type": "integer"}}, "additionalProperties": {"type": "integer"}});
    for parameters in [patterns, more, json!({"enum": [{"a": 1}, {"b": 2}]})] {
        check(&parameters, &[]);
    }
}

/// A stub's object is open: strict would close it, and only `{}` could be passed.
#[test]
fn what_is_deferred_is_not_strict() {
    let parameters = json!({"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"], "additionalProperties": false});
    let mut one = tool("one", &parameters);
    one["description_mode"] = "deferred".into();
    let checked = catalog(&[one]);
    for &provider in Provider::ALL {
        assert_eq!(strict(&checked, provider, Mode::Hybrid), (vec![], vec![]), "{}", provider.as_str());
    }
}
