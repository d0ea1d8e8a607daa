//! What is wrong with one argument, and a call that would have been right: the caller's own values wherever they fit.

use serde_json::Value;

use super::InvalidField;
use super::coerce::{is_slip, normalized};
use crate::catalog::Tool;
use crate::finding::{Violation, from_json, pointer_join};
use crate::secret::{Policy as Secrets, REDACTED};
use crate::tool::Effect;

/// The longest text of which all is repeated.
const QUOTE: usize = 60;
/// The most names that are listed.
const LISTED: usize = 12;
/// The longest call that is offered; longer ones are the caller's own words again.
const LONGEST: usize = 4 << 10;
/// How often what is left to correct is looked for.
const ROUNDS: usize = 6;

/// One argument that does not fit, as it is told.
pub(super) fn invalid_field(
    tool: &Tool,
    secrets: Secrets<'_>,
    given: &Value,
    mut wrong: Violation,
) -> InvalidField {
    let (schema, place) = (tool.parameters.schema(), given.pointer(&wrong.pointer));
    wrong.expected = wrong.expected.take().or_else(|| expected(tool, &wrong, place.is_none()));
    let is_secret = secrets.covers(schema, given, &wrong.pointer);
    let shown = |value: &Value| match is_secret {
        true => REDACTED.into(),
        false => brief(&secrets.shown(&Value::Null, value)),
    };
    let place = place.map(shown);
    let wrong = secrets.conceal(schema, given, wrong);
    let nearest = wrong.nearest.or_else(|| {
        let name = wrong.pointer.rsplit('/').next().filter(|_| wrong.unknown)?;
        let related = related(name, &wrong.known);
        if let [only] = related.as_slice() { Some((*only).to_string()) } else { None }
    });
    InvalidField {
        pointer: wrong.pointer,
        message: wrong.message,
        expected: wrong.expected,
        given: place,
        nearest,
    }
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

/// Arguments that fit, and what of them is not the caller's own.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Corrected {
    pub(super) args: Value,
    /// Pointers to what is made up.
    pub(super) fill_in: Vec<String>,
    /// Pointers to what was given, and is left out.
    pub(super) dropped: Vec<String>,
}

/// Arguments that fit, as near to these as can be; else those of the tool's ready-made call. Nothing is made up, and nothing
/// left out, for what destroys.
pub(super) fn corrected(tool: &Tool, secrets: Secrets<'_>, given: &Value) -> Option<Corrected> {
    checked_example(
        tool,
        secrets,
        given,
        Corrected { args: given.clone(), fill_in: Vec::new(), dropped: Vec::new() },
    )
}

/// Arguments that fit with other values at these places, or none.
pub(super) fn with_placeholders(
    tool: &Tool,
    secrets: Secrets<'_>,
    given: &Value,
    pointers: &[String],
) -> Option<Corrected> {
    let mut draft = Corrected { args: given.clone(), fill_in: Vec::new(), dropped: Vec::new() };
    for pointer in pointers {
        draft.drop_at(pointer);
    }
    let corrected = checked_example(tool, secrets, given, draft)?;
    // A ready-made value may be as wrong as the one that was given.
    let is_other = |pointer: &String| corrected.args.pointer(pointer) != given.pointer(pointer);
    pointers.iter().all(is_other).then_some(corrected)
}

fn checked_example(
    tool: &Tool,
    secrets: Secrets<'_>,
    given: &Value,
    mut draft: Corrected,
) -> Option<Corrected> {
    for _ in 0..ROUNDS {
        let wrong = tool.parameters.violations(&draft.args);
        if wrong.is_empty() {
            break;
        }
        // A name put right may be one that is missing.
        let names_first = wrong.iter().any(|violation| violation.unknown);
        for violation in wrong.iter().filter(|violation| violation.unknown == names_first) {
            draft.correct(tool, violation);
        }
    }
    let is_short = || serde_json::to_string(&draft.args).is_ok_and(|text| text.len() <= LONGEST);
    if !(draft.args.is_object() && tool.parameters.accepts(&draft.args) && is_short()) {
        draft = ready_made(tool, given)?;
    }
    draft.conceal(tool, secrets)?;
    let Corrected { args, fill_in, dropped } = &mut draft;
    fill_in.retain(|pointer| args.pointer(pointer).is_some());
    dropped.retain(|pointer| !fill_in.contains(pointer));
    let is_all_theirs = draft.fill_in.is_empty() && draft.dropped.is_empty();
    (is_all_theirs || tool.effect != Effect::Destructive).then_some(draft)
}

