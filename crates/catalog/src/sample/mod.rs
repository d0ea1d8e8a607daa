//! A ready-made call: valid arguments made from a schema.
//!
//! A value is the author's where the schema has one (`const`, `examples`, `example`, `default`, `enum`), else one by its
//! type, format and limits, in a form that is reserved for examples. Conditions that stand in texts alone are met, too,
//! where they can be read and the schema accepts the call.

mod conditions;
mod listed;
mod parts;
mod pattern;
mod tokens;

use serde_json::{Map, Value, json};

use conditions::Conditions;
use parts::{MAX_PARTS, Parts};
use toolcrib_definition::document::pointer_join;
use toolcrib_definition::{Effect, HttpBackend, Location, path_variables, words};

/// Most levels that arguments nest.
const MAX_DEPTH: usize = 8;
/// Most values that one attempt makes.
const MAX_VALUES: usize = 300;

/// Most bytes of values of the author that all attempts together look at.
const MAX_BYTES: usize = 1 << 20;
/// Longest value of the author, in bytes of JSON.
const LONGEST: usize = 400;
/// Most elements of a list, and members of a map.
const MAX_ITEMS: u64 = 16;

/// Most members of an object that requires none.
const MAX_MEMBERS: usize = 3;

/// Facts of a tool beside its schema.
pub struct About<'a> {
    /// Examples that a docstring has, as written.
    pub examples: &'a [String],
    pub effect: Effect,
    /// The thing that a plain `id` identifies.
    pub resource: Option<&'a str>,
    pub name: &'a str,
    pub description: &'a str,
    pub http: Option<&'a HttpBackend>,
}

/// First words of tools that change what their required arguments identify.
const UPDATES: [&str; 8] = ["update", "edit", "patch", "modify", "change", "set", "adjust", "configure"];
/// Last words of arguments that identify what is changed.
const IDENTIFIERS: [&str; 10] =
    ["id", "ids", "gid", "uuid", "guid", "slug", "number", "owner", "repo", "repository"];

impl About<'_> {
    /// Whether an argument only says what is changed, or how to answer, and is no part of the change.
    fn identifies(&self, argument: &str) -> bool {
        let last = || words(argument).pop().is_some_and(|last| IDENTIFIERS.contains(&last.as_str()));
        let Some(http) = self.http else { return last() };
        let is_in_path = || path_variables(&http.path).contains(&argument);
        let place = http.arguments.get(argument).map(|place| place.location);
        place.map_or_else(is_in_path, |place| !matches!(place, Location::Body | Location::WholeBody))
    }

    /// Whether a call that has the required arguments alone changes nothing.
    fn needs_more<'a>(&self, mut required: impl Iterator<Item = &'a &'a str>) -> bool {
        let is_update = || words(self.name).iter().any(|word| UPDATES.contains(&word.as_str()));
        self.effect == Effect::Write
            && (self.http.is_some() || is_update())
            && required.all(|name| self.identifies(name))
    }
}

/// A ready-made call.
#[derive(Clone, Debug, PartialEq)]
pub struct Sample {
    pub arguments: Map<String, Value>,
    /// Pointers to the values that the schema does not name.
    pub fill_in: Vec<String>,
}

/// The optional members of an object that are given.
#[derive(Clone, Copy, PartialEq)]
enum Optional {
    None,
    /// Some, where a body requires none.
    Some,
    /// All.
    All,
}

/// The branch of each union that is taken, and the optional members that are given; in the order of attempts.
const WAYS: [(usize, Optional); 10] = {
    use Optional::{All, None, Some};
    [
        (0, Some),
        (1, Some),
        (0, All),
        (2, Some),
        (1, All),
        (3, Some),
        (4, Some),
        (5, Some),
        (0, None),
        (1, None),
    ]
};

/// A call that `is_valid` accepts: an example of the author, else all required arguments.
pub fn sample_call(schema: &Value, about: &About<'_>, is_valid: &dyn Fn(&Value) -> bool) -> Option<Sample> {
    let written = about.examples.iter().filter_map(|text| json_example(text, schema));
    for arguments in written {
        let arguments = Value::Object(arguments);
        if let (true, Value::Object(arguments)) = (is_valid(&arguments), arguments) {
            return Some(Sample { arguments, fill_in: Vec::new() });
        }
    }
    let told = Conditions::read(schema, about.description);
    let mut attempts = Attempts { schema, about, is_valid, tried: Vec::new(), bytes_left: MAX_BYTES };
    let made = attempts.sample(&told);
    if made.is_none() && !told.is_empty() { attempts.sample(&Conditions::default()) } else { made }
}

