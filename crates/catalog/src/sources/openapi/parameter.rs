//! Parameters: of the path, the query, headers and cookies, each with its schema.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use indexmap::{IndexMap, IndexSet};
use serde_json::{Map, Value, json};

use super::Importer;
use super::bundle::{Bundle, Component, Property, flatten, weight};
use super::document::{Dialect, Loss, Report, quote};
use super::lower::Direction;
use super::paths::{Found, Names, is_portable, portable};
use toolcrib_definition::finding::{Code, pointer_join, pointer_to};
use toolcrib_definition::{ArgumentPlace, Location, RESERVED_HEADERS, Style, path_variables};

/// The most parameters that are read of one list.
const MAX_PARAMETERS: usize = 500;
/// Headers that the body, the answer or the configuration sets.
const IGNORED_HEADERS: [&str; 3] = ["accept", "content-type", "authorization"];

/// A parameter as it stands in the document, in any location.
pub(super) struct Parameter<'d> {
    pub(super) place: &'d str,
    pub(super) name: &'d str,
    pub(super) value: &'d Map<String, Value>,
    pub(super) pointer: String,
}

impl<'d> Importer<'_, 'd> {
    /// The parameters of an operation; its own replace those of its path.
    pub(super) fn parameters(&mut self, found: &Found<'d>) -> Vec<Parameter<'d>> {
        let mut parameters: IndexMap<(&str, &str), Parameter<'d>> = IndexMap::new();
        let items = found.items.iter().map(|(item, pointer)| (*item, pointer));
        for (owner, pointer) in items.chain([(found.operation, &found.pointer)]) {
            let Some(list) = owner.get("parameters") else { continue };
            let pointer = pointer_join(pointer, "parameters");
            let followed = self.document.follow(list, pointer, Loss::Arguments, &mut self.report);
            let Some((list, pointer)) = followed else { continue };
            let Some(list) = list.as_array() else {
                self.report.left_out(&pointer, "`parameters` is not a list");
                continue;
            };
            if list.len() > MAX_PARAMETERS {
                let message = format!("more than {MAX_PARAMETERS} parameters; the others were left out");
                self.report.add(Code::DefinitionInvalid, &pointer, message);
            }
            for (index, value) in list.iter().take(MAX_PARAMETERS).enumerate() {
                if let Some(parameter) = self.parameter(value, pointer_join(&pointer, index)) {
                    parameters.insert((parameter.place, parameter.name), parameter);
                }
            }
        }
        parameters.into_values().collect()
    }

    fn parameter(&mut self, value: &'d Value, pointer: String) -> Option<Parameter<'d>> {
        let (value, pointer) = self.document.follow(value, pointer, Loss::Arguments, &mut self.report)?;
        let Some(value) = value.as_object() else {
            self.report.left_out(&pointer, "a parameter is an object");
            return None;
        };
        let name = value.get("name").and_then(Value::as_str).filter(|name| !name.is_empty());
        let Some(name) = name else {
            self.report.left_out(&pointer, "a parameter has no name");
            return None;
        };
        let place = value.get("in").and_then(Value::as_str).unwrap_or_default();
        if matches!(place, "path" | "query" | "header" | "cookie" | "querystring" | "body" | "formData") {
            return Some(Parameter { place, name, value, pointer });
        }
        let message = format!("parameter `{}` is `in` no known place", quote(name));
        self.report.left_out(&pointer_join(&pointer, "in"), &message);
        None
    }

    /// The arguments of parameters, without the body. A path variable without a parameter is a string.
    pub(super) fn arguments(&mut self, found: &Found<'d>, parameters: &[Parameter<'d>]) -> Vec<Argument> {
        let variables = path_variables(found.path);
        let in_path = parameters.iter().filter(|parameter| parameter.place == "path");
        let mut declared: HashSet<&str> = in_path.map(|parameter| parameter.name).collect();
        let missing: Vec<&str> = variables.iter().copied().filter(|name| declared.insert(name)).collect();
        let known: HashSet<&str> = variables.into_iter().collect();
        let mut arguments = Vec::new();
        for parameter in parameters {
            let location = match parameter.place {
                "path" if !known.contains(parameter.name) => {
                    let message = format!("parameter `{}` is not in the path", quote(parameter.name));
                    self.report.left_out(&pointer_join(&parameter.pointer, "name"), &message);
                    continue;
                }
                "header" if IGNORED_HEADERS.contains(&parameter.name.to_ascii_lowercase().as_str()) => {
                    continue;
                }
                "header" if RESERVED_HEADERS.contains(&parameter.name.to_ascii_lowercase().as_str()) => {
                    self.report.reserved_header(parameter.name, &parameter.pointer);
                    continue;
                }
                place if self.secrets.contains(&(place.to_string(), parameter.name.to_string())) => continue,
                "path" => Location::Path,
                "query" | "querystring" => Location::Query,
                "header" => Location::Header,
                "cookie" => Location::Cookie,
                _ => continue,
            };
            arguments.push(self.argument(parameter, location));
        }
        for name in missing {
            let message =
                format!("path variable `{}` has no parameter; it was taken for a string", quote(name));
            self.report.add(Code::SchemaRepaired, &found.pointer, message);
            let schema = Rc::new(Component::new(json!({ "type": "string" }), Vec::new()));
            let argument = Argument::new(Location::Path, name, schema, &found.pointer);
            arguments.push(Argument { required: true, ..argument });
        }
        arguments
    }

    /// One parameter as an argument.
    pub(super) fn argument(&mut self, parameter: &Parameter<'d>, location: Location) -> Argument {
        let Parameter { name, value, ref pointer, .. } = *parameter;
        let required = self.report.flag(value.get("required"), "required", pointer) == Some(true);
        let description = match value.get("description") {
            Some(Value::String(text)) => Some(text.clone()).filter(|text| !text.trim().is_empty()),
            None | Some(Value::Null) => None,
            Some(_) => {
                self.report.invalid(pointer, "description", "`description` is not text; it was left out");
                None
            }
        };
        let schema = self.parameter_schema(value, pointer);
        Argument {
            writing: self.writing(value, location, &schema.value),
            description,
            examples: self.examples(value, pointer).into_iter().map(|(_, example)| example).collect(),
            required: required || location == Location::Path,
            ..Argument::new(location, name, schema, pointer)
        }
    }

    /// Serialization of a query parameter, or of a form field. The default, repeated lists, needs no record.
    fn writing(&self, value: &Map<String, Value>, location: Location, schema: &Value) -> Writing {
        let writing = |style, explode| Writing { style: Some(style), explode };
        let word = |field: &str| value.get(field).and_then(Value::as_str).unwrap_or_default();
        if self.document.dialect == Dialect::Swagger2 {
            return match word("collectionFormat") {
                _ if word("type") != "array" => Writing::default(),
                "multi" => Writing::default(),
                "ssv" => writing(Style::SpaceDelimited, None),
                "tsv" => writing(Style::TabDelimited, None),
                "pipes" => writing(Style::PipeDelimited, None),
                _ => writing(Style::Form, Some(false)),
            };
        }
        if location != Location::Query {
            return Writing::default();
        }
        if !value.contains_key("schema") && value.contains_key("content") {
            return writing(Style::Json, None);
        }
        self.written(value, schema)
    }

    /// Serialization of a form field, for which a document may say nothing.
    pub(super) fn encoded(&self, value: &Map<String, Value>, schema: &Value) -> Writing {
        let is_json =
            value.get("contentType").and_then(Value::as_str).is_some_and(|kind| kind.contains("json"));
        match value.contains_key("style") || value.contains_key("explode") {
            true => self.written(value, schema),
            false if is_json => Writing { style: Some(Style::Json), explode: None },
            false => Writing::default(),
        }
    }

    /// Serialization by the `style` and `explode` of OpenAPI 3.
    fn written(&self, value: &Map<String, Value>, schema: &Value) -> Writing {
        let writing = |style, explode| Writing { style: Some(style), explode };
        let word = |field: &str| value.get(field).and_then(Value::as_str).unwrap_or_default();
        let explode = value.get("explode").and_then(Value::as_bool);
        let may_be_map =
            ["properties", "additionalProperties", "$ref"].iter().any(|key| schema.get(key).is_some());
        match word("style") {
            "spaceDelimited" => writing(Style::SpaceDelimited, explode),
            "pipeDelimited" => writing(Style::PipeDelimited, explode),
            "deepObject" => writing(Style::DeepObject, None),
            _ if explode == Some(false) => writing(Style::Form, explode),
            _ if may_be_map || schema["type"] == "object" => writing(Style::Form, None),
            _ => Writing::default(),
        }
    }

    fn parameter_schema(&mut self, value: &'d Map<String, Value>, pointer: &str) -> Rc<Component> {
        if let Some(schema) = value.get("schema") {
            let pointer = pointer_join(pointer, "schema");
            return self.bundle.schema(schema, &pointer, Direction::Input, &mut self.report);
        }
        if self.document.dialect == Dialect::Swagger2 {
            let whole = self.document.at(pointer).unwrap_or(&Value::Null);
            return self.bundle.parameter(whole, pointer, &mut self.report);
        }
        let content = value.get("content").and_then(Value::as_object).and_then(best_media);
        if let Some((media, schema)) =
            content.and_then(|(media, content)| Some((media, content.get("schema")?)))
        {
            let pointer = pointer_to(pointer, &["content", media, "schema"]);
            return self.bundle.schema(schema, &pointer, Direction::Input, &mut self.report);
        }
        self.report.add(Code::SchemaDoubtful, pointer, "a parameter without a schema accepts anything");
        Rc::new(Component::open())
    }

    /// The `example` or `examples` of a parameter or media type, with their titles.
    pub(super) fn examples(
        &mut self,
        owner: &'d Map<String, Value>,
        pointer: &str,
    ) -> Vec<(Option<String>, Value)> {
        const MOST: usize = 3;
        if let Some(example) = owner.get("example") {
            return vec![(None, example.clone())];
        }
        let Some(Value::Object(named)) = owner.get("examples") else { return Vec::new() };
        let pointer = pointer_join(pointer, "examples");
        let mut examples = Vec::new();
        for (name, example) in named.iter().take(MOST) {
            let place = pointer_join(&pointer, name);
            let Some((example, _)) = self.document.follow(example, place, Loss::Nothing, &mut self.report)
            else {
                continue;
            };
            let title = example.get("summary").and_then(Value::as_str).unwrap_or(name);
            let value = example.get("value").or_else(|| example.get("dataValue"));
            examples.extend(value.map(|value| (Some(title.to_string()), value.clone())));
        }
        examples
    }
}

