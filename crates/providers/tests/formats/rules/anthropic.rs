//! Anthropic Messages: deferral, search, cache marks (docs/reference/formats.md, Anthropic Messages).

use serde_json::{Value, json};
use toolcrib_catalog::config::{Mode, SearchBy};
use toolcrib_providers::Provider;

use super::anthropic_strict;
use super::judge::{Case, Found, Judge, PLAIN_NAMES, booleans, entries, keys, only_list};
use super::report::Report;
use super::schema::{self, Schema};

/// The column "Anthropic".
pub const JUDGE: Judge = Judge {
    provider: Provider::Anthropic,
    names: PLAIN_NAMES,
    limit: Some(10_000),
    native: true,
    found,
    shape,
    schema: schema_rules,
};

/// The provider's own search tools.
const SEARCHES: [(&str, &str); 2] = [
    ("tool_search_tool_regex_20251119", "tool_search_tool_regex"),
    ("tool_search_tool_bm25_20251119", "tool_search_tool_bm25"),
];

fn is_search(entry: &Value) -> bool {
    entry.get("type").is_some()
}

fn found(body: &Value) -> Vec<Found<'_>> {
    let functions = entries(body, "/tools").into_iter().filter(|(_, entry)| !is_search(entry));
    functions.map(|(pointer, entry)| Found::of(entry, pointer, "/input_schema")).collect()
}

fn shape(case: &Case<'_>, report: &mut Report) {
    only_list(case.body(), "tools", report);
    for (pointer, entry) in entries(case.body(), "/tools") {
        if is_search(entry) {
            keys(entry, &["type", "name"], &["cache_control"], &pointer, report);
            let known = SEARCHES.iter().any(|(kind, name)| entry["type"] == *kind && entry["name"] == *name);
            report.demand(known, "a search tool that is known", &pointer);
            let is_regex = entry["name"] == "tool_search_tool_regex";
            let wanted = case.options.search == SearchBy::Regex;
            report.demand(is_regex == wanted, "the search that is configured", &pointer);
        } else {
            let optional = ["strict", "defer_loading", "cache_control", "input_examples", "allowed_callers"];
            keys(entry, &["name", "description", "input_schema"], &optional, &pointer, report);
            booleans(entry, &["strict", "defer_loading"], &pointer, report);
            examples(case, entry, &pointer, report);
        }
    }
    deferral(case, report);
    marks(case, report);
    anthropic_strict::per_request(&found(case.body()), report);
}

/// Examples fit the schema, and are not there beside a search for tools.
fn examples(case: &Case<'_>, entry: &Value, pointer: &str, report: &mut Report) {
    let Some(examples) = entry.get("input_examples").and_then(Value::as_array) else { return };
    let defers = case.payload.functions.iter().any(|function| function.deferred);
    report.demand(!defers, "no examples beside a search", pointer);
    let validator = jsonschema::validator_for(&entry["input_schema"]).expect("a schema");
    report.demand(examples.iter().all(|example| validator.is_valid(example)), "examples fit", pointer);
}

/// At least one tool stays; there is one search, by the provider or by us, exactly when something is deferred.
fn deferral(case: &Case<'_>, report: &mut Report) {
    let all = entries(case.body(), "/tools");
    let functions = found(case.body());
    let defers = functions.iter().any(|function| function.deferred);
    report.demand(
        !defers || case.payload.mode == Mode::Native,
        "nothing is deferred but on native",
        "/tools",
    );
    report.demand(
        all.is_empty() || all.iter().any(|(_, entry)| entry["defer_loading"] != true),
        "one tool is not deferred",
        "/tools",
    );
    let theirs = all.iter().filter(|(_, entry)| is_search(entry)).count();
    let ours =
        functions.iter().filter(|function| function.name == "tool_search" && !function.deferred).count();
    if case.payload.mode == Mode::Native {
        let client = case.options.search == SearchBy::Client;
        report.demand(
            theirs == usize::from(defers && !client),
            "the provider's search, when it searches",
            "/tools",
        );
        report.demand(ours == 1 || !defers || !client, "our search, when the client searches", "/tools");
    } else {
        report.demand(theirs == 0, "no search where nothing is deferred", "/tools");
    }
}

/// One mark, on the last tool that is in the prefix; never on a deferred one; none when it is switched off.
fn marks(case: &Case<'_>, report: &mut Report) {
    let all = entries(case.body(), "/tools");
    let marked: Vec<_> = all.iter().filter(|(_, entry)| entry.get("cache_control").is_some()).collect();
    let last = all.iter().rev().find(|(_, entry)| entry["defer_loading"] != true);
    let wanted = case.options.cache.unwrap_or(true) && last.is_some();
    report.demand(marked.len() == usize::from(wanted), "one mark for the cache, unless it is off", "/tools");
    for (pointer, entry) in marked {
        report.demand(entry.get("defer_loading").is_none(), "no mark on a deferred tool", pointer);
        report.demand(
            last.is_some_and(|(at, _)| at == pointer),
            "the mark is on the last tool of the prefix",
            pointer,
        );
        let mark = &entry["cache_control"];
        let fits = [
            json!({"type": "ephemeral"}),
            json!({"type": "ephemeral", "ttl": "5m"}),
            json!({"type": "ephemeral", "ttl": "1h"}),
        ]
        .contains(mark);
        report.demand(fits, "a mark that is known", pointer);
    }
}

fn schema_rules(schema: &Schema<'_>, report: &mut Report) {
    schema::root_is_object(schema, report);
    schema::root_lacks(schema, &["oneOf", "allOf", "anyOf"], report);
    schema::portable_keys(schema, report);
    schema::references_resolve(schema, report);
    schema::lacks(schema, &["$schema", "$id"], report);
    schema::valid_2020_12(schema, report);
    if schema.strict {
        anthropic_strict::subset(schema, report);
    }
}
