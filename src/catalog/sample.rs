//! A ready-made call: plausible, valid arguments made from a schema alone.

mod mention;
mod merge;
mod number;
mod pattern;
mod string;
mod tables;
mod values;

use std::borrow::Cow;
use std::collections::HashSet;

use serde_json::{Map, Value};

/// Most levels that arguments nest.
const MAX_DEPTH: usize = 8;
/// Most values that one attempt makes.
const MAX_NODES: usize = 300;
/// Most schema nodes that all attempts together look at, copy or compare.
const MAX_WORK: usize = 60_000;
/// Most levels of a value that is optional and only makes the example more informative.
const MAX_TELLING_DEPTH: usize = 2;
/// Most elements of an array, and most characters of a string, in an example.
const MAX_ITEMS: u64 = 16;

/// Attempts in order: the branch of a union that is taken, and how optional arguments are chosen.
const ATTEMPTS: [(usize, Optional); 10] = [
    (0, Optional::WhenBare),
    (0, Optional::Never),
    (1, Optional::WhenBare),
    (0, Optional::Always),
    (2, Optional::WhenBare),
    (1, Optional::Always),
    (3, Optional::WhenBare),
    (4, Optional::WhenBare),
    (5, Optional::WhenBare),
    (2, Optional::Always),
];

#[derive(Clone, Copy, PartialEq)]
enum Optional {
    Never,
    /// The first one or two of an object that requires nothing.
    WhenBare,
    Always,
}

/// Arguments that `is_valid` accepts: all required ones, or an informative optional one when none is required.
pub fn sample_arguments(schema: &Value, is_valid: &dyn Fn(&Value) -> bool) -> Option<Map<String, Value>> {
    let mut tried: Vec<Value> = Vec::new();
    let mut work_left = MAX_WORK;
    for (branch, optional) in ATTEMPTS {
        let mut sampler = Sampler::new(schema, branch, optional, work_left);
        let candidate = sampler.value(schema, "", 0);
        work_left = sampler.work_left;
        if work_left == 0 {
            return None;
        }
        let Some(candidate @ Value::Object(_)) = candidate else { continue };
        if tried.contains(&candidate) {
            continue;
        }
        if is_valid(&candidate) {
            return candidate.as_object().cloned();
        }
        tried.push(candidate);
    }
    None
}

struct Sampler<'a> {
    root: &'a Value,
    branch: usize,
    optional: Optional,
    nodes: usize,
    work_left: usize,
    /// The references that led to the value being made.
    open: Vec<String>,
    /// Levels that are left for an optional argument that only makes the example more informative.
    deepest: Option<usize>,
    /// Whether such an argument turned out to be recursive or too deep.
    refused: bool,
}

impl<'a> Sampler<'a> {
    fn new(root: &'a Value, branch: usize, optional: Optional, work_left: usize) -> Self {
        let open = vec!["#".to_string()];
        Self { root, branch, optional, nodes: 0, work_left, open, deepest: None, refused: false }
    }

    /// Takes from the budget; `None` when it is spent.
    fn work(&mut self, amount: usize) -> Option<()> {
        self.work_left = self.work_left.saturating_sub(amount);
        (self.work_left > 0).then_some(())
    }

    /// Pays for a copy of a value before it is made.
    fn weigh(&mut self, value: &Value) -> Option<()> {
        match value {
            Value::String(text) => self.work(1 + text.len() / 32),
            Value::Array(items) => {
                self.work(1)?;
                items.iter().try_for_each(|item| self.weigh(item))
            }
            Value::Object(members) => {
                self.work(1)?;
                members.iter().try_for_each(|(key, value)| {
                    self.work(key.len() / 32)?;
                    self.weigh(value)
                })
            }
            _ => self.work(1),
        }
    }

    fn refuse<T>(&mut self) -> Option<T> {
        self.refused = true;
        None
    }

