//! Bounds the cost of checking a value against a schema. Unions of references multiply: thirty definitions that each refer twice
//! to the next make a billion checks of one value. Such schemas are untrusted input, and are not compiled.

use std::collections::HashMap;

use serde_json::Value;

use toolcrib_definition::document::resolve_local;
use toolcrib_definition::schema::walk::in_place;

/// The most checks of one value that a schema may ask for.
const MAX_CHECKS: u64 = 10_000;
/// Most checks of a whole value, over all its levels.
const MAX_TOTAL: f64 = 1e6;
/// Most references in a chain: longer chains count as endless.
const MAX_CHAIN: usize = 256;

/// The factors by which a schema multiplies checks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct ValidationCost {
    /// Subschemas applied to one value, at the worst place.
    checks: u64,
    /// The checks among them that go on into the value.
    descents: u64,
    /// Values of the whole schema.
    values: usize,
}

impl ValidationCost {
    /// The cost of a schema and of all its parts.
    pub(super) fn of(schema: &Value) -> Self {
        let mut counting = Counting { root: schema, known: HashMap::new(), worst: ValidationCost::default() };
        counting.walk(schema);
        counting.worst
    }

    /// Whether any value can be checked at all.
    pub(super) fn is_affordable(self) -> bool {
        self.checks <= MAX_CHECKS
    }

    /// Whether a short value is checked in a moment.
    pub(super) fn is_small(self) -> bool {
        self.checks <= 100 && self.values <= 1_000
    }

    /// Whether this value can be checked against the schema of this cost: each level of it may multiply the checks of
    /// the next.
    pub(super) fn affords(self, schema: &Value, value: &Value) -> bool {
        if self.descents <= 1 {
            return true; // one level costs as much as any other
        }
        let depth = depth(value, 0);
        let at_worst = (self.descents.max(1) as f64).powi(depth);
        let mut levels = Levels { root: schema, known: HashMap::new() };
        at_worst <= MAX_TOTAL || levels.total(schema, depth) <= MAX_TOTAL
    }
}

/// Counts checks along the levels of a value, for schemas that multiply at some levels only.
struct Levels<'a> {
    root: &'a Value,
    known: HashMap<(*const Value, i32), f64>,
}

impl<'a> Levels<'a> {
    /// The most checks of a value that is nested so deeply, along any path through it.
    fn total(&mut self, schema: &'a Value, depth: i32) -> f64 {
        let key = (std::ptr::from_ref(schema), depth);
        if let Some(known) = self.known.get(&key) {
            return *known;
        }
        let mut total = 0.0;
        for part in self.in_place(schema) {
            let inside = if depth > 0 { into_value(part) } else { Vec::new() };
            total += 1.0 + inside.into_iter().map(|child| self.total(child, depth - 1)).fold(0.0, f64::max);
        }
        self.known.insert(key, total);
        total
    }

    /// All that is applied to the same value; endless where a cycle makes it so, up to the limit.
    fn in_place(&self, schema: &'a Value) -> Vec<&'a Value> {
        let mut parts = vec![schema];
        let mut next = 0;
        while next as u64 <= MAX_CHECKS
            && let Some(part) = parts.get(next).copied()
        {
            parts.extend(applied(part, self.root));
            next += 1;
        }
        parts
    }
}

/// The subschemas that a schema applies to the same value.
fn applied<'a>(schema: &'a Value, root: &'a Value) -> impl Iterator<Item = &'a Value> {
    let reference = schema.get("$ref").and_then(Value::as_str);
    let target = reference.and_then(|reference| resolve_local(reference, root));
    schema.as_object().into_iter().flat_map(in_place).chain(target)
}

/// The keywords whose subschemas apply to what is inside a value.
const INTO_VALUE: [&str; 6] =
    ["properties", "items", "prefixItems", "additionalProperties", "patternProperties", "contains"];

fn into_value(schema: &Value) -> Vec<&Value> {
    let mut inside = Vec::new();
    for key in INTO_VALUE {
        match (key, schema.get(key)) {
            ("properties" | "patternProperties", Some(Value::Object(named))) => inside.extend(named.values()),
            (_, Some(Value::Array(items))) => inside.extend(items),
            (_, Some(one @ Value::Object(_))) => inside.push(one),
            _ => {}
        }
    }
    inside
}

struct Counting<'a> {
    root: &'a Value,
    /// Costs by the address of the subschema; those being counted are zero, so that a cycle ends.
    known: HashMap<*const Value, ValidationCost>,
    worst: ValidationCost,
}