/// The body of an operation.
#[derive(Default)]
pub(super) struct Body {
    pub(super) arguments: Vec<Argument>,
    /// The media type when it is not JSON.
    pub(super) content_type: Option<String>,
    pub(super) examples: Vec<(Option<String>, Value)>,
    /// Whether it takes properties that its schema does not list.
    pub(super) is_open: bool,
}

/// A body's schema, with its description.
struct Content<'s> {
    media: &'s str,
    schema: Rc<Component>,
    pointer: String,
    description: Option<String>,
    /// Whether the body is required: `Some(false)` only where the document says that it is optional.
    required: Option<bool>,
    /// Encodings of the fields of a form, by name.
    encoding: Option<&'s Map<String, Value>>,
}

impl<'d> Importer<'_, 'd> {
    /// The body of an operation.
    pub(super) fn body(&mut self, found: &Found<'d>, parameters: &[Parameter<'d>]) -> Body {
        match self.document.dialect {
            Dialect::Swagger2 => self.swagger_body(found, parameters),
            _ => self.request_body(found).unwrap_or_default(),
        }
    }

    fn request_body(&mut self, found: &Found<'d>) -> Option<Body> {
        let pointer = pointer_join(&found.pointer, "requestBody");
        let document = self.document;
        let report = &mut self.report;
        let body = found.operation.get("requestBody")?;
        let (body, pointer) = document.follow(body, pointer, Loss::Arguments, report)?;
        let content = body.get("content").unwrap_or(&Value::Null);
        let (content, within) =
            document.follow(content, pointer_join(&pointer, "content"), Loss::Arguments, report)?;
        let Some((media, value)) = content.as_object().and_then(best_media) else {
            report.lost_arguments = true;
            report.left_out(&pointer_join(&pointer, "content"), "a request body has no media type");
            return None;
        };
        let (value, place) = document.follow(value, pointer_join(&within, media), Loss::Arguments, report)?;
        let value = value.as_object()?;
        let (schema, schema_pointer) = match value.get("schema") {
            Some(schema) => {
                let place = pointer_join(&place, "schema");
                let component = self.bundle.schema(schema, &place, Direction::Input, &mut self.report);
                // Its `$ref` has no target.
                self.report.lost_arguments |= schema.get("$ref").is_some() && component.is_open();
                (component, place)
            }
            None => (Rc::new(Component::open()), place.clone()),
        };
        let examples = self.examples(value, &place);
        let required = self.report.flag(body.get("required"), "required", &pointer);
        let description = body.get("description").and_then(Value::as_str).map(str::to_string);
        let encoding = value.get("encoding").and_then(Value::as_object).filter(|_| essence(media) == FORM);
        let content = Content { media, schema, pointer: schema_pointer, description, required, encoding };
        Some(self.content(content, examples))
    }

    /// In Swagger 2.0 the body is among the parameters: as one schema, or as the fields of a form.
    fn swagger_body(&mut self, found: &Found<'d>, parameters: &[Parameter<'d>]) -> Body {
        let consumes = found.operation.get("consumes").or_else(|| self.document.root.get("consumes"));
        let media = consumes.and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
        if let Some(body) = parameters.iter().find(|parameter| parameter.place == "body") {
            let media = media.min_by_key(|media| rank(media)).unwrap_or(JSON);
            let argument = self.argument(body, Location::WholeBody);
            let Argument { schema, description, mut pointer, examples, .. } = argument;
            let required = self.report.flag(body.value.get("required"), "required", &body.pointer);
            let examples = examples.into_iter().map(|example| (None, example)).collect();
            if body.value.contains_key("schema") {
                pointer = pointer_join(&pointer, "schema");
            }
            let content = Content { media, schema, pointer, description, required, encoding: None };
            return self.content(content, examples);
        }
        let fields = parameters.iter().filter(|parameter| parameter.place == "formData");
        let arguments: Vec<Argument> = fields.map(|field| self.argument(field, Location::Body)).collect();
        if arguments.is_empty() {
            return Body::default();
        }
        let has_file =
            parameters.iter().any(|parameter| parameter.value.get("type").is_some_and(|kind| kind == "file"));
        let form = media.filter(|media| matches!(rank(media), 2 | 3)).min_by_key(|media| rank(media));
        let form = if has_file { MULTIPART } else { form.unwrap_or(FORM) };
        Body { arguments, content_type: Some(form.to_string()), examples: Vec::new(), is_open: false }
    }

    /// The properties of a plain object become arguments; any other body is one argument. Most documents omit
    /// `required: true` by mistake, so only an explicit `false` makes the properties optional.
    fn content(&mut self, content: Content<'_>, mut examples: Vec<(Option<String>, Value)>) -> Body {
        let Content { media, mut schema, pointer, mut description, required, encoding } = content;
        if rank(media) >= 4 {
            if schema.value.get("type").is_none_or(|kind| kind != "string") {
                schema = Rc::new(Component::new(json!({ "type": "string" }), Vec::new()));
                let text = format!("The whole body, as text of the type `{}`.", quote(media));
                description = Some(description.map_or(text.clone(), |said| format!("{said}\n\n{text}")));
            }
            examples.retain(|(_, example)| example.is_string());
        }
        if rank(media) > 4 {
            self.report.lost_arguments = true;
            let message = format!("nothing here writes a body of the type `{}`", quote(media));
            self.report.add(Code::DefinitionInvalid, &pointer, message);
        }
        let plain = match rank(media) {
            0..=3 => flatten(&schema.value, &mut self.bundle, &mut self.plain, &mut self.report),
            _ => None,
        };
        let is_open = plain.as_ref().is_some_and(|plain| plain.is_open && !plain.is_closed);
        let arguments = match plain {
            Some(plain) => {
                let example = self.example_of(&schema).filter(|_| examples.is_empty());
                let argument = |(name, property): (&String, &Rc<Property>)| {
                    let example = example.as_ref().and_then(|example| example.get(name));
                    let example = example.filter(|_| property.schema.value.get("examples").is_none());
                    let encoded = encoding.and_then(|encoding| encoding.get(name)?.as_object());
                    let writing = encoded.map(|encoded| self.encoded(encoded, &property.schema.value));
                    Argument {
                        required: property.required && required != Some(false),
                        writing: writing.unwrap_or_default(),
                        examples: example.into_iter().cloned().collect(),
                        ..Argument::new(Location::Body, name, property.schema.clone(), &pointer)
                    }
                };
                plain.properties.iter().map(argument).collect()
            }
            None => {
                let is_deep =
                    |encoded: &Value| encoded.get("style").is_some_and(|style| style == "deepObject");
                let style = encoding.filter(|all| all.values().any(is_deep)).map(|_| Style::DeepObject);
                let writing = Writing { style, explode: None };
                let body = Argument::new(Location::WholeBody, "body", schema, &pointer);
                vec![Argument { description, required: required == Some(true), writing, ..body }]
            }
        };
        Body { arguments, content_type: content_type(media), examples, is_open }
    }

    /// The author's example of a whole body, in its schema.
    fn example_of(&mut self, schema: &Component) -> Option<Value> {
        let example = |schema: &Component| schema.value.get("examples")?.get(0).cloned();
        example(schema).or_else(|| {
            let reference = schema.value.get("$ref")?.as_str()?;
            example(&*self.bundle.target(reference, Direction::Input, &mut self.report)?)
        })
    }
}