    /// A value for a schema; `name` is that of the argument.
    fn value(&mut self, schema: &Value, name: &str, depth: usize) -> Option<Value> {
        self.nodes += 1;
        if depth > MAX_DEPTH || self.nodes > MAX_NODES {
            return None;
        }
        let opened = self.open.len();
        let schema: Option<Cow<'_, Map<String, Value>>> = match schema {
            Value::Object(schema) => self.flat(schema),
            Value::Bool(true) => Some(Cow::Owned(Map::new())),
            _ => None,
        };
        let made = schema.and_then(|schema| self.flat_value(&schema, name, depth));
        self.open.truncate(opened);
        made
    }

    fn flat_value(&mut self, schema: &Map<String, Value>, name: &str, depth: usize) -> Option<Value> {
        let text = |key: &str| schema.get(key).and_then(Value::as_str).map_or(0, str::len);
        let pattern = schema.get("pattern").and_then(Value::as_str).map_or(0, pattern::cost);
        self.work(1 + (name.len() + text("description")) / 32 + pattern)?;
        let kind = if depth == 0 { "object" } else { kind(schema) };
        if let Some(given) = self.given(schema, kind)? {
            return Some(given);
        }
        if matches!(kind, "object" | "array") && self.deepest.is_some_and(|deepest| depth > deepest) {
            return self.refuse();
        }
        match kind {
            "object" => self.object(schema, depth),
            "array" => self.array(schema, name, depth),
            "string" => Some(Value::String(string::sample(schema, name))),
            "integer" | "number" => number::sample(schema, name, kind == "integer"),
            "boolean" => Some(Value::Bool(true)),
            _ => Some(Value::Null),
        }
    }

    /// A value that the schema itself gives (`const`, `default`, `enum`, `examples`); `None` when the budget is
    /// spent.
    fn given(&mut self, schema: &Map<String, Value>, kind: &str) -> Option<Option<Value>> {
        if let Some(only) = schema.get("const") {
            self.weigh(only)?;
            return Some(Some(only.clone()));
        }
        let listed = |key: &str| schema.get(key).and_then(Value::as_array).into_iter().flatten();
        let choices: Vec<&Value> = listed("enum").collect();
        self.work(choices.len() / 8)?;
        for value in listed("examples").chain(schema.get("example")).chain(schema.get("default")) {
            self.weigh(value)?;
            self.work(choices.len() / 8)?;
            let is_choice = choices.is_empty() || choices.contains(&value);
            if is_choice && fits(value, kind) && !is_blank(value) {
                return Some(Some(value.clone()));
            }
        }
        for value in &choices {
            self.weigh(value)?;
            if fits(value, kind) {
                return Some(Some((*value).clone()));
            }
        }
        Some(choices.first().copied().cloned())
    }

    fn object(&mut self, schema: &Map<String, Value>, depth: usize) -> Option<Value> {
        let none = Map::new();
        let properties = schema.get("properties").and_then(Value::as_object).unwrap_or(&none);
        let required = required(schema);
        self.work(properties.len() + required.len())?;
        let needed: HashSet<&str> = required.iter().copied().collect();
        let bare = required.is_empty() && self.optional == Optional::WhenBare && depth <= 3;
        let few = schema.get("minProperties").and_then(Value::as_u64).unwrap_or(0).min(MAX_ITEMS) as usize;
        let mut made = Map::new();
        for (name, property) in properties {
            let always = self.optional == Optional::Always && depth <= 1;
            if needed.contains(name.as_str()) {
                made.insert(name.clone(), self.value(property, name, depth + 1)?);
            } else if always && let Some(value) = self.value(property, name, depth + 1) {
                made.insert(name.clone(), value);
            }
        }
        let other = schema.get("additionalProperties").unwrap_or(&Value::Bool(true));
        for name in required {
            if !made.contains_key(name) {
                made.insert(name.to_string(), self.value(other, name, depth + 1)?);
            }
        }
        let wanted = if bare { telling(properties) } else { 0 };
        for (name, property) in properties {
            if made.len() < few
                && !made.contains_key(name)
                && let Some(value) = self.value(property, name, depth + 1)
            {
                made.insert(name.clone(), value);
            }
        }
        for (name, property) in properties {
            if made.len() < wanted
                && !made.contains_key(name)
                && let Some(value) = self.telling_value(property, name, depth + 1)
            {
                made.insert(name.clone(), value);
            }
        }
        for name in ["key", "other_key"] {
            if made.len() < few.min(2)
                && let Some(value) = self.value(other, name, depth + 1)
            {
                made.insert(name.to_string(), value);
            }
        }
        Some(Value::Object(made))
    }

    /// An optional value that makes the example more informative; none when it is recursive or nests too deep.
    fn telling_value(&mut self, schema: &Value, name: &str, depth: usize) -> Option<Value> {
        let outer = (self.deepest, self.refused);
        self.deepest = Some(depth + MAX_TELLING_DEPTH - 1);
        let made = self.value(schema, name, depth);
        (self.deepest, self.refused) = outer;
        made
    }

    fn array(&mut self, schema: &Map<String, Value>, name: &str, depth: usize) -> Option<Value> {
        let tuple = schema.get("prefixItems").or_else(|| schema.get("items")).and_then(Value::as_array);
        let least = schema.get("minItems").and_then(Value::as_u64).unwrap_or(0);
        let most = schema.get("maxItems").and_then(Value::as_u64).unwrap_or(u64::MAX).min(MAX_ITEMS);
        let wanted = least.max(1).max(tuple.map_or(0, |tuple| tuple.len() as u64)).min(most) as usize;
        let anything = Value::Bool(true);
        let rest = if schema.contains_key("prefixItems") { "items" } else { "additionalItems" };
        let further = schema.get(if tuple.is_some() { rest } else { "items" }).unwrap_or(&anything);
        let choices = further.get("enum").and_then(Value::as_array);
        let name = singular(name);
        let mut made: Vec<Value> = Vec::new();
        for at in 0..wanted {
            let item = tuple.and_then(|tuple| tuple.get(at)).unwrap_or(further);
            let Some(value) = self.value(item, &name, depth + 1) else { break };
            self.weigh(&value)?;
            let other = choices.and_then(|choices| choices.iter().find(|choice| !made.contains(choice)));
            let fresh = if made.contains(&value) {
                other.cloned().unwrap_or_else(|| varied(&value, at))
            } else {
                value
            };
            made.push(fresh);
        }
        if self.refused {
            return None;
        }
        ((made.len() as u64) >= least.min(most)).then_some(Value::Array(made))
    }
}

