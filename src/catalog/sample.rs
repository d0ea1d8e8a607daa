//! A ready-made call: valid arguments that a person could send, made from a schema and the texts of its tool.

mod date;
mod list;
mod literal;
mod mention;
mod merge;
mod needed;
mod number;
mod pattern;
mod string;
mod tables;
mod values;
mod written;

use std::borrow::Cow;
use std::collections::HashSet;

use serde_json::{Map, Value};

use crate::finding::pointer_join;
use crate::tool::Effect;

/// Most levels that arguments nest.
const MAX_DEPTH: usize = 8;
/// Most values that one attempt makes.
const MAX_NODES: usize = 300;
/// Most schema nodes that all attempts together look at, copy or compare.
const MAX_WORK: usize = 60_000;
/// Most members that an object gets because it needs a number of them.
const MAX_MEMBERS: u64 = 16;

/// Texts of a tool that say how it is called.
pub struct About<'a> {
    pub name: &'a str,
    pub description: &'a str,
    /// Examples that a docstring has, as written.
    pub examples: &'a [String],
    pub effect: Effect,
}

/// A ready-made call.
#[derive(Clone, Debug, PartialEq)]
pub struct Sample {
    pub arguments: Map<String, Value>,
    /// Pointers to the values that no text and no schema names.
    pub fill_in: Vec<String>,
}

/// One way to choose where a schema leaves a choice.
#[derive(Clone, Copy)]
struct Attempt<'a> {
    /// The arguments of a call that the author wrote.
    written: Option<&'a Map<String, Value>>,
    /// The branch of a union that is taken.
    branch: usize,
    /// Whether optional arguments are given that nothing asks for.
    all: bool,
    /// Whether lists and objects are taken as descriptions write them out.
    structures: bool,
}

/// Ways in order: branch, optional arguments, written structures.
const WAYS: [(usize, bool, bool); 10] = [
    (0, false, true),
    (0, false, false),
    (1, false, false),
    (0, true, false),
    (2, false, false),
    (1, true, false),
    (3, false, false),
    (4, false, false),
    (5, false, false),
    (2, true, false),
];

/// A call that `is_valid` accepts: the author's own example, else all required arguments and those that a text asks for.
pub fn sample_call(schema: &Value, about: &About<'_>, is_valid: &dyn Fn(&Value) -> bool) -> Option<Sample> {
    let written = written_calls(schema, about);
    let (branch, all, structures) = WAYS[0];
    let authors = written.iter().map(|call| Attempt { written: Some(call), branch, all, structures });
    let made = WAYS.map(|(branch, all, structures)| Attempt { written: None, branch, all, structures });
    let mut tried: Vec<Value> = Vec::new();
    let mut work_left = MAX_WORK;
    for attempt in authors.chain(made) {
        let mut sampler = Sampler {
            root: schema,
            about,
            attempt,
            nodes: 0,
            work_left,
            at: String::new(),
            fill_in: Vec::new(),
        };
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
            let Value::Object(arguments) = candidate else { continue };
            return Some(Sample { arguments, fill_in: sampler.fill_in });
        }
        tried.push(candidate);
    }
    None
}

/// The calls that a tool's description writes out.
fn written_calls(schema: &Value, about: &About<'_>) -> Vec<Map<String, Value>> {
    let properties = schema.get("properties").and_then(Value::as_object);
    let known: Vec<&str> = properties.into_iter().flat_map(Map::keys).map(String::as_str).collect();
    let mut calls = written::calls(about.description, about.name, &known);
    calls.extend(about.examples.iter().take(MAX_DEPTH).filter_map(|example| written::json(example, &known)));
    calls
}

/// The source of a value.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Source {
    /// A text names it.
    Named,
    /// No text names it.
    Invented,
}

struct Sampler<'a> {
    root: &'a Value,
    about: &'a About<'a>,
    attempt: Attempt<'a>,
    nodes: usize,
    work_left: usize,
    /// Pointer to the value being made.
    at: String,
    /// Pointers to the invented values.
    fill_in: Vec<String>,
}

