//! One operation as a tool definition.

use std::collections::HashMap;

use indexmap::IndexMap;
use serde_json::{Map, Value};

use super::body::Body;
use super::document::Dialect;
use super::importer::{Importer, Operation};
use super::lower::{Direction, is_true};
use super::media::json_media;
use super::merge::{Argument, Merged, merge};
use super::parameter::Parameter;
use super::paths::Found;
use super::report::{Loss, quote};
use crate::plain_text::sentence_end;
use crate::sources::budget::weight;
use toolcrib_definition::document::{pointer_join, pointer_to};
use toolcrib_definition::finding::Code;
use toolcrib_definition::{
    Backend, CategoryPath, Definition, Effect, Example, HttpBackend, Location, Schema, clean_line, clipped,
    words,
};

/// Fields of an operation in any version.
const FIELDS: [&str; 15] = [
    "operationId", "summary", "description", "tags", "parameters", "requestBody", "responses", "deprecated",
    "externalDocs", "callbacks", "security", "servers", "consumes", "produces", "schemes",
];

/// Longest summary that is used as a short description, in characters.
const MAX_SHORT: usize = 120;

/// Longest result schema that is kept, as JSON: a longer one is not worth its room.
const MAX_RESULT: usize = 64 * 1024;

/// Largest factor between a schema's JSON and its memory.
const OVERHEAD: usize = 8;

/// Most error responses of one operation, and most characters of a meaning.
const MAX_ERRORS: usize = 12;

const MAX_MEANING: usize = 120;

/// Most tags of one operation.
const MAX_TAGS: usize = 32;

