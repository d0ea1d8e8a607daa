//! The tools that each mode binds, and views that express the canonical schema.

use std::collections::{HashMap, HashSet};

use serde_json::{Map, Value};
use toolcrib_catalog::config::{Deferred, Mode, SearchBy};
use toolcrib_catalog::{Callable, Profile, Tool};
use toolcrib_definition::DescriptionMode;
use toolcrib_definition::finding::Code;
use toolcrib_providers::{BoundFunction, Extent, Provider};

use super::judge::{Case, Found, Judge};
use super::report::Report;
use super::schema::{Schema, is_portable};
use super::told::loses_nothing;

/// The functions of the mode gateway.
const GATEWAY: [&str; 4] = ["tool_search", "tool_help", "tool_exec", "tool_batch"];
/// Of so many tools one has its example call tried against the emitted schema.
const TRIED_OF: usize = 20;

/// Holds a payload to the rules of its mode.
pub fn judged(judge: &Judge, case: &Case<'_>, profile: &Profile<'_>, report: &mut Report) {
    let found = (judge.found)(case.body());
    functions_are_found(judge, case, &found, report);
    all_or_left_out(case, profile, report);
    ours(case, profile, &found, report);
    let by_name: HashMap<&str, &Found<'_>> = found.iter().map(|found| (found.name, found)).collect();
    for (index, function) in case.payload.functions.iter().enumerate() {
        let Some(entry) = by_name.get(function.name.as_str()).copied() else { continue };
        report.tool = function.tool.names.canonical.clone();
        report.demand(function.strict == entry.strict, "strict as the function says", &entry.pointer);
        report.demand(function.deferred == entry.deferred, "deferred as the function says", &entry.pointer);
        extent(function, entry, report);
        if !function.ours && function.extent != Extent::Stub && !function.strict {
            structure(judge, function.tool, entry, report);
            if index % TRIED_OF == 0 {
                takes_its_call(judge, function.tool, entry, report);
            }
        }
    }
    report.tool.clear();
}

/// The list of functions and the body say the same.
fn functions_are_found(judge: &Judge, case: &Case<'_>, found: &[Found<'_>], report: &mut Report) {
    let searches = matches!(judge.provider, Provider::OpenAiResponses | Provider::GeminiInteractions)
        && case.payload.mode == Mode::Native
        && case.options.search == SearchBy::Client;
    let searched = case.payload.functions.iter().any(|function| function.deferred);
    let is_entry = |function: &&BoundFunction<'_>| {
        !(searches && searched && function.ours && function.tool.names.canonical == "tool_search")
    };
    let said: HashSet<&str> =
        case.payload.functions.iter().filter(is_entry).map(|function| function.name.as_str()).collect();
    let there: HashSet<&str> = found.iter().map(|function| function.name).collect();
    report.demand(said == there, "the functions are those of the body", "");
}

/// Every tool of the mode is bound once, or left out by name; only one that cannot be bound is left out.
fn all_or_left_out(case: &Case<'_>, profile: &Profile<'_>, report: &mut Report) {
    let left_out: HashSet<&str> = case
        .payload
        .findings
        .iter()
        .filter(|finding| finding.code == Code::PayloadToolLeftOut)
        .filter_map(|finding| finding.tool.as_deref())
        .collect();
    let mut bound: HashMap<&str, usize> = HashMap::new();
    for function in case.payload.functions.iter().filter(|function| !function.ours) {
        *bound.entry(&function.tool.names.canonical).or_default() += 1;
    }
    let wanted = |mode: DescriptionMode| match case.payload.mode {
        Mode::Full | Mode::Hybrid | Mode::Native => true,
        Mode::Gateway => mode == DescriptionMode::Full,
        Mode::Files => false,
    };
    for entry in &profile.tools {
        report.tool = entry.tool.names.canonical.clone();
        let times = bound.get(entry.tool.names.canonical.as_str()).copied().unwrap_or_default();
        let is_left_out = left_out.contains(entry.tool.names.canonical.as_str());
        let expected = usize::from(wanted(entry.mode));
        report.demand(times + usize::from(is_left_out) == expected, "bound once, or left out by name", "");
        if is_left_out {
            let cannot = matches!(entry.tool.input.parameters.callable(), Callable::No(_));
            report.demand(cannot, "only what cannot be bound is left out", "");
        }
    }
    let placed =
        case.payload.findings.iter().all(|finding| finding.tool.is_some() && finding.place.is_some());
    report.demand(placed, "every finding has a tool and a place", "");
}

