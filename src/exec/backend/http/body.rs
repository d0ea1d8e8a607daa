//! The body of a request: JSON, a form, or the media type of the backend.

use serde_json::{Map, Value};

use super::parts::{Part, Parts};
use super::text::{form, pairs, plain};
use crate::catalog::Tool;
use crate::exec::backend::BackendError;

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
        if let Some(value) = parts.whole_body {
            return Ok(Some(Self::whole(content_type, is_json(&essence), value)));
        }
        if parts.body.is_empty() && !is_expected {
            return Ok(None);
        }
        let body = match essence.as_str() {
            FORM => Self::form(content_type, &parts.body),
            MULTIPART => Self::multipart(&parts.body, tool),
            media if is_json(media) => Self::json(content_type, fields(&parts.body)),
            _ => {
                return Err(BackendError::unconfigured(format!(
                    "nothing here writes {essence} from arguments"
                )));
            }
        };
        Ok(Some(body))
    }

    fn whole(content_type: &str, is_json: bool, value: &Value) -> Self {
        match value {
            Value::String(text) if !is_json => Self {
                content_type: content_type.into(),
                content: text.clone().into(),
                preview: value.clone(),
            },
            value => Self::json(content_type, value.clone()),
        }
    }

    fn json(content_type: &str, value: Value) -> Self {
        Self { content_type: content_type.into(), content: value.to_string().into(), preview: value }
    }

    fn form(content_type: &str, parts: &[Part<'_>]) -> Self {
        let text =
            form(&parts.iter().flat_map(|part| pairs(part.name, part.value, part.place)).collect::<Vec<_>>());
        Self { content_type: content_type.into(), content: text.clone().into(), preview: text.into() }
    }

    /// A multipart form with a part for each value. Content of files is text, since arguments are JSON.
    fn multipart(parts: &[Part<'_>], tool: &Tool) -> Self {
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
                    _ if is_file(tool, part.argument) => {
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

fn is_json(essence: &str) -> bool {
    matches!(essence, JSON | "text/json" | "*/*" | "application/*") || essence.ends_with("+json")
}

/// A name as it is escaped between the quotes of a form (RFC 7578 follows HTML).
fn quoted(name: &str) -> String {
    name.replace('"', "%22").replace('\r', "%0D").replace('\n', "%0A")
}

fn is_file(tool: &Tool, argument: &str) -> bool {
    let schema = &tool.parameters.schema()["properties"][argument];
    let of = |schema: &Value| schema["format"] == "binary" || schema["contentEncoding"] == "binary";
    of(schema) || of(&schema["items"])
}