/// The tool's ready-made call: all of it is made up.
pub(super) fn ready_made(tool: &Tool, given: &Value) -> Option<Corrected> {
    let ready = tool.call.clone().filter(|_| tool.effect != Effect::Destructive)?;
    let dropped =
        given.as_object().into_iter().flatten().filter(|(name, value)| ready.get(*name) != Some(value));
    Some(Corrected {
        dropped: dropped.map(|(name, _)| pointer_join("", name)).collect(),
        fill_in: ready.keys().map(|name| pointer_join("", name)).collect(),
        args: Value::Object(ready),
    })
}

impl Corrected {
    /// Puts what is ready-made, or a mark, in place of each secret of the caller's. None where that does not fit.
    fn conceal(&mut self, tool: &Tool, secrets: Secrets<'_>) -> Option<()> {
        let (mut shown, hidden) = secrets.split(tool.parameters.schema(), &self.args);
        let ready = tool.call.clone().map(Value::Object).unwrap_or_default();
        for secret in &hidden {
            match (shown.pointer_mut(&secret.pointer), ready.pointer(&secret.pointer)) {
                (Some(place), Some(instead)) if *instead != secret.value => *place = instead.clone(),
                _ => {}
            }
            note(&mut self.fill_in, &secret.pointer);
        }
        let is_fit = hidden.is_empty() || tool.parameters.accepts(&shown);
        self.args = shown;
        is_fit.then_some(())
    }

    /// Puts one thing right: a name, a value, or nothing at all.
    fn correct(&mut self, tool: &Tool, wrong: &Violation) {
        let (parent, name) = wrong.pointer.rsplit_once('/').unwrap_or_default();
        let name = name.replace("~1", "/").replace("~0", "~");
        let Some(place) = self.args.pointer_mut(parent) else { return };
        let Value::Object(fields) = place else {
            // An item of a list: without it the list may be another, so the list goes.
            return self.drop_at(parent);
        };
        match fields.get(&name).cloned() {
            _ if wrong.pointer.is_empty() => {}
            None => {
                let ready = tool.call.clone().map(Value::Object);
                if let Some(instead) = ready.as_ref().and_then(|ready| ready.pointer(&wrong.pointer)) {
                    fields.insert(name, instead.clone());
                    note(&mut self.fill_in, &wrong.pointer);
                }
            }
            Some(value) if wrong.unknown => {
                fields.shift_remove(&name);
                let mut near =
                    wrong.known.iter().filter(|known| !fields.contains_key(*known) && is_near(&name, known));
                let taken = match (near.next(), near.next()) {
                    (Some(near), None) => {
                        let (near, parent) = (near.clone(), parent.to_string());
                        self.takes(tool, &parent, &near, &value)
                    }
                    _ => false,
                };
                if !taken {
                    note(&mut self.dropped, &wrong.pointer);
                }
            }
            Some(value) => match converted(&value, wrong) {
                Some(better) => {
                    fields.insert(name, better);
                }
                None => self.drop_at(&wrong.pointer),
            },
        }
    }

