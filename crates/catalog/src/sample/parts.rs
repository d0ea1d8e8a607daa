//! The schemas that apply together to one value, and the numbers and texts that fit them.

use indexmap::IndexSet;
use serde_json::{Map, Number, Value};

use super::pattern::text_of_pattern;
use toolcrib_definition::document::resolve_local;
use toolcrib_definition::words;

/// Most schemas that apply together to one value.
pub(super) const MAX_PARTS: usize = 24;

/// Most characters of a text.
const MAX_LENGTH: usize = 2_000;

/// The schemas that apply together to one value, nearest first: local references followed, `allOf` with it, and one branch
/// of each union.
pub(super) struct Parts<'a>(pub(super) Vec<&'a Map<String, Value>>);

impl<'a> Parts<'a> {
    /// Adds a schema; `None` where nothing fits.
    pub(super) fn gather(&mut self, schema: &'a Value, root: &'a Value, branch: usize) -> Option<()> {
        let part = match schema {
            Value::Object(part) => part,
            Value::Bool(false) => return None,
            _ => return Some(()),
        };
        if self.0.iter().any(|known| std::ptr::eq(*known, part)) {
            return Some(());
        }
        if self.0.len() >= MAX_PARTS {
            return None;
        }
        self.0.push(part);
        if let Some(pointer) = part.get("$ref").and_then(Value::as_str) {
            self.gather(resolve_local(pointer, root)?, root, branch)?;
        }
        let list = |key: &str| part.get(key).and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        list("allOf").iter().try_for_each(|member| self.gather(member, root, branch))?;
        for key in ["oneOf", "anyOf"] {
            let useful: Vec<&Value> = list(key).iter().filter(|branch| !is_null(branch)).collect();
            if let Some(chosen) = useful.get(branch % useful.len().max(1)) {
                self.gather(chosen, root, branch)?;
            }
        }
        Some(())
    }

    pub(super) fn get(&self, key: &str) -> Option<&'a Value> {
        self.0.iter().find_map(|part| part.get(key))
    }

    fn word(&self, key: &str) -> Option<&'a str> {
        self.0.iter().find_map(|part| part.get(key)?.as_str())
    }

    /// The narrowest of the numbers of a keyword.
    pub(super) fn limit(&self, key: &str, narrower: fn(f64, f64) -> f64) -> Option<f64> {
        self.0.iter().filter_map(|part| part.get(key)?.as_f64()).reduce(narrower)
    }

    /// The names of its properties, each once, in the author's order.
    pub(super) fn properties(&self) -> IndexSet<&'a str> {
        let all = self.0.iter().filter_map(|part| part.get("properties")?.as_object()).flat_map(Map::keys);
        all.map(String::as_str).collect()
    }

    /// The schemas of a property.
    pub(super) fn property(&self, name: &str) -> Vec<&'a Value> {
        self.0.iter().filter_map(|part| part.get("properties")?.get(name)).collect()
    }

    pub(super) fn required(&self) -> IndexSet<&'a str> {
        let lists = self.0.iter().filter_map(|part| part.get("required")?.as_array());
        lists.flatten().filter_map(Value::as_str).collect()
    }

    /// The type of its values: the first that is not null, or the type that its keywords imply.
    pub(super) fn kind(&self) -> &'a str {
        const SIGNS: [(&str, &[&str]); 3] = [
            ("object", &["properties", "required", "additionalProperties", "minProperties"]),
            ("array", &["items", "prefixItems", "minItems", "uniqueItems"]),
            ("number", &["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"]),
        ];
        match self.get("type") {
            Some(Value::String(kind)) => kind,
            Some(Value::Array(kinds)) => {
                kinds.iter().filter_map(Value::as_str).find(|kind| *kind != "null").unwrap_or("null")
            }
            _ if self.get("enum").is_some() => "",
            _ => {
                let implied = |keys: &[&str]| keys.iter().any(|key| self.get(key).is_some());
                SIGNS.iter().find(|(_, keys)| implied(keys)).map_or("string", |(kind, _)| kind)
            }
        }
    }

    /// A number within its limits; `None` when they leave none.
    pub(super) fn number(&self, whole: bool) -> Option<Value> {
        let step = self.limit("multipleOf", f64::max).filter(|step| *step > 0.0);
        let step = step.or_else(|| whole.then_some(1.0));
        let above = self.limit("exclusiveMinimum", f64::max);
        let below = self.limit("exclusiveMaximum", f64::min);
        let open = match above.zip(below) {
            Some((above, below)) if !whole => (below - above) / 4.0,
            _ => step.unwrap_or(1.0),
        };
        let low = self.limit("minimum", f64::max).into_iter().chain(above.map(|above| above + open));
        let high = self.limit("maximum", f64::min).into_iter().chain(below.map(|below| below - open));
        let low = low.reduce(f64::max);
        let high = high.reduce(f64::min);
        let mut number = 1f64.max(low.unwrap_or(f64::MIN)).min(high.unwrap_or(f64::MAX));
        if let Some(step) = step {
            let down = (number / step).floor() * step;
            number = if low.is_some_and(|low| down < low) { down + step } else { down };
        }
        if number.fract() == 0.0 && number.abs() < 9e15 {
            Some((number as i64).into())
        } else {
            Number::from_f64(number).map(Value::Number)
        }
    }

    /// A text by its pattern or format, or one that names the argument; within the limits of its length.
    pub(super) fn text(&self, name: &str) -> String {
        if let Some(text) = self.word("pattern").and_then(text_of_pattern) {
            return text;
        }
        let encoded = self.word("contentEncoding").filter(|encoding| *encoding == "base64").map(|_| "byte");
        let words = words(name);
        let known = self.word("format").or(encoded).and_then(by_format);
        let known = known.or_else(|| words.last().and_then(|word| by_format(word)));
        let named =
            || if words.is_empty() { "example".into() } else { format!("example-{}", words.join("-")) };
        let text = known.map_or_else(named, str::to_string);
        let least = self.limit("minLength", f64::max).unwrap_or(0.0) as usize;
        let most = self.limit("maxLength", f64::min).map_or(MAX_LENGTH, |most| most as usize);
        match text.chars().count() {
            count if count > most => text.chars().take(most).collect(),
            count if count < least => text.chars().cycle().take(least.min(MAX_LENGTH)).collect(),
            _ => text,
        }
    }
}

/// A text of a format of JSON Schema or OpenAPI, reserved for examples where there is such a form. An argument with this name
/// and no format gets the same.
fn by_format(format: &str) -> Option<&'static str> {
    Some(match format {
        "date" => "2030-01-01",
        "date-time" | "datetime" | "timestamp" => "2030-01-01T09:00:00Z",
        "time" => "09:00:00Z",
        "duration" => "PT1H",
        "email" | "idn-email" => "user@example.com",
        "hostname" | "idn-hostname" | "host" | "domain" => "example.com",
        "ipv4" | "ip" => "192.0.2.1",
        "ipv6" => "2001:db8::1",
        "uri" | "url" | "iri" | "link" => "https://example.com",
        "uri-reference" | "iri-reference" => "/docs",
        "uuid" | "guid" => "00000000-0000-4000-8000-000000000000",
        "json-pointer" => "/a",
        "regex" => "^a",
        "byte" | "base64" => "SGVsbG8=",
        "phone" => "+12025550123",
        "color" => "#336699",
        _ => return None,
    })
}

fn is_null(schema: &Value) -> bool {
    schema.get("type").is_some_and(|kind| kind == "null") || schema.get("const").is_some_and(Value::is_null)
}
