//! The canonical schema decides. What does not fit as it is, and plainly means something that fits, is read as that.

use serde_json::{Map, Value};

use super::call_entry::{Repair, RepairKind};
use super::reader::ArgumentReader;
use crate::catalog::Tool;
use crate::finding::{Violation, pointer_join};
use crate::provider::Provider;
use crate::provider::function::{WRAPPERS, stub_key};
use crate::provider::view::{Renaming, Strict};
use crate::provider::wire::{Rules, Stub};

/// The most places of one call that are looked at for a repair.
const MAX_EDITS: usize = 16;
/// How often nulls that were asked for are looked for; each time finds up to fifty.
const MAX_ROUNDS: usize = 200;

/// A way to read arguments, and what makes it differ from how they were written.
pub(super) struct Reading {
    pub(super) value: Value,
    pub(super) repaired: Vec<Repair>,
}

/// Arguments that are an object already, as the tool's own schema wants them, with what was read otherwise than it was
/// written; else what is wrong.
pub fn coerce_to_schema(tool: &Tool, arguments: Value) -> Result<(Value, Vec<Repair>), Vec<Violation>> {
    let rules = Provider::Mcp.wire().rules();
    let fit = Coercion { tool, rules, renamed: None, reading: &mut ArgumentReader::default() };
    let read = fit.check(arguments, Vec::new()).map_err(|(_, violations)| violations)?;
    Ok((read.value, read.repaired))
}

/// Arguments on their way to the tool's schema.
pub(super) struct Coercion<'f> {
    pub(super) tool: &'f Tool,
    pub(super) rules: &'f Rules,
    /// The properties that the provider knows by other names.
    pub(super) renamed: Option<&'f Renaming>,
    pub(super) reading: &'f mut ArgumentReader,
}

