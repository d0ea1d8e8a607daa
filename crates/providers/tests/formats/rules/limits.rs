//! More tools than a provider takes is an error that says how many, before anything is sent.

use serde_json::json;
use toolcrib_catalog::config::{self, Mode};
use toolcrib_definition::DescriptionMode;
use toolcrib_providers::{PayloadError, PayloadRequest};

use super::JUDGES;
use super::report::Report;
use super::sweep::{mixed, profile};
use crate::fixture;

/// Payloads that are refused on `full` and on `hybrid`, where each deferred tool takes a place, and `read_tool_doc`
/// one.
#[test]
fn too_many_tools_are_counted() {
    for file in fixture::CATALOGS {
        let catalog = &fixture::catalog(file).1.catalog;
        let mut whole = profile(&mixed(catalog));
        // Deferred all, so that schemas cost little; which tools are bound is the same.
        whole.tools.iter_mut().for_each(|entry| entry.mode = DescriptionMode::Deferred);
        for judge in JUDGES {
            let request = PayloadRequest {
                catalog,
                profile: &whole,
                provider: judge.provider,
                mode: Mode::Hybrid,
                options: config::Payload::default(),
            };
            let cannot = |tool: &&toolcrib_catalog::Tool| {
                matches!(tool.input.parameters.callable(), toolcrib_catalog::Callable::No(_))
            };
            let bindable =
                catalog.tools.len() - catalog.tools.iter().map(|tool| &**tool).filter(cannot).count();
            let expect = bindable + 1;
            let name = format!("{file} {}", judge.provider.as_str());
            match (judge.limit.filter(|limit| expect > *limit), toolcrib_providers::payload(request)) {
                (None, Ok(payload)) => assert_eq!((judge.found)(&payload.body).len(), expect, "{name}"),
                (Some(expected), Err(error)) => {
                    let PayloadError::TooMany { provider, mode, limit, count, .. } = &error else {
                        panic!("{name}: {error}")
                    };
                    assert_eq!((*provider, *mode), (judge.provider, Mode::Hybrid), "{name}");
                    assert_eq!((*limit, *count), (expected, expect), "{name}");
                    let said = error.to_string();
                    for number in [expected, expect, expect - expected] {
                        assert!(said.contains(&number.to_string()), "{name}: {said}");
                    }
                    assert!(error.hint().contains("gateway"), "{name}: {}", error.hint());
                }
                (limit, got) => {
                    panic!("{name}: limit {limit:?}, got {:?}", got.map(|payload| payload.functions.len()))
                }
            }
        }
    }
}

/// The last list that fits, and the first that does not.
#[test]
fn the_limit_itself_fits() {
    for judge in JUDGES {
        let Some(limit) = judge.limit.filter(|limit| *limit < 1_000) else { continue };
        let tools = |count: usize| {
            let tool = |index| json!({"name": format!("tool_{index}"), "description": "Reads.", "inputSchema": {"type": "object", "properties": {"a": {"type": "string"}}}});
            fixture::open_text(
                "a.json",
                &json!({"tools": (0..count).map(tool).collect::<Vec<_>>()}).to_string(),
            )
        };
        for (count, fits) in [(limit, true), (limit + 1, false)] {
            let checked = tools(count);
            let profile = checked.catalog.profile(None).unwrap();
            let request = PayloadRequest {
                catalog: &checked.catalog,
                profile: &profile,
                provider: judge.provider,
                mode: Mode::Full,
                options: config::Payload::default(),
            };
            let got = toolcrib_providers::payload(request);
            assert_eq!(got.is_ok(), fits, "{} {count}", judge.provider.as_str());
            for mode in [Mode::Gateway, Mode::Files] {
                assert!(
                    toolcrib_providers::payload(PayloadRequest { mode, ..request }).is_ok(),
                    "{}",
                    judge.provider.as_str()
                );
            }
        }
    }
}

/// Namespaces hold more than the list does, and deferral is what takes 10,000 tools.
#[test]
fn a_whole_catalog_is_deferred() {
    for file in ["github-mcp-server.json", "docker-registry-tools.json", "box-openapi.json"] {
        let (_, checked) = fixture::catalog(file);
        let mut whole = profile(&mixed(&checked.catalog));
        whole.tools.iter_mut().for_each(|entry| entry.mode = DescriptionMode::Deferred);
        let judge = &super::responses::JUDGE;
        let (provider, mode) = (judge.provider, Mode::Native);
        let options = config::Payload::default();
        let request = PayloadRequest { catalog: &checked.catalog, profile: &whole, provider, mode, options };
        let payload = toolcrib_providers::payload(request).unwrap();
        let mut report = Report::of(format!("{file} whole"));
        let case = super::judge::Case { options, payload: &payload };
        (judge.shape)(&case, &mut report);
        super::judge::names(judge, &(judge.found)(&payload.body), &mut report);
        report.close();
    }
}
