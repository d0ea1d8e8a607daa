//! Amazon Bedrock Converse; its Nova models need a bare root (docs/reference/formats.md, Bedrock Converse).

use serde_json::{Value, json};
use toolcrib_providers::Provider;

use super::anthropic_strict;
use super::judge::{Case, Found, Judge, PLAIN_NAMES, booleans, entries, keys, only_list};
use super::report::Report;
use super::schema::{self, Schema};

/// The column "Bedrock Converse".
pub const JUDGE: Judge = Judge {
    provider: Provider::Bedrock,
    names: PLAIN_NAMES,
    limit: None,
    native: false,
    found,
    shape,
    schema: schema_rules,
};

const LIST: &str = "/toolConfig/tools";

fn found(body: &Value) -> Vec<Found<'_>> {
    let specs = entries(body, LIST).into_iter().filter_map(|(pointer, entry)| {
        let spec = entry.get("toolSpec")?;
        Some(Found::of(spec, format!("{pointer}/toolSpec"), "/inputSchema/json"))
    });
    specs.collect()
}

/// The list has at least one entry if it is there; a mark stands at its end, and only where it is wanted.
fn shape(case: &Case<'_>, report: &mut Report) {
    only_list(case.body(), "toolConfig", report);
    let all = entries(case.body(), LIST);
    if let Some(config) = case.body().get("toolConfig") {
        keys(config, &["tools"], &[], "/toolConfig", report);
        report.demand(!found(case.body()).is_empty(), "at least one tool", LIST);
    }
    for (index, (pointer, entry)) in all.iter().enumerate() {
        if let Some(mark) = entry.get("cachePoint") {
            keys(entry, &["cachePoint"], &[], pointer, report);
            report.demand(mark == &json!({"type": "default"}), "a mark that is known", pointer);
            report.demand(index + 1 == all.len(), "the mark is last", pointer);
            continue;
        }
        keys(entry, &["toolSpec"], &[], pointer, report);
        let spec = &entry["toolSpec"];
        keys(spec, &["name", "description", "inputSchema"], &["strict"], pointer, report);
        keys(&spec["inputSchema"], &["json"], &[], pointer, report);
        booleans(spec, &["strict"], pointer, report);
    }
    let marks = all.iter().filter(|(_, entry)| entry.get("cachePoint").is_some()).count();
    let wanted = case.options.cache == Some(true) && !all.is_empty();
    report.demand(marks == usize::from(wanted), "a mark for the cache only when it is on", LIST);
    anthropic_strict::per_request(&found(case.body()), report);
}

fn schema_rules(schema: &Schema<'_>, report: &mut Report) {
    schema::root_is_object(schema, report);
    schema::root_has_properties(schema, report);
    // Strict closes the object: Nova has no strict mode.
    let allowed: &[&str] = match schema.strict {
        true => &["type", "properties", "required", "additionalProperties"],
        false => &["type", "properties", "required"],
    };
    schema::root_only(schema, allowed, report);
    schema::no_references(schema, report);
    schema::portable_keys(schema, report);
    schema::valid_2020_12(schema, report);
    if schema.strict {
        anthropic_strict::subset(schema, report);
    }
}
