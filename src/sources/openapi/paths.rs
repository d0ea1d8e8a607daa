//! The operations of a document, found but not yet read.

use std::collections::{HashMap, HashSet};

use serde_json::{Map, Value};

use super::document::{Document, Report, quote};
use crate::finding::{Code, pointer_join, pointer_push, pointer_split};
use crate::tool::words;

const METHODS: [&str; 9] = ["get", "put", "post", "delete", "options", "head", "patch", "trace", "query"];
/// Methods that ask about an endpoint rather than use it.
const UNCALLED: [&str; 2] = ["options", "trace"];
const OTHER_FIELDS: [&str; 6] =
    ["$ref", "summary", "description", "servers", "parameters", "additionalOperations"];

/// An operation as it stands in the document.
pub(super) struct Found<'d> {
    /// The method, in capitals.
    pub(super) method: String,
    pub(super) path: &'d str,
    pub(super) operation: &'d Map<String, Value>,
    pub(super) pointer: String,
    /// The path item it belongs to.
    pub(super) item: &'d Map<String, Value>,
    pub(super) item_pointer: String,
}

impl Found<'_> {
    /// The `operationId`, unless it is blank.
    pub(super) fn id(&self) -> Option<&str> {
        self.operation.get("operationId").and_then(Value::as_str).filter(|id| !id.trim().is_empty())
    }
}

/// All operations, in the order of the document.
pub(super) fn operations<'d>(document: &Document<'d>, report: &mut Report) -> Vec<Found<'d>> {
    let mut found = Vec::new();
    let Some(paths) = document.root.get("paths").and_then(Value::as_object) else {
        report.add(Code::DefinitionInvalid, "/paths", "`paths` is not an object; there are no operations");
        return found;
    };
    for (path, item) in paths.iter().filter(|(path, _)| !path.starts_with("x-")) {
        let pointer = pointer_join("/paths", path);
        let Some(own) = item.as_object() else {
            report.add(Code::DefinitionInvalid, &pointer, "a path item is an object; it was left out");
            continue;
        };
        collect(path, own, pointer.clone(), report, &mut found);
        if own.contains_key("$ref")
            && let Some((target, target_pointer)) = document.follow(item, pointer, report)
        {
            match target.as_object() {
                Some(shared) => collect(path, shared, target_pointer, report, &mut found),
                None => report.add(
                    Code::DefinitionInvalid,
                    &target_pointer,
                    "a path item is an object; it was left out",
                ),
            }
        }
    }
    found
}

fn collect<'d>(
    path: &'d str,
    item: &'d Map<String, Value>,
    item_pointer: String,
    report: &mut Report,
    found: &mut Vec<Found<'d>>,
) {
    let more = item.get("additionalOperations").and_then(Value::as_object);
    let usual = item.iter().map(|(name, operation)| (None, name, operation));
    let unusual =
        more.into_iter().flatten().map(|(name, operation)| (Some("additionalOperations"), name, operation));
    for (under, method, operation) in usual.chain(unusual) {
        let is_method = under.is_some() || METHODS.contains(&method.to_ascii_lowercase().as_str());
        if !is_method && (method.starts_with("x-") || OTHER_FIELDS.contains(&method.as_str())) {
            continue;
        }
        let mut pointer = item_pointer.clone();
        under.iter().for_each(|under| pointer_push(&mut pointer, under));
        pointer_push(&mut pointer, method);
        match operation.as_object() {
            _ if !is_method => {
                let message = format!("`{}` is not an HTTP method; it was left out", quote(method));
                report.add(Code::DefinitionInvalid, &pointer, message);
            }
            None => {
                report.add(Code::DefinitionInvalid, &pointer, "an operation is an object; it was left out")
            }
            Some(_) if UNCALLED.contains(&method.to_ascii_lowercase().as_str()) => {
                let message = format!(
                    "{} asks about {path} rather than doing something; it is no tool",
                    method.to_ascii_uppercase()
                );
                report.add(Code::OperationSkipped, &pointer, message);
            }
            Some(operation) => {
                let item_pointer = item_pointer.clone();
                found.push(Found {
                    method: method.to_ascii_uppercase(),
                    path,
                    operation,
                    pointer,
                    item,
                    item_pointer,
                });
            }
        }
    }
}

/// The first absolute address: of `servers`, with the default values of its variables, or of Swagger's `host`.
pub(super) fn base(root: &Value) -> Option<String> {
    let base = servers(root).or_else(|| swagger(root))?;
    let is_web = base.starts_with("https://") || base.starts_with("http://");
    (is_web && !base.contains(['{', '}', '$'])).then(|| base.trim_end_matches('/').to_string())
}

fn servers(root: &Value) -> Option<String> {
    let server = root.get("servers")?.get(0)?;
    let mut base = server.get("url")?.as_str()?.to_string();
    for (name, variable) in server.get("variables").and_then(Value::as_object).into_iter().flatten() {
        if let Some(usual) = variable.get("default").and_then(Value::as_str) {
            base = base.replace(&format!("{{{name}}}"), usual);
        }
    }
    Some(base)
}