impl Coercion<'_> {
    /// The arguments as they fit; else the reading that comes closest, and what is wrong with it.
    pub(super) fn check(
        mut self,
        value: Value,
        repaired: Vec<Repair>,
    ) -> Result<Reading, (Reading, Vec<Violation>)> {
        let mut as_is = Reading { value: self.as_bound(value), repaired };
        if self.requires_nulls() {
            self.without_asked_nulls(&mut as_is.value);
        }
        let unwrapped = self.unwrapped(&as_is);
        // An open schema also accepts a wrapper; what is in it are its own properties all the same.
        let is_plainly_wrapped = unwrapped.as_ref().is_some_and(|read| self.knows_all(&read.value));
        if !is_plainly_wrapped && self.accepts(&as_is.value) {
            return Ok(as_is);
        }
        if let Some(read) = unwrapped.as_ref().filter(|read| self.accepts(&read.value)) {
            return Ok(Reading { value: read.value.clone(), repaired: read.repaired.clone() });
        }
        if is_plainly_wrapped && self.accepts(&as_is.value) {
            return Ok(as_is);
        }
        let mut closest: Option<(Reading, Vec<Violation>)> = None;
        for read in std::iter::once(as_is).chain(unwrapped) {
            let wrong = self.violations(&read.value);
            let mended = self.edited(&read, &wrong);
            let mended_wrong = mended.as_ref().map(|mended| self.violations(&mended.value));
            for (read, wrong) in [Some((read, wrong)), mended.zip(mended_wrong)].into_iter().flatten() {
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
        value.is_object() && self.reading.check(value, |value| self.tool.parameters.accepts(value))
    }

    fn violations(&self, value: &Value) -> Vec<Violation> {
        let mut wrong = self.reading.check(value, |value| self.tool.parameters.violations(value));
        if wrong.is_empty() && !value.is_object() {
            wrong.push(Violation::new("", "expected an object"));
        }
        wrong
    }

    /// The arguments in the canonical schema's terms, where the provider was told others: that is no repair.
    pub(super) fn as_bound(&self, value: Value) -> Value {
        let mut value = match value {
            Value::Object(fields) => Value::Object(self.out_of_stub(fields)),
            other => other,
        };
        if let Some(renamed) = self.renamed {
            renamed.undo(&mut value);
        }
        value
    }

    /// Where no other stub lets arguments through, they were asked for below a key.
    fn out_of_stub(&self, mut fields: Map<String, Value>) -> Map<String, Value> {
        if self.rules.stub != Stub::Args || fields.len() != 1 {
            return fields;
        }
        match fields.get_mut(stub_key(self.tool)) {
            Some(Value::Object(inside)) => std::mem::take(inside),
            _ => fields,
        }
    }

    /// Whether the model was held to a schema that requires every property: it has no other way to leave an optional
    /// one out than null (docs/reference/wires.md, Strict schemas).
    fn requires_nulls(&self) -> bool {
        self.rules.schema.strict == Some(Strict::OpenAi) && self.tool.definition.strict == Some(true)
    }

    /// Drops the nulls that were asked for, wherever the canonical schema refuses them. That is no repair.
    fn without_asked_nulls(&self, value: &mut Value) {
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

    fn has_property(&self, name: &str) -> bool {
        self.tool
            .parameters
            .schema()
            .get("properties")
            .is_some_and(|properties| properties.get(name).is_some())
    }

    /// Whether there is something, and all of it is a property of the schema.
    fn knows_all(&self, value: &Value) -> bool {
        value
            .as_object()
            .is_some_and(|fields| !fields.is_empty() && fields.keys().all(|key| self.has_property(key)))
    }

    /// What is below a single key that is no property.
    fn unwrapped(&mut self, read: &Reading) -> Option<Reading> {
        let fields = read.value.as_object().filter(|fields| fields.len() == 1)?;
        let (key, inside) = fields.iter().next()?;
        let own = [&self.tool.name, &self.tool.safe_name, &self.tool.op];
        let is_wrapper = WRAPPERS.contains(&key.as_str()) || own.contains(&key);
        if !is_wrapper || self.has_property(key) {
            return None;
        }
        let pointer = pointer_join("", key);
        let mut repaired = read.repaired.clone();
        let value = match inside {
            Value::Object(_) => inside.clone(),
            Value::String(text) => {
                repaired.push(Repair { pointer: pointer.clone(), repair: RepairKind::Decoded });
                self.reading.encoded_value(text).filter(Value::is_object)?
            }
            _ => return None,
        };
        repaired.push(Repair { pointer, repair: RepairKind::Unwrapped });
        Some(Reading { value: self.as_bound(value), repaired })
    }

    /// With nulls dropped and texts decoded where the schema refuses them, and only where that is needed.
    fn edited(&mut self, read: &Reading, wrong: &[Violation]) -> Option<Reading> {
        let mut mends = Vec::new();
        for violation in wrong {
            let parent = violation.pointer.rsplit_once('/').map_or("", |(parent, _)| parent);
            let is_member = read.value.pointer(parent).is_some_and(Value::is_object);
            if let Some(place) = read.value.pointer(&violation.pointer) {
                self.collect_edits(violation.pointer.clone(), place, is_member, &mut mends);
            }
        }
        if mends.is_empty() {
            return None;
        }
        let fits = |mends: &[Edit]| self.accepts(&apply(&read.value, mends));
        if !fits(&mends) {
            let fewer = fewer(&mends).find(|fewer| fits(fewer));
            mends = fewer.unwrap_or(mends);
        }
        if mends.len() > 1 && fits(&mends) {
            self.drop_needless_edits(read, &mut mends);
        }
        let value = apply(&read.value, &mends);
        let mut repaired = read.repaired.clone();
        repaired.extend(mends.into_iter().map(|mend| {
            let repair = match mend.change {
                Change::Drop => RepairKind::NullDropped,
                Change::Decode(_) => RepairKind::Decoded,
            };
            Repair { pointer: mend.pointer, repair }
        }));
        Some(Reading { value, repaired })
    }

    /// Takes back each change without which the arguments fit too: a text that may be text stays text.
    fn drop_needless_edits(&self, read: &Reading, mends: &mut Vec<Edit>) {
        let mut index = 0;
        while mends.len() > 1 && index < mends.len() {
            let mend = mends.remove(index);
            if !self.accepts(&apply(&read.value, mends)) {
                mends.insert(index, mend);
                index += 1;
            }
        }
    }

    fn collect_edits(&mut self, pointer: String, value: &Value, is_member: bool, mends: &mut Vec<Edit>) {
        if mends.len() >= MAX_EDITS || mends.iter().any(|mend| mend.pointer == pointer) {
            return;
        }
        match value {
            Value::Null if is_member => mends.push(Edit { pointer, change: Change::Drop }),
            Value::String(text) => {
                if let Some(decoded) = self.reading.encoded_value(text) {
                    mends.push(Edit { pointer, change: Change::Decode(decoded) });
                }
            }
            Value::Array(items) => {
                for (index, item) in items.iter().enumerate() {
                    self.collect_edits(pointer_join(&pointer, index), item, false, mends);
                }
            }
            Value::Object(fields) => {
                for (name, field) in fields {
                    self.collect_edits(pointer_join(&pointer, name), field, true, mends);
                }
            }
            _ => {}
        }
    }
}

/// All changes but one, and each by itself: below a union it cannot be told which place is refused.
fn fewer(mends: &[Edit]) -> impl Iterator<Item = Vec<Edit>> {
    let without = |index: usize| [&mends[..index], &mends[index + 1..]].concat();
    let alone = |index: usize| vec![mends[index].clone()];
    let indexes = 0..if mends.len() > 1 { mends.len() } else { 0 };
    indexes.clone().map(without).chain(indexes.map(alone))
}

/// A change at one place.
#[derive(Clone)]
struct Edit {
    pointer: String,
    change: Change,
}

#[derive(Clone)]
enum Change {
    /// The property goes.
    Drop,
    /// The text becomes what it encodes.
    Decode(Value),
}

/// Takes a property out of its object; false where there is none.
fn drop_member(value: &mut Value, pointer: &str) -> bool {
    let (parent, name) = pointer.rsplit_once('/').unwrap_or_default();
    let fields = value.pointer_mut(parent).and_then(Value::as_object_mut);
    fields.is_some_and(|fields| fields.shift_remove(&name.replace("~1", "/").replace("~0", "~")).is_some())
}

fn apply(value: &Value, mends: &[Edit]) -> Value {
    let mut value = value.clone();
    for mend in mends {
        match &mend.change {
            Change::Decode(decoded) => {
                if let Some(place) = value.pointer_mut(&mend.pointer) {
                    place.clone_from(decoded);
                }
            }
            Change::Drop => {
                drop_member(&mut value, &mend.pointer);
            }
        }
    }
    value
}