impl<'a> Counting<'a> {
    fn walk(&mut self, value: &'a Value) {
        self.worst.values += 1;
        match value {
            Value::Object(object) => {
                let here = self.in_place(value, 0);
                self.worst.checks = self.worst.checks.max(here.checks);
                self.worst.descents = self.worst.descents.max(here.descents);
                object.values().for_each(|child| self.walk(child));
            }
            Value::Array(items) => items.iter().for_each(|child| self.walk(child)),
            _ => {}
        }
    }

    /// Cost of all checks that this subschema applies to the same value.
    fn in_place(&mut self, schema: &'a Value, chain: usize) -> ValidationCost {
        let Some(object) = schema.as_object() else {
            return ValidationCost { checks: 1, ..Default::default() };
        };
        if chain > MAX_CHAIN {
            return ValidationCost { checks: u64::MAX, descents: u64::MAX, values: 0 };
        }
        if let Some(known) = self.known.get(&std::ptr::from_ref(schema)) {
            return *known;
        }
        self.known.insert(schema, ValidationCost::default());
        let goes_on = INTO_VALUE.iter().any(|key| object.contains_key(*key));
        let mut cost = ValidationCost { checks: 1, descents: u64::from(goes_on), values: 0 };
        for part in applied(schema, self.root) {
            let ValidationCost { checks, descents, .. } = self.in_place(part, chain + 1);
            cost.checks = cost.checks.saturating_add(checks);
            cost.descents = cost.descents.saturating_add(descents);
        }
        self.known.insert(schema, cost);
        cost
    }
}

fn depth(value: &Value, above: i32) -> i32 {
    match value {
        Value::Object(object) => object.values().map(|child| depth(child, above + 1)).max().unwrap_or(above),
        Value::Array(items) => items.iter().map(|child| depth(child, above + 1)).max().unwrap_or(above),
        _ => above,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Map, json};

    use super::*;

    fn doubling(keyword: &str, steps: usize) -> Value {
        let step = |n: usize| {
            let next = json!({ "$ref": format!("#/$defs/d{}", n + 1) });
            (format!("d{n}"), json!({ keyword: [next, next] }))
        };
        let mut defs: Map<String, Value> = (0..steps).map(step).collect();
        defs.insert(format!("d{steps}"), json!({ "type": "string" }));
        json!({ "properties": { "a": { "$ref": "#/$defs/d0" } }, "$defs": defs })
    }

    #[test]
    fn unions_that_multiply_are_not_borne() {
        for keyword in ["allOf", "anyOf", "oneOf"] {
            assert!(ValidationCost::of(&doubling(keyword, 8)).is_affordable());
            assert!(!ValidationCost::of(&doubling(keyword, 30)).is_affordable());
        }
    }

    #[test]
    fn a_recursive_union_bears_shallow_values_only() {
        let filter = json!({ "$ref": "#/$defs/f", "$defs": { "f": { "anyOf": [
            { "properties": { "and": { "$ref": "#/$defs/f" } } },
            { "properties": { "or": { "$ref": "#/$defs/f" } } },
            { "properties": { "not": { "$ref": "#/$defs/f" } } },
        ] } } });
        let nested = |levels: usize| (0..levels).fold(json!("x"), |inner, _| json!({ "and": inner }));
        let cost = ValidationCost::of(&filter);
        assert!(
            cost.is_affordable() && cost.affords(&filter, &nested(8)) && !cost.affords(&filter, &nested(60))
        );
    }

    #[test]
    fn a_large_union_at_one_level_is_borne() {
        let step = |n: usize| json!({ "properties": { "name": { "const": n }, "params": { "properties": { "x": {} } } } });
        let steps: Vec<Value> = (0..40).map(step).collect();
        let cases = json!({ "items": { "properties": { "steps": { "items": { "anyOf": steps } } } } });
        let schema = json!({ "properties": { "cases": cases } });
        let value = json!({ "cases": [{ "steps": [{ "name": 1, "params": { "x": { "y": [1] } } }] }] });
        assert!(ValidationCost::of(&schema).affords(&schema, &value));
    }

    #[test]
    fn a_long_chain_of_references_ends() {
        let link = |n: usize| (format!("d{n}"), json!({ "$ref": format!("#/$defs/d{}", n + 1) }));
        let defs: Map<String, Value> = (0..5000).map(link).collect();
        assert!(!ValidationCost::of(&json!({ "$ref": "#/$defs/d0", "$defs": defs })).is_affordable());
    }
}
