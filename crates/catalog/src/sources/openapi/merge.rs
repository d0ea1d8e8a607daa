//! Merges the arguments of a request into one object in which each has a unique name.

use std::collections::HashMap;
use std::rc::Rc;

use indexmap::{IndexMap, IndexSet};
use serde_json::{Map, Value, json};

use super::bundle::{Bundle, Component};
use super::lower::Direction;
use super::paths::Found;
use super::report::quote;
use crate::sources::budget::weight;
use crate::sources::unique_names::{Names, is_portable, portable};
use toolcrib_definition::finding::Code;
use toolcrib_definition::schema::{FileContent, Node};
use toolcrib_definition::{ArgumentPlace, Location, Style};

/// The form of bytes in an argument, in words.
pub(super) const BYTES: &str = "base64 or a `data:` URL";

/// Length that is reserved for a number or a location after a name.
const MAX_STEM: usize = 48;

/// One argument of an operation.
pub(super) struct Argument {
    pub(super) location: Location,
    /// Its name in the request.
    pub(super) name: String,
    pub(super) schema: Rc<Component>,
    pub(super) description: Option<String>,
    pub(super) examples: Vec<Value>,
    pub(super) required: bool,
    pub(super) pointer: String,
    pub(super) writing: Writing,
}

impl Argument {
    /// An optional argument without a description.
    pub(super) fn new(location: Location, name: &str, schema: Rc<Component>, pointer: &str) -> Self {
        Self {
            location,
            name: name.to_string(),
            schema,
            description: None,
            examples: Vec::new(),
            required: false,
            pointer: pointer.to_string(),
            writing: Writing::default(),
        }
    }

    /// Adds the form of files to the description, if its values are files.
    pub(super) fn say_how_files_are_written(&mut self) {
        let node = Node::without_references(&self.schema.value);
        if FileContent::of(&node).is_some() {
            let said = self.description.as_deref().or(node.description);
            self.description = Some(match said.map(str::trim_end).filter(|said| !said.is_empty()) {
                Some(said) => format!("{said}\n\nWrite it as {BYTES}."),
                None => format!("The content of a file, as {BYTES}."),
            });
        }
    }
}

/// Serialization of an argument, where it is not the default.
#[derive(Clone, Default, PartialEq)]
pub(super) struct Writing {
    pub(super) style: Option<Style>,
    pub(super) explode: Option<bool>,
    pub(super) allow_reserved: bool,
    pub(super) content_type: Option<String>,
}

/// What the arguments of a body may be, besides those that are listed.
#[derive(Clone, Copy)]
pub(super) struct Others {
    /// Whether more are allowed: `None` where the author does not say, and more are sent too.
    pub(super) allowed: Option<bool>,
    /// The fewest arguments of the body, where it is sent.
    pub(super) least: u64,
    /// Whether the body may be left out as a whole.
    pub(super) optional: bool,
}

/// All arguments of an operation.
pub(super) struct Merged {
    /// The name of each argument, in the order given.
    pub(super) keys: Vec<String>,
    /// JSON Schema of the one object.
    pub(super) parameters: Value,
    /// Locations of arguments that the method does not decide.
    pub(super) places: IndexMap<String, ArgumentPlace>,
}

impl Default for Others {
    fn default() -> Self {
        Self { allowed: Some(false), least: 0, optional: false }
    }
}

/// Merges arguments; parts over `budget` accept any value. Others that are allowed become properties of the body.
pub(super) fn merge(
    (arguments, others): (&[Argument], Others),
    found: &Found<'_>,
    mut budget: usize,
    bundle: &mut Bundle<'_, '_>,
) -> Merged {
    let keys = keys(arguments);
    let mut properties = Map::new();
    let mut required = Vec::new();
    let mut places = IndexMap::new();
    let mut refs: IndexSet<String> = IndexSet::new();
    let mut left_open = 0;
    for (argument, key) in arguments.iter().zip(&keys) {
        let renamed = *key != argument.name && argument.location != Location::WholeBody;
        if renamed {
            let message = format!("argument `{}` is called `{key}`", quote(&argument.name));
            bundle.report.add(Code::ArgumentRenamed, &argument.pointer, message);
        }
        let location = argument.location;
        let is_usual =
            location == usual_location(location, &found.method) && argument.writing == Writing::default();
        if renamed || !is_usual {
            let name = renamed.then(|| argument.name.clone());
            let Writing { style, explode, allow_reserved, content_type } = argument.writing.clone();
            let place = ArgumentPlace { location, name, style, explode, allow_reserved, content_type };
            places.insert(key.clone(), place);
        }
        if argument.required && !(others.optional && location == Location::Body) {
            required.push(key.clone());
        }
        let mut schema = if argument.schema.weight <= budget {
            refs.extend(argument.schema.refs.iter().cloned());
            as_object(&argument.schema.value)
        } else {
            left_open += 1;
            Map::new()
        };
        annotate(&mut schema, argument, budget);
        let schema = Value::Object(schema);
        budget = budget.saturating_sub(weight(&schema) + 32 + key.len());
        properties.insert(key.clone(), schema);
    }
    let mut parameters = Map::new();
    parameters.insert("type".to_string(), "object".into());
    parameters.insert("properties".to_string(), properties.into());
    if others.optional {
        parameters.extend(needed_together(arguments, &keys));
    } else if others.least > 0 {
        parameters.insert("minProperties".to_string(), (others.least + required.len() as u64).into());
    }
    if !required.is_empty() {
        parameters.insert("required".to_string(), required.into());
    }
    // An argument without a place goes into the body where the method has one.
    let is_sent = usual_location(Location::Body, &found.method) == Location::Body;
    if let Some(allowed) = others.allowed.or((!is_sent).then_some(false)) {
        parameters.insert("additionalProperties".to_string(), allowed.into());
    }
    let (definitions, unresolved) = bundle.definitions(refs, Direction::Input, &mut budget);
    if !definitions.is_empty() {
        parameters.insert("$defs".to_string(), definitions.into());
    }
    if left_open + unresolved > 0 {
        let parts = left_open + unresolved;
        let message = format!("the arguments are too large to bundle; {parts} parts of them accept anything");
        bundle.report.add(Code::SchemaReferenceBroken, &found.pointer, message);
    }
    Merged { keys, parameters: parameters.into(), places }
}

