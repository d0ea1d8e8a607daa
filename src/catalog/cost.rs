//! What checking a value against a schema can cost. Unions of references multiply: thirty definitions that each refer
//! twice to the next make a billion checks of one value. Such schemas come from strangers, and are not compiled.

use std::collections::HashMap;

use serde_json::Value;

/// The most checks of one value that a schema may ask for.
const MAX_CHECKS: u64 = 10_000;
/// The most checks of a whole value, over all its levels.
const MAX_TOTAL: f64 = 1e6;
/// Longer chains of references count as endless.
const MAX_CHAIN: usize = 256;

/// How a schema multiplies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Cost {
    /// Subschemas applied to one value, at the worst place.
    checks: u64,
    /// Of those, the ones that go on into the value.
    descents: u64,
}

impl Cost {
    /// The cost of a schema and of all its parts.
    pub(super) fn of(schema: &Value) -> Self {
        let mut counting = Counting { root: schema, known: HashMap::new(), worst: Cost::default() };
        counting.walk(schema);
        counting.worst
    }

    /// Whether any value can be checked at all.
    pub(super) fn is_bearable(self) -> bool {
        self.checks <= MAX_CHECKS
    }

    /// Whether this value can be: each of its levels may multiply the checks of the next.
    pub(super) fn bears(self, value: &Value) -> bool {
        (self.descents.max(1) as f64).powi(depth(value, 0)) <= MAX_TOTAL
    }
}

struct Counting<'a> {
    root: &'a Value,
    /// Costs by the address of the subschema; those being counted are zero, so that a cycle ends.
    known: HashMap<*const Value, Cost>,
    worst: Cost,
}

impl<'a> Counting<'a> {
    fn walk(&mut self, value: &'a Value) {
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

    /// What is applied to the value that this subschema is applied to.
    fn in_place(&mut self, schema: &'a Value, chain: usize) -> Cost {
        let Some(object) = schema.as_object() else { return Cost { checks: 1, descents: 0 } };
        if chain > MAX_CHAIN {
            return Cost { checks: u64::MAX, descents: u64::MAX };
        }
        if let Some(known) = self.known.get(&std::ptr::from_ref(schema)) {
            return *known;
        }
        self.known.insert(schema, Cost::default());
        let goes_on =
            ["properties", "items", "prefixItems", "additionalProperties", "patternProperties", "contains"];
        let mut cost =
            Cost { checks: 1, descents: u64::from(goes_on.iter().any(|key| object.contains_key(*key))) };
        let lists =
            ["allOf", "anyOf", "oneOf"].into_iter().filter_map(|key| object.get(key)?.as_array()).flatten();
        let single = ["not", "if", "then", "else"].into_iter().filter_map(|key| object.get(key));
        let dependent = object
            .get("dependentSchemas")
            .and_then(Value::as_object)
            .into_iter()
            .flat_map(|map| map.values());
        let reference =
            object.get("$ref").and_then(Value::as_str).and_then(|target| target.strip_prefix('#'));
        let referred = reference.and_then(|pointer| self.root.pointer(pointer));
        for part in lists.chain(single).chain(dependent).chain(referred) {
            let Cost { checks, descents } = self.in_place(part, chain + 1);
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
    use super::*;
    use serde_json::{Map, json};

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
            assert!(Cost::of(&doubling(keyword, 8)).is_bearable());
            assert!(!Cost::of(&doubling(keyword, 30)).is_bearable());
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
        let cost = Cost::of(&filter);
        assert!(cost.is_bearable() && cost.bears(&nested(8)) && !cost.bears(&nested(60)));
    }

    #[test]
    fn a_long_chain_of_references_ends() {
        let link = |n: usize| (format!("d{n}"), json!({ "$ref": format!("#/$defs/d{}", n + 1) }));
        let defs: Map<String, Value> = (0..5000).map(link).collect();
        assert!(!Cost::of(&json!({ "$ref": "#/$defs/d0", "$defs": defs })).is_bearable());
    }
}
