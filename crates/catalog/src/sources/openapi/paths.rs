//! Finds the operations of a document, without reading them yet.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use serde_json::{Map, Value};

use super::document::{Document, Loss, Report, quote};
use toolcrib_definition::finding::{Code, pointer_join, pointer_push, pointer_split};
use toolcrib_definition::words;

const METHODS: [&str; 9] = ["get", "put", "post", "delete", "options", "head", "patch", "trace", "query"];
/// Methods that ask about an endpoint rather than use it.
const UNCALLED: [&str; 2] = ["options", "trace"];
const OTHER_FIELDS: [&str; 6] =
    ["$ref", "summary", "description", "servers", "parameters", "additionalOperations"];

/// An operation as the document has it.
pub(super) struct Found<'d> {
    /// The method, in capitals.
    pub(super) method: String,
    pub(super) path: &'d str,
    pub(super) operation: &'d Map<String, Value>,
    pub(super) pointer: String,
    /// The path item that it belongs to, after the target of its `$ref`.
    pub(super) items: Rc<[Item<'d>]>,
}

/// A path item, and its pointer.
pub(super) type Item<'d> = (&'d Map<String, Value>, String);

impl Found<'_> {
    /// The `operationId`, unless it is blank.
    pub(super) fn id(&self) -> Option<&str> {
        self.operation.get("operationId").and_then(Value::as_str).filter(|id| !id.trim().is_empty())
    }

    /// The address of its first server, if it differs from the document's first server.
    pub(super) fn address(&self, root: &Value) -> Option<String> {
        let owners = [self.operation].into_iter().chain(self.items.iter().rev().map(|(item, _)| *item));
        let own = owners.into_iter().find_map(|owner| first_server(owner.get("servers")?))?;
        let usual = root.get("servers").and_then(first_server);
        let own = base(root).and_then(|base| joined(&base, &own)).unwrap_or(own);
        (usual.as_ref() != Some(&own)).then_some(own)
    }
}

/// All operations, in the order of the document.
pub(super) fn operations<'d>(document: &Document<'d>, report: &mut Report) -> Vec<Found<'d>> {
    let mut found = Vec::new();
    let paths = document.root.get("paths").unwrap_or(&Value::Null);
    let Some((paths, within)) = followed_alone(document, paths, "/paths".into(), report) else {
        return found;
    };
    let Some(paths) = paths.as_object() else {
        report.add(Code::DefinitionInvalid, &within, "`paths` is not an object; there are no operations");
        return found;
    };
    for (path, item) in paths.iter().filter(|(path, _)| !path.starts_with("x-")) {
        let pointer = pointer_join(&within, path);
        let own = [(item, pointer.clone())];
        let target = item.get("$ref").and_then(|_| document.follow(item, pointer, Loss::Arguments, report));
        let mut object = |(value, pointer): (&'d Value, String)| {
            if !value.is_object() {
                let message = "a path item is an object; it was left out";
                report.add(Code::DefinitionInvalid, &pointer, message);
            }
            Some((value.as_object()?, pointer))
        };
        let items: Rc<[Item<'d>]> = target.into_iter().chain(own).filter_map(&mut object).collect();
        for index in (0..items.len()).rev() {
            collect(document, path, &items, index, report, &mut found);
        }
    }
    found
}

/// The target of a `$ref`. Fields next to the `$ref` are not read.
fn followed_alone<'d>(
    document: &Document<'d>,
    value: &'d Value,
    pointer: String,
    report: &mut Report,
) -> Option<(&'d Value, String)> {
    if value.get("$ref").is_some_and(Value::is_string) {
        let is_lost = |field: &&String| {
            !field.starts_with("x-") && !["$ref", "summary", "description"].contains(&field.as_str())
        };
        let others = value.as_object().into_iter().flat_map(Map::keys);
        for field in others.filter(is_lost) {
            let message = format!("`{}` is next to a `$ref`, and was left out", quote(field));
            report.invalid(&pointer, field, message);
        }
    }
    document.follow(value, pointer, Loss::Arguments, report)
}

