//! Correction of invalid arguments: the caller's own values where these are valid, else those of the ready-made call.

use serde_json::{Value, json};

use super::respell::{meant_word, only};
use crate::schema::text_bytes;
use crate::tool::Tool;
use toolcrib_definition::document::{from_json, pointer_join, pointer_split};
use toolcrib_definition::finding::{Violation, is_plausible, normalized};
use toolcrib_definition::secret::SecretPolicy;
use toolcrib_definition::{Effect, words};

/// Bytes of the longest call that is suggested: a longer one would mostly repeat the caller's own text.
const LONGEST: usize = 4 << 10;
/// Most given values that are listed as left out; more of them are listed as a whole, by the pointer to all arguments.
const MAX_DROPPED: usize = 50;
/// Bytes of the longest arguments that are corrected place by place.
const MAX_CORRECTED: usize = 64 << 10;
/// Rounds of corrections: correcting one place can reveal violations below it.
const ROUNDS: usize = 6;

/// Valid arguments, and their differences from the given ones.
#[derive(Clone, Debug, PartialEq)]
pub struct Corrected {
    /// The arguments to send instead.
    pub args: Value,
    /// Pointers to invented values, which the caller has to replace.
    pub fill_in: Vec<String>,
    /// Pointers to given values that were left out.
    pub dropped: Vec<String>,
    /// Pointers to given values under names that the schema does not have and explicitly allows.
    pub unnamed: Vec<String>,
}

/// Valid arguments near to these; else those of the tool's ready-made call. For a destructive tool no value is invented or
/// left out.
pub fn corrected(tool: &Tool, secrets: SecretPolicy<'_>, given: &Value) -> Option<Corrected> {
    Corrected::draft(given).completed(tool, secrets, given)
}

/// Valid arguments with other values at these places; `None` if no values make them valid.
pub fn with_placeholders(
    tool: &Tool,
    secrets: SecretPolicy<'_>,
    given: &Value,
    pointers: &[String],
) -> Option<Corrected> {
    let mut draft = Corrected::draft(given);
    pointers.iter().for_each(|pointer| draft.drop_at(pointer));
    let corrected = draft.completed(tool, secrets, given)?;
    // A ready-made value may equal the given one, which is wrong.
    let is_other = |pointer: &String| corrected.args.pointer(pointer) != given.pointer(pointer);
    pointers.iter().all(is_other).then_some(corrected)
}

/// The tool's ready-made call: all values are invented.
pub(super) fn ready_made(tool: &Tool, given: &Value) -> Option<Corrected> {
    let ready = (tool.rules.effect != Effect::Destructive).then_some(tool.input.call.clone()?)?;
    let dropped =
        given.as_object().into_iter().flatten().filter(|(name, value)| ready.get(*name) != Some(value));
    let mut dropped: Vec<String> =
        dropped.take(MAX_DROPPED + 1).map(|(name, _)| pointer_join("", name)).collect();
    if dropped.len() > MAX_DROPPED {
        dropped = vec![String::new()];
    }
    let fill_in = ready.keys().map(|name| pointer_join("", name)).collect();
    Some(Corrected { args: Value::Object(ready), fill_in, dropped, unnamed: Vec::new() })
}

impl Corrected {
    fn draft(given: &Value) -> Self {
        Self { args: given.clone(), fill_in: Vec::new(), dropped: Vec::new(), unnamed: Vec::new() }
    }

    /// A valid draft without secrets; else the ready-made call.
    fn completed(mut self, tool: &Tool, secrets: SecretPolicy<'_>, given: &Value) -> Option<Self> {
        let rounds = if text_bytes(given) <= MAX_CORRECTED { ROUNDS } else { 0 };
        for _ in 0..rounds {
            let wrong = tool.input.parameters.violations(&self.args);
            if wrong.is_empty() {
                break;
            }
            // A corrected name may be the missing one.
            let names_first = wrong.iter().any(|violation| violation.unknown);
            for violation in wrong.iter().filter(|violation| violation.unknown == names_first) {
                self.correct(tool, violation);
            }
        }
        let is_short = || serde_json::to_string(&self.args).is_ok_and(|text| text.len() <= LONGEST);
        if !(self.args.is_object() && is_short() && tool.input.parameters.accepts(&self.args)) {
            self = ready_made(tool, given)?;
        }
        self.settle_unnamed(tool);
        self.mark_ids(tool)?;
        self.conceal(tool, secrets)?;
        let Self { args, fill_in, dropped, .. } = &mut self;
        fill_in.retain(|pointer| args.pointer(pointer).is_some());
        dropped.retain(|pointer| !fill_in.contains(pointer));
        let is_all_theirs = fill_in.is_empty() && dropped.is_empty();
        (is_all_theirs || tool.rules.effect != Effect::Destructive).then_some(self)
    }

