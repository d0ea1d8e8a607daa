//! The arguments of a call, assigned to the parts of the request where they go.

use serde_json::{Map, Value};

use super::query::simple;
use super::template::Template;
use crate::exec::backend::backend_error::BackendError;
use toolcrib_definition::{ArgumentPlace, HttpBackend, Location, Style};

/// The arguments of a call, in the parts of the request where they go.
#[derive(Default)]
pub(super) struct Parts<'o> {
    /// Values by their names in the template.
    pub(super) path: Map<String, Value>,
    pub(super) query: Vec<Part<'o>>,
    /// The argument that is the whole query.
    pub(super) query_string: Option<Part<'o>>,
    pub(super) headers: Vec<Part<'o>>,
    pub(super) cookies: Vec<Part<'o>>,
    pub(super) body: Vec<Part<'o>>,
    pub(super) whole_body: Option<Part<'o>>,
}

/// One argument in its place.
pub(super) struct Part<'o> {
    /// Its name in the schema of the tool.
    pub(super) argument: &'o str,
    /// Its name in the request.
    pub(super) name: &'o str,
    pub(super) value: &'o Value,
    pub(super) place: Option<&'o ArgumentPlace>,
}

impl<'o> Parts<'o> {
    pub(super) fn new(
        backend: &'o HttpBackend,
        template: &Template,
        arguments: &'o Value,
    ) -> Result<Self, BackendError> {
        let mut parts = Self::default();
        for (argument, value) in arguments.as_object().into_iter().flatten() {
            let place = backend.arguments.get(argument);
            let name = place.and_then(|place| place.name.as_deref()).unwrap_or(argument);
            let part = Part { argument, name, value, place };
            match location(backend, template, argument) {
                Location::Path => {
                    parts.path.insert(name.to_string(), in_path(value, place));
                }
                Location::QueryString | Location::Header | Location::Cookie if value.is_null() => {}
                Location::Query => parts.query.push(part),
                Location::QueryString => parts.query_string = Some(part),
                Location::Header => parts.headers.push(part),
                Location::Cookie => parts.cookies.push(part),
                Location::Body => parts.body.push(part),
                Location::WholeBody => parts.whole_body = Some(part),
            }
        }
        if parts.whole_body.is_some() && !parts.body.is_empty() {
            return Err(BackendError::unconfigured(
                "its backend sends one argument as the body, and others in it",
            ));
        }
        Ok(parts)
    }
}

/// A value of the path. What no operator of a template writes becomes text here: JSON, and lists with other delimiters.
fn in_path(value: &Value, place: Option<&ArgumentPlace>) -> Value {
    let style = place.and_then(|place| place.style).filter(|style| *style != Style::Form);
    match value {
        Value::Null => Value::Null,
        value if style.is_some() => simple(value, place).into(),
        value => value.clone(),
    }
}

/// The location of an argument: as the backend says; else the path, if it has this variable; else as the method says.
pub(super) fn location(backend: &HttpBackend, template: &Template, argument: &str) -> Location {
    if let Some(place) = backend.arguments.get(argument) {
        return place.location;
    }
    if template.variables().any(|variable| variable == argument) {
        return Location::Path;
    }
    match backend.method.as_str() {
        "GET" | "HEAD" | "DELETE" => Location::Query,
        _ => Location::Body,
    }
}

/// The argument for a variable of the path.
pub(super) fn argument_of<'b>(backend: &'b HttpBackend, variable: &'b str) -> &'b str {
    let named = |(_, place): &(&String, &ArgumentPlace)| {
        place.location == Location::Path && place.name.as_deref() == Some(variable)
    };
    let renamed = backend.arguments.iter().find(named);
    renamed.map_or(variable, |(argument, _)| argument.as_str())
}
