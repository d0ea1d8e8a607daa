//! Coercion of arguments to the schema of a tool. Values: wrappers removed, text decoded, numbers written as text, nulls dropped.
//! Names: spelled otherwise, or one level too deep. The canonical schema decides each time, and valid arguments stay unchanged.

use serde::Serialize;
use serde_json::{Map, Value};

use super::read::ArgumentReader;
use super::validate::{FieldError, InvalidArguments, MAX_EXPLAINED};
use crate::Tool;
use toolcrib_definition::finding::{
    SEVERAL_FORMS, SlipPolicy, Violation, normalized, pointer_join, pointer_split, resolve_local,
};
use toolcrib_definition::{Effect, clean_line, words};

/// One repair of arguments, at one place.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Repair {
    /// JSON pointer into the arguments as they were before this repair.
    pub pointer: String,
    /// The kind of repair.
    pub repair: RepairKind,
}

/// The kind of a repair.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum RepairKind {
    /// The arguments were JSON text within JSON text.
    DoubleEncoded,
    /// The arguments were below a key that is no property.
    Unwrapped,
    /// A list, an object, a number or a flag was given as text.
    Decoded,
    /// A text was given as a number or a flag.
    AsText,
    /// An optional property was given as null, which its schema refuses.
    NullDropped,
    /// A name, or a word of an enum, was misspelled.
    Respelled,
    /// A model wrote the arguments anew.
    Model,
}

/// Describes repairs in words.
pub(super) fn describe_repairs(repaired: &[Repair], notes: &mut Vec<String>) {
    for Repair { pointer, repair } in repaired {
        let at = clean_line(pointer.trim_start_matches('/'));
        notes.push(match repair {
            RepairKind::DoubleEncoded => "the arguments were JSON text within JSON text".into(),
            RepairKind::Unwrapped => format!("the arguments were one level too deep, below `{at}`"),
            RepairKind::Decoded => format!("`{at}` was text, read as the value in it"),
            RepairKind::AsText => {
                format!("`{at}` was not text, and was read as text with the same characters")
            }
            RepairKind::NullDropped => format!("`{at}` was null, and is left out"),
            RepairKind::Respelled => "misspelled names or words were corrected".into(),
            RepairKind::Model => "the arguments were rewritten by a model".into(),
        });
    }
}

/// Verbs in ops that change something that exists.
const CHANGE_VERBS: [&str; 9] =
    ["update", "patch", "edit", "modify", "set", "change", "rename", "move", "replace"];
/// Last words of the properties that identify the changed thing.
const IDENTIFIER_WORDS: [&str; 7] = ["id", "ids", "uuid", "key", "slug", "ref", "name"];

/// Refuses dropped nulls in calls of destructive tools, and in writes that would change nothing without them. `fit` are the
/// arguments after these repairs.
pub(super) fn check_dropped_nulls(
    tool: &Tool,
    fit: &Value,
    repaired: &[Repair],
) -> Result<(), InvalidArguments> {
    let is_dropped = |repair: &&Repair| repair.repair == RepairKind::NullDropped;
    let dropped: Vec<&str> = repaired.iter().filter(is_dropped).map(|repair| &*repair.pointer).collect();
    let why = match tool.effect {
        _ if dropped.is_empty() => return Ok(()),
        Effect::Destructive => "and for a destructive call, null is not read as absent",
        Effect::Write if is_without_changes(tool, fit) => "and without it the call changes nothing",
        _ => return Ok(()),
    };
    let message =
        format!("the arguments of `{}` do not fit: {} was null, {why}", tool.op, dropped.join(", "));
    let next = "give a value that the schema takes, or leave it out if you mean no change; tool_help with `help_path` says more";
    let mut invalid = InvalidArguments::new(message, next);
    invalid.fields.extend(dropped.into_iter().map(|pointer| FieldError {
        expected: expected(tool, pointer).map(str::to_string),
        ..FieldError::new(pointer, "null is no value of this")
    }));
    Err(invalid)
}

fn expected<'t>(tool: &'t Tool, pointer: &str) -> Option<&'t str> {
    property(tool, pointer.strip_prefix('/')?)?.get("type")?.as_str()
}