/// Our own functions: which, and how often.
fn ours(case: &Case<'_>, profile: &Profile<'_>, found: &[Found<'_>], report: &mut Report) {
    report.tool.clear();
    let ours: Vec<&str> = case
        .payload
        .functions
        .iter()
        .filter(|function| function.ours)
        .map(|function| function.name.as_str())
        .collect();
    let defers = profile.tools.iter().any(|entry| entry.mode == DescriptionMode::Deferred);
    let expected: &[&str] = match case.payload.mode {
        Mode::Hybrid if defers => &["read_tool_doc"],
        Mode::Native if defers && case.options.search == SearchBy::Client => &["tool_search"],
        Mode::Gateway => &GATEWAY,
        _ => &[],
    };
    report.demand(ours == expected, "our functions are those of the mode", "");
    if case.payload.mode == Mode::Files {
        report.demand(found.is_empty(), "nothing is bound", "");
    }
}

/// Texts and schemas are as much of a tool as the mode says.
fn extent(function: &BoundFunction<'_>, entry: &Found<'_>, report: &mut Report) {
    let text = entry.description.to_lowercase();
    match function.extent {
        Extent::Stub => {
            report.demand(
                text.contains("doc") && text.contains("first"),
                "a stub says that the doc comes first",
                &entry.pointer,
            );
            report.demand(entry.description.chars().count() < 1024, "a stub's text is short", &entry.pointer);
            report.demand(!entry.strict, "a stub is not strict", &entry.pointer);
            let size = entry.schema.map_or(0, |schema| schema.to_string().len());
            report.demand(size <= 90, "a stub's schema is small", &entry.pointer);
            let open = entry
                .schema
                .is_none_or(|schema| schema.get("additionalProperties") != Some(&Value::Bool(false)));
            report.demand(open, "a stub takes arguments", &entry.pointer);
        }
        Extent::Compact => {
            report.demand(entry.description.chars().count() < 1024, "a short text", &entry.pointer);
            report.demand(!entry.strict, "a compact binding is not strict", &entry.pointer);
            let Some(root) = entry.schema.filter(|_| !function.ours) else { return };
            for node in Schema::new(root, &entry.schema_pointer, false).nodes() {
                let annotated = node
                    .keywords()
                    .any(|(key, _)| matches!(key.as_str(), "description" | "title" | "examples" | "example"));
                report.demand(!annotated, "a compact schema has no texts", &node.pointer);
            }
        }
        Extent::Full => {
            let whole = &function.tool.texts.description;
            report.demand(
                whole.trim().is_empty() || loses_nothing(whole, entry.description, entry.schema),
                "the whole description, but for what properties tell",
                &entry.pointer,
            );
        }
    }
}

/// The properties at a plain root are all there, and required as they were.
fn structure(judge: &Judge, tool: &Tool, entry: &Found<'_>, report: &mut Report) {
    let canonical =
        tool.input.provider_schema.as_ref().map_or(tool.input.parameters.schema(), |schema| schema.value());
    let plain = ["$ref", "allOf", "anyOf", "oneOf", "if", "not", "enum", "const"]
        .iter()
        .all(|key| canonical.get(key).is_none());
    let names = |schema: &Value| -> HashSet<String> {
        schema
            .get("properties")
            .and_then(Value::as_object)
            .into_iter()
            .flatten()
            .map(|(key, _)| key.clone())
            .collect()
    };
    let required = |schema: &Value| -> HashSet<String> {
        let listed = schema.get("required").and_then(Value::as_array);
        listed.into_iter().flatten().filter_map(Value::as_str).map(str::to_string).collect()
    };
    let whole = names(canonical);
    if !plain || !is_renamed_nowhere(judge, whole.iter()) {
        return;
    }
    let empty = Value::Object(Map::new());
    let emitted = entry.schema.unwrap_or(&empty);
    if tool.input.parameters.is_checked() {
        report.demand(names(emitted).is_superset(&whole), "every property is there", &entry.pointer);
        let must: HashSet<String> = required(canonical).intersection(&whole).cloned().collect();
        report.demand(
            required(emitted).is_superset(&must),
            "what is required stays required",
            &entry.pointer,
        );
        report.demand(
            required(canonical).is_superset(&required(emitted)),
            "nothing more is required",
            &entry.pointer,
        );
    }
}

/// A view never refuses what the canonical schema accepts.
fn takes_its_call(judge: &Judge, tool: &Tool, entry: &Found<'_>, report: &mut Report) {
    let (Some(call), Some(schema)) = (&tool.input.call, entry.schema) else { return };
    let call = Value::Object(call.clone());
    let mut keys = Vec::new();
    let mut open = vec![&call];
    while let Some(value) = open.pop() {
        open.extend(value.as_object().into_iter().flatten().map(|(_, value)| value));
        open.extend(value.as_array().into_iter().flatten());
        keys.extend(value.as_object().into_iter().flatten().map(|(key, _)| key));
    }
    if tool.input.provider_schema.is_none()
        && is_renamed_nowhere(judge, keys.into_iter())
        && report.is_new(("call", schema))
    {
        let takes = jsonschema::draft202012::new(schema).map(|validator| validator.is_valid(&call));
        report.demand(takes.unwrap_or(false), "takes the example call", &entry.pointer);
    }
}

fn is_renamed_nowhere<'k>(judge: &Judge, mut keys: impl Iterator<Item = &'k String>) -> bool {
    let renames = matches!(judge.provider, Provider::Anthropic | Provider::Bedrock | Provider::LangChain);
    !renames || keys.all(|key| is_portable(key))
}

/// Options with which deferred tools are bound by a compact schema.
pub fn compact() -> toolcrib_catalog::config::Payload {
    toolcrib_catalog::config::Payload { deferred: Deferred::Compact, ..Default::default() }
}