pub(super) const JSON: &str = "application/json";
pub(super) const FORM: &str = "application/x-www-form-urlencoded";
pub(super) const MULTIPART: &str = "multipart/form-data";

/// The preferred media type of a `content` map.
pub(super) fn best_media(content: &Map<String, Value>) -> Option<(&str, &Value)> {
    let usable = content.iter().filter(|(_, value)| value.is_object());
    usable.map(|(media, value)| (media.as_str(), value)).min_by_key(|(media, _)| rank(media))
}

/// The JSON media type of a `content` map.
pub(super) fn json_media(content: &Map<String, Value>) -> Option<(&str, &Value)> {
    best_media(content).filter(|(media, _)| rank(media) <= 1)
}

pub(super) fn rank(media: &str) -> u8 {
    match essence(media).as_str() {
        JSON | "*/*" | "application/*" => 0,
        media if media.ends_with("+json") || media == "text/json" => 1,
        FORM => 2,
        MULTIPART => 3,
        // Their parts, or their kind, are unknown.
        media if media.starts_with("multipart/") || media.contains('*') => 5,
        _ => 4,
    }
}

pub(super) fn essence(media: &str) -> String {
    media.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
}

pub(super) fn content_type(media: &str) -> Option<String> {
    (rank(media) != 0).then(|| media.to_string())
}