struct Attempts<'a> {
    schema: &'a Value,
    about: &'a About<'a>,
    is_valid: &'a dyn Fn(&Value) -> bool,
    tried: Vec<Value>,
    bytes_left: usize,
}

impl Attempts<'_> {
    fn sample(&mut self, told: &Conditions<'_>) -> Option<Sample> {
        for (branch, optional) in WAYS {
            let Self { schema, about, bytes_left, .. } = *self;
            let at = String::new();
            let fill_in = Vec::new();
            let mut sampler =
                Sampler { root: schema, about, told, branch, optional, values: 0, bytes_left, at, fill_in };
            let made = sampler.value(&[schema], "", 0);
            self.bytes_left = sampler.bytes_left;
            let Some(made @ Value::Object(_)) = made else { continue };
            if self.tried.contains(&made) {
                continue;
            }
            match ((self.is_valid)(&made), made) {
                (true, Value::Object(arguments)) => {
                    return Some(Sample { arguments, fill_in: sampler.fill_in });
                }
                (_, made) => self.tried.push(made),
            }
        }
        None
    }
}

/// The arguments in an example of a docstring that is JSON; each is a property of the schema.
fn json_example(text: &str, schema: &Value) -> Option<Map<String, Value>> {
    let example = text.get(text.find('{')?..=text.rfind('}')?)?;
    let mut arguments: Map<String, Value> = serde_json::from_str(example).ok()?;
    if let Some(Value::Object(inner)) = arguments.get_mut("arguments") {
        arguments = std::mem::take(inner);
    }
    let known = schema.get("properties")?.as_object()?;
    let is_placeholder = |value: &Value| value.as_str().is_some_and(|text| text.starts_with('<'));
    let fits = arguments.iter().all(|(name, value)| known.contains_key(name) && !is_placeholder(value));
    (fits && !arguments.is_empty()).then_some(arguments)
}

struct Sampler<'a> {
    root: &'a Value,
    about: &'a About<'a>,
    told: &'a Conditions<'a>,
    branch: usize,
    optional: Optional,
    values: usize,
    bytes_left: usize,
    /// Pointer to the value being made.
    at: String,
    /// Pointers to the values that were made up.
    fill_in: Vec<String>,
}

