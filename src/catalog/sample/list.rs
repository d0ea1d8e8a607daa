//! Lists, and values that a description writes out whole.

use std::borrow::Cow;

use serde_json::{Map, Value, json};

use super::kind::{fits, required};
use super::{Sampler, mention};
use crate::finding::pointer_join;
use crate::tool::grammar::singular;
use crate::tool::{beginning, each_word, words};

/// Most elements of an array in an example.
const MAX_ITEMS: u64 = 16;
/// Numbers in a list of which nothing is said: enough to see what the tool makes of them.
const USUAL_NUMBERS: u64 = 3;

impl Sampler<'_> {
    pub(super) fn array(&mut self, schema: &Map<String, Value>, name: &str, depth: usize) -> Option<Value> {
        let tuple = schema.get("prefixItems").or_else(|| schema.get("items")).and_then(Value::as_array);
        let least = schema.get("minItems").and_then(Value::as_u64).unwrap_or(0);
        let most = schema.get("maxItems").and_then(Value::as_u64).unwrap_or(u64::MAX).min(MAX_ITEMS);
        let anything = Value::Bool(true);
        let rest = if schema.contains_key("prefixItems") { "items" } else { "additionalItems" };
        let further = schema.get(if tuple.is_some() { rest } else { "items" }).unwrap_or(&anything);
        let about = schema.get("description").and_then(Value::as_str).unwrap_or("");
        if tuple.is_none()
            && let Some(named) = named_items(further, about).filter(|items| items.len() as u64 >= least)
        {
            return Some(named.into_iter().take(most as usize).collect());
        }
        if tuple.is_none() && least <= 2 && most >= 2 && is_coordinates(name, about) {
            (0..2).for_each(|at| self.fill_in.push(pointer_join(&self.at, at)));
            return Some(json!([52.52, 13.405]));
        }
        let further = self.described(further, about)?;
        let is_numeric = further.get("type").is_some_and(|kind| kind == "number" || kind == "integer");
        let usual = match is_numeric && tuple.is_none() && least == 0 {
            true if is_pair(name, about) => 2,
            true => USUAL_NUMBERS,
            false => 1,
        };
        let wanted = least.max(usual).max(tuple.map_or(0, |tuple| tuple.len() as u64)).min(most) as usize;
        let choices = further.get("enum").and_then(Value::as_array);
        let name = singular(name);
        let mut made: Vec<Value> = Vec::new();
        for at in 0..wanted {
            let item = tuple.and_then(|tuple| tuple.get(at)).unwrap_or(&further);
            let Some(value) = self.inner(&at.to_string(), item, &name, depth + 1) else { break };
            self.weigh(&value)?;
            let other = choices.and_then(|choices| choices.iter().find(|choice| !made.contains(choice)));
            let fresh = if made.contains(&value) {
                other.cloned().unwrap_or_else(|| varied(&value, at))
            } else {
                value
            };
            made.push(fresh);
        }
        ((made.len() as u64) >= least.min(most)).then_some(Value::Array(made))
    }

    /// The schema of the elements, with what is said of the list where nothing is said of them.
    fn described<'s>(&mut self, items: &'s Value, about: &str) -> Option<Cow<'s, Value>> {
        let Value::Object(schema) = items else { return Some(Cow::Borrowed(items)) };
        let is_plain =
            ["description", "enum", "$ref", "properties"].iter().all(|key| !schema.contains_key(*key));
        if about.is_empty() || !is_plain {
            return Some(Cow::Borrowed(items));
        }
        self.weigh(items)?;
        self.work(about.len() / 32)?;
        let mut schema = schema.clone();
        schema.insert("description".into(), about.into());
        Some(Cow::Owned(Value::Object(schema)))
    }
}

/// Whether a list of numbers is a place on Earth.
fn is_coordinates(name: &str, about: &str) -> bool {
    let lower = beginning(about, 120).to_ascii_lowercase();
    words(name).iter().any(|word| word.starts_with("coord") || word == "location")
        && lower.contains("latitude")
}

/// Whether a list of numbers is a place or a size.
fn is_pair(name: &str, about: &str) -> bool {
    const PAIRS: [&str; 8] =
        ["point", "coordinates", "coordinate", "location", "position", "size", "resolution", "range"];
    each_word(name).chain(each_word(about).take(3)).any(|word| PAIRS.contains(&word.as_str()))
}