/// Whether arguments only identify the thing to change.
fn is_without_changes(tool: &Tool, arguments: &Value) -> bool {
    let required = tool.parameters.schema().get("required").and_then(Value::as_array);
    let action = tool.op.rsplit('.').next().unwrap_or_default();
    let mut words = action.split(['_', '-']);
    let is_change = words.any(|word| CHANGE_VERBS.contains(&word));
    let says_which = |name: &str| {
        let lower = name.to_lowercase();
        let last = lower.rsplit(['_', '-']).next().unwrap_or_default();
        IDENTIFIER_WORDS.contains(&last) || name.ends_with("Id") || name.ends_with("Ids")
    };
    let is_required = |name: &str| required.is_some_and(|all| all.iter().any(|one| one == name));
    arguments
        .as_object()
        .is_some_and(|fields| fields.keys().all(|name| says_which(name) || (is_change && is_required(name))))
}

/// Places of one call that are repaired: each takes a validation, and a call with more mistakes is no slip.
const MAX_EDITS: usize = 16;
/// Deepest arguments in which integers are found, and the numbers from which not every integer has a float of its own.
const MAX_DEPTH: usize = 32;
const MAX_WHOLE: f64 = 9_007_199_254_740_992.0;
/// Rounds in which required nulls are dropped; a round finds up to fifty.
const MAX_ROUNDS: usize = 200;

/// Arguments as they were read, with the repairs of this reading.
pub struct Reading {
    /// The arguments after all repairs.
    pub value: Value,
    /// What was repaired, and where.
    pub repaired: Vec<Repair>,
}

/// Arguments coerced to the schema of a tool, with their repairs; else their violations.
pub fn coerce_to_schema(tool: &Tool, arguments: Value) -> Result<(Value, Vec<Repair>), Vec<Violation>> {
    let reader = &mut ArgumentReader::default();
    let coercion = Coercion { tool, reader, to_canonical: &|value| value, requires_nulls: false };
    let read = coercion.check(arguments, Vec::new()).map_err(|(_, violations)| violations)?;
    Ok((read.value, read.repaired))
}

/// Writes `5.0` as `5` where a schema has integers: both are the same number in JSON, but not in a path or on a command line,
/// and some providers send every number with a fraction.
pub(super) fn write_integers(tool: &Tool, reader: &ArgumentReader, arguments: &mut Value) {
    let schema = tool.parameters.schema();
    write_integers_below((schema, schema), reader, arguments, 0);
}

fn write_integers_below(
    (schema, root): (&Value, &Value),
    reader: &ArgumentReader,
    value: &mut Value,
    depth: usize,
) {
    if depth > MAX_DEPTH {
        return;
    }
    let schema = match schema.get("$ref").and_then(Value::as_str) {
        Some(reference) => resolve_local(reference, root).unwrap_or(schema),
        None => schema,
    };
    let kinds =
        schema.get("type").map(|kind| kind.as_array().map_or(std::slice::from_ref(kind), Vec::as_slice));
    let has = |wanted: &str| kinds.is_some_and(|kinds| kinds.iter().any(|kind| kind == wanted));
    match value {
        Value::Number(number) if has("integer") && !has("number") && !number.is_i64() && !number.is_u64() => {
            let whole = number.as_f64().filter(|number| number.fract() == 0.0 && number.abs() < MAX_WHOLE);
            if let Some(whole) = whole {
                *value = (whole as i64).into();
            }
        }
        Value::String(marker) if has("integer") => {
            // A number with all its digits.
            if let Some(whole) = reader.whole(marker) {
                *value = whole.into();
            }
        }
        Value::Array(items) => {
            let Some(of_items) = schema.get("items") else { return };
            items.iter_mut().for_each(|item| write_integers_below((of_items, root), reader, item, depth + 1));
        }
        Value::Object(fields) => {
            for (name, field) in fields {
                let of_field = schema.get("properties").and_then(|all| all.get(name));
                let of_field = of_field.or_else(|| schema.get("additionalProperties"));
                of_field
                    .into_iter()
                    .for_each(|schema| write_integers_below((schema, root), reader, field, depth + 1));
            }
        }
        _ => {}
    }
    for branches in ["allOf", "anyOf", "oneOf"].iter().filter_map(|key| schema.get(key)?.as_array()) {
        branches.iter().for_each(|branch| write_integers_below((branch, root), reader, value, depth + 1));
    }
}

