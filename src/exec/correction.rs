//! What is wrong with one argument, and a call that would have been right: the caller's own values wherever they fit.

use serde_json::{Value, json};

use super::FieldFault;
use super::arguments::is_secret;
use crate::catalog::Tool;
use crate::config::Config;
use crate::finding::Violation;

/// The longest text of which all is repeated.
const QUOTE: usize = 60;
/// The most names that are listed.
const LISTED: usize = 12;
/// The longest call that is offered; longer ones are the caller's own words again.
const LONGEST: usize = 4 << 10;
/// How often what is left to correct is looked for.
const ROUNDS: usize = 4;

/// One argument that does not fit, as it is told.
pub(super) fn fault(tool: &Tool, config: &Config, given: &Value, wrong: Violation) -> FieldFault {
    let place = given.pointer(&wrong.pointer);
    let secret = is_secret(config, &wrong.pointer);
    let expected = wrong.expected.clone().or_else(|| expected(tool, &wrong, place.is_none()));
    let message = match (&expected, secret && place.is_some() && !wrong.unknown) {
        (Some(expected), true) => format!("expected {expected}"),
        (None, true) => "this value does not fit".into(),
        (_, false) => wrong.message,
    };
    let shown = |value: &Value| if secret { json!("[redacted]") } else { brief(value) };
    FieldFault { pointer: wrong.pointer, message, expected, given: place.map(shown), nearest: wrong.nearest }
}

/// What was expected where something is missing, or where nothing was.
fn expected(tool: &Tool, wrong: &Violation, is_missing: bool) -> Option<String> {
    if wrong.unknown {
        let listed: Vec<&str> = wrong.known.iter().take(LISTED).map(String::as_str).collect();
        let more = if wrong.known.len() > LISTED { ", ..." } else { "" };
        return (!listed.is_empty()).then(|| format!("one of the properties {}{more}", listed.join(", ")));
    }
    let name = wrong.pointer.strip_prefix('/').filter(|name| is_missing && !name.contains('/'))?;
    let property = tool.parameters.schema().get("properties")?.get(name)?;
    if let Some(words) = property.get("enum").and_then(Value::as_array) {
        let listed: Vec<String> = words.iter().take(LISTED).map(Value::to_string).collect();
        return Some(format!("one of {}", listed.join(", ")));
    }
    match property.get("type")? {
        Value::String(word) => Some(word.clone()),
        Value::Array(words) => Some(words.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" or ")),
        _ => None,
    }
}

/// A value, unless it is long.
fn brief(value: &Value) -> Value {
    match value {
        Value::String(text) if text.chars().nth(QUOTE).is_some() => {
            format!("{}…", text.chars().take(QUOTE).collect::<String>()).into()
        }
        Value::Array(items) if !items.is_empty() => format!("an array of {}", items.len()).into(),
        Value::Object(fields) if !fields.is_empty() => "an object".into(),
        other => other.clone(),
    }
}

/// Arguments that fit, as near to these as can be; else those of the tool's ready-made call.
pub(super) fn corrected(tool: &Tool, given: Value) -> Option<Value> {
    let ready = tool.call.clone().map(Value::Object);
    let mut value = given;
    for _ in 0..ROUNDS {
        let wrong = tool.parameters.violations(&value);
        if wrong.is_empty() {
            break;
        }
        for violation in &wrong {
            correct(&mut value, violation, ready.as_ref());
        }
    }
    let is_short = || serde_json::to_string(&value).is_ok_and(|text| text.len() <= LONGEST);
    if value.is_object() && tool.parameters.accepts(&value) && is_short() { Some(value) } else { ready }
}

/// Puts one thing right: another name, another value, or nothing at all.
fn correct(value: &mut Value, wrong: &Violation, ready: Option<&Value>) {
    let (parent, name) = wrong.pointer.rsplit_once('/').unwrap_or_default();
    let name = name.replace("~1", "/").replace("~0", "~");
    let instead = ready.and_then(|ready| ready.pointer(&wrong.pointer)).cloned();
    let Some(place) = value.pointer_mut(parent) else { return };
    if let Value::Object(fields) = place {
        if wrong.unknown {
            let taken = fields.shift_remove(&name);
            let near = wrong.nearest.as_ref().filter(|near| !fields.contains_key(*near));
            if let (Some(taken), Some(near)) = (taken, near) {
                fields.insert(near.clone(), taken);
            }
            return;
        }
        let nearest = wrong.nearest.clone().filter(|_| fields.get(&name).is_some_and(Value::is_string));
        match nearest.map(Value::from).or(instead) {
            Some(instead) => {
                fields.insert(name, instead);
            }
            None => {
                fields.shift_remove(&name);
            }
        }
    } else if let (Some(place), Some(instead)) = (value.pointer_mut(&wrong.pointer), instead) {
        *place = instead;
    }
}