/// The elements that the description of a list of texts names.
fn named_items(items: &Value, about: &str) -> Option<Vec<Value>> {
    let schema = items.as_object()?;
    let is_free =
        ["enum", "format", "pattern", "description", "default", "examples", "maxLength", "minLength"]
            .iter()
            .all(|key| !schema.contains_key(*key));
    if !is_free || schema.get("type").is_none_or(|kind| kind != "string") {
        return None;
    }
    let named = mention::named(about);
    (!named.is_empty()).then(|| named.into_iter().map(Value::String).collect())
}

/// Names for the members of an object of any members: those that its description lists or quotes, else `name`.
pub(super) fn free_members(description: &str) -> Vec<String> {
    let is_name = |part: &&str| {
        let is_made = part.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-'));
        (1..=30).contains(&part.len()) && is_made && part.chars().any(char::is_lowercase)
    };
    let listed =
        description.split("- ").skip(1).filter_map(|item| item.split_once(" (").map(|(name, _)| name));
    let mut named: Vec<&str> = listed.filter(is_name).take(4).collect();
    if named.is_empty() {
        let quoted = description.split(['\'', '`', '"']).skip(1).step_by(2);
        named = quoted.filter(is_name).take(4).collect();
    }
    if named.is_empty() { vec!["name".to_string()] } else { named.into_iter().map(str::to_string).collect() }
}

/// The schema of a member of which only the name is known.
pub(super) fn free_member(name: &str) -> Value {
    match name {
        "values" | "data" | "scores" | "numbers" => json!({ "type": "array", "items": { "type": "number" } }),
        _ => Value::Bool(true),
    }
}

/// Another value for the later of two members of one kind, such as `source_path` and `target_path`, that got the same.
pub(super) fn differ(made: &mut Map<String, Value>, is_invented: &dyn Fn(&str) -> bool) {
    let names: Vec<String> =
        made.keys().filter(|name| is_invented(name)).take(MAX_ITEMS as usize).cloned().collect();
    let kind = |name: &str| words(name).pop();
    for (at, name) in names.iter().enumerate() {
        for _ in 0..at {
            let is_taken = |other: &String| made.get(other) == made.get(name) && kind(other) == kind(name);
            if !names[..at].iter().any(is_taken) {
                break;
            }
            let Some(other) = made.get(name).and_then(another) else { break };
            made.insert(name.clone(), other);
        }
    }
}

/// The next value after one that ends in a number, or is one; another file beside one.
fn another(value: &Value) -> Option<Value> {
    match value {
        Value::Number(number) => Some(varied(&Value::Number(number.clone()), 1)),
        Value::String(text) => {
            let front = text.trim_end_matches(|c: char| c.is_ascii_digit());
            let digits = &text[front.len()..];
            let next = digits
                .parse::<u64>()
                .ok()
                .map(|number| format!("{:0width$}", number + 1, width = digits.len()));
            let file = text.rsplit_once('.').filter(|(_, kind)| kind.len() <= 5 && !text.contains(' '));
            let next = match (next, file) {
                (Some(next), _) => format!("{front}{next}"),
                _ if text.contains("://") => format!("{text}-2"),
                _ if text.contains('@') => text.replacen('@', "2@", 1),
                _ if text.ends_with("example.com") => format!("www.{text}"),
                (None, Some((name, kind))) => format!("{name}-2.{kind}"),
                _ if text == "Jane Doe" => "John Roe".to_string(),
                _ if text == "Hello, world" => "Good morning, world".to_string(),
                _ => return None,
            };
            Some(Value::String(next))
        }
        _ => None,
    }
}

/// The list or object that a description writes out, if it is of the schema's form.
pub(super) fn structure(schema: &Map<String, Value>, kind: &str) -> Option<Value> {
    let description = schema.get("description").and_then(Value::as_str)?;
    let found = mention::structure(description).filter(|value| fits(value, kind))?;
    let has_form = match &found {
        Value::Object(members) => required(schema).iter().all(|name| members.contains_key(*name)),
        Value::Array(items) => schema.get("items").and_then(Value::as_object).is_none_or(|item| {
            items.iter().all(|value| fits(value, super::kind::kind(item)) || item.contains_key("$ref"))
        }),
        _ => false,
    };
    has_form.then_some(found)
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
