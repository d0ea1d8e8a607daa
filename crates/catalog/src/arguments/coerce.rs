//! Coercion of values to the schema of a tool: wrappers removed, text decoded, numbers written as text, nulls dropped. The
//! canonical schema decides each time, and valid arguments stay unchanged.

use serde_json::Value;

use super::integers::write_integers;
use super::properties::{has_all, wrapped};
use super::read::ArgumentReader;
use super::repair::{Repair, RepairKind};
use crate::tool::Tool;
use toolcrib_definition::document::{pointer_join, pointer_split};
use toolcrib_definition::finding::{SEVERAL_FORMS, Violation};

/// Places of one call that are repaired: each takes a validation, and a call with more mistakes is no slip.
const MAX_EDITS: usize = 16;

/// Rounds in which required nulls are dropped; a round finds up to fifty.
const MAX_ROUNDS: usize = 200;

/// Arguments as they were read, with the repairs of this reading.
pub struct Reading {
    /// The arguments after all repairs.
    pub value: Value,
    /// What was repaired, and where.
    pub repaired: Vec<Repair>,
}

/// Valid arguments; else the reading with the fewest repairs, and its violations.
pub type Coerced = Result<Reading, (Reading, Vec<Violation>)>;

/// Arguments coerced to the schema of a tool; else their violations.
pub fn coerce_to_schema(tool: &Tool, arguments: Value) -> Result<Reading, Vec<Violation>> {
    let reader = &mut ArgumentReader::default();
    let coercion = Coercion { tool, reader, to_canonical: &|value| value, requires_nulls: false };
    coercion.check(arguments, Vec::new()).map_err(|(_, violations)| violations)
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
    /// Coerces a value that was read with these repairs.
    pub fn check(mut self, value: Value, repaired: Vec<Repair>) -> Coerced {
        let mut read = self.fitting(value, repaired)?;
        write_integers(self.tool, self.reader, &mut read.value);
        Ok(read)
    }

    fn fitting(&mut self, value: Value, repaired: Vec<Repair>) -> Coerced {
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
        value.is_object() && self.reader.check(value, |value| self.tool.input.parameters.accepts(value))
    }

    fn violations(&self, value: &Value) -> Vec<Violation> {
        let mut wrong = self.reader.check(value, |value| self.tool.input.parameters.violations(value));
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
            let pointer = &violation.pointer;
            let Some(place) = read.value.pointer(pointer) else { continue };
            match self.reader.text_of(place).filter(|text| takes_only(text, place, violation)) {
                Some(text) => Edit::add(pointer, Some(text.into()), RepairKind::AsText, &mut edits),
                None => self.collect_edits(pointer, place, is_member, &mut edits),
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
