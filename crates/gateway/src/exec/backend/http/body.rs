//! The body of a request: JSON, a form, a multipart form, or text.

use serde_json::{Map, Value};

use super::parts::{Part, Parts};
use super::query::{form, pairs};
use super::text::plain;
use crate::exec::backend::backend_error::BackendError;
use toolcrib_catalog::Tool;
use toolcrib_definition::schema::Node;

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
                Self::multipart(&members, &node)
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
            (None, MULTIPART) => Some(Self::multipart(&parts.body, &root)),
            (None, media) if is_json(media) => Some(json(fields(&parts.body))),
            (None, media) => {
                return Err(BackendError::unconfigured(format!(
                    "nothing here writes {media} from arguments"
                )));
            }
        })
    }

    /// A multipart form with a part for each value. Content of files is text, since arguments are JSON.
    /// `node` has the values as its properties.
    fn multipart(parts: &[Part<'_>], node: &Node<'_>) -> Self {
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
                    _ if is_file(node, part.argument, 0) => {
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

/// Whether a property is the content of a file, or a list of such.
fn is_file(node: &Node<'_>, name: &str, depth: usize) -> bool {
    let is_binary = |node: &Node<'_>| [node.limits.format, node.limits.encoding].contains(&Some("binary"));
    let own = node.property(name).unwrap_or_default();
    is_binary(&own)
        || own.items().is_some_and(|items| is_binary(&items))
        || (depth < 8 && node.variants().any(|variant| is_file(&variant, name, depth + 1)))
}
