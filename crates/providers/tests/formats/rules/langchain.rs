//! LangChain's `bind_tools`, whose dicts reach OpenAI and Anthropic alike (docs/reference/formats.md, LangChain).

use serde_json::{Value, json};
use toolcrib_catalog::config::Mode;
use toolcrib_providers::Provider;

use super::judge::{Case, Found, Judge, PLAIN_NAMES, chat_functions, chat_shape, entries, keys};
use super::openai::schema_rules as openai_rules;
use super::report::Report;
use super::schema::{self, Schema};

/// No name is checked on the way: what fails, fails at the API behind it.
pub const JUDGE: Judge = Judge {
    provider: Provider::LangChain,
    names: PLAIN_NAMES,
    limit: Some(128),
    native: true,
    found,
    shape,
    schema: schema_rules,
};

fn shape(case: &Case<'_>, report: &mut Report) {
    report.demand(case.body().is_array(), "a list", "");
    for (pointer, entry) in entries(case.body(), "") {
        let extras = entry.get("extras");
        report.demand(
            extras.is_none_or(|extras| extras["defer_loading"] == json!(true)),
            "extras that reach OpenAI and Anthropic",
            &pointer,
        );
        report.demand(
            extras.is_none() || case.payload.mode == Mode::Native,
            "nothing is deferred but on native",
            &pointer,
        );
    }
    let (objects, plain): (Vec<_>, Vec<_>) = case
        .body()
        .as_array()
        .into_iter()
        .flatten()
        .cloned()
        .partition(|entry| entry.get("extras").is_some());
    for entry in &objects {
        keys(entry, &["name", "description", "args_schema", "extras"], &[], "", report);
        keys(&entry["extras"], &["defer_loading"], &["strict"], "/extras", report);
    }
    chat_shape(&plain.into(), "", &["strict"], report);
}

fn found(body: &Value) -> Vec<Found<'_>> {
    let mut found = chat_functions(body, "");
    for (function, (pointer, entry)) in found.iter_mut().zip(entries(body, "")) {
        if let Some(extras) = entry.get("extras") {
            let strict = extras["strict"] == true;
            *function = Found { strict, deferred: true, ..Found::of(entry, pointer, "/args_schema") };
        }
    }
    found
}

fn schema_rules(schema: &Schema<'_>, report: &mut Report) {
    openai_rules(schema, report);
    schema::portable_keys(schema, report);
}
