//! The body of a request: its properties become arguments, or it is one argument.

use std::rc::Rc;

use serde_json::{Map, Value, json};

use super::bundle::Component;
use super::document::Dialect;
use super::flatten::{Property, flatten};
use super::importer::Importer;
use super::lower::Direction;
use super::media::{FORM, JSON, MULTIPART, best_media, content_type, rank};
use super::merge::{Argument, BYTES, Others, Writing};
use super::parameter::Parameter;
use super::paths::Found;
use super::report::{Loss, quote};
use toolcrib_definition::document::pointer_join;
use toolcrib_definition::finding::Code;
use toolcrib_definition::media_type::{essence, is_text};
use toolcrib_definition::{Location, Style};

/// Fields of a media type.
const MEDIA_FIELDS: [&str; 7] =
    ["schema", "example", "examples", "encoding", "itemSchema", "itemEncoding", "prefixEncoding"];

/// The body of an operation.
#[derive(Default)]
pub(super) struct Body {
    pub(super) arguments: Vec<Argument>,
    /// The media type when it is not JSON.
    pub(super) content_type: Option<String>,
    pub(super) examples: Vec<(Option<String>, Value)>,
    /// What else it takes.
    pub(super) others: Others,
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
        let is_old = self.document.dialect == Dialect::Swagger2;
        let is_body = |parameter: &&Parameter<'_>| matches!(parameter.place, "body" | "formData");
        let in_list = parameters.iter().find(is_body);
        let own = found.operation.get("requestBody");
        let report = &mut self.bundle.report;
        match (in_list, own) {
            (Some(body), None) if !is_old => {
                let message = format!("`in: {}` is of Swagger 2.0; it was read as the body", body.place);
                let help = "write a `requestBody`";
                report.warn(Code::FieldUnknown, &pointer_join(&body.pointer, "in"), message, help);
            }
            (None, Some(_)) if is_old => {
                let message = "`requestBody` is of OpenAPI 3; it was read as the body".to_string();
                let place = pointer_join(&found.pointer, "requestBody");
                report.warn(Code::FieldUnknown, &place, message, "write a parameter with `in: body`");
            }
            (Some(body), Some(_)) => report.left_out(&body.pointer, "the operation has another body"),
            _ => {}
        }
        if own.is_none() {
            return self.swagger_body(found, parameters);
        }
        self.request_body(found).unwrap_or_default()
    }

    fn request_body(&mut self, found: &Found<'d>) -> Option<Body> {
        let pointer = pointer_join(&found.pointer, "requestBody");
        let document = self.document;
        let report = &mut self.bundle.report;
        let body = found.operation.get("requestBody")?;
        let (body, pointer) = document.follow(body, pointer, Loss::Arguments, report)?;
        if let Some(body) = body.as_object() {
            report.unknown_fields(body, &["content", "required", "description"], &pointer);
        }
        let content = body.get("content").unwrap_or(&Value::Null);
        let (content, within) =
            document.follow(content, pointer_join(&pointer, "content"), Loss::Arguments, report)?;
        for media in content.as_object().into_iter().flat_map(Map::keys).filter(|media| !media.contains('/'))
        {
            let message = format!("`{}` is no media type", quote(media));
            let help = "write one such as `application/json`";
            report.warn(Code::FieldUnknown, &pointer_join(&within, media), message, help);
        }
        let Some((media, value)) = content.as_object().and_then(best_media) else {
            report.lost_arguments = true;
            report.left_out(&pointer_join(&pointer, "content"), "a request body has no media type");
            return None;
        };
        let (value, place) = document.follow(value, pointer_join(&within, media), Loss::Arguments, report)?;
        let value = value.as_object()?;
        report.unknown_fields(value, &MEDIA_FIELDS, &place);
        let (schema, schema_pointer) = match value.get("schema") {
            Some(schema) => {
                let place = pointer_join(&place, "schema");
                let component = self.bundle.schema(schema, &place, Direction::Input);
                // Its `$ref` has no target.
                self.bundle.report.lost_arguments |= schema.get("$ref").is_some() && component.is_open();
                (component, place)
            }
            None => (Rc::new(Component::open()), place.clone()),
        };
        let examples = self.examples(value, &place);
        let required = self.bundle.report.flag(body.get("required"), "required", &pointer);
        let description = body.get("description").and_then(Value::as_str).map(str::to_string);
        let encoding = if matches!(rank(media), 2 | 3) {
            value.get("encoding").and_then(Value::as_object)
        } else {
            None
        };
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
            let required = self.bundle.report.flag(body.value.get("required"), "required", &body.pointer);
            let examples = examples.into_iter().map(|example| (None, example)).collect();
            if body.value.contains_key("schema") {
                pointer = pointer_join(&pointer, "schema");
            } else {
                let help = "write it below `schema`";
                self.bundle.report.warn(Code::FieldInvalid, &pointer, "the body has no schema".into(), help);
            }
            let content = Content { media, schema, pointer, description, required, encoding: None };
            return self.content(content, examples);
        }
        let fields = parameters.iter().filter(|parameter| parameter.place == "formData");
        let mut arguments: Vec<Argument> = fields.map(|field| self.argument(field, Location::Body)).collect();
        if arguments.is_empty() {
            return Body::default();
        }
        let has_file =
            parameters.iter().any(|parameter| parameter.value.get("type").is_some_and(|kind| kind == "file"));
        let form = media.filter(|media| matches!(rank(media), 2 | 3)).min_by_key(|media| rank(media));
        let form = if has_file { MULTIPART } else { form.unwrap_or(FORM) };
        if form == MULTIPART {
            arguments.iter_mut().for_each(Argument::say_how_files_are_written);
        }
        Body { arguments, content_type: Some(form.to_string()), ..Body::default() }
    }

    /// The properties of a plain object become arguments; any other body is one argument. Most documents omit
    /// `required: true` by mistake, so only an explicit `false` makes the properties optional.
    fn content(&mut self, content: Content<'_>, mut examples: Vec<(Option<String>, Value)>) -> Body {
        let Content { media, mut schema, pointer, mut description, required: required_body, encoding } =
            content;
        if rank(media) >= 4 {
            let is_string = schema.value.get("type").is_some_and(|kind| kind == "string");
            let is_file = !is_text(&essence(media));
            if !is_string {
                schema = Rc::new(Component::new(json!({ "type": "string" }), Vec::new()));
            }
            if is_file || !is_string {
                let form = if is_file { BYTES } else { "text" };
                let text = format!("The whole body of the type `{}`, as {form}.", quote(media));
                description = Some(description.map_or(text.clone(), |said| format!("{said}\n\n{text}")));
            }
            examples.retain(|(_, example)| example.is_string());
        }
        if rank(media) > 4 {
            self.bundle.report.lost_arguments = true;
            let message = format!("nothing here writes a body of the type `{}`", quote(media));
            self.bundle.report.add(Code::DefinitionInvalid, &pointer, message);
        }
        let plain = match rank(media) {
            0..=3 => flatten(&schema.value, &mut self.bundle, &mut self.plain),
            _ => None,
        };
        let others = plain.as_ref().map_or_else(Others::default, |plain| {
            let required = plain.properties.values().filter(|property| property.required).count();
            Others {
                allowed: if plain.is_closed { Some(false) } else { plain.is_open.then_some(true) },
                least: plain.least.saturating_sub(required as u64),
                optional: required > 0 && required_body == Some(false),
            }
        });
        let arguments = match plain {
            Some(plain) => {
                let example = if examples.is_empty() { self.example_of(&schema) } else { None };
                let argument = |(name, property): (&String, &Rc<Property>)| {
                    let has_own = property.schema.value.get("examples").is_some();
                    let example = if has_own { None } else { example.as_ref().and_then(|all| all.get(name)) };
                    let encoded = encoding.and_then(|encoding| encoding.get(name)?.as_object());
                    let writing = encoded.map(|encoded| self.encoded(encoded, &property.schema.value, media));
                    let mut argument = Argument {
                        required: property.required,
                        writing: writing.unwrap_or_default(),
                        examples: example.into_iter().cloned().collect(),
                        ..Argument::new(Location::Body, name, property.schema.clone(), &pointer)
                    };
                    if essence(media) == MULTIPART {
                        argument.say_how_files_are_written();
                    }
                    argument
                };
                plain.properties.iter().map(argument).collect()
            }
            None => {
                let is_deep =
                    |encoded: &Value| encoded.get("style").is_some_and(|style| style == "deepObject");
                let style = encoding.filter(|all| all.values().any(is_deep)).map(|_| Style::DeepObject);
                let writing = Writing { style, ..Writing::default() };
                let body = Argument::new(Location::WholeBody, "body", schema, &pointer);
                vec![Argument { description, required: required_body == Some(true), writing, ..body }]
            }
        };
        Body { arguments, content_type: content_type(media), examples, others }
    }

    /// The author's example of a whole body, in its schema.
    fn example_of(&mut self, schema: &Component) -> Option<Value> {
        let example = |schema: &Component| schema.value.get("examples")?.get(0).cloned();
        example(schema).or_else(|| {
            let reference = schema.value.get("$ref")?.as_str()?;
            example(&*self.bundle.target(reference, Direction::Input)?)
        })
    }
}
