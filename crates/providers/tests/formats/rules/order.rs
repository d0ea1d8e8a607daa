//! A new tool only appends, so that the prompt cache of what stands before them holds.

use serde_json::Value;
use toolcrib_catalog::config::{self, Deferred, Mode, SearchBy};
use toolcrib_providers::ProviderFormat;
use toolcrib_providers::{PayloadRequest, Provider};

use super::sweep::{mixed, profile};
use crate::fixture;

/// The list that models read. Marks for the cache are no part of what is cached.
fn list(body: &Value) -> Vec<Value> {
    let of = |pointer: &str| body.pointer(pointer).and_then(Value::as_array).cloned();
    let mut list = of("/toolConfig/tools")
        .or_else(|| of("/tools/0/functionDeclarations"))
        .or_else(|| of("/tools"))
        .or_else(|| body.as_array().cloned())
        .unwrap_or_default();
    list.retain(|entry| entry.get("cachePoint").is_none());
    list.iter_mut().filter_map(Value::as_object_mut).for_each(|entry| drop(entry.remove("cache_control")));
    list
}

/// Whether one is the other with more at its end. In namespaces, lists and texts may grow too.
fn grows(old: &Value, new: &Value) -> bool {
    match (old, new) {
        (Value::Array(old), Value::Array(new)) => {
            old.len() <= new.len() && old.iter().zip(new).all(|(old, new)| grows(old, new))
        }
        (Value::Object(old), Value::Object(new)) => {
            old.keys().eq(new.keys()) && old.iter().all(|(key, old)| grows(old, &new[key]))
        }
        (Value::String(old), Value::String(new)) => new.starts_with(old),
        (old, new) => old == new,
    }
}

/// Modes and options; native is what hybrid is where the provider cannot defer.
fn options(provider: Provider) -> Vec<(Mode, config::Payload)> {
    let plain = config::Payload::default();
    let mut all = vec![
        (Mode::Full, plain),
        (Mode::Hybrid, plain),
        (Mode::Gateway, plain),
        (Mode::Hybrid, config::Payload { deferred: Deferred::Compact, ..plain }),
    ];
    if provider.defers() {
        all.push((Mode::Native, plain));
        all.push((Mode::Native, config::Payload { search: SearchBy::Client, ..plain }));
    }
    all
}

#[test]
fn a_new_tool_is_appended() {
    // Forty tools of two catalogs, one of them with categories: how tools are ordered does not depend on more.
    for file in ["box-openapi.json", "github-mcp-server.json"] {
        let (_, checked) = fixture::catalog(file);
        let tools = mixed(&checked.catalog);
        for &provider in Provider::ALL {
            for (mode, options) in options(provider) {
                let made = |count: usize| {
                    let profile = profile(&tools[..count]);
                    let request = PayloadRequest {
                        catalog: &checked.catalog,
                        profile: &profile,
                        provider,
                        mode,
                        options,
                    };
                    list(&toolcrib_providers::payload(request).unwrap().body)
                };
                let mut old = made(12);
                for count in [13, 15, 16, 17, 40] {
                    let new = made(count);
                    let name = format!("{file} {} {} {count}", provider.as_str(), mode.as_str());
                    let shared = new.get(..old.len()).unwrap_or_else(|| panic!("{name}: shorter"));
                    let same = match mode {
                        Mode::Native => old.iter().zip(shared).all(|(old, new)| grows(old, new)),
                        _ => old == shared,
                    };
                    assert!(same, "{name}: something before the end has changed");
                    // A tool that is not full is behind the functions of `gateway`.
                    assert!(new != old || mode == Mode::Gateway, "{name}: nothing was added");
                    old = new;
                }
            }
        }
    }
}