impl<'d> Importer<'_, 'd> {
    /// Reads an operation. Mistakes in it are reported, and the rest is kept.
    pub(super) fn operation(&mut self, found: &Found<'d>) -> Operation {
        let name = self.name(found);
        self.bundle.report.tool = Some(name.clone());
        if found.id().is_none() {
            let message = format!("{} {} was named `{}`", found.method, quote(found.path), quote(&name));
            self.bundle.report.add(Code::OperationRenamed, &found.pointer, message);
        } else if found.id() != Some(name.as_str()) {
            let message =
                format!("another operation has this operationId; this one is called `{}`", quote(&name));
            let pointer = pointer_join(&found.pointer, "operationId");
            self.bundle.report.add(Code::NameDuplicate, &pointer, message);
        }
        self.bundle.report.unknown_fields(found.operation, &FIELDS, &found.pointer);
        let parameters = self.parameters(found);
        let mut arguments = self.arguments(found, &parameters);
        let body = self.body(found, &parameters);
        let Body { arguments: sent, content_type, examples, others } = body;
        arguments.extend(sent);
        self.limit(&mut arguments, found);
        let merged = merge((&arguments, others), found, self.budget, &mut self.bundle);
        let summary = self.text(found.operation, "summary", &found.pointer);
        let description = self.text(found.operation, "description", &found.pointer);
        let mut tags = self.tags(found).into_iter();
        let category = tags.next().and_then(|tag| CategoryPath::from_segments([tag.as_str()]));
        let (returns, result_schema) = self.result(found);
        let address = found.address(self.document.root);
        let lost_arguments = std::mem::take(&mut self.bundle.report.lost_arguments);
        let definition = Definition {
            name,
            short_description: short(&summary, &description),
            description: if description.is_empty() { summary } else { description },
            category: category.into_iter().collect(),
            tags: tags.collect(),
            returns,
            result_schema,
            errors: self.errors(found),
            examples: calls(&arguments, &merged, examples, self.budget),
            notes: address.iter().map(|address| format!("Served from `{}`.", quote(address))).collect(),
            effect: Some(match found.method.as_str() {
                "GET" | "HEAD" | "OPTIONS" | "TRACE" | "QUERY" => Effect::Read,
                "DELETE" => Effect::Destructive,
                _ => Effect::Write,
            }),
            deprecated: is_true(found.operation.get("deprecated")).then_some(true),
            parameters: Some(Schema::from_value(merged.parameters)),
            backend: Some(Backend::Http(HttpBackend {
                method: found.method.clone(),
                path: written_path(sent_path(found.path), &parameters, self.document.version()),
                // Where a relative address is, only the operator knows.
                server: address.map(|address| {
                    let title = self.title.as_deref().unwrap_or_default();
                    if address.starts_with("http") { address } else { format!("{title}{address}") }
                }),
                arguments: merged.places,
                content_type,
                optional_body: others.optional,
            })),
            ..Definition::default()
        };
        Operation { definition, pointer: found.pointer.clone(), lost_arguments }
    }

    fn name(&mut self, found: &Found<'d>) -> String {
        match found.id() {
            Some(id) if self.ids.insert(id.to_string()) => id.to_string(),
            Some(id) => self.names.number(id),
            None => self.names.number(&name_of_operation(&found.method, found.path)),
        }
    }

    /// Keeps the number of arguments within the budget too, required ones first.
    fn limit(&mut self, arguments: &mut Vec<Argument>, found: &Found<'d>) {
        let most = (self.budget / 256).max(32);
        if arguments.len() > most {
            arguments.sort_by_key(|argument| !argument.required);
            arguments.truncate(most);
            let message = format!("more than {most} arguments; the others were left out");
            self.bundle.report.add(Code::DefinitionInvalid, &found.pointer, message);
        }
    }

    /// A text field, or nothing.
    fn text(&mut self, owner: &Map<String, Value>, field: &str, pointer: &str) -> String {
        match owner.get(field) {
            Some(Value::String(text)) => match text.char_indices().find(|(at, _)| *at >= self.budget) {
                Some((end, _)) => text[..end].to_string(),
                None => text.trim().to_string(),
            },
            None | Some(Value::Null) => String::new(),
            Some(_) => {
                self.bundle.report.invalid(pointer, field, format!("`{field}` is not text; it was left out"));
                String::new()
            }
        }
    }

    fn tags(&mut self, found: &Found<'d>) -> Vec<String> {
        let Some(tags) = found.operation.get("tags") else { return Vec::new() };
        if !tags.is_array() {
            self.bundle.report.invalid(&found.pointer, "tags", "`tags` is not a list; it was left out");
        }
        let texts = tags.as_array().into_iter().flatten().filter_map(Value::as_str);
        texts.map(clean_line).filter(|tag| !tag.is_empty()).take(MAX_TAGS).collect()
    }

    /// The first successful response, in words and as a schema.
    fn result(&mut self, found: &Found<'d>) -> (Option<String>, Option<Schema>) {
        let nothing = (None, None);
        let pointer = pointer_join(&found.pointer, "responses");
        let responses = found.operation.get("responses").unwrap_or(&Value::Null);
        let responses = self.follow(responses, pointer, Loss::Nothing);
        let Some((Value::Object(responses), within)) = responses else { return nothing };
        let success = responses.iter().find(|(status, _)| status.starts_with('2'));
        let is_success = success.is_some();
        let response = success.or_else(|| responses.get_key_value("default"));
        let Some((status, response)) = response else { return nothing };
        let pointer = pointer_join(&within, status);
        let Some((response, pointer)) = self.follow(response, pointer, Loss::Nothing) else {
            return nothing;
        };
        let Some(response) = response.as_object() else { return nothing };
        let returns = Some(self.text(response, "description", &pointer)).filter(|text| !text.is_empty());
        let returns = returns.filter(|text| is_success || !text.to_lowercase().contains("error"));
        let content = response.get("content").and_then(Value::as_object).and_then(json_media);
        let (owner, pointer) = match (self.document.dialect, content) {
            _ if !is_success => return (returns, None),
            (Dialect::Swagger2, _) => (response.get("schema"), pointer_join(&pointer, "schema")),
            (_, Some((media, content))) => {
                let pointer = pointer_to(&pointer, &["content", media]);
                match self.follow(content, pointer, Loss::Nothing) {
                    Some((content, pointer)) => (content.get("schema"), pointer_join(&pointer, "schema")),
                    None => return (returns, None),
                }
            }
            _ => return (returns, None),
        };
        (returns, owner.and_then(|schema| self.result_schema(schema, &pointer)))
    }

    /// The error responses with their meanings; statuses of one meaning are one line.
    fn errors(&mut self, found: &Found<'d>) -> Vec<String> {
        let responses = found.operation.get("responses").and_then(Value::as_object);
        let is_error = |status: &str| status.starts_with(['4', '5']) || status == "default";
        let mut meanings: IndexMap<String, Vec<&str>> = IndexMap::new();
        for (status, response) in responses.into_iter().flatten().filter(|(status, _)| is_error(status)) {
            let pointer = pointer_to(&found.pointer, &["responses", status]);
            let Some((response, pointer)) = self.follow(response, pointer, Loss::Nothing) else {
                continue;
            };
            let Some(response) = response.as_object() else { continue };
            let meaning = clean_line(&self.text(response, "description", &pointer));
            let meaning = meaning[..sentence_end(&meaning)].trim_end_matches('.');
            // `default` is often the description of success, or only says that there is an error.
            let is_telling = || meaning.to_lowercase().contains("error") && meaning.split(' ').count() > 2;
            if status != "default" || is_telling() {
                meanings.entry(clipped(meaning, MAX_MEANING).into_owned()).or_default().push(status);
            }
        }
        let line = |(meaning, statuses): (String, Vec<&str>)| match meaning.as_str() {
            meaning if meaning.is_empty() || statuses.contains(&meaning) => statuses.join(", "),
            meaning => format!("{}: {meaning}", statuses.join(", ")),
        };
        meanings.into_iter().take(MAX_ERRORS).map(line).collect()
    }

    fn result_schema(&mut self, schema: &Value, pointer: &str) -> Option<Schema> {
        let mut component = self.bundle.schema(schema, pointer, Direction::Output);
        // A schema that is only a `$ref` is easier to read when resolved.
        if let Some(reference) = component.value.get("$ref").and_then(Value::as_str).map(str::to_string)
            && component.value.as_object().is_some_and(|map| map.len() == 1)
        {
            component = self.bundle.target(&reference, Direction::Output)?;
        }
        let mut budget = (MAX_RESULT * OVERHEAD).min(self.budget).checked_sub(component.weight)?;
        let refs = component.refs.iter().cloned();
        let (definitions, left_open) = self.bundle.definitions(refs, Direction::Output, &mut budget);
        let mut schema = component.value.as_object().filter(|map| !map.is_empty() && left_open == 0)?.clone();
        if !definitions.is_empty() {
            schema.insert("$defs".to_string(), definitions.into());
        }
        Some(Schema::from_value(schema.into())).filter(|schema| schema.text().len() <= MAX_RESULT)
    }
}