/// Adds the operations of one path item. An operation of the path item itself replaces the same one of its `$ref`.
fn collect<'d>(
    document: &Document<'d>,
    path: &'d str,
    items: &Rc<[Item<'d>]>,
    index: usize,
    report: &mut Report,
    found: &mut Vec<Found<'d>>,
) {
    let Some((item, item_pointer)) = items.get(index) else { return };
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
        if !is_method {
            let message = format!("`{}` is not an HTTP method; it was left out", quote(method));
            report.add(Code::DefinitionInvalid, &pointer, message);
            continue;
        }
        let is_replaced = |(item, _): &Item<'_>| under.is_none() && item.contains_key(method);
        if items.iter().skip(index + 1).any(is_replaced) {
            let message = "the path item that refers to this one has the same operation; it was left out";
            report.add(Code::FieldInvalid, &pointer, message);
            continue;
        }
        let followed = followed_alone(document, operation, pointer, report);
        let Some((operation, pointer)) = followed else { continue };
        match operation.as_object() {
            None => {
                report.add(Code::DefinitionInvalid, &pointer, "an operation is an object; it was left out")
            }
            Some(_) if UNCALLED.contains(&method.to_ascii_lowercase().as_str()) => {
                let message = format!(
                    "{} asks about {path} rather than doing something; it is not a tool",
                    method.to_ascii_uppercase()
                );
                report.add(Code::OperationSkipped, &pointer, message);
            }
            Some(operation) => {
                let method = method.to_ascii_uppercase();
                let items = Rc::clone(items);
                found.push(Found { method, path, operation, pointer, items });
            }
        }
    }
}

/// The first server's address, if absolute: from `servers`, with its variables' default values, or Swagger's `host`.
pub(super) fn base(root: &Value) -> Option<String> {
    let base = root.get("servers").and_then(first_server).or_else(|| swagger(root))?;
    is_address(&base).then_some(base)
}

/// Resolves a relative address, such as `../other`, against the document's own server.
fn joined(base: &str, address: &str) -> Option<String> {
    if address.contains(['{', '}', '$']) || address.contains("://") {
        return None;
    }
    let origin = origin(base);
    if let Some(rest) = address.strip_prefix("//") {
        return Some(format!("{}://{rest}", origin.split(':').next()?));
    }
    let folder = base[origin.len()..].rsplit_once('/').map_or("", |(folder, _)| folder);
    let folder = if address.starts_with('/') { "" } else { folder };
    let mut steps: Vec<&str> = Vec::new();
    for step in folder.split('/').chain(address.split('/')) {
        match step {
            "" | "." => {}
            ".." => drop(steps.pop()),
            step => steps.push(step),
        }
    }
    Some([origin.as_str()].into_iter().chain(steps).collect::<Vec<_>>().join("/"))
}

/// Whether an address is absolute and without variables.
pub(in crate::sources) fn is_address(base: &str) -> bool {
    let is_web = base.starts_with("https://") || base.starts_with("http://");
    is_web && !base.contains(['{', '}', '$'])
}

/// Scheme and host of an address.
pub(in crate::sources) fn origin(address: &str) -> String {
    let end = address.match_indices('/').nth(2).map_or(address.len(), |(end, _)| end);
    address[..end].to_ascii_lowercase()
}

/// The address of the first server of a list, with the default values of its variables.
fn first_server(servers: &Value) -> Option<String> {
    let server = servers.get(0)?;
    let mut base = server.get("url")?.as_str()?.to_string();
    for (name, variable) in server.get("variables").and_then(Value::as_object).into_iter().flatten() {
        let usual = match variable.get("default") {
            Some(Value::String(text)) => text.clone(),
            Some(Value::Number(number)) => number.to_string(),
            _ => continue,
        };
        base = base.replace(&format!("{{{name}}}"), &usual);
    }
    Some(base.trim_end_matches('/').to_string())
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
    Some(format!("{scheme}://{host}{}", path.trim_end_matches('/')))
}

// Makes names: unique ones, portable ones, and names for operations without one.

/// Names that are unique in one place.
#[derive(Default)]
pub(super) struct Names {
    taken: HashSet<String>,
    next: HashMap<String, usize>,
}

impl Names {
    /// Takes a name; returns false if it is already taken.
    pub(super) fn take(&mut self, name: &str) -> bool {
        self.taken.insert(name.to_string())
    }

    /// Takes a name, with a number if it is already taken.
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

/// Whether every provider accepts this as an argument name.
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

/// The `$defs` keys of all `$ref` targets: one for each place, the same in all tools.
#[derive(Default)]
pub(in crate::sources) struct DefinitionKeys {
    by_pointer: HashMap<String, String>,
    pointers: HashMap<String, String>,
    names: Names,
}

impl DefinitionKeys {
    /// Reserves a key for another definition.
    pub(in crate::sources) fn reserve(&mut self, key: &str) {
        self.names.take(key);
    }

    /// The key of the schema at a pointer: its last segment, with a number if that is already taken.
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