/// Coercion of arguments to the schema of a tool.
pub struct Coercion<'f> {
    /// The tool that is called.
    pub tool: &'f Tool,
    /// How numbers are read.
    pub reader: &'f mut ArgumentReader,
    /// Turns arguments by a provider's schema into canonical ones. The change is no repair.
    pub to_canonical: &'f dyn Fn(Value) -> Value,
    /// Whether the provider's schema requires every property, so that null is the only way to leave one out.
    pub requires_nulls: bool,
}

impl Coercion<'_> {
    /// Valid arguments; else the reading with the fewest repairs, and its violations.
    pub fn check(
        mut self,
        value: Value,
        repaired: Vec<Repair>,
    ) -> Result<Reading, (Reading, Vec<Violation>)> {
        let mut read = self.fitting(value, repaired)?;
        write_integers(self.tool, self.reader, &mut read.value);
        Ok(read)
    }

    fn fitting(&mut self, value: Value, repaired: Vec<Repair>) -> Result<Reading, (Reading, Vec<Violation>)> {
        let mut as_is = Reading { value: (self.to_canonical)(value), repaired };
        if self.requires_nulls {
            self.drop_required_nulls(&mut as_is.value);
        }
        let unwrapped = self.unwrapped(&as_is);
        // An open schema also accepts a wrapper, but the fields below it are the schema's own properties.
        let is_plainly_wrapped = unwrapped.as_ref().is_some_and(|read| {
            read.value.as_object().is_some_and(|fields| !fields.is_empty() && has_all(self.tool, fields))
        });
        let mut readings: Vec<Reading> = std::iter::once(as_is).chain(unwrapped).collect();
        let mut order = if is_plainly_wrapped { [1, 0] } else { [0, 1] }.into_iter();
        let is_accepted = |index: &usize| readings.get(*index).is_some_and(|read| self.accepts(&read.value));
        if let Some(index) = order.find(is_accepted) {
            return Ok(readings.swap_remove(index));
        }
        let mut closest: Option<(Reading, Vec<Violation>)> = None;
        for read in readings {
            let wrong = self.violations(&read.value);
            let edited = self.edited(&read, &wrong);
            let edited_wrong = edited.as_ref().map(|edited| self.violations(&edited.value));
            for (read, wrong) in [Some((read, wrong)), edited.zip(edited_wrong)].into_iter().flatten() {
                if wrong.is_empty() && self.accepts(&read.value) {
                    return Ok(read);
                }
                if closest.as_ref().is_none_or(|(_, least)| wrong.len() < least.len()) {
                    closest = Some((read, wrong));
                }
            }
        }
        Err(closest.unwrap_or_else(|| (Reading { value: Value::Null, repaired: Vec::new() }, Vec::new())))
    }

    fn accepts(&self, value: &Value) -> bool {
        value.is_object() && self.reader.check(value, |value| self.tool.parameters.accepts(value))
    }

    fn violations(&self, value: &Value) -> Vec<Violation> {
        let mut wrong = self.reader.check(value, |value| self.tool.parameters.violations(value));
        if wrong.is_empty() && !value.is_object() {
            wrong.push(Violation::new("", "expected an object"));
        }
        wrong
    }

    /// Drops nulls that the provider's schema required and the canonical one refuses. The change is no repair.
    fn drop_required_nulls(&self, value: &mut Value) {
        for _ in 0..MAX_ROUNDS {
            let wrong = self.violations(value);
            let mut dropped = false;
            for violation in wrong {
                if value.pointer(&violation.pointer).is_some_and(Value::is_null) {
                    dropped |= drop_member(value, &violation.pointer);
                }
            }
            if !dropped {
                return;
            }
        }
    }

    /// The arguments below a wrapper, which may be JSON text.
    fn unwrapped(&mut self, read: &Reading) -> Option<Reading> {
        let (key, inside) = wrapped(self.tool, &read.value)?;
        let pointer = pointer_join("", key);
        let mut repaired = read.repaired.clone();
        let value = match inside {
            Value::Object(_) => inside.clone(),
            Value::String(text) => {
                repaired.push(Repair { pointer: pointer.clone(), repair: RepairKind::Decoded });
                self.reader.encoded_value(text).filter(Value::is_object)?
            }
            _ => return None,
        };
        repaired.push(Repair { pointer, repair: RepairKind::Unwrapped });
        Some(Reading { value: (self.to_canonical)(value), repaired })
    }

    /// A reading with refused nulls dropped, refused texts decoded and refused numbers written as text, and no other
    /// changes.
    fn edited(&mut self, read: &Reading, wrong: &[Violation]) -> Option<Reading> {
        let mut edits = Vec::new();
        // A value that fits several forms must not become another one, to fit fewer.
        let is_unfit = |violation: &&Violation| violation.expected.as_deref() != Some(SEVERAL_FORMS);
        for violation in wrong.iter().filter(is_unfit) {
            let (parent, _) = pointer_split(&violation.pointer).unwrap_or_default();
            let is_member = read.value.pointer(parent).is_some_and(Value::is_object);
            let Some(place) = read.value.pointer(&violation.pointer) else { continue };
            match self.reader.text_of(place).filter(|text| takes_only(text, place, violation)) {
                Some(text) => {
                    Edit::add(&violation.pointer, Some(text.into()), RepairKind::AsText, &mut edits)
                }
                None => self.collect_edits(&violation.pointer, place, is_member, &mut edits),
            }
        }
        if edits.is_empty() {
            return None;
        }
        let fits = |edits: &[Edit]| self.accepts(&apply(&read.value, edits));
        if !fits(&edits) {
            let fewer = fewer(&edits).find(|fewer| fits(fewer));
            edits = fewer.unwrap_or(edits);
        }
        if edits.len() > 1 && fits(&edits) {
            self.drop_needless_edits(read, &mut edits);
        }
        let value = apply(&read.value, &edits);
        let mut repaired = read.repaired.clone();
        repaired.extend(edits.into_iter().map(|edit| edit.repair));
        Some(Reading { value, repaired })
    }

    /// Removes each change that is not needed for valid arguments: a text that is valid stays text.
    fn drop_needless_edits(&self, read: &Reading, edits: &mut Vec<Edit>) {
        let mut index = 0;
        while edits.len() > 1 && index < edits.len() {
            let edit = edits.remove(index);
            if !self.accepts(&apply(&read.value, edits)) {
                edits.insert(index, edit);
                index += 1;
            }
        }
    }

    fn collect_edits(&mut self, pointer: &str, value: &Value, is_member: bool, edits: &mut Vec<Edit>) {
        match value {
            _ if edits.len() >= MAX_EDITS => {}
            Value::Null if is_member => Edit::add(pointer, None, RepairKind::NullDropped, edits),
            Value::String(text) => {
                if let Some(decoded) = self.reader.encoded_value(text) {
                    Edit::add(pointer, Some(decoded), RepairKind::Decoded, edits);
                }
            }
            Value::Array(items) => {
                for (index, item) in items.iter().enumerate() {
                    self.collect_edits(&pointer_join(pointer, index), item, false, edits);
                }
            }
            Value::Object(fields) => {
                for (name, field) in fields {
                    self.collect_edits(&pointer_join(pointer, name), field, true, edits);
                }
            }
            _ => {}
        }
    }
}

