//! MCP `tools/list` (docs/reference/formats.md, MCP).

use serde_json::Value;
use toolcrib_providers::Provider;

use super::judge::{Case, Found, Judge, Names, booleans, entries, keys};
use super::report::Report;
use super::schema::{self, Schema};

/// The column "MCP".
pub const JUDGE: Judge = Judge {
    provider: Provider::Mcp,
    names: Names { first: is_taken, rest: is_taken, most: 128 },
    limit: None,
    native: false,
    found,
    shape,
    schema: schema_rules,
};

fn is_taken(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-')
}

fn found(body: &Value) -> Vec<Found<'_>> {
    entries(body, "/tools")
        .into_iter()
        .map(|(pointer, entry)| Found::of(entry, pointer, "/inputSchema"))
        .collect()
}

/// An empty list is a legal answer; hints are booleans.
fn shape(case: &Case<'_>, report: &mut Report) {
    keys(case.body(), &["tools"], &[], "", report);
    report.demand(case.body()["tools"].is_array(), "a list of tools", "/tools");
    for (pointer, entry) in entries(case.body(), "/tools") {
        let optional = ["title", "outputSchema", "annotations", "icons", "_meta"];
        keys(entry, &["name", "description", "inputSchema"], &optional, &pointer, report);
        if let Some(hints) = entry.get("annotations") {
            let known = ["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"];
            keys(hints, &[], &known, &pointer, report);
            booleans(hints, &known, &pointer, report);
        }
        if let Some(result) = entry.get("outputSchema") {
            let pointer = format!("{pointer}/outputSchema");
            // Before revision 2026-07-28 a result is an object.
            let result = Schema::new(result, &pointer, false);
            schema_rules(&result, report);
        }
    }
}

/// Any keyword of 2020-12; another dialect where the schema says so.
fn schema_rules(schema: &Schema<'_>, report: &mut Report) {
    schema::root_is_object(schema, report);
    schema::references_resolve(schema, report);
    match schema.root.get("$schema") {
        None => schema::valid_2020_12(schema, report),
        Some(_) => {
            report.demand(jsonschema::meta::is_valid(schema.root), "valid in its own dialect", schema.pointer)
        }
    }
}