    /// Keeps arguments under names that the schema does not have only where it explicitly allows them.
    fn settle_unnamed(&mut self, tool: &Tool) {
        let root = tool.input.parameters.root();
        // The names of a composed schema are not only its own.
        if root.is_composed || !root.lists_properties() {
            return;
        }
        let is_open = root.allows_others();
        let names = self.args.as_object().into_iter().flat_map(|args| args.keys());
        let unnamed: Vec<String> = names.filter(|name| !root.has_property(name)).cloned().collect();
        for name in unnamed {
            let pointer = pointer_join("", &name);
            if is_open {
                self.unnamed.push(pointer);
                continue;
            }
            let mut without = self.args.clone();
            without.as_object_mut().map(|args| args.shift_remove(&name));
            if tool.input.parameters.accepts(&without) {
                self.args = without;
                note(&mut self.dropped, &pointer);
            }
        }
    }

    /// Replaces each id that no author and no caller gave by a marker: an invented id may be that of something else. `None` if
    /// the schema takes no marker.
    fn mark_ids(&mut self, tool: &Tool) -> Option<()> {
        let examples: Vec<Value> =
            tool.texts.examples.iter().map(|example| Value::Object(example.arguments.clone())).collect();
        let is_authored = |pointer: &str, value: &Value| {
            examples.iter().any(|example| example.pointer(pointer) == Some(value))
        };
        let mut marked = self.args.clone();
        for pointer in &self.fill_in {
            let (_, name) = pointer_split(pointer).unwrap_or_default();
            if is_id(&name)
                && let Some(place) = marked.pointer_mut(pointer)
                && !is_authored(pointer, place)
            {
                *place = format!("<{name}>").into();
            }
        }
        if marked != self.args {
            tool.input.parameters.accepts(&marked).then_some(())?;
            self.args = marked;
        }
        Some(())
    }

    /// Replaces each secret of the caller by a ready-made value or a marker. `None` if the result is invalid.
    fn conceal(&mut self, tool: &Tool, secrets: SecretPolicy<'_>) -> Option<()> {
        let (mut shown, hidden) = secrets.split(tool.input.parameters.schema(), &self.args);
        let ready = tool.input.call.clone().map(Value::Object).unwrap_or_default();
        for secret in &hidden {
            match (shown.pointer_mut(&secret.pointer), ready.pointer(&secret.pointer)) {
                (Some(place), Some(instead)) if *instead != secret.value => *place = instead.clone(),
                _ => {}
            }
            note(&mut self.fill_in, &secret.pointer);
        }
        let is_fit = hidden.is_empty() || tool.input.parameters.accepts(&shown);
        self.args = shown;
        is_fit.then_some(())
    }

    /// Corrects one violation: renames, converts, fills in or drops.
    fn correct(&mut self, tool: &Tool, wrong: &Violation) {
        let (parent, name) = pointer_split(&wrong.pointer).unwrap_or_default();
        let Some(place) = self.args.pointer_mut(parent) else { return };
        let Value::Object(fields) = place else {
            let item = self.args.pointer_mut(&wrong.pointer);
            // A list without one item may mean something else, so the whole list is dropped.
            return match item.and_then(|item| Some((converted(item, wrong)?, item))) {
                Some((better, item)) => *item = better,
                None => self.drop_at(parent),
            };
        };
        match fields.get(&*name).cloned() {
            _ if wrong.pointer.is_empty() => {}
            None => {
                let ready = tool.input.call.clone().map(Value::Object);
                if let Some(instead) = ready.as_ref().and_then(|ready| ready.pointer(&wrong.pointer)) {
                    fields.insert(name.into_owned(), instead.clone());
                    note(&mut self.fill_in, &wrong.pointer);
                }
            }
            Some(value) if wrong.unknown => {
                fields.shift_remove(&*name);
                let name = normalized(&name);
                let is_free = |known: &&String| !fields.contains_key(*known);
                let near = |known: &&String| is_plausible(&name, &normalized(known));
                let near = only(wrong.known.iter().filter(is_free).filter(near));
                if !near.is_some_and(|near| self.takes(tool, parent, near, &value)) {
                    note(&mut self.dropped, &wrong.pointer);
                }
            }
            Some(value) => {
                let better = converted(&value, wrong).or_else(|| self.in_union(tool, wrong, &value));
                match (better, self.args.pointer_mut(&wrong.pointer)) {
                    (Some(better), Some(place)) => *place = better,
                    _ => self.drop_at(&wrong.pointer),
                }
            }
        }
    }