/// All changes without one, and each alone: below a union, the refused place is not known.
fn fewer(edits: &[Edit]) -> impl Iterator<Item = Vec<Edit>> {
    let without = |index: usize| [&edits[..index], &edits[index + 1..]].concat();
    let alone = |index: usize| vec![edits[index].clone()];
    let indexes = 0..if edits.len() > 1 { edits.len() } else { 0 };
    indexes.clone().map(without).chain(indexes.map(alone))
}

/// A change at one place.
#[derive(Clone)]
struct Edit {
    repair: Repair,
    /// The new value; `None` to drop the property.
    value: Option<Value>,
}

impl Edit {
    /// Adds a change, unless there is one at this place, or enough others.
    fn add(pointer: &str, value: Option<Value>, repair: RepairKind, edits: &mut Vec<Edit>) {
        if edits.len() < MAX_EDITS && edits.iter().all(|edit| edit.repair.pointer != pointer) {
            edits.push(Edit { repair: Repair { pointer: pointer.to_string(), repair }, value });
        }
    }
}

/// Whether the place of a violation takes this text of a number, and no number; for a flag, whether the word is one of
/// its values.
fn takes_only(text: &str, given: &Value, wrong: &Violation) -> bool {
    let is_plain = |kind: &str| matches!(kind, "string" | "null");
    match wrong.expected.as_deref() {
        Some(_) if wrong.known.iter().any(|known| known == text) => !wrong.knows_others,
        _ if given.is_boolean() => false,
        Some(expected) => expected != "null" && expected.split(" or ").all(is_plain),
        // Each branch of a union refuses its type.
        None => !wrong.unknown,
    }
}

