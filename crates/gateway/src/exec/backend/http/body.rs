//! The body of a request: JSON, a form, a multipart form, a file, or text.

use std::borrow::Cow;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value};

use super::file::file;
use super::parts::{Part, Parts};
use super::query::{form, json_text, pairs, plain_pairs};
use super::text::plain;
use crate::exec::backend::backend_error::BackendError;
use toolcrib_catalog::Tool;
use toolcrib_definition::media_type::{essence, is_json, is_text};
use toolcrib_definition::schema::{FileContent, Node};
use toolcrib_definition::{ArgumentPlace, Style};

const JSON: &str = "application/json";

const FORM: &str = "application/x-www-form-urlencoded";

const MULTIPART: &str = "multipart/form-data";

const OCTETS: &str = "application/octet-stream";

/// A body, with its media type.
#[derive(Debug, PartialEq)]
pub(super) struct Body {
    pub(super) content_type: String,
    pub(super) content: Vec<u8>,
    /// The body as a dry run shows it.
    pub(super) preview: Value,
}

impl Body {
    /// The body made of arguments; `None` without any. With `is_expected`, no arguments make an empty object.
    pub(super) fn new(
        content_type: Option<&str>,
        parts: &Parts<'_>,
        tool: &Tool,
        is_expected: bool,
    ) -> Result<Option<Self>, BackendError> {
        let content_type = content_type.unwrap_or(JSON);
        let essence = essence(content_type);
        let of = |content: Vec<u8>, preview| Self { content_type: content_type.into(), content, preview };
        let json = |value: Value| of(value.to_string().into(), value);
        let form_of = |parts: &[Part<'_>]| {
            let pairs = parts.iter().flat_map(|part| pairs(part.name, part.value, part.place));
            let text = form(&pairs.collect::<Vec<_>>());
            of(text.clone().into(), text.into())
        };
        let root = tool.input.parameters.root();
        if let (Some(whole), FORM | MULTIPART) = (&parts.whole_body, essence.as_str())
            && let Some(members) = whole.value.as_object()
        {
            let part = |(name, value)| Part { argument: name, name, value, place: whole.place };
            let members: Vec<Part<'_>> =
                members.iter().map(|(name, value)| part((name.as_str(), value))).collect();
            let node = root.property(whole.argument).unwrap_or_default();
            return Ok(Some(if essence == FORM {
                form_of(&members)
            } else {
                Self::multipart(&members, &node)?
            }));
        }
        Ok(match (&parts.whole_body, essence.as_str()) {
            (Some(whole), media) if is_json(media) => Some(json(whole.value.clone())),
            (Some(Part { value: Value::Null, .. }), _) => None,
            (Some(Part { argument, value: Value::String(text), .. }), media) if media != MULTIPART => {
                let node = root.property(argument).unwrap_or_default();
                let content = if is_text(media) {
                    text.as_bytes().into()
                } else {
                    let any = FileContent { is_encoded: false, media: None };
                    let schema = FileContent::of(&node).unwrap_or(any);
                    let bytes = file(text, schema).ok_or_else(|| not_encoded(argument))?.bytes;
                    // Content of a type such as `image/png` is transferred as its schema says.
                    if schema.is_encoded && media != OCTETS {
                        STANDARD.encode(bytes).into_bytes().into()
                    } else {
                        bytes
                    }
                };
                Some(of(content.into_owned(), text.as_str().into()))
            }
            (Some(whole), media) => {
                let message =
                    format!("`{}` is sent as {media}, which cannot hold such a value", whole.argument);
                return Err(BackendError::invalid_argument(whole.argument, message));
            }
            (None, _) if parts.body.is_empty() && !is_expected => None,
            (None, FORM) => Some(form_of(&parts.body)),
            // A multipart body has at least one part (RFC 2046).
            (None, MULTIPART) if parts.body.is_empty() => None,
            (None, MULTIPART) => Some(Self::multipart(&parts.body, &root)?),
            (None, media) if is_json(media) => Some(json(fields(&parts.body))),
            (None, media) => {
                return Err(BackendError::unconfigured(format!(
                    "nothing here writes {media} from arguments"
                )));
            }
        })
    }

