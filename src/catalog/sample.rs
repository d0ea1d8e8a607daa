//! A ready-made call: valid arguments that a person could send, made from a schema and the texts of its tool.

mod date;
mod kind;
mod list;
mod literal;
mod mention;
mod merge;
mod needed;
mod number;
mod object;
mod pattern;
mod phrases;
mod string;
mod tables;
mod values;
mod written;

use std::borrow::Cow;

use serde_json::{Map, Value};

use kind::{fits, is_blank, kind};

use crate::finding::pointer_join;
use crate::tool::Effect;

/// Most levels that arguments nest.
const MAX_DEPTH: usize = 8;
/// Most values that one attempt makes.
const MAX_NODES: usize = 300;
/// Most schema nodes that all attempts together look at, copy or compare.
const MAX_WORK: usize = 60_000;

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
            "boolean" => return Some(Value::Bool(object::is_on(schema, name))),
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
}

#[cfg(test)]
mod tests;