    /// Gives a value its right name, if it fits there as it is or as it plainly reads.
    fn takes(&mut self, tool: &Tool, parent: &str, name: &str, value: &Value) -> bool {
        let pointer = pointer_join(parent, name);
        let mut candidate = Some(value.clone());
        while let Some(value) = candidate.take() {
            let Some(fields) = self.args.pointer_mut(parent).and_then(Value::as_object_mut) else {
                return false;
            };
            fields.insert(name.to_string(), value.clone());
            let wrong = tool.parameters.violations(&self.args);
            let Some(wrong) = wrong.iter().find(|wrong| wrong.pointer.starts_with(&pointer)) else {
                return true;
            };
            candidate = converted(&value, wrong).filter(|better| *better != value);
        }
        if let Some(fields) = self.args.pointer_mut(parent).and_then(Value::as_object_mut) {
            fields.shift_remove(name);
        }
        false
    }

    fn drop_at(&mut self, pointer: &str) {
        let (parent, name) = pointer.rsplit_once('/').unwrap_or_default();
        match self.args.pointer_mut(parent) {
            Some(Value::Object(fields)) => {
                fields.shift_remove(&name.replace("~1", "/").replace("~0", "~"));
                note(&mut self.dropped, pointer);
            }
            Some(Value::Array(_)) if !parent.is_empty() => self.drop_at(parent),
            _ => {}
        }
    }
}

fn note(pointers: &mut Vec<String>, pointer: &str) {
    if !pointers.iter().any(|known| known == pointer) {
        pointers.push(pointer.to_string());
    }
}

/// A value as one that was expected, where it can only mean that.
fn converted(value: &Value, wrong: &Violation) -> Option<Value> {
    let wants =
        |kind: &str| wrong.expected.as_deref().is_some_and(|all| all.split(" or ").any(|one| one == kind));
    match value {
        Value::Number(_) | Value::Bool(_) if wants("string") => Some(value.to_string().into()),
        Value::String(word) if !wrong.known.is_empty() => {
            let mut like = wrong.known.iter().filter(|known| normalized(known) == normalized(word));
            like.next().filter(|_| like.next().is_none()).map(|meant| meant.as_str().into())
        }
        Value::String(text) if ["integer", "number", "boolean", "array", "object"].into_iter().any(wants) => {
            from_json(text).ok().filter(|decoded: &Value| !decoded.is_string() && !decoded.is_null())
        }
        _ => None,
    }
}

/// Whether a name is another, but for a slip.
fn is_near(name: &str, known: &str) -> bool {
    let (short, long) = (normalized(name), normalized(known));
    let begins_alike = || long.len() >= 2 && short.chars().next() == long.chars().next();
    short == long
        || is_slip(name, known)
        || (begins_alike() && strsim::damerau_levenshtein(&short, &long) <= 1)
}

/// What else may have been meant at a place: the values that there are, or the names that this one is a part of.
pub(super) fn possible(wrong: &Violation) -> Vec<String> {
    let name = wrong.pointer.rsplit('/').next().unwrap_or_default();
    let all = match wrong.unknown {
        true => related(name, &wrong.known),
        false if wrong.expected.is_some() => wrong.known.iter().map(String::as_str).take(LISTED).collect(),
        false => Vec::new(),
    };
    all.into_iter().map(str::to_string).collect()
}

/// The names that one may stand for a part of: `id` for `item_id`, or the other way round.
fn related<'k>(name: &str, known: &'k [String]) -> Vec<&'k str> {
    let words = words(name);
    let is_end = |all: &[String], end: &[String]| !end.is_empty() && all.ends_with(end);
    let is_related = |other: &&String| {
        let other = self::words(other);
        is_end(&other, &words) || is_end(&words, &other)
    };
    known.iter().filter(is_related).map(String::as_str).take(LISTED).collect()
}

fn words(name: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut goes_on = false;
    for sign in name.chars().take(200) {
        if !sign.is_alphanumeric() {
            goes_on = false;
            continue;
        }
        match words.last_mut().filter(|_| goes_on && !sign.is_uppercase()) {
            Some(word) => word.push(sign),
            None => words.push(sign.to_lowercase().collect()),
        }
        goes_on = true;
    }
    words
}