/// Of a body that may be left out: with one of its arguments, the required ones are needed.
fn needed_together(arguments: &[Argument], keys: &[String]) -> Option<(String, Value)> {
    let of_body = arguments.iter().zip(keys).filter(|(argument, _)| argument.location == Location::Body);
    let needed: Vec<&String> =
        of_body.clone().filter(|(argument, _)| argument.required).map(|(_, key)| key).collect();
    let others = |key: &String| needed.iter().filter(|needed| **needed != key).collect::<Vec<_>>();
    let each: Map<String, Value> = of_body.map(|(_, key)| (key.clone(), json!(others(key)))).collect();
    (!needed.is_empty()).then(|| ("dependentRequired".to_string(), each.into()))
}

/// Location of an argument without a record: see `HttpBackend`.
fn usual_location(location: Location, method: &str) -> Location {
    match (location, method) {
        (Location::Path, _) => Location::Path,
        (_, "GET" | "HEAD" | "DELETE") => Location::Query,
        _ => Location::Body,
    }
}

fn as_object(schema: &Value) -> Map<String, Value> {
    match schema {
        Value::Object(map) => map.clone(),
        Value::Bool(false) => Map::from_iter([("not".to_string(), json!({}))]),
        _ => Map::new(),
    }
}

/// Adds the parameter's own keywords beside its schema.
fn annotate(schema: &mut Map<String, Value>, argument: &Argument, budget: usize) {
    if let Some(description) = argument.description.as_ref().filter(|text| text.len() <= budget) {
        schema.insert("description".to_string(), description.as_str().into());
    }
    if !argument.examples.is_empty() {
        let examples = Value::Array(argument.examples.clone());
        if weight(&examples) <= budget {
            schema.insert("examples".to_string(), examples);
        }
    }
    let is_binary = schema.get("format").is_some_and(|format| format == "binary");
    if is_binary && argument.location == Location::Body {
        schema.entry("type").or_insert_with(|| "string".into());
        schema.entry("description").or_insert_with(|| "The content of a file.".into());
    }
}

/// One name for each argument. Path parameters keep theirs, then arguments with a unique name.
fn keys(arguments: &[Argument]) -> Vec<String> {
    let is_whole = |argument: &Argument| argument.location == Location::WholeBody;
    let mut wanted: HashMap<&str, usize> = HashMap::new();
    for argument in arguments.iter().filter(|argument| !is_whole(argument)) {
        *wanted.entry(&argument.name).or_default() += 1;
    }
    let mut names = Names::default();
    let mut keys: Vec<Option<String>> = vec![None; arguments.len()];
    let mut keep = |keys: &mut [Option<String>], chosen: &dyn Fn(&Argument) -> bool| {
        for (key, argument) in keys.iter_mut().zip(arguments) {
            if key.is_none() && chosen(argument) && is_portable(&argument.name) && names.take(&argument.name)
            {
                *key = Some(argument.name.clone());
            }
        }
    };
    keep(&mut keys, &|argument| argument.location == Location::Path);
    keep(&mut keys, &|argument| !is_whole(argument) && wanted.get(argument.name.as_str()) == Some(&1));
    keep(&mut keys, &is_whole);
    let named = keys.into_iter().zip(arguments).map(|(key, argument)| {
        key.unwrap_or_else(|| {
            let place = word(argument.location);
            let stem = portable(&argument.name, MAX_STEM, place);
            let plain = stem != argument.name && !is_whole(argument) && names.take(&stem);
            match argument.location {
                _ if plain => stem,
                Location::WholeBody => names.number("request_body"),
                _ => names.number(&format!("{stem}_{place}")),
            }
        })
    });
    named.collect()
}

fn word(location: Location) -> &'static str {
    match location {
        Location::Path => "path",
        Location::Query | Location::QueryString => "query",
        Location::Header => "header",
        Location::Cookie => "cookie",
        Location::Body | Location::WholeBody => "body",
    }
}