    /// A multipart form with a part for each value. `node` has the values as its properties.
    fn multipart(parts: &[Part<'_>], node: &Node<'_>) -> Result<Self, BackendError> {
        let content: String = parts.iter().map(|part| part.value.to_string()).collect();
        // A hash of the whole content occurs in no value.
        let boundary = blake3::hash(content.as_bytes()).to_hex().to_string();
        let mut body = Vec::new();
        let mut add = |name: &str, head: String, content: &[u8]| {
            let name = quoted(name);
            body.extend(format!("--{boundary}\r\nContent-Disposition: form-data; name=\"{name}\"").bytes());
            body.extend(format!("{head}\r\n\r\n").bytes());
            body.extend(content);
            body.extend(b"\r\n");
        };
        for part in parts {
            let listed = part.place.and_then(|place| place.content_type.as_deref()).unwrap_or_default();
            let of_type = |media: &str| format!("\r\nContent-Type: {}", line(media));
            let schema = file_schema(node, part.argument, 0);
            if schema.is_none() && part.place.is_some_and(is_styled) {
                for (name, value) in plain_pairs(part.name, part.value, part.place) {
                    add(&name, String::new(), value.as_bytes());
                }
                continue;
            }
            let values = match part.value {
                value if is_json(&essence(listed)) && !value.is_null() => vec![value],
                Value::Array(items) => items.iter().collect(),
                Value::Null => Vec::new(),
                value => vec![value],
            };
            for value in values {
                match (schema, value) {
                    (Some(schema), Value::String(text)) => {
                        let file = file(text, schema).ok_or_else(|| not_encoded(part.argument))?;
                        let media = media_of(listed, file.media).unwrap_or(OCTETS);
                        let name = quoted(file.name.as_deref().unwrap_or(part.name));
                        let head = format!("; filename=\"{name}\"{}", of_type(media));
                        add(part.name, head, &file.bytes);
                    }
                    (_, value) => {
                        let is_composed = value.is_object() || value.is_array();
                        let media = media_of(listed, is_composed.then_some(JSON));
                        let is_json = media.is_some_and(|media| is_json(&essence(media)));
                        let text = if is_json { json_text(value) } else { plain(value) };
                        add(part.name, media.map(of_type).unwrap_or_default(), text.as_bytes());
                    }
                }
            }
        }
        body.extend(format!("--{boundary}--\r\n").bytes());
        let content_type = format!("{MULTIPART}; boundary={boundary}");
        Ok(Self { content_type, content: body, preview: fields(parts) })
    }
}

/// The media type of a part: its own if it is among those that are listed, else the first of these, else its own.
fn media_of<'m>(listed: &'m str, own: Option<&'m str>) -> Option<&'m str> {
    let mut listed = listed.split(',').map(str::trim).filter(|media| !media.is_empty());
    let covers = |range: &str, media: &str| match range.split_once('*') {
        Some((begin, _)) => media.starts_with(begin),
        None => essence(range) == essence(media),
    };
    own.filter(|own| listed.clone().any(|range| covers(range, own)))
        .or_else(|| listed.find(|range| !range.contains('*')))
        .or(own)
}

/// Whether a part is written by a style of OpenAPI, as in a query.
fn is_styled(place: &ArgumentPlace) -> bool {
    place.explode == Some(false) || !matches!(place.style, None | Some(Style::Json))
}

fn not_encoded(argument: &str) -> BackendError {
    let message = format!("`{argument}` is sent as bytes, so it has to be base64 or a `data:` URL");
    BackendError::invalid_argument(argument, message)
}

fn fields(parts: &[Part<'_>]) -> Value {
    Value::Object(parts.iter().map(|part| (part.name.to_string(), part.value.clone())).collect::<Map<_, _>>())
}

/// A text on one line, for a header of a part.
fn line(text: &str) -> Cow<'_, str> {
    if text.contains(['\r', '\n']) { text.replace(['\r', '\n'], " ").into() } else { text.into() }
}

/// A name as it is escaped between the quotes of a form (RFC 7578 follows HTML).
fn quoted(name: &str) -> String {
    name.replace('"', "%22").replace('\r', "%0D").replace('\n', "%0A")
}

/// What a property says of its values, if they are files.
fn file_schema<'s>(node: &Node<'s>, name: &str, depth: usize) -> Option<FileContent<'s>> {
    let own = node.property(name).and_then(|own| FileContent::of(&own));
    let in_variant = || node.variants().find_map(|variant| file_schema(&variant, name, depth + 1));
    own.or_else(|| if depth < 8 { in_variant() } else { None })
}