/// The summary, when it is a short version of the description.
fn short(summary: &str, description: &str) -> Option<String> {
    let plain = |text: &str| clean_line(text).trim_end_matches('.').to_lowercase();
    let fits = summary.chars().take(MAX_SHORT + 1).count() <= MAX_SHORT && !summary.contains('\n');
    let line = clean_line(if fits { summary } else { "" });
    (!line.is_empty() && !description.is_empty() && plain(&line) != plain(description)).then_some(line)
}

/// The path that is sent: some documents distinguish operations of one path by a fragment.
fn sent_path(path: &str) -> String {
    let path = path.split('#').next().unwrap_or(path);
    if path.starts_with('/') { path.to_string() } else { format!("/{path}") }
}

/// The path with the serialization of its variables (OpenAPI, "Style Values"), in the operators of RFC 6570.
fn written_path(path: String, parameters: &[Parameter<'_>], version: &str) -> String {
    let is_sign = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-');
    let is_plain = |name: &str| !name.starts_with('.') && name.bytes().all(is_sign);
    let in_path = parameters.iter().filter(|parameter| parameter.place == "path" && is_plain(parameter.name));
    in_path.fold(path, |path, Parameter { name, value, .. }| {
        let sign = match value.get("style").and_then(Value::as_str) {
            Some("label") => ".",
            Some("matrix") => ";",
            // Before 3.2, only queries have it.
            _ if version.starts_with("3.2") && is_true(value.get("allowReserved")) => "+",
            _ => "",
        };
        let kind = value.get("schema").and_then(|schema| schema.get("type")?.as_str());
        let has_parts = !matches!(kind, Some("string" | "integer" | "number" | "boolean"));
        let star = if has_parts && is_true(value.get("explode")) { "*" } else { "" };
        match (sign, star) {
            ("", "") => path,
            _ => path.replace(&format!("{{{name}}}"), &format!("{{{sign}{name}{star}}}")),
        }
    })
}

/// Example bodies as calls, when every required argument has an example.
fn calls(
    arguments: &[Argument],
    merged: &Merged,
    bodies: Vec<(Option<String>, Value)>,
    budget: usize,
) -> Vec<Example> {
    let by_place: HashMap<(bool, &str), usize> = arguments
        .iter()
        .enumerate()
        .map(|(index, argument)| ((argument.location == Location::Body, argument.name.as_str()), index))
        .collect();
    let whole = arguments.iter().position(|argument| argument.location == Location::WholeBody);
    let call = |(title, body): (Option<String>, Value)| {
        let mut given: Vec<Option<Value>> = arguments
            .iter()
            .map(|argument| if argument.required { argument.examples.first().cloned() } else { None })
            .collect();
        match (whole, body) {
            (Some(whole), body) => *given.get_mut(whole)? = Some(body),
            (None, Value::Object(fields)) => {
                for (field, value) in fields {
                    *given.get_mut(*by_place.get(&(true, field.as_str()))?)? = Some(value);
                }
            }
            _ => return None,
        }
        let complete =
            arguments.iter().zip(&given).all(|(argument, value)| value.is_some() || !argument.required);
        let pairs = merged.keys.iter().zip(given).filter_map(|(key, value)| Some((key.clone(), value?)));
        complete.then(|| Example { title, arguments: pairs.collect(), result: None })
    };
    let weigh = |example: &Example| example.arguments.values().map(weight).sum::<usize>() <= budget / 8;
    bodies.into_iter().filter_map(call).filter(weigh).collect()
}

/// A name from method and path: `get /users/{id}` is `get_users_by_id`.
fn name_of_operation(method: &str, path: &str) -> String {
    let mut parts = words(method);
    for segment in path.split('/') {
        if segment.starts_with('{') {
            parts.push("by".to_string());
        }
        parts.extend(words(segment));
    }
    if parts.is_empty() { "operation".into() } else { parts.join("_") }
}
