//! A ready-made call: valid arguments made from a schema.
//!
//! A value is the author's where the schema has one (`const`, `examples`, `example`, `default`, `enum`), else one by its
//! type, format and limits, in a form that is reserved for examples. Conditions that stand in texts alone are met, too,
//! where they can be read and the schema accepts the call.

mod conditions;
mod listed;
mod pattern;
mod scalars;
mod tokens;
mod written;

use serde_json::{Map, Value, json};

use conditions::Conditions;
use listed::listed_values;
use scalars::{number, string};
use tokens::tokens;
use toolcrib_definition::document::pointer_join;
use toolcrib_definition::schema::type_words::TYPES;
use toolcrib_definition::schema::walk::type_of;
use toolcrib_definition::schema::{Node, Property};
use toolcrib_definition::{Effect, HttpBackend, Location, path_variables, words};
use written::{fits, form, must_be_true, text_example};

/// Most levels that arguments nest.
const MAX_DEPTH: usize = 8;
/// Most values that one attempt makes.
const MAX_VALUES: usize = 300;

/// Most bytes of values of the author that all attempts together look at.
const MAX_BYTES: usize = 1 << 20;
/// Longest value of the author, in bytes of JSON.
const LONGEST: usize = 400;
/// Most examples of a place that are looked at.
const MAX_EXAMPLES: usize = 9;
/// Most optional members of an object that are looked at.
const MAX_LOOKED: usize = 256;
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

/// Words of tools that write more than their required arguments identify.
const UPDATES: [&str; 10] =
    ["update", "edit", "patch", "modify", "change", "set", "adjust", "configure", "create", "write"];
/// Last words of arguments that identify what is changed, or say how.
const IDENTIFIERS: [&str; 14] = [
    "id", "ids", "gid", "uuid", "guid", "slug", "number", "owner", "repo", "repository", "method",
    "operation", "action", "op",
];
/// Last words of arguments that are most of what is written.
const CONTENT: [&str; 14] = [
    "title", "name", "subject", "text", "body", "content", "message", "description", "summary", "comment",
    "note", "query", "value", "data",
];

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
    let root = Node::root(schema);
    let mut written = about.examples.iter().filter_map(|text| json_example(text, &root));
    if let Some(Value::Object(arguments)) = written.find(|arguments| is_valid(arguments)) {
        return Some(Sample { arguments, fill_in: Vec::new() });
    }
    let told = Conditions::read(&root, about.description);
    let mut attempts = Attempts { schema, about, is_valid, tried: Vec::new(), bytes_left: MAX_BYTES };
    let made = attempts.sample(&told);
    if made.is_none() && told.has_said.get() { attempts.sample(&Conditions::default()) } else { made }
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
            let root = Node::with_branch(schema, branch);
            let mut sampler = Sampler {
                about,
                told,
                optional,
                values: 0,
                bytes_left,
                at: String::new(),
                fill_in: Vec::new(),
            };
            let made =
                sampler.value(&root, "", 0).filter(|made| made.is_object() && !self.tried.contains(made));
            self.bytes_left = sampler.bytes_left;
            let Some(made) = made else { continue };
            if (self.is_valid)(&made)
                && let Value::Object(arguments) = made
            {
                return Some(Sample { arguments, fill_in: sampler.fill_in });
            }
            self.tried.push(made);
        }
        None
    }
}

/// The arguments in an example of a docstring that is JSON; each is a property of the schema.
fn json_example(text: &str, root: &Node<'_>) -> Option<Value> {
    let example = text.get(text.find('{')?..=text.rfind('}')?)?;
    let mut arguments: Map<String, Value> = serde_json::from_str(example).ok()?;
    if let Some(Value::Object(inner)) = arguments.get_mut("arguments") {
        arguments = std::mem::take(inner);
    }
    let is_placeholder = |value: &Value| value.as_str().is_some_and(|text| text.starts_with('<'));
    let fits = arguments.iter().all(|(name, value)| root.has_property(name) && !is_placeholder(value));
    (fits && !arguments.is_empty()).then_some(Value::Object(arguments))
}

struct Sampler<'a> {
    about: &'a About<'a>,
    told: &'a Conditions<'a>,
    optional: Optional,
    values: usize,
    bytes_left: usize,
    /// Pointer to the value being made.
    at: String,
    /// Pointers to the values that were made up.
    fill_in: Vec<String>,
}