impl Sampler<'_> {
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

    /// A value for a schema; `name` is that of the argument.
    fn value(&mut self, schema: &Value, name: &str, depth: usize) -> Option<Value> {
        self.nodes += 1;
        if depth > MAX_DEPTH || self.nodes > MAX_NODES {
            return None;
        }
        let schema: Cow<'_, Map<String, Value>> = match schema {
            Value::Object(schema) => self.flat(schema)?,
            Value::Bool(true) => Cow::Owned(Map::new()),
            _ => return None,
        };
        self.flat_value(&schema, name, depth)
    }

    /// A value within the one being made, at this place.
    fn inner(&mut self, place: &str, schema: &Value, name: &str, depth: usize) -> Option<Value> {
        let (outer, invented) = (self.at.len(), self.fill_in.len());
        self.at = pointer_join(&self.at, place);
        let made = self.value(schema, name, depth);
        self.at.truncate(outer);
        if made.is_none() {
            self.fill_in.truncate(invented);
        }
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
        if depth > 0
            && self.attempt.structures
            && matches!(kind, "object" | "array")
            && let Some(structure) = list::structure(schema, kind)
        {
            return Some(structure);
        }
        let (made, source) = match kind {
            "object" => return self.object(schema, depth),
            "array" => return self.array(schema, name, depth),
            "string" => {
                let (text, source) = string::sample(schema, name, self.about, self.owner());
                (Value::String(text), source)
            }
            "integer" | "number" => number::sample(schema, name, kind == "integer")?,
            "boolean" => return Some(Value::Bool(is_on(schema, name))),
            _ => return Some(Value::Null),
        };
        if source == Source::Invented {
            self.fill_in.push(self.at.clone());
        }
        Some(made)
    }

    /// A value that the schema itself gives (`const`, `examples`, `default`, `example`, `enum`); `None` when the budget is
    /// spent.
    fn given(&mut self, schema: &Map<String, Value>, kind: &str) -> Option<Option<Value>> {
        if let Some(only) = schema.get("const") {
            self.weigh(only)?;
            return Some(Some(only.clone()));
        }
        let listed = |key: &str| schema.get(key).and_then(Value::as_array).into_iter().flatten();
        let choices: Vec<&Value> = listed("enum").collect();
        self.work(choices.len() / 8)?;
        for value in listed("examples").chain(schema.get("default")).chain(schema.get("example")) {
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

    /// The name of the object that the value being made stands in.
    fn owner(&self) -> Option<&str> {
        let mut outer = self.at.rsplit('/').skip(1);
        outer.find(|name| !name.is_empty() && !name.bytes().all(|byte| byte.is_ascii_digit()))
    }

    fn object(&mut self, schema: &Map<String, Value>, depth: usize) -> Option<Value> {
        let none = Map::new();
        let properties = schema.get("properties").and_then(Value::as_object).unwrap_or(&none);
        let required = required(schema);
        self.work(properties.len() + required.len())?;
        let needed: HashSet<&str> = required.iter().copied().collect();
        let few = schema.get("minProperties").and_then(Value::as_u64).unwrap_or(0).min(MAX_MEMBERS) as usize;
        let written = self.attempt.written.filter(|_| depth == 0);
        let mut made = Map::new();
        for (name, property) in properties {
            let always = self.attempt.all && depth <= 1;
            if let Some(own) = written.and_then(|written| written.get(name)) {
                self.weigh(own)?;
                made.insert(name.clone(), own.clone());
            } else if needed.contains(name.as_str()) {
                made.insert(name.clone(), self.inner(name, property, name, depth + 1)?);
            } else if always && let Some(value) = self.inner(name, property, name, depth + 1) {
                made.insert(name.clone(), value);
            }
        }
        let other = schema.get("additionalProperties").unwrap_or(&Value::Bool(true));
        for name in required {
            if !made.contains_key(name) {
                made.insert(name.to_string(), self.inner(name, other, name, depth + 1)?);
            }
        }
        if depth == 0 {
            self.add_needed(properties, &mut made)?;
        } else if self.attempt.structures
            && properties.is_empty()
            && made.is_empty()
            && other == &Value::Bool(true)
        {
            let description = schema.get("description").and_then(Value::as_str).unwrap_or("");
            for name in list::free_members(description) {
                let value = self.inner(&name, &list::free_member(&name), &name, depth + 1)?;
                made.insert(name, value);
            }
        }
        for (name, property) in properties {
            if made.len() < few
                && !made.contains_key(name)
                && let Some(value) = self.inner(name, property, name, depth + 1)
            {
                made.insert(name.clone(), value);
            }
        }
        if made.is_empty() && self.attempt.structures && (1..=2).contains(&depth) {
            self.add_telling(schema, properties, &mut made);
        }
        for name in ["key", "other_key"] {
            if made.len() < few.min(2)
                && let Some(value) = self.inner(name, other, name, depth + 1)
            {
                made.insert(name.to_string(), value);
            }
        }
        if self.attempt.structures {
            let invented: HashSet<&str> = self
                .fill_in
                .iter()
                .filter_map(|pointer| pointer.strip_prefix(&self.at)?.strip_prefix('/'))
                .collect();
            list::differ(&mut made, &|name| invented.contains(name));
        }
        Some(Value::Object(made))
    }

    /// Adds to an empty object the members that its description names, else the first one: nobody sends `{}`.
    fn add_telling(
        &mut self,
        schema: &Map<String, Value>,
        properties: &Map<String, Value>,
        made: &mut Map<String, Value>,
    ) {
        let description = schema.get("description").and_then(Value::as_str).unwrap_or("");
        let named = list::free_members(description);
        let first = properties.iter().find(|(name, _)| !named.contains(name)).into_iter();
        let told = properties.iter().filter(|(name, _)| named.contains(name)).take(4);
        let is_told = properties.keys().any(|name| named.contains(name));
        for (name, property) in told.chain(first.filter(|_| !is_told)) {
            if let Some(value) = self.inner(name, property, name, 3) {
                made.insert(name.clone(), value);
            }
        }
    }

    /// Adds the optional arguments that a text asks for, and the dry run of a destructive tool.
    fn add_needed(&mut self, properties: &Map<String, Value>, made: &mut Map<String, Value>) -> Option<()> {
        let alternative = match made.is_empty() && self.attempt.written.is_none() {
            true => needed::alternative(self.about.description, properties.keys()),
            false => None,
        };
        for (name, property) in properties {
            let description = property.get("description").and_then(Value::as_str).unwrap_or("");
            self.work(description.len() / 128)?;
            let is_needed = || {
                alternative == Some(name)
                    || self.about.effect == Effect::Destructive && needed::is_dry_run(name, property)
                    || self.attempt.written.is_none() && needed::is_needed(description, made)
            };
            if !made.contains_key(name)
                && is_needed()
                && let Some(value) = self.inner(name, property, name, 1)
            {
                let value = if needed::is_dry_run(name, property) { Value::Bool(true) } else { value };
                made.insert(name.clone(), value);
            }
        }
        Some(())
    }
}

/// The value of a flag: on, unless its description says that it is usually off, or its name that it does harm.
fn is_on(schema: &Map<String, Value>, name: &str) -> bool {
    const HARMFUL: [&str; 6] = ["force", "permanent", "permanently", "hard", "recursive", "overwrite"];
    let description = schema.get("description").and_then(Value::as_str).unwrap_or("");
    let lower = description.chars().take(600).collect::<String>().to_ascii_lowercase();
    let is_off = lower.match_indices("default").any(|(at, _)| {
        let after = lower[at..].trim_start_matches(char::is_alphabetic);
        let after = after.trim_start_matches([' ', ':', '=', '`', '"', '\'', '(']);
        let after = ["is ", "to ", "value is "]
            .into_iter()
            .find_map(|word| after.strip_prefix(word))
            .unwrap_or(after);
        after.trim_start_matches(['`', '"', '\'']).starts_with("false")
    });
    !is_off && !crate::tool::words(name).iter().any(|word| HARMFUL.contains(&word.as_str()))
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
            .map_or_else(|| described_kind(schema), |(kind, _)| kind),
    }
}

/// The type that a description begins with, where the schema has none; else a text.
fn described_kind(schema: &Map<String, Value>) -> &'static str {
    const OPENINGS: [(&str, &str); 16] = [
        ("list of", "array"),
        ("array of", "array"),
        ("(list", "array"),
        ("(array", "array"),
        ("dictionary", "object"),
        ("dict", "object"),
        ("(dict", "object"),
        ("(object", "object"),
        ("object with", "object"),
        ("object containing", "object"),
        ("whether", "boolean"),
        ("(bool", "boolean"),
        ("(int", "integer"),
        ("number of", "integer"),
        ("(float", "number"),
        ("(number", "number"),
    ];
    let description = schema.get("description").and_then(Value::as_str).unwrap_or("");
    let start = description.trim_start().chars().take(40).collect::<String>().to_ascii_lowercase();
    let start = ["a ", "an ", "the "].into_iter().find_map(|word| start.strip_prefix(word)).unwrap_or(&start);
    OPENINGS.iter().find(|(opening, _)| start.starts_with(opening)).map_or("string", |(_, kind)| kind)
}

fn required(schema: &Map<String, Value>) -> Vec<&str> {
    schema.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect()
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

#[cfg(test)]
mod tests;
