//! Parameters: of the path, the query, headers and cookies, each with its schema.

use std::collections::HashSet;
use std::rc::Rc;

use indexmap::IndexMap;
use serde_json::{Map, Value, json};

use super::bundle::Component;
use super::document::Dialect;
use super::importer::Importer;
use super::lower::{Direction, is_annotation, is_true};
use super::media::{MULTIPART, best_media, rank};
use super::merge::{Argument, Writing};
use super::paths::Found;
use super::report::{Loss, quote};
use toolcrib_definition::document::{pointer_join, pointer_to};
use toolcrib_definition::finding::Code;
use toolcrib_definition::media_type::essence;
use toolcrib_definition::{Location, RESERVED_HEADERS, Style, path_variables};

/// Fields of a parameter with a schema.
const FIELDS: [&str; 13] = [
    "name", "in", "required", "schema", "description", "content", "style", "explode", "example", "examples",
    "deprecated", "allowReserved", "allowEmptyValue",
];

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
            let followed = self.follow(list, pointer, Loss::Arguments);
            let Some((list, pointer)) = followed else { continue };
            let Some(list) = list.as_array() else {
                self.bundle.report.left_out(&pointer, "`parameters` is not a list");
                continue;
            };
            if list.len() > MAX_PARAMETERS {
                let message = format!("more than {MAX_PARAMETERS} parameters; the others were left out");
                self.bundle.report.add(Code::DefinitionInvalid, &pointer, message);
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
        let (value, pointer) = self.follow(value, pointer, Loss::Arguments)?;
        let Some(value) = value.as_object() else {
            self.bundle.report.left_out(&pointer, "a parameter is an object");
            return None;
        };
        let name = value.get("name").and_then(Value::as_str).filter(|name| !name.is_empty());
        let Some(name) = name else {
            self.bundle.report.left_out(&pointer, "a parameter has no name");
            return None;
        };
        let place = value.get("in").and_then(Value::as_str).unwrap_or_default();
        if value.contains_key("schema") || !value.contains_key("type") {
            self.bundle.report.unknown_fields(value, &FIELDS, &pointer);
        }
        if matches!(place, "path" | "query" | "header" | "cookie" | "querystring" | "body" | "formData") {
            return Some(Parameter { place, name, value, pointer });
        }
        let message = format!("parameter `{}` is `in` no known place", quote(name));
        self.bundle.report.left_out(&pointer_join(&pointer, "in"), &message);
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
                    self.bundle.report.left_out(&pointer_join(&parameter.pointer, "name"), &message);
                    continue;
                }
                "header" if IGNORED_HEADERS.contains(&parameter.name.to_ascii_lowercase().as_str()) => {
                    continue;
                }
                "header" if RESERVED_HEADERS.contains(&parameter.name.to_ascii_lowercase().as_str()) => {
                    self.bundle.report.reserved_header(parameter.name, &parameter.pointer);
                    continue;
                }
                place if self.secrets.contains(&(place.to_string(), parameter.name.to_string())) => continue,
                "path" => Location::Path,
                "query" => Location::Query,
                "querystring" => Location::QueryString,
                "header" => Location::Header,
                "cookie" => Location::Cookie,
                _ => continue,
            };
            arguments.push(self.argument(parameter, location));
        }
        for name in missing {
            let message =
                format!("path variable `{}` has no parameter; it was taken for a string", quote(name));
            self.bundle.report.add(Code::SchemaRepaired, &found.pointer, message);
            let schema = Rc::new(Component::new(json!({ "type": "string" }), Vec::new()));
            let argument = Argument::new(Location::Path, name, schema, &found.pointer);
            arguments.push(Argument { required: true, ..argument });
        }
        arguments
    }

    /// One parameter as an argument.
    pub(super) fn argument(&mut self, parameter: &Parameter<'d>, location: Location) -> Argument {
        let Parameter { name, value, ref pointer, .. } = *parameter;
        let required = self.bundle.report.flag(value.get("required"), "required", pointer) == Some(true);
        let description = match value.get("description") {
            Some(Value::String(text)) => Some(text.clone()).filter(|text| !text.trim().is_empty()),
            None | Some(Value::Null) => None,
            Some(_) => {
                let message = "`description` is not text; it was left out";
                self.bundle.report.invalid(pointer, "description", message);
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

    /// Serialization of a parameter, or of a form field. The default, repeated lists, needs no record.
    fn writing(&self, value: &Map<String, Value>, location: Location, schema: &Value) -> Writing {
        let writing = |style, explode| Writing { style: Some(style), explode, ..Writing::default() };
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
        let content = value.get("content").and_then(Value::as_object).and_then(best_media);
        if !value.contains_key("schema")
            && let Some((media, _)) = content
        {
            return if rank(media) <= 1 { writing(Style::Json, None) } else { Writing::default() };
        }
        let explode = value.get("explode").and_then(Value::as_bool);
        let explodes = explode == Some(true) && may_be_object(schema);
        match location {
            Location::Query => self.written(value, schema),
            Location::Header if explodes => Writing { explode, ..Writing::default() },
            Location::Cookie if word("style") == "cookie" => writing(Style::Cookie, explode),
            Location::Cookie if explode == Some(true) => Writing { explode, ..Writing::default() },
            _ => Writing::default(),
        }
    }

    /// Serialization of a field of a form of this media type, for which a document may say nothing.
    pub(super) fn encoded(&self, value: &Map<String, Value>, schema: &Value, media: &str) -> Writing {
        let kind = value.get("contentType").and_then(Value::as_str);
        if ["style", "explode", "allowReserved"].iter().any(|word| value.contains_key(*word)) {
            self.written(value, schema)
        } else if essence(media) == MULTIPART {
            Writing { content_type: kind.map(str::to_string), ..Writing::default() }
        } else {
            let style = kind.filter(|kind| kind.contains("json")).map(|_| Style::Json);
            Writing { style, ..Writing::default() }
        }
    }

    /// Serialization by the `style` and `explode` of OpenAPI 3.
    fn written(&self, value: &Map<String, Value>, schema: &Value) -> Writing {
        let explode = value.get("explode").and_then(Value::as_bool);
        let (style, explode) = match value.get("style").and_then(Value::as_str) {
            Some("spaceDelimited") => (Some(Style::SpaceDelimited), explode),
            Some("pipeDelimited") => (Some(Style::PipeDelimited), explode),
            Some("deepObject") => (Some(Style::DeepObject), None),
            _ if explode == Some(false) => (Some(Style::Form), explode),
            _ => (may_be_object(schema).then_some(Style::Form), None),
        };
        Writing { style, explode, allow_reserved: is_true(value.get("allowReserved")), content_type: None }
    }

    fn parameter_schema(&mut self, value: &'d Map<String, Value>, pointer: &str) -> Rc<Component> {
        if let Some(schema) = value.get("schema") {
            let pointer = pointer_join(pointer, "schema");
            return self.bundle.schema(schema, &pointer, Direction::Input);
        }
        if self.document.dialect == Dialect::Swagger2 || value.contains_key("type") {
            let whole = self.document.at(pointer).unwrap_or(&Value::Null);
            return self.bundle.parameter(whole, pointer);
        }
        let content = value.get("content").and_then(Value::as_object).and_then(best_media);
        if let Some((media, content)) = content
            && let Some(schema) = content.get("schema")
        {
            let pointer = pointer_to(pointer, &["content", media, "schema"]);
            return self.bundle.schema(schema, &pointer, Direction::Input);
        }
        let message = "a parameter without a schema accepts anything";
        self.bundle.report.add(Code::SchemaDoubtful, pointer, message);
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
            let Some((example, _)) = self.follow(example, place, Loss::Nothing) else {
                continue;
            };
            let title = example.get("summary").and_then(Value::as_str).unwrap_or(name);
            let value = example.get("value").or_else(|| example.get("dataValue"));
            examples.extend(value.map(|value| (Some(title.to_string()), value.clone())));
        }
        examples
    }
}

/// Whether a value of a rewritten schema can be an object, whose form then has to be known.
fn may_be_object(schema: &Value) -> bool {
    let all = |word: &str| schema.get(word).and_then(Value::as_array);
    match schema.get("type") {
        Some(Value::Array(types)) => types.iter().any(|one| one == "object"),
        Some(one) => one == "object",
        None => {
            let is_map =
                ["properties", "additionalProperties", "$ref"].iter().any(|word| schema.get(*word).is_some());
            let says_nothing =
                schema.as_object().is_some_and(|map| map.keys().all(|word| is_annotation(word)));
            all("allOf").is_some_and(|parts| parts.iter().all(may_be_object))
                || ["anyOf", "oneOf"].iter().filter_map(|word| all(word)).flatten().any(may_be_object)
                || is_map
                || says_nothing
        }
    }
}
