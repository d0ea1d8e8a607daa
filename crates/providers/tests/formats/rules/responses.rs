//! OpenAI Responses: flat functions, namespaces, search (docs/reference/formats.md, OpenAI Responses).

use std::collections::HashSet;

use serde_json::{Value, json};
use toolcrib_catalog::config::SearchBy;
use toolcrib_providers::{Extent, Provider};

use super::judge::{Case, Found, Judge, PLAIN_NAMES, booleans, entries, keys, only_list};
use super::openai::schema_rules;
use super::report::Report;

/// The column "OpenAI Responses".
pub const JUDGE: Judge = Judge {
    provider: Provider::OpenAiResponses,
    names: PLAIN_NAMES,
    limit: Some(LIMIT),
    native: true,
    found,
    shape,
    schema: schema_rules,
};

const LIMIT: usize = 128;
/// "Fewer than 10 functions in each."
const NAMESPACE: usize = 9;

fn found(body: &Value) -> Vec<Found<'_>> {
    let mut all = Vec::new();
    for (pointer, entry) in entries(body, "/tools") {
        match entry["type"].as_str() {
            Some("function") => all.push(Found::of(entry, pointer, "/parameters")),
            Some("namespace") => {
                let inner = entries(entry, "/tools");
                all.extend(
                    inner
                        .into_iter()
                        .map(|(below, entry)| Found::of(entry, format!("{pointer}{below}"), "/parameters")),
                );
            }
            _ => {}
        }
    }
    all
}

fn shape(case: &Case<'_>, report: &mut Report) {
    only_list(case.body(), "tools", report);
    for (pointer, entry) in entries(case.body(), "/tools") {
        match entry["type"].as_str() {
            Some("function") => {
                function(entry, &pointer, report);
                // Its name and description would still be shown; in a namespace they are not.
                report.demand(
                    entry.get("defer_loading").is_none(),
                    "what is deferred is in a namespace",
                    &pointer,
                );
            }
            Some("namespace") => {
                keys(entry, &["type", "name", "description", "tools"], &[], &pointer, report);
                for (below, entry) in entries(entry, "/tools") {
                    function(entry, &format!("{pointer}{below}"), report);
                }
            }
            Some("tool_search") => search(case, entry, &pointer, report),
            _ => report.demand(false, "a type that is known", &pointer),
        }
    }
    searches_match_deferral(case.body(), report);
    namespaces(case.body(), report);
    stubs(case, report);
}

/// The SDK's type requires all five; left out, strict is tried.
fn function(entry: &Value, pointer: &str, report: &mut Report) {
    let required = ["type", "name", "description", "parameters", "strict"];
    keys(entry, &required, &["defer_loading", "allowed_callers", "output_schema"], pointer, report);
    report.demand(entry["type"] == "function", "the type is function", pointer);
    booleans(entry, &["strict", "defer_loading"], pointer, report);
    report.demand(entry["strict"].is_boolean(), "strict on every function", pointer);
}

fn search(case: &Case<'_>, entry: &Value, pointer: &str, report: &mut Report) {
    if case.options.search == SearchBy::Client {
        keys(entry, &["type", "execution", "description", "parameters"], &[], pointer, report);
        report.demand(entry["execution"] == "client", "the client searches", pointer);
        report.demand(entry["parameters"]["type"] == "object", "the search has a schema", pointer);
    } else {
        report.demand(entry == &json!({"type": "tool_search"}), "the provider searches", pointer);
    }
}

/// "Deferred tools require tools.tool_search", "tools.tool_search requires at least one deferred tool", and only one.
fn searches_match_deferral(body: &Value, report: &mut Report) {
    let searches = entries(body, "/tools").iter().filter(|(_, entry)| entry["type"] == "tool_search").count();
    let defers = found(body).iter().any(|function| function.deferred);
    report.demand(searches == usize::from(defers), "one search exactly when something is deferred", "/tools");
}

/// Few functions in each where there is room; never named like a function, nor alike.
fn namespaces(body: &Value, report: &mut Report) {
    let all = entries(body, "/tools");
    let namespaces: Vec<_> = all.iter().filter(|(_, entry)| entry["type"] == "namespace").collect();
    let mut taken: HashSet<&str> = found(body).iter().map(|function| function.name).collect();
    let deferred = found(body).iter().filter(|function| function.deferred).count();
    let has_room = deferred <= NAMESPACE * (LIMIT - (all.len() - namespaces.len()).min(LIMIT));
    for (pointer, namespace) in namespaces {
        let name = namespace["name"].as_str().unwrap_or_default();
        let count = namespace["tools"].as_array().map_or(0, Vec::len);
        report.demand(PLAIN_NAMES.take(name), "a namespace's name matches the pattern", pointer);
        report.demand(taken.insert(name), "a namespace has a name of its own", pointer);
        report.demand(
            namespace["description"].as_str().is_some_and(|text| !text.trim().is_empty()),
            "a namespace's description",
            pointer,
        );
        report.demand(count > 0, "no empty namespace", pointer);
        report.demand(count <= NAMESPACE || !has_room, "fewer than 10 functions in a namespace", pointer);
        let all_deferred =
            entries(namespace, "/tools").iter().all(|(_, entry)| entry["defer_loading"] == true);
        report.demand(all_deferred, "a namespace holds what is deferred", pointer);
    }
}

/// "Stubs need `strict:false` and `additionalProperties:true`."
fn stubs(case: &Case<'_>, report: &mut Report) {
    let stubs = case.payload.functions.iter().filter(|function| function.extent == Extent::Stub);
    let names: HashSet<&str> = stubs.map(|function| function.name.as_str()).collect();
    for stub in found(case.body()).iter().filter(|function| names.contains(function.name)) {
        let open =
            stub.schema.is_some_and(|schema| schema.get("additionalProperties") != Some(&Value::Bool(false)));
        report.demand(open && !stub.strict, "a stub is open and not strict", &stub.pointer);
    }
}