/// Removes a property from its object; false where it is absent.
fn drop_member(value: &mut Value, pointer: &str) -> bool {
    let (parent, name) = pointer_split(pointer).unwrap_or_default();
    let fields = value.pointer_mut(parent).and_then(Value::as_object_mut);
    fields.is_some_and(|fields| fields.shift_remove(&*name).is_some())
}

fn apply(value: &Value, edits: &[Edit]) -> Value {
    let mut value = value.clone();
    for Edit { repair, value: new } in edits {
        match (new, value.pointer_mut(&repair.pointer)) {
            (Some(new), Some(place)) => place.clone_from(new),
            (Some(_), None) => {}
            (None, _) => {
                drop_member(&mut value, &repair.pointer);
            }
        }
    }
    value
}

// The properties of a schema, and the names of arguments.

/// Rounds of coercion after the first: a value is validated only under its right name, which can reveal names below it.
const MAX_NAME_ROUNDS: usize = 3;
/// Most unknown names that are read as known ones: more of them are not misspellings.
const MAX_UNKNOWN: usize = 200;
/// Bytes of a name or a word that may be spelled otherwise: longer text is not a name.
pub(super) const MAX_NAME: usize = 200;

/// The misspellings that are corrected in addition to case and separators; `None` for a destructive tool, which is never guessed.
fn tolerated_slips(tool: &Tool) -> Option<SlipPolicy> {
    (tool.effect != Effect::Destructive).then_some(SlipPolicy::ARGUMENT)
}

/// Arguments with names and enum values coerced, and each change in words. `None` where nothing was changed.
pub(super) fn coerce_names(tool: &Tool, given: &Value) -> Option<(Value, Vec<String>)> {
    let (mut value, mut notes) = coerce_round(tool, given, &tool.parameters.violations(given))?;
    for _ in 0..MAX_NAME_ROUNDS {
        let wrong = tool.parameters.violations(&value);
        let Some((better, more)) = coerce_round(tool, &value, &wrong) else { break };
        value = better;
        notes.extend(more);
    }
    Some((value, notes))
}

/// A reading with misspelled names and words of enums corrected, where it fits then.
pub fn respelled(
    tool: &Tool,
    reader: &mut ArgumentReader,
    read: Result<Reading, (Reading, Vec<Violation>)>,
) -> Result<Reading, (Reading, Vec<Violation>)> {
    let respelled = |read: &Reading| {
        let slip = Repair { pointer: String::new(), repair: RepairKind::Respelled };
        read.repaired.iter().cloned().chain([slip]).collect::<Vec<_>>()
    };
    match read {
        Ok(read) if read.value.as_object().is_none_or(|fields| has_all(tool, fields)) => Ok(read),
        Ok(read) => {
            let value = coerce_accepted_names(tool, read.value.clone(), &mut Vec::new());
            let repaired = if value == read.value { read.repaired } else { respelled(&read) };
            Ok(Reading { value, repaired })
        }
        Err((read, wrong)) => {
            let coercion = Coercion { tool, reader, to_canonical: &|value| value, requires_nulls: false };
            let coerced = coerce_names(tool, &read.value);
            let fit = coerced.and_then(|(value, _)| coercion.check(value, respelled(&read)).ok());
            fit.ok_or((read, wrong))
        }
    }
}