/// How much an optional member says of what a call writes; the least says most.
fn rank(property: &Property<'_>) -> usize {
    let node = property.own();
    let has_example = |node: &Node<'_>| {
        let in_text = || text_example(node.description.unwrap_or_default(), node.main_type()).is_some();
        node.examples.iter().any(|example| !is_blank(example)) || in_text()
    };
    let kinds: Vec<&str> = node.type_words().filter(|word| *word != "null").collect();
    let is_plain = !kinds.iter().any(|kind| matches!(*kind, "object" | "array" | "boolean"));
    let name = words(property.name);
    let ends = |all: &[&str]| name.last().is_some_and(|last| all.contains(&last.as_str()));
    let within = || node.properties().iter().take(MAX_LOOKED).any(|property| has_example(&property.own()));
    let is_given = || node.default.into_iter().chain(node.only).any(|own| !is_blank(own));
    if node.is_deprecated {
        5
    } else if has_example(&node) || (is_plain && !kinds.is_empty() && ends(&CONTENT)) {
        0
    } else if within() {
        1
    } else if is_plain && (node.values.is_some() || is_given()) && !ends(&IDENTIFIERS) {
        2
    } else if is_plain && !kinds.is_empty() {
        3
    } else {
        4
    }
}

impl Sampler<'_> {
    /// A value for a place; `name` is that of the argument.
    fn value(&mut self, node: &Node<'_>, name: &str, depth: usize) -> Option<Value> {
        self.values += 1;
        if depth > MAX_DEPTH || self.values > MAX_VALUES || node.is_never {
            return None;
        }
        let kind = if depth == 0 { "object" } else { node.main_type() };
        if let Some(given) = self.given(node, kind) {
            return Some(given);
        }
        let limits = &node.limits;
        let text = if self.told.is_read { node.description.unwrap_or_default() } else { "" };
        let in_text = text_example(text, kind).filter(|example| fits(example, limits));
        if in_text.is_some() {
            self.told.has_said.set(true);
        }
        let made = match (kind, in_text) {
            ("null", _) => return Some(Value::Null),
            ("boolean", _) => return Some(must_be_true(text).into()),
            (_, Some(example)) => example,
            ("object", _) => return self.object(node, depth),
            ("array", _) => return self.array(node, name, depth),
            ("integer" | "number", _) => number(limits, kind == "integer", name)?,
            _ => {
                let listed = listed_values(name, &tokens(text), &|value| self.told.names.contains(value));
                if let Some(first) = listed.first() {
                    self.told.has_said.set(true);
                    return Some((*first).into());
                }
                let name = match self.about.resource {
                    Some(resource) if self.at == "/id" => format!("{resource}_id"),
                    _ => name.to_string(),
                };
                string(limits, &name, form(&name, text)).into()
            }
        };
        self.fill_in.push(self.at.clone());
        Some(made)
    }

    /// A value within the one being made, at this place.
    fn inner(&mut self, place: &str, node: &Node<'_>, name: &str, depth: usize) -> Option<Value> {
        let outer = self.at.len();
        let made_up = self.fill_in.len();
        self.at = pointer_join(&self.at, place);
        let made = self.value(node, name, depth + 1);
        self.at.truncate(outer);
        if made.is_none() {
            self.fill_in.truncate(made_up);
        }
        made
    }

    /// The value that the schema itself gives.
    fn given(&mut self, node: &Node<'_>, kind: &str) -> Option<Value> {
        if let Some(only) = node.only {
            return Some(only.clone());
        }
        let choices = node.values.unwrap_or_default();
        for value in node.examples.iter().copied().take(MAX_EXAMPLES).chain(node.default) {
            let size = value.to_string().len();
            self.bytes_left = self.bytes_left.saturating_sub(size);
            let fits = is_kind(value, kind) && !is_blank(value) && size <= LONGEST.min(self.bytes_left);
            if fits && (choices.is_empty() || choices.contains(value)) {
                return Some(value.clone());
            }
        }
        choices.iter().find(|value| is_kind(value, kind)).or(choices.first()).cloned()
    }

    fn object(&mut self, node: &Node<'_>, depth: usize) -> Option<Value> {
        let properties = node.properties();
        // Looking at many names costs as much as making a value.
        self.values += properties.len() / 64;
        let about = self.about;
        let all = self.optional == Optional::All;
        let is_empty = match depth {
            0 if node.required().is_empty() => about.effect == Effect::Write,
            0 => about.needs_more(node.required().iter()),
            _ => node.required().is_empty(),
        };
        let is_body = is_empty && self.optional != Optional::None;
        let is_part = |name: &str| depth > 0 || !about.identifies(name);
        let ranks: Vec<usize> = if is_body {
            let rank = |one: &Property<'_>| if is_part(one.name) { rank(one) } else { usize::MAX };
            properties.iter().take(MAX_LOOKED).map(rank).collect()
        } else {
            Vec::new()
        };
        let best = ranks.iter().copied().min().filter(|best| *best < usize::MAX);
        let mut made = Map::new();
        let mut members = 0;
        for (at, property) in properties.iter().enumerate() {
            let name = property.name;
            let is_point =
                is_body && members < MAX_MEMBERS && best.is_some() && ranks.get(at).copied() == best;
            // A reference to a thing without the id names nothing.
            let is_reference = || depth > 0 && name == "id" && rank(property) == 0;
            if depth == 0 && about.effect == Effect::Destructive && is_dry_run(name) {
                made.insert(name.into(), true.into());
            } else if property.required {
                made.insert(name.into(), self.inner(name, &property.node(), name, depth)?);
            } else if (is_point || (all && depth <= 1) || is_reference())
                && let Some(value) = self.inner(name, &property.node(), name, depth)
            {
                // Switching off is no example of a change.
                let value = if is_point && value == Value::Bool(false) { true.into() } else { value };
                made.insert(name.into(), value);
                members += 1;
            }
        }
        let others = node.other_values().unwrap_or_default();
        for name in node.required() {
            if !made.contains_key(*name) {
                made.insert((*name).into(), self.inner(name, &others, name, depth)?);
            }
        }
        let least = node.limits.fields.least.unwrap_or_default().min(MAX_ITEMS) as usize;
        let names = properties.iter().map(|property| property.name).chain(["key", "other"]);
        for name in names {
            if made.len() >= least || made.contains_key(name) {
                continue;
            }
            let own = node.property(name);
            if let Some(value) = self.inner(name, own.as_ref().unwrap_or(&others), name, depth) {
                made.insert(name.into(), value);
            }
        }
        if depth == 0 {
            made = self.completed(made, &properties)?;
        }
        Some(Value::Object(made))
    }

    /// Arguments with those that the texts require for them, and without optional ones that are for other values.
    fn completed(
        &mut self,
        mut made: Map<String, Value>,
        properties: &[Property<'_>],
    ) -> Option<Map<String, Value>> {
        for Property { name, required, .. } in properties {
            if !required && self.told.excludes(name, &made) {
                made.shift_remove(*name);
                let place = pointer_join("", name);
                let is_within = |at: &str| {
                    at.strip_prefix(&place).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
                };
                self.fill_in.retain(|at| !is_within(at));
            }
        }
        let mut count = usize::MAX;
        while count != made.len() {
            count = made.len();
            for property in properties {
                let name = property.name;
                if !made.contains_key(name) && self.told.requires(name, &made) {
                    made.insert(name.into(), self.inner(name, &property.node(), name, 0)?);
                }
            }
        }
        let in_order = properties.iter().filter_map(|property| made.shift_remove_entry(property.name));
        let mut ordered: Map<String, Value> = in_order.collect();
        ordered.append(&mut made);
        Some(ordered)
    }

    fn array(&mut self, node: &Node<'_>, name: &str, depth: usize) -> Option<Value> {
        let limits = node.limits.items;
        let least = limits.least.unwrap_or_default();
        let tuple: Vec<Node<'_>> = node.tuple().collect();
        let mut further = node.items();
        if let Some(item) = &mut further {
            item.description = item.description.or(node.description);
        }
        let wanted =
            least.max(1).max(tuple.len() as u64).min(limits.most.unwrap_or(MAX_ITEMS)).min(MAX_ITEMS);
        let choices = further.as_ref().and_then(|item| item.values).unwrap_or_default();
        let mut any = Node::default();
        any.description = node.description;
        let mut made: Vec<Value> = Vec::new();
        for at in 0..wanted as usize {
            let item = tuple.get(at).or(further.as_ref()).unwrap_or(&any);
            let Some(value) = self.inner(&at.to_string(), item, name, depth) else { break };
            let other = choices.iter().find(|choice| !made.contains(choice));
            made.push(if made.contains(&value) {
                other.cloned().unwrap_or_else(|| varied(value, at, item.limits.format.is_some()))
            } else {
                value
            });
        }
        (made.len() as u64 >= least).then_some(Value::Array(made))
    }
}

/// Another value of the kind of an element that is in the list already; a text of a format differs in its last digit.
fn varied(value: Value, at: usize, has_format: bool) -> Value {
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
    type_of(value) == kind || (kind == "number" && value.is_number()) || !TYPES.contains(&kind)
}

#[cfg(test)]
mod tests;