fn fits(value: &Value, kind: &str) -> bool {
    is_kind(value, kind) && value.to_string().len() <= 400
}

fn is_blank(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.trim().is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(members) => members.is_empty(),
        _ => false,
    }
}

fn is_kind(value: &Value, kind: &str) -> bool {
    match kind {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "boolean" => value.is_boolean(),
        _ => true,
    }
}

/// The type of a schema: the first that is not null, or the type that its keywords imply.
fn kind(schema: &Map<String, Value>) -> &str {
    const SIGNS: [(&str, &[&str]); 4] = [
        ("object", &["properties", "required", "additionalProperties", "minProperties"]),
        ("array", &["items", "prefixItems", "minItems", "uniqueItems"]),
        ("string", &["pattern", "minLength", "maxLength", "format"]),
        ("number", &["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"]),
    ];
    match schema.get("type") {
        Some(Value::String(kind)) => kind,
        Some(Value::Array(kinds)) => {
            kinds.iter().filter_map(Value::as_str).find(|kind| *kind != "null").unwrap_or("null")
        }
        _ if schema.contains_key("enum") || schema.contains_key("const") => "",
        _ => SIGNS
            .iter()
            .find(|(_, keys)| keys.iter().any(|key| schema.contains_key(*key)))
            .map_or("string", |(kind, _)| kind),
    }
}

fn required(schema: &Map<String, Value>) -> Vec<&str> {
    schema.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect()
}

/// Number of optional arguments in the example of an object that requires none.
fn telling(properties: &Map<String, Value>) -> usize {
    let said = |schema: &Value| schema.get("enum").is_some() || schema.get("default").is_some();
    match properties.len() {
        0 | 1 => properties.len(),
        _ => 1 + usize::from(!properties.values().next().is_some_and(said)),
    }
}

fn singular(name: &str) -> Cow<'_, str> {
    match name.strip_suffix('s') {
        Some(one) if one.ends_with("ie") && name.len() > 5 => {
            Cow::Owned(format!("{}y", &one[..one.len() - 2]))
        }
        Some(one) if name.len() > 3 && !one.ends_with(['s', 'u', 'i']) => Cow::Borrowed(one),
        _ => Cow::Borrowed(name),
    }
}

/// Another value of the same kind, for arrays whose elements differ.
fn varied(value: &Value, at: usize) -> Value {
    match value {
        Value::String(text) => Value::String(format!("{text}{}", at + 1)),
        Value::Number(number) => match number.as_i64() {
            Some(number) => Value::from(number.saturating_add(at as i64)),
            None => Value::from(number.as_f64().unwrap_or(0.0) + at as f64),
        },
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests;