impl<'a> Sampler<'a> {
    /// A value for schemas that apply together; `name` is that of the argument.
    fn value(&mut self, schemas: &[&'a Value], name: &str, depth: usize) -> Option<Value> {
        self.values += 1;
        if depth > MAX_DEPTH || self.values > MAX_VALUES {
            return None;
        }
        let mut parts = Parts(Vec::new());
        schemas.iter().try_for_each(|schema| parts.gather(schema, self.root, self.branch))?;
        let kind = if depth == 0 { "object" } else { parts.kind() };
        if let Some(given) = self.given(&parts, kind) {
            return Some(given);
        }
        let made = match kind {
            "object" => return self.object(&parts, depth),
            "array" => return self.array(&parts, name, depth),
            "boolean" => return Some(false.into()),
            "null" => return Some(Value::Null),
            "integer" | "number" => parts.number(kind == "integer")?,
            _ if depth == 1
                && let Some(listed) = self.told.value(name) =>
            {
                return Some(listed.into());
            }
            _ if self.at == "/id"
                && let Some(resource) = self.about.resource =>
            {
                parts.text(&format!("{resource}_id")).into()
            }
            _ => parts.text(name).into(),
        };
        self.fill_in.push(self.at.clone());
        Some(made)
    }

    /// A value within the one being made, at this place.
    fn inner(&mut self, place: &str, schemas: &[&'a Value], name: &str, depth: usize) -> Option<Value> {
        let outer = self.at.len();
        let made_up = self.fill_in.len();
        self.at = pointer_join(&self.at, place);
        let made = self.value(schemas, name, depth);
        self.at.truncate(outer);
        if made.is_none() {
            self.fill_in.truncate(made_up);
        }
        made
    }

    /// The value that the schema itself gives.
    fn given(&mut self, parts: &Parts<'a>, kind: &str) -> Option<Value> {
        if let Some(only) = parts.get("const") {
            return Some(only.clone());
        }
        let listed = |key: &str| parts.get(key).and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        let choices = listed("enum");
        let examples = listed("examples").iter().take(8);
        for value in examples.chain(parts.get("example")).chain(parts.get("default")) {
            let size = value.to_string().len();
            self.bytes_left = self.bytes_left.saturating_sub(size);
            let fits = is_kind(value, kind) && !is_blank(value) && size <= LONGEST.min(self.bytes_left);
            if fits && (choices.is_empty() || choices.contains(value)) {
                return Some(value.clone());
            }
        }
        choices.iter().find(|value| is_kind(value, kind)).or(choices.first()).cloned()
    }

    fn object(&mut self, parts: &Parts<'a>, depth: usize) -> Option<Value> {
        let properties = parts.properties();
        // Looking at many names costs as much as making a value.
        self.values += properties.len() / 64;
        let required = parts.required();
        let least = parts.limit("minProperties", f64::max).unwrap_or(0.0) as usize;
        let all = self.optional == Optional::All;
        let is_empty = match depth {
            0 if required.is_empty() => self.about.effect == Effect::Write,
            0 => self.about.needs_more(required.iter()),
            _ => required.is_empty(),
        };
        let is_body = is_empty && self.optional != Optional::None;
        let is_part = |name: &str| depth > 0 || !self.about.identifies(name);
        let has_example = |name: &str, is_within: bool| {
            parts.property(name).iter().any(|schema| has_own_value(schema, is_within))
        };
        // Examples within a property count where no property has one itself.
        let telling = [false, true].into_iter().find(|is_within| {
            is_body && properties.iter().any(|name| has_example(name, *is_within) && is_part(name))
        });
        let mut made = Map::new();
        let mut members = 0;
        for &name in &properties {
            let schemas = parts.property(name);
            let is_dry_run = depth == 0 && self.about.effect == Effect::Destructive && is_dry_run(name);
            if is_dry_run {
                made.insert(name.into(), true.into());
            } else if required.contains(name) {
                made.insert(name.into(), self.inner(name, &schemas, name, depth + 1)?);
            } else if all && depth <= 1 || is_body && members < MAX_MEMBERS && is_part(name) {
                let is_telling =
                    telling.map_or_else(|| is_plain(&schemas), |is_within| has_example(name, is_within));
                if !all && !is_telling {
                    continue;
                }
                if let Some(value) = self.inner(name, &schemas, name, depth + 1) {
                    made.insert(name.into(), value);
                    members += 1;
                }
            }
        }
        let others: Vec<&Value> = parts.get("additionalProperties").into_iter().collect();
        for name in required {
            if !made.contains_key(name) {
                made.insert(name.into(), self.inner(name, &others, name, depth + 1)?);
            }
        }
        for name in properties.iter().copied().chain(["key", "other"]) {
            if made.len() < least.min(MAX_ITEMS as usize) && !made.contains_key(name) {
                let known = parts.property(name);
                let schemas = if known.is_empty() { &others } else { &known };
                if let Some(value) = self.inner(name, schemas, name, depth + 1) {
                    made.insert(name.into(), value);
                }
            }
        }
        if depth == 0 {
            made = self.completed(made, parts)?;
        }
        Some(Value::Object(made))
    }

    /// Arguments with those that the texts require for them, and without optional ones that are for other values.
    fn completed(&mut self, mut made: Map<String, Value>, parts: &Parts<'a>) -> Option<Map<String, Value>> {
        let properties = parts.properties();
        let required = parts.required();
        let told = self.told;
        let excluded = |name: &&str| !required.contains(name) && told.excludes(name, &made);
        let excluded: Vec<&str> = properties.iter().copied().filter(excluded).collect();
        for name in excluded {
            made.shift_remove(name);
            let place = pointer_join("", name);
            self.fill_in.retain(|at| {
                !at.strip_prefix(&place).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
            });
        }
        let mut count = usize::MAX;
        while count != made.len() {
            count = made.len();
            for name in &properties {
                if !made.contains_key(*name) && told.requires(name, &made) {
                    made.insert((*name).into(), self.inner(name, &parts.property(name), name, 1)?);
                }
            }
        }
        let in_order: Vec<&str> =
            properties.iter().copied().filter(|name| made.contains_key(*name)).collect();
        let mut ordered: Map<String, Value> =
            in_order.into_iter().filter_map(|name| made.shift_remove_entry(name)).collect();
        ordered.append(&mut made);
        Some(ordered)
    }

    fn array(&mut self, parts: &Parts<'a>, name: &str, depth: usize) -> Option<Value> {
        let least = parts.limit("minItems", f64::max).unwrap_or(0.0) as u64;
        let most = parts.limit("maxItems", f64::min).map_or(MAX_ITEMS, |most| most as u64);
        let tuple = parts.get("prefixItems").or(parts.get("items")).and_then(Value::as_array);
        let rest =
            if tuple.is_some() && parts.get("prefixItems").is_none() { "additionalItems" } else { "items" };
        let further = parts.get(rest);
        let wanted = least.max(1).max(tuple.map_or(0, |tuple| tuple.len() as u64)).min(most).min(MAX_ITEMS);
        let choices = further.and_then(|item| item.get("enum")).and_then(Value::as_array);
        let mut made: Vec<Value> = Vec::new();
        for at in 0..wanted as usize {
            let item = tuple.and_then(|tuple| tuple.get(at)).or(further);
            let schemas: Vec<&Value> = item.into_iter().collect();
            let Some(value) = self.inner(&at.to_string(), &schemas, name, depth + 1) else { break };
            let other = choices.and_then(|choices| choices.iter().find(|choice| !made.contains(choice)));
            made.push(if made.contains(&value) {
                other.cloned().unwrap_or_else(|| varied(value, at, further))
            } else {
                value
            });
        }
        (made.len() as u64 >= least).then_some(Value::Array(made))
    }
}

/// Another value of the kind of an element that is in the list already; a text of a format differs in its last digit.
fn varied(value: Value, at: usize, item: Option<&Value>) -> Value {
    let has_format = item.is_some_and(|item| item.get("format").is_some());
    match value {
        Value::String(mut text) => match text.parse::<u64>() {
            Err(_) if has_format && let Some(last) = text.rfind(|c: char| c.is_ascii_digit()) => {
                text.replace_range(last..=last, &(at % 10).to_string());
                text.into()
            }
            Ok(number) => (number + at as u64).to_string().into(),
            Err(_) => format!("{text}-{}", at + 1).into(),
        },
        Value::Number(number) if number.is_i64() => json!(number.as_i64().unwrap_or_default() + at as i64),
        Value::Number(number) => json!(number.as_f64().unwrap_or_default() + at as f64),
        Value::Bool(flag) => (!flag).into(),
        other => other,
    }
}

/// Whether the author's schema has a value for this place, or with `is_within` an example for one of its properties.
fn has_own_value(schema: &Value, is_within: bool) -> bool {
    let has = |schema: &Value, keys: &[&str]| {
        keys.iter().any(|key| schema.get(key).is_some_and(|own| !is_blank(own)))
    };
    let properties = schema.get("properties").and_then(Value::as_object).into_iter().flat_map(Map::values);
    has(schema, &["examples", "example", "default", "const", "enum"])
        || is_within && properties.take(MAX_PARTS).any(|property| has(property, &["examples", "example"]))
}

/// Whether these schemas have no others within them.
fn is_plain(schemas: &[&Value]) -> bool {
    let is_scalar = |word: &Value| !matches!(word.as_str(), Some("object" | "array" | "null"));
    schemas.iter().any(|schema| schema.get("type").is_some_and(is_scalar))
}

/// Whether an argument asks for a call that only reports what it would do.
fn is_dry_run(name: &str) -> bool {
    name.chars().filter(|c| c.is_alphanumeric()).map(|c| c.to_ascii_lowercase()).eq("dryrun".chars())
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

#[cfg(test)]
mod tests;
