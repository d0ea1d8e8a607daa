//! Mutations that keep JSON whole: half of them move, remove, repeat and replace values, the others change bytes.

use libfuzzer_sys::fuzzer_mutate;
use serde_json::{Map, Value, json};

/// Names and words that mean something somewhere.
const WORDS: [&str; 72] = [
    "type",
    "object",
    "array",
    "string",
    "integer",
    "number",
    "boolean",
    "null",
    "properties",
    "required",
    "items",
    "prefixItems",
    "additionalProperties",
    "patternProperties",
    "propertyNames",
    "unevaluatedProperties",
    "enum",
    "const",
    "anyOf",
    "oneOf",
    "allOf",
    "not",
    "if",
    "then",
    "else",
    "$ref",
    "#",
    "#/$defs/a",
    "#/definitions/a",
    "$defs",
    "definitions",
    "a",
    "$id",
    "$anchor",
    "$dynamicRef",
    "format",
    "date-time",
    "uuid",
    "pattern",
    "^(a+)+$",
    "minimum",
    "maxLength",
    "multipleOf",
    "exclusiveMinimum",
    "nullable",
    "default",
    "examples",
    "title",
    "description",
    "discriminator",
    "dependentRequired",
    "contains",
    "uniqueItems",
    "path",
    "query",
    "header",
    "body",
    "in",
    "name",
    "style",
    "deepObject",
    "{+path}",
    "{a}",
    "日本.txt",
    "",
    ".",
    "..",
    "%2e%2e",
    "\u{202e}",
    "a b&c=d",
    "1e999",
    "args",
];

/// Mutates what stands after the first `kept` bytes.
pub fn mutate(data: &mut [u8], size: usize, max_size: usize, seed: u32, kept: usize) -> usize {
    let mut dice = Dice(u64::from(seed) << 1 | 1);
    let kept = kept.min(size);
    let value: Option<Value> = serde_json::from_slice(&data[kept..size]).ok();
    let Some(mut value) = value.filter(|_| dice.below(2) == 0) else {
        return fuzzer_mutate(data, size, max_size);
    };
    for _ in 0..=dice.below(4) {
        edit(&mut value, &mut dice);
    }
    let text = value.to_string();
    if kept + text.len() > max_size {
        return fuzzer_mutate(data, size, max_size);
    }
    if kept > 0 && dice.below(8) == 0 {
        data[dice.below(kept)] = dice.below(256) as u8;
    }
    data[kept..kept + text.len()].copy_from_slice(text.as_bytes());
    kept + text.len()
}

struct Dice(u64);

impl Dice {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % end.max(1)
    }

    fn word(&mut self) -> String {
        WORDS[self.below(WORDS.len())].into()
    }
}

fn edit(root: &mut Value, dice: &mut Dice) {
    let count = count(root);
    let donor = nth(root, &mut dice.below(count)).cloned().unwrap_or_default();
    let Some(value) = nth_mut(root, &mut dice.below(count)) else { return };
    match (dice.below(8), &mut *value) {
        (0, value) => *value = donor,
        (1, value) => *value = scalar(dice),
        (2, Value::Object(fields)) => drop(fields.insert(dice.word(), donor)),
        (2 | 3, Value::Array(items)) => items.insert(dice.below(items.len() + 1), donor),
        (3, Value::Object(fields)) => {
            let Some(name) = fields.keys().nth(dice.below(fields.len())).cloned() else { return };
            let inside = fields.shift_remove(&name).unwrap_or_default();
            fields.insert(dice.word(), inside);
        }
        (4, Value::Object(fields)) => {
            let name = fields.keys().nth(dice.below(fields.len())).cloned();
            name.map(|name| fields.shift_remove(&name));
        }
        (4, Value::Array(items)) if !items.is_empty() => drop(items.remove(dice.below(items.len()))),
        (5, value) => *value = Value::Object(Map::from_iter([(dice.word(), value.take())])),
        (6, value) => *value = json!([value.take(), donor]),
        (_, Value::String(text)) => {
            let at = text.char_indices().map(|(at, _)| at).nth(dice.below(text.chars().count())).unwrap_or(0);
            text.insert_str(at, &dice.word());
        }
        (_, value) => *value = dice.word().into(),
    }
}

fn scalar(dice: &mut Dice) -> Value {
    let all = [
        json!(null),
        json!(true),
        json!(false),
        json!(0),
        json!(-1),
        json!(1),
        json!(3),
        json!(1.5),
        json!(1e308),
        json!(u64::MAX),
        json!(i64::MIN),
        json!(""),
        json!([]),
        json!({}),
        json!("2026-01-01T00:00:00Z"),
        json!(dice.word()),
    ];
    all[dice.below(all.len())].clone()
}

fn inside(value: &Value) -> Box<dyn Iterator<Item = &Value> + '_> {
    match value {
        Value::Array(items) => Box::new(items.iter()),
        Value::Object(fields) => Box::new(fields.values()),
        _ => Box::new(std::iter::empty()),
    }
}

fn count(value: &Value) -> usize {
    1 + inside(value).map(count).sum::<usize>()
}

fn nth<'v>(value: &'v Value, left: &mut usize) -> Option<&'v Value> {
    if *left == 0 {
        return Some(value);
    }
    *left -= 1;
    inside(value).find_map(|value| nth(value, left))
}

fn nth_mut<'v>(value: &'v mut Value, left: &mut usize) -> Option<&'v mut Value> {
    if *left == 0 {
        return Some(value);
    }
    *left -= 1;
    match value {
        Value::Array(items) => items.iter_mut().find_map(|value| nth_mut(value, left)),
        Value::Object(fields) => fields.values_mut().find_map(|value| nth_mut(value, left)),
        _ => None,
    }
}
