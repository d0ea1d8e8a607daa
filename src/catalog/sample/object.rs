//! Objects: their required members, and the optional ones that a text asks for.

use std::collections::HashSet;

use serde_json::{Map, Value};

use super::kind::{is_blank, required};
use super::{Sampler, list, needed};
use crate::tool::{Effect, beginning, words};

/// Most members that an object gets because it needs a number of them.
const MAX_MEMBERS: u64 = 16;

/// Names of objects that say nothing of what is in them.
const CONTAINERS: [&str; 10] =
    ["properties", "data", "inputs", "input", "fields", "body", "options", "params", "attributes", "items"];

impl Sampler<'_> {
    /// The name of the object that the value being made stands in.
    pub(super) fn owner(&self) -> Option<&str> {
        let mut outer = self.at.rsplit('/').skip(1);
        let is_telling = |name: &&str| {
            !name.is_empty() && !name.bytes().all(|byte| byte.is_ascii_digit()) && !CONTAINERS.contains(name)
        };
        outer.find(is_telling)
    }

    pub(super) fn object(&mut self, schema: &Map<String, Value>, depth: usize) -> Option<Value> {
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
        let is_open = other.as_bool().unwrap_or_else(|| other.as_object().is_some_and(Map::is_empty));
        if depth == 0 {
            self.add_needed(properties, &mut made)?;
        } else if self.attempt.structures && properties.is_empty() && made.is_empty() && is_open {
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
        if made.is_empty() && self.attempt.structures && (1..=3).contains(&depth) {
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
        let has_own = |property: &Value| {
            ["examples", "default", "const", "enum", "example"]
                .iter()
                .any(|key| property.get(*key).is_some_and(|own| !is_blank(own)))
        };
        let first = properties
            .iter()
            .find(|(_, property)| has_own(property))
            .or(properties.iter().next())
            .into_iter();
        let told = properties.iter().filter(|(name, _)| named.contains(name)).take(4);
        let is_told = properties.keys().any(|name| named.contains(name));
        for (name, property) in told.chain(first.filter(|_| !is_told)) {
            if let Some(value) = self.inner(name, property, name, 4) {
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
pub(super) fn is_on(schema: &Map<String, Value>, name: &str) -> bool {
    const HARMFUL: [&str; 6] = ["force", "permanent", "permanently", "hard", "recursive", "overwrite"];
    let description = schema.get("description").and_then(Value::as_str).unwrap_or("");
    let lower = beginning(description, 600).to_ascii_lowercase();
    let is_off = lower.match_indices("default").any(|(at, _)| {
        let after = lower[at..].trim_start_matches(char::is_alphabetic);
        let after = after.trim_start_matches([' ', ':', '=', '`', '"', '\'', '(']);
        let after = ["is ", "to ", "value is "]
            .into_iter()
            .find_map(|word| after.strip_prefix(word))
            .unwrap_or(after);
        after.trim_start_matches(['`', '"', '\'']).starts_with("false")
    });
    !is_off && !words(name).iter().any(|word| HARMFUL.contains(&word.as_str()))
}