/// Arguments of an open schema, which accepts any names. A name that can mean only one known name becomes that; `notes` gets
/// the others.
pub(super) fn coerce_accepted_names(tool: &Tool, arguments: Value, notes: &mut Vec<String>) -> Value {
    let Some(known) = closed_properties(tool) else { return arguments };
    let is_respelled = |name: &String| known.keys().any(|meant| meant != name && is_same(name, meant));
    let unknown = arguments.as_object().into_iter().flat_map(Map::keys);
    let unknown: Vec<&String> = unknown.filter(|name| !known.contains_key(*name)).collect();
    let is_misnamed = unknown.len() <= MAX_UNKNOWN && unknown.iter().any(|name| is_respelled(name));
    let mut settled = arguments;
    if is_misnamed
        && let Some((coerced, changes)) = coerce_round(tool, &settled, &[])
        && tool.parameters.accepts(&coerced)
    {
        notes.extend(changes);
        settled = coerced;
    }
    let unknown = settled.as_object().into_iter().flat_map(Map::keys);
    let mut unknown = unknown.filter(|name| !known.contains_key(*name));
    for name in unknown.by_ref().take(MAX_EXPLAINED) {
        let name = clean_line(&name.chars().take(MAX_NAME).collect::<String>());
        notes.push(format!("`{name}` is no argument of `{}`; it is passed on as it is", tool.op));
    }
    let more = unknown.count();
    if more > 0 {
        notes.push(format!(
            "{more} more names are no arguments of `{}`; they are passed on as they are",
            tool.op
        ));
    }
    settled
}

/// Whether a name is that of a property, tolerated misspellings included.
pub(super) fn is_property_name(tool: &Tool, name: &str) -> bool {
    let Some(known) = properties(tool) else { return false };
    let is_respelled = || known.keys().any(|known| is_same(known, name));
    known.contains_key(name) || (tolerated_slips(tool).is_some() && is_respelled())
}

fn coerce_round(tool: &Tool, given: &Value, wrong: &[Violation]) -> Option<(Value, Vec<String>)> {
    let mut value = given.clone();
    let mut notes = Vec::new();
    if let (Some(fields), Some(known)) = (value.as_object_mut(), closed_properties(tool)) {
        let known: Vec<&str> = known.keys().map(String::as_str).collect();
        rename(fields, &known, tolerated_slips(tool), "", &mut notes);
    }
    for violation in wrong {
        let (parent, _) = pointer_split(&violation.pointer).unwrap_or_default();
        if violation.unknown && !parent.is_empty() {
            if let Some(Value::Object(fields)) = value.pointer_mut(parent) {
                let known: Vec<&str> = violation.known.iter().map(String::as_str).collect();
                rename(fields, &known, None, parent, &mut notes);
            }
        } else if let Some(Value::String(word)) = value.pointer_mut(&violation.pointer)
            && let Some(meant) = meant_word(&violation.known, word)
            && meant != word
        {
            notes.push(format!("{}: `{}` was read as `{meant}`", violation.pointer, clean_line(word)));
            *word = meant.into();
        }
    }
    (!notes.is_empty()).then_some((value, notes))
}

/// Renames each unknown property to the one free name that it can mean.
fn rename(
    fields: &mut Map<String, Value>,
    known: &[&str],
    slips: Option<SlipPolicy>,
    at: &str,
    notes: &mut Vec<String>,
) {
    let unknown = fields.keys().filter(|name| !known.contains(&name.as_str()));
    let unknown: Vec<String> = unknown.take(MAX_UNKNOWN + 1).cloned().collect();
    if unknown.len() > MAX_UNKNOWN {
        return;
    }
    for name in &unknown {
        let free = || known.iter().copied().filter(|known| !fields.contains_key(*known));
        let is_slip = |known: &&str| {
            !is_another(name, known)
                && slips.is_some_and(|slips| slips.is_slip(&normalized(name), &normalized(known)))
        };
        let meant =
            only(free().filter(|known| is_same(known, name))).or_else(|| only(free().filter(is_slip)));
        let Some(meant) = meant else { continue };
        // Of two properties with the same meaning neither is renamed.
        let is_twice = unknown.iter().filter(|other| is_same(other, name)).count() > 1;
        if is_twice {
            continue;
        }
        let pointer = pointer_join(at, name);
        let meant = meant.to_string();
        if let Some(value) = fields.shift_remove(name) {
            notes.push(format!("`{}` was read as `{meant}`", clean_line(pointer.trim_start_matches('/'))));
            fields.insert(meant, value);
        }
    }
}

