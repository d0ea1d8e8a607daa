//! The body of a request: its media type, and its schema as arguments.

use std::rc::Rc;

use serde_json::{Map, Value};

use super::Importer;
use super::argument::{Argument, Writing};
use super::bundle::Component;
use super::document::Dialect;
use super::flatten::flatten;
use super::lower::Direction;
use super::media::{FORM, JSON, MULTIPART, best_media, content_type, essence, rank};
use super::parameter::Parameter;
use super::paths::Found;
use crate::finding::pointer_join;
use crate::tool::Location;

/// The body of an operation.
#[derive(Default)]
pub(super) struct Body {
    pub(super) arguments: Vec<Argument>,
    /// The media type when it is not JSON.
    pub(super) content_type: Option<String>,
    pub(super) examples: Vec<(Option<String>, Value)>,
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
        let (body, pointer) =
            self.document.follow(found.operation.get("requestBody")?, pointer, &mut self.report)?;
        let content = body.get("content").and_then(Value::as_object);
        let Some((media, value)) = content.and_then(best_media) else {
            self.report.invalid(&pointer, "content", "a request body without a media type was left out");
            return None;
        };
        let place = pointer_join(&pointer_join(&pointer, "content"), media);
        let (schema, schema_pointer) = match value.get("schema") {
            Some(schema) => {
                let place = pointer_join(&place, "schema");
                (self.bundle.schema(schema, &place, Direction::Input, &mut self.report), place)
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
            let Argument { schema, description, pointer, examples, .. } =
                self.argument(body, Location::WholeBody);
            let required = self.report.flag(body.value.get("required"), "required", &body.pointer);
            let examples = examples.into_iter().map(|example| (None, example)).collect();
            let pointer =
                if body.value.contains_key("schema") { pointer_join(&pointer, "schema") } else { pointer };
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
        Body { arguments, content_type: Some(form.to_string()), examples: Vec::new() }
    }

    /// The properties of a plain object become arguments; any other body is one argument. Most documents omit
    /// `required: true` by mistake, so only an explicit `false` makes the properties optional.
    fn content(&mut self, content: Content<'_>, examples: Vec<(Option<String>, Value)>) -> Body {
        let Content { media, schema, pointer, description, required, encoding } = content;
        let is_map = rank(media) <= 3;
        let plain = if is_map {
            flatten(&schema.value, &mut self.bundle, &mut self.plain, &mut self.report)
        } else {
            None
        };
        let arguments = match plain {
            Some(plain) => {
                let argument = |(name, property): (&String, &Rc<super::flatten::Property>)| Argument {
                    location: Location::Body,
                    name: name.clone(),
                    schema: property.schema.clone(),
                    description: None,
                    examples: Vec::new(),
                    required: property.required && required != Some(false),
                    pointer: pointer.clone(),
                    writing: encoding
                        .and_then(|encoding| encoding.get(name)?.as_object())
                        .map_or_else(Writing::default, |told| self.encoded(told, &property.schema.value)),
                };
                plain.properties.iter().map(argument).collect()
            }
            None => {
                let required = required == Some(true);
                let (location, name) = (Location::WholeBody, "body".to_string());
                vec![Argument {
                    location,
                    name,
                    schema,
                    description,
                    examples: Vec::new(),
                    required,
                    pointer,
                    writing: Writing::default(),
                }]
            }
        };
        Body { arguments, content_type: content_type(media), examples }
    }
}
