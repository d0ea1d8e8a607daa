//! The body of a request: JSON, a form, a multipart form, or text.

use serde_json::{Map, Value};

use super::parts::{Part, Parts};
use super::query::{form, pairs};
use super::text::plain;
use crate::exec::backend::backend_error::BackendError;
use toolcrib_catalog::Tool;
use toolcrib_definition::document::resolve_local;

const JSON: &str = "application/json";

const FORM: &str = "application/x-www-form-urlencoded";

const MULTIPART: &str = "multipart/form-data";

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
        let essence = content_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
        let of = |content: String, preview| Self {
            content_type: content_type.into(),
            content: content.into(),
            preview,
        };
        let json = |value: Value| of(value.to_string(), value);
        let form_of = |parts: &[Part<'_>]| {
            let pairs = parts.iter().flat_map(|part| pairs(part.name, part.value, part.place));
            let text = form(&pairs.collect::<Vec<_>>());
            of(text.clone(), text.into())
        };
        let schema = tool.parameters.schema();
        if let (Some(whole), FORM | MULTIPART) = (&parts.whole_body, essence.as_str())
            && let Some(members) = whole.value.as_object()
        {
            let part = |(name, value)| Part { argument: name, name, value, place: whole.place };
            let members: Vec<Part<'_>> =
                members.iter().map(|(name, value)| part((name.as_str(), value))).collect();
            let schema = (schema, &schema["properties"][whole.argument]);
            return Ok(Some(if essence == FORM {
                form_of(&members)
            } else {
                Self::multipart(&members, schema)
            }));
        }
        Ok(match (&parts.whole_body, essence.as_str()) {
            (Some(whole), media) if is_json(media) => Some(json(whole.value.clone())),
            (Some(Part { value: Value::String(text), .. }), media) if media != MULTIPART => {
                Some(of(text.clone(), text.as_str().into()))
            }
            (Some(whole), media) => {
                let message =
                    format!("`{}` is sent as {media}, which cannot hold such a value", whole.argument);
                return Err(BackendError::invalid_argument(whole.argument, message));
            }
            (None, _) if parts.body.is_empty() && !is_expected => None,
            (None, FORM) => Some(form_of(&parts.body)),
            (None, MULTIPART) => Some(Self::multipart(&parts.body, (schema, schema))),
            (None, media) if is_json(media) => Some(json(fields(&parts.body))),
            (None, media) => {
                return Err(BackendError::unconfigured(format!(
                    "nothing here writes {media} from arguments"
                )));
            }
        })
    }

    /// A multipart form with a part for each value. Content of files is text, since arguments are JSON.
    /// `schema` is that of the values, within its root.
    fn multipart(parts: &[Part<'_>], schema: (&Value, &Value)) -> Self {
        let content: String = parts.iter().map(|part| part.value.to_string()).collect();
        // A hash of the whole content occurs in no value.
        let boundary = blake3::hash(content.as_bytes()).to_hex().to_string();
        let mut text = String::new();
        for part in parts {
            let values = match part.value {
                Value::Array(items) => items.iter().collect(),
                Value::Null => Vec::new(),
                value => vec![value],
            };
            for value in values {
                let name = quoted(part.name);
                text.push_str(&format!("--{boundary}\r\nContent-Disposition: form-data; name=\"{name}\""));
                match value {
                    _ if is_file(schema, part.argument, 0) => {
                        text.push_str(&format!(
                            "; filename=\"{name}\"\r\nContent-Type: application/octet-stream"
                        ));
                    }
                    Value::Object(_) | Value::Array(_) => text.push_str("\r\nContent-Type: application/json"),
                    _ => {}
                }
                text.push_str(&format!("\r\n\r\n{}\r\n", plain(value)));
            }
        }
        text.push_str(&format!("--{boundary}--\r\n"));
        let content_type = format!("{MULTIPART}; boundary={boundary}");
        Self { content_type, content: text.into(), preview: fields(parts) }
    }
}

fn fields(parts: &[Part<'_>]) -> Value {
    Value::Object(parts.iter().map(|part| (part.name.to_string(), part.value.clone())).collect::<Map<_, _>>())
}

pub(super) fn is_json(essence: &str) -> bool {
    matches!(essence, JSON | "text/json" | "*/*" | "application/*") || essence.ends_with("+json")
}

/// A name as it is escaped between the quotes of a form (RFC 7578 follows HTML).
fn quoted(name: &str) -> String {
    name.replace('"', "%22").replace('\r', "%0D").replace('\n', "%0A")
}

fn is_file((root, schema): (&Value, &Value), name: &str, depth: usize) -> bool {
    let of = |schema: &Value| schema["format"] == "binary" || schema["contentEncoding"] == "binary";
    let own = &schema["properties"][name];
    let target = schema["$ref"].as_str().and_then(|reference| resolve_local(reference, root));
    let unions = ["allOf", "anyOf", "oneOf"].into_iter().flat_map(|word| schema[word].as_array()).flatten();
    of(own)
        || of(&own["items"])
        || (depth < 8 && unions.chain(target).any(|schema| is_file((root, schema), name, depth + 1)))
}