// Merges the arguments of a request into one object in which each has a unique name.

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
}

/// Serialization of lists and objects, where it is not the default.
#[derive(Clone, Copy, Default)]
pub(super) struct Writing {
    pub(super) style: Option<Style>,
    pub(super) explode: Option<bool>,
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

/// Merges arguments; parts over `budget` accept any value. With `is_open`, more arguments are allowed, and become properties
/// of the body.
pub(super) fn merge(
    (arguments, is_open): (&[Argument], bool),
    method: &str,
    pointer: &str,
    mut budget: usize,
    bundle: &mut Bundle<'_, '_>,
    report: &mut Report,
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
            report.add(Code::ArgumentRenamed, &argument.pointer, message);
        }
        let Writing { style, explode } = argument.writing;
        let is_usual = argument.location == usual_location(argument.location, method) && style.is_none();
        if renamed || !is_usual {
            let location = argument.location;
            let name = renamed.then(|| argument.name.clone());
            places.insert(key.clone(), ArgumentPlace { location, name, style, explode });
        }
        if argument.required {
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
    if !required.is_empty() {
        parameters.insert("required".to_string(), required.into());
    }
    parameters.insert("additionalProperties".to_string(), is_open.into());
    let (definitions, unresolved) = bundle.definitions(refs, Direction::Input, &mut budget, report);
    if !definitions.is_empty() {
        parameters.insert("$defs".to_string(), definitions.into());
    }
    if left_open + unresolved > 0 {
        let parts = left_open + unresolved;
        let message = format!("the arguments are too large to bundle; {parts} parts of them accept anything");
        report.add(Code::SchemaReferenceBroken, pointer, message);
    }
    Merged { keys, parameters: parameters.into(), places }
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
        Location::Query => "query",
        Location::Header => "header",
        Location::Cookie => "cookie",
        Location::Body | Location::WholeBody => "body",
    }
}
