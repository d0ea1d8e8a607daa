//! Fields of the call that stand among the arguments of its op: they are never passed on, and `dry_run` is never overlooked.

use serde_json::{Map, Value};

use super::Failure;
use super::call::Call;
use super::mend::squashed;
use super::request::{key_of, receipt_of};
use crate::tool::clean_line;

/// A field of the call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Own {
    DryRun,
    Key,
    Receipt,
}

/// What such fields are called, and may wrap arguments.
const WRAPPERS: [&str; 6] = ["args", "arguments", "input", "parameters", "params", "kwargs"];
/// How deep a schema is searched for a name.
const DEEPEST: usize = 32;

/// Takes the fields of the call out of the arguments, unless the schema has properties of these names.
pub(super) fn lift(call: &mut Call, schema: &Value, arguments: &mut Value) -> Result<(), Failure> {
    let Some(fields) = arguments.as_object_mut() else {
        if let Value::String(text) = arguments
            && squashed(text).contains("dryruntrue")
        {
            call.asked_dry = Some(true);
        }
        return Ok(());
    };
    for (own, name, value) in taken(schema, fields) {
        let known = clean_line(&name);
        call.warnings.push(format!("`{known}` stood among the arguments, read as the field of the call"));
        match own {
            Own::DryRun => call.asked_dry = Some(is_yes(&value) || call.asked_dry == Some(true)),
            Own::Key => call.key = call.key.take().or(key_of(Some(value))?),
            Own::Receipt => call.receipt = call.receipt.take().or(receipt_of(Some(value))?),
        }
    }
    if fields.len() == 1
        && let Some((name, inside)) = fields.iter_mut().next()
        && WRAPPERS.contains(&name.as_str())
        && inside.is_object()
        && !has_property(schema, name, 0)
    {
        return lift(call, schema, inside);
    }
    Ok(())
}

/// Takes note of `dry_run`, wherever it is said and however it is spelled, where no tool is known.
pub(super) fn note(call: &mut Call, beside: &Map<String, Value>) {
    let mut arguments = call.arguments.clone();
    let asks = |fields: &Map<String, Value>| {
        fields.iter().any(|(name, value)| own(name, value) == Some(Own::DryRun) && is_yes(value))
    };
    let warned = call.warnings.len();
    // What cannot be read does no harm here: nothing is run.
    let _ = lift(call, &Value::Null, &mut arguments);
    call.warnings.truncate(warned);
    if asks(beside) {
        call.asked_dry = Some(true);
    }
}

/// Arguments without what belongs to the call.
pub(super) fn without(schema: &Value, mut arguments: Value) -> Value {
    if let Some(fields) = arguments.as_object_mut() {
        taken(schema, fields);
    }
    arguments
}

fn taken(schema: &Value, fields: &mut Map<String, Value>) -> Vec<(Own, String, Value)> {
    let plain = schema.get("properties").and_then(Value::as_object);
    let found: Vec<(Own, String)> = fields
        .iter()
        .filter(|(name, _)| plain.is_none_or(|known| !known.contains_key(*name)))
        .filter_map(|(name, value)| Some((own(name, value)?, name.clone())))
        .filter(|(_, name)| !has_property(schema, name, 0))
        .collect();
    found
        .into_iter()
        .filter_map(|(own, name)| fields.shift_remove(&name).map(|value| (own, name, value)))
        .collect()
}

/// Which field of the call a name is. A slip counts where it asks for a dry run, since that does no harm.
fn own(name: &str, value: &Value) -> Option<Own> {
    if name.len() > 40 {
        return None;
    }
    let squashed = squashed(name);
    match squashed.as_str() {
        "dryrun" => Some(Own::DryRun),
        "idempotencykey" => Some(Own::Key),
        "receipt" => Some(Own::Receipt),
        slip if is_yes(value) && strsim::damerau_levenshtein(slip, "dryrun") == 1 => Some(Own::DryRun),
        _ => None,
    }
}

fn is_yes(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => false,
        Value::String(word) => !matches!(word.trim().to_lowercase().as_str(), "" | "false" | "no" | "0"),
        Value::Number(number) => number.as_f64() != Some(0.0),
        _ => true,
    }
}

/// Whether a schema has a property that is called so, give or take case and separators.
fn has_property(schema: &Value, name: &str, depth: usize) -> bool {
    if depth > DEEPEST {
        return false;
    }
    match schema {
        Value::Object(keywords) => keywords.iter().any(|(keyword, rule)| {
            let names = rule.as_object().filter(|_| keyword == "properties");
            names.is_some_and(|names| names.keys().any(|known| squashed(known) == squashed(name)))
                || has_property(rule, name, depth + 1)
        }),
        Value::Array(items) => items.iter().any(|item| has_property(item, name, depth + 1)),
        _ => false,
    }
}