    /// The text of a value, or a list of it, where a branch of a union takes that.
    fn in_union(&self, tool: &Tool, wrong: &Violation, value: &Value) -> Option<Value> {
        let text = value.is_number().then(|| Value::from(value.to_string()));
        if wrong.expected.is_some() || value.is_null() || value.is_array() {
            return None;
        }
        let lists = std::iter::once(value).chain(&text).map(|one| json!([one]));
        let mut forms = text.iter().cloned().chain(lists);
        forms.find(|form| {
            let mut args = self.args.clone();
            let Some(place) = args.pointer_mut(&wrong.pointer) else { return false };
            *place = form.clone();
            let others = tool.input.parameters.violations(&args);
            others.iter().all(|other| !other.pointer.starts_with(&wrong.pointer))
        })
    }

    /// Moves a value to its right name, if it is valid there, at least after conversion.
    fn takes(&mut self, tool: &Tool, parent: &str, name: &str, value: &Value) -> bool {
        let pointer = pointer_join(parent, name);
        let mut candidate = Some(value.clone());
        while let Some(value) = candidate.take() {
            let Some(fields) = self.args.pointer_mut(parent).and_then(Value::as_object_mut) else {
                return false;
            };
            fields.insert(name.to_string(), value.clone());
            let wrong = tool.input.parameters.violations(&self.args);
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
        let (parent, name) = pointer_split(pointer).unwrap_or_default();
        match self.args.pointer_mut(parent) {
            Some(Value::Object(fields)) => {
                fields.shift_remove(&*name);
                note(&mut self.dropped, pointer);
            }
            Some(Value::Array(_)) if !parent.is_empty() => self.drop_at(parent),
            _ => {}
        }
    }
}

/// Whether a name is that of an id: `id`, `task_id`, `taskId`, `uuid`.
fn is_id(name: &str) -> bool {
    words(name).last().is_some_and(|last| matches!(last.as_str(), "id" | "uuid" | "guid"))
}

fn note(pointers: &mut Vec<String>, pointer: &str) {
    if !pointers.iter().any(|known| known == pointer) {
        pointers.push(pointer.to_string());
    }
}

/// The one expected value that a value can mean: its text, its nearest word, the value that it encodes, or a list of it.
fn converted(value: &Value, wrong: &Violation) -> Option<Value> {
    let wants =
        |kind: &str| wrong.expected.as_deref().is_some_and(|all| all.split(" or ").any(|one| one == kind));
    match value {
        Value::Number(_) | Value::Bool(_) if wants("string") => Some(value.to_string().into()),
        Value::String(word) if !wrong.known.is_empty() => meant_word(&wrong.known, word).map(Value::from),
        Value::String(text) => {
            let decoded = from_json(text).ok().filter(|decoded| kinds(decoded).iter().copied().any(wants));
            decoded.or_else(|| (wants("array") && !text.is_empty()).then(|| json!([text])))
        }
        Value::Null | Value::Array(_) => None,
        single => wants("array").then(|| json!([single])),
    }
}

/// The types of a value other than text and null.
fn kinds(value: &Value) -> &'static [&'static str] {
    match value {
        Value::Number(number) if number.as_f64().is_some_and(|number| number.fract() != 0.0) => &["number"],
        Value::Number(_) => &["integer", "number"],
        Value::Bool(_) => &["boolean"],
        Value::Array(_) => &["array"],
        Value::Object(_) => &["object"],
        Value::String(_) | Value::Null => &[],
    }
}