/// Beginnings that turn a word into its opposite.
const OPPOSITE: [&str; 8] = ["un", "dis", "non", "in", "im", "de", "re", "not"];

/// Whether two names that look alike differ in a number, or in a word that means something else: `min_price` is no slip for
/// `max_price`, nor `archived` for `unarchived`.
fn is_another(name: &str, known: &str) -> bool {
    let digits = |name: &str| name.chars().filter(char::is_ascii_digit).collect::<String>();
    let others = words(known);
    let words = words(name);
    let lacking = |words: &[String], others: &[String]| {
        words.iter().filter(|word| !others.contains(word)).cloned().collect::<Vec<String>>()
    };
    let pairs = lacking(&words, &others).into_iter().zip(lacking(&others, &words));
    let is_opposite = |word: &str, other: &str| {
        OPPOSITE.iter().any(|begin| word.strip_prefix(begin) == Some(other))
            || word.strip_suffix("ee").is_some_and(|stem| other == format!("{stem}er"))
            || (word == "minimum" && other == "maximum")
    };
    let differ = |(word, other): (String, String)| {
        let is_beginning = word.starts_with(&*other) || other.starts_with(&*word);
        let is_bound = |word: &str| matches!(word, "lt" | "gt");
        (word.len() <= 3 && other.len() <= 3 && (!is_beginning || is_bound(&word) || is_bound(&other)))
            || word.chars().next() != other.chars().next()
            || is_opposite(&word, &other)
            || is_opposite(&other, &word)
    };
    digits(name) != digits(known) || pairs.into_iter().any(differ)
}

/// The one known word that differs from this one in case and separators alone.
pub(super) fn meant_word<'k>(known: &'k [String], word: &str) -> Option<&'k str> {
    only(known.iter().map(String::as_str).filter(|known| is_same(known, word)))
}

fn is_same(one: &str, other: &str) -> bool {
    one == other || (one.len().max(other.len()) <= MAX_NAME && normalized(one) == normalized(other))
}

/// The only item; `None` if there are several.
pub(super) fn only<T>(mut all: impl Iterator<Item = T>) -> Option<T> {
    let first = all.next()?;
    all.next().is_none().then_some(first)
}

/// Keys below which models put the arguments by mistake, most frequent first.
pub const WRAPPERS: [&str; 6] = ["args", "arguments", "input", "parameters", "params", "kwargs"];

/// The properties that a schema lists.
pub(super) fn properties(tool: &Tool) -> Option<&Map<String, Value>> {
    tool.parameters.schema().get("properties")?.as_object()
}

/// The schema of one property.
pub(super) fn property<'t>(tool: &'t Tool, name: &str) -> Option<&'t Value> {
    properties(tool)?.get(name)
}

/// Whether a schema lists a property.
pub fn has_property(tool: &Tool, name: &str) -> bool {
    property(tool, name).is_some()
}

/// Whether a schema lists every given property.
pub(super) fn has_all(tool: &Tool, fields: &Map<String, Value>) -> bool {
    let known = properties(tool);
    fields.keys().all(|name| known.is_some_and(|known| known.contains_key(name)))
}

/// The properties that a schema lists, unless it allows others.
pub(super) fn closed_properties(tool: &Tool) -> Option<&Map<String, Value>> {
    let schema = tool.parameters.schema();
    let takes_any = schema.get("additionalProperties").is_some_and(|others| *others != Value::Bool(false))
        || schema.get("patternProperties").is_some();
    properties(tool).filter(|_| !takes_any)
}

/// The single key that wraps the arguments, and the value below it: a usual wrapper or a name of the tool, but no property.
pub(super) fn wrapped<'v>(tool: &Tool, arguments: &'v Value) -> Option<(&'v str, &'v Value)> {
    let fields = arguments.as_object().filter(|fields| fields.len() == 1)?;
    let (key, inside) = fields.iter().next()?;
    let is_wrapper =
        WRAPPERS.contains(&key.as_str()) || [&tool.name, &tool.safe_name, &tool.op].contains(&key);
    (is_wrapper && !has_property(tool, key)).then_some((key, inside))
}