fn swagger(root: &Value) -> Option<String> {
    let host = root.get("host")?.as_str()?;
    let schemes = root.get("schemes").and_then(Value::as_array).into_iter().flatten();
    let scheme = if schemes.clone().any(|scheme| scheme == "https") || schemes.count() == 0 {
        "https"
    } else {
        "http"
    };
    let path = root.get("basePath").and_then(Value::as_str).unwrap_or_default();
    Some(format!("{scheme}://{host}{path}"))
}

// Makes names: unique ones, portable ones, and names for operations without one.

/// Names that are unique in one place.
#[derive(Default)]
pub(super) struct Names {
    taken: HashSet<String>,
    next: HashMap<String, usize>,
}

impl Names {
    /// Takes a name; false when it is taken.
    pub(super) fn take(&mut self, name: &str) -> bool {
        self.taken.insert(name.to_string())
    }

    /// Takes a name, numbered when it is taken.
    pub(super) fn number(&mut self, name: &str) -> String {
        if self.take(name) {
            return name.to_string();
        }
        let number = self.next.entry(name.to_string()).or_insert(2);
        loop {
            let candidate = format!("{name}_{number}");
            *number += 1;
            if self.taken.insert(candidate.clone()) {
                return candidate;
            }
        }
    }
}

/// Whether every provider takes this as the name of an argument.
pub(super) fn is_portable(name: &str) -> bool {
    (1..=64).contains(&name.len()) && name.bytes().all(is_portable_byte)
}

fn is_portable_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-')
}

/// The portable part of a name: `filter[x]` becomes `filter_x`, and `$top` becomes `top`.
pub(super) fn portable(name: &str, longest: usize, otherwise: &str) -> String {
    if name.len() <= longest && !name.is_empty() && name.bytes().all(is_portable_byte) {
        return name.to_string();
    }
    let mut portable = String::new();
    for c in name.chars() {
        if portable.len() >= longest {
            break;
        }
        if u8::try_from(c).is_ok_and(is_portable_byte) {
            portable.push(c);
        } else if !portable.ends_with('_') {
            portable.push('_');
        }
    }
    let trimmed = portable.trim_matches('_');
    if trimmed.is_empty() { otherwise.to_string() } else { trimmed.to_string() }
}

/// A name from method and path: `get /users/{id}` is `get_users_by_id`.
pub(super) fn name_of_operation(method: &str, path: &str) -> String {
    let mut parts = words(method);
    for segment in path.split('/') {
        if segment.starts_with('{') {
            parts.push("by".to_string());
        }
        parts.extend(words(segment));
    }
    if parts.is_empty() { "operation".into() } else { parts.join("_") }
}

/// The variables of a path template, in order.
pub(super) fn path_variables(path: &str) -> Vec<&str> {
    let pieces = path.split('{').skip(1);
    pieces
        .filter_map(|piece| piece.split_once('}'))
        .map(|(name, _)| name)
        .filter(|name| !name.is_empty())
        .collect()
}

/// The keys in `$defs` of all targets of `$ref`: one for each place, the same in all tools.
#[derive(Default)]
pub(in crate::sources) struct DefinitionKeys {
    by_pointer: HashMap<String, String>,
    pointers: HashMap<String, String>,
    names: Names,
}

impl DefinitionKeys {
    /// Keeps a key for another definition.
    pub(in crate::sources) fn reserve(&mut self, key: &str) {
        self.names.take(key);
    }

    /// The key of the schema at a pointer: its last segment, numbered when that is taken.
    pub(in crate::sources) fn of(&mut self, pointer: &str) -> String {
        if let Some(key) = self.by_pointer.get(pointer) {
            return key.clone();
        }
        let (_, last) = pointer_split(pointer).unwrap_or_default();
        let key = self.names.number(&portable(&last, 128, "schema"));
        self.by_pointer.insert(pointer.to_string(), key.clone());
        self.pointers.insert(key.clone(), pointer.to_string());
        key
    }

    /// The pointer of the schema that a rewritten `$ref` leads to.
    pub(super) fn pointer(&self, reference: &str) -> Option<&str> {
        self.pointers.get(reference.strip_prefix("#/$defs/")?).map(String::as_str)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::base;

    #[test]
    fn an_address_is_absolute_and_whole() {
        let with = |server| base(&json!({ "servers": [server] }));
        let variables =
            json!({"url": "https://{region}.example.com/v1/", "variables": {"region": {"default": "eu"}}});
        assert_eq!(with(variables), Some("https://eu.example.com/v1".into()));
        for unfit in ["/v1", "https://{region}.example.com", "ftp://x", "https://x/${HOME}"] {
            assert_eq!(with(json!({ "url": unfit })), None, "{unfit}");
        }
        let swagger = json!({"host": "example.com", "basePath": "/v2", "schemes": ["http", "https"]});
        assert_eq!(base(&swagger), Some("https://example.com/v2".into()));
    }
}
