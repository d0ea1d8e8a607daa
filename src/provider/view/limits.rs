//! Limits of the strict schemas that a provider takes.

use std::collections::HashMap;

use serde_json::{Map, Value};

use super::Strict;
use super::refs::referred_to;
use crate::finding::keyword::each;

const MAX_PROPERTIES: usize = 5_000;
const MAX_LEVELS: usize = 10;
const MAX_VALUES: usize = 1_000;
const MAX_TEXT: usize = 120_000;
/// An enumeration of more values than this has at most [`MAX_LONG_TEXT`] characters.
const LONG: usize = 250;
const MAX_LONG_TEXT: usize = 15_000;
/// Of one request on Anthropic: strict tools, and their optional properties and unions together.
const MAX_TOOLS: usize = 20;
const MAX_OPTIONAL: usize = 24;
const MAX_UNIONS: usize = 16;

/// Use of the strict limits of one request so far.
#[derive(Debug, Default)]
pub(in crate::provider) struct StrictBudget {
    tools: usize,
    optional: usize,
    unions: usize,
}

impl StrictBudget {
    /// Adds the needs of a strict schema, or returns the limit that is exceeded.
    pub(super) fn take(&mut self, schema: &Value, subset: Strict) -> Result<(), String> {
        let mut count = Count::default();
        count.schema(schema, 1);
        let mine = |is: usize, most: usize, what: &str| match is > most {
            true => Err(format!("it has {is} {what}, and strict schemas at most {most}")),
            false => Ok(()),
        };
        let ours = |is: usize, most: usize, what: &str| match is > most {
            true => Err(format!(
                "the strict tools of one request have at most {most} {what}, and these are taken"
            )),
            false => Ok(()),
        };
        match subset {
            Strict::OpenAi => {
                mine(count.properties, MAX_PROPERTIES, "properties")?;
                mine(count.levels, MAX_LEVELS, "levels")?;
                mine(count.values, MAX_VALUES, "enumerated values")?;
                mine(count.text, MAX_TEXT, "characters of names and enumerated values")?;
                mine(count.long_text, MAX_LONG_TEXT, "characters in one long enumeration")
            }
            Strict::Anthropic => {
                mine(count.optional, MAX_OPTIONAL, "optional properties")?;
                mine(count.unions, MAX_UNIONS, "unions")?;
                let StrictBudget { tools, optional, unions } = *self;
                let next = StrictBudget {
                    tools: tools + 1,
                    optional: optional + count.optional,
                    unions: unions + count.unions,
                };
                if next.tools > MAX_TOOLS {
                    return Err(format!(
                        "a request has at most {MAX_TOOLS} strict tools, and has them already"
                    ));
                }
                ours(next.optional, MAX_OPTIONAL, "optional properties together")?;
                ours(next.unions, MAX_UNIONS, "unions together")?;
                *self = next;
                Ok(())
            }
        }
    }
}

#[derive(Default)]
struct Count {
    properties: usize,
    optional: usize,
    unions: usize,
    levels: usize,
    values: usize,
    text: usize,
    long_text: usize,
}

impl Count {
    fn schema(&mut self, schema: &Value, level: usize) {
        let Some(object) = schema.as_object() else { return };
        let holds_more = object.contains_key("properties") || object.contains_key("items");
        if holds_more {
            self.levels = self.levels.max(level);
        }
        if let Some(properties) = object.get("properties").and_then(Value::as_object) {
            let required = object.get("required").and_then(Value::as_array).map_or(0, Vec::len);
            self.properties += properties.len();
            self.optional += properties.len().saturating_sub(required);
            self.text += properties.keys().map(String::len).sum::<usize>();
        }
        if let Some(defs) = object.get("$defs").and_then(Value::as_object) {
            self.text += defs.keys().map(String::len).sum::<usize>();
        }
        let is_union = object.contains_key("anyOf") || object.get("type").is_some_and(Value::is_array);
        self.unions += usize::from(is_union);
        self.constants(object);
        each(object, &mut |child| self.schema(child, level + usize::from(holds_more)));
    }

    fn constants(&mut self, object: &Map<String, Value>) {
        let length = |value: &Value| value.as_str().map_or(0, |text| text.chars().count());
        self.text += object.get("const").map_or(0, length);
        let Some(values) = object.get("enum").and_then(Value::as_array) else { return };
        let text: usize = values.iter().map(length).sum();
        self.values += values.len();
        self.text += text;
        if values.len() > LONG {
            self.long_text = self.long_text.max(text);
        }
    }
}

/// Whether no definition refers back to itself.
pub(super) fn no_recursion(schema: &Value) -> Result<(), String> {
    let defs = schema.get("$defs").and_then(Value::as_object);
    let mut seen: HashMap<&str, bool> = HashMap::new();
    // Depth first: a definition that is met while it is open contains itself. Below all that it refers to, it stands
    // once more, to be closed.
    let mut todo: Vec<(&str, bool)> = Vec::new();
    referred_to(schema, &mut |name| todo.push((name, false)));
    while let Some((name, closes)) = todo.pop() {
        if closes {
            seen.insert(name, true);
            continue;
        }
        match seen.get(name) {
            Some(true) => continue,
            Some(false) => return Err(format!("`{name}` contains itself, which cannot be strict")),
            None => {}
        }
        let Some(target) = defs.and_then(|defs| defs.get(name)) else {
            return Err("the schema refers to itself, which cannot be strict".into());
        };
        seen.insert(name, false);
        todo.push((name, true));
        referred_to(target, &mut |name| todo.push((name, false)));
    }
    Ok(())
}
