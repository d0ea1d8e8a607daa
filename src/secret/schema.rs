//! What a JSON Schema declares secret: `format: password`, `writeOnly`, `x-secret`, `x-sensitive`.

use serde_json::Value;

use crate::finding::resolve_local;

/// The most subschemas that are looked at for one value.
const MOST: usize = 128;

/// A place in a value, with all subschemas that apply there.
pub(super) struct Place<'s> {
    root: &'s Value,
    applied: Vec<&'s Value>,
}

impl<'s> Place<'s> {
    /// The whole value.
    pub(super) fn root(schema: &'s Value) -> Self {
        Self::of(schema, vec![schema])
    }

    /// With the subschemas that references and combinations add.
    fn of(root: &'s Value, applied: Vec<&'s Value>) -> Self {
        let mut place = Self { root, applied };
        let mut next = 0;
        while let Some(schema) = place.applied.get(next).copied() {
            next += 1;
            let reference = schema.get("$ref").and_then(Value::as_str);
            let referred = reference.and_then(|reference| resolve_local(reference, root));
            let lists = ["allOf", "anyOf", "oneOf"].iter().filter_map(|name| schema.get(name)?.as_array());
            let single = ["if", "then", "else"].iter().filter_map(|name| schema.get(name));
            for part in referred.into_iter().chain(lists.flatten()).chain(single) {
                if place.applied.len() < MOST && !place.applied.iter().any(|known| std::ptr::eq(*known, part))
                {
                    place.applied.push(part);
                }
            }
        }
        place
    }

    /// A field of an object, and whether the schema declares it by name.
    pub(super) fn property(&self, name: &str) -> (Place<'s>, bool) {
        let mut parts = Vec::new();
        let mut is_declared = false;
        for schema in &self.applied {
            let begun = parts.len();
            if let Some(property) = schema.get("properties").and_then(|properties| properties.get(name)) {
                parts.push(property);
                is_declared = true;
            }
            let patterns = schema.get("patternProperties").and_then(Value::as_object);
            let fits =
                |pattern: &str| regex::Regex::new(pattern).map_or(true, |pattern| pattern.is_match(name));
            parts.extend(
                patterns.into_iter().flatten().filter(|(pattern, _)| fits(pattern)).map(|(_, part)| part),
            );
            if parts.len() == begun {
                let others = ["additionalProperties", "unevaluatedProperties"];
                parts.extend(others.iter().filter_map(|name| schema.get(name)));
            }
        }
        (Self::of(self.root, parts), is_declared)
    }

    /// An item of a list.
    pub(super) fn item(&self, index: usize) -> Place<'s> {
        let mut parts = Vec::new();
        for schema in &self.applied {
            let tuple = |name: &str| schema.get(name)?.as_array()?.get(index);
            let item = tuple("prefixItems").or_else(|| tuple("items"));
            parts.extend(item.or_else(|| schema.get("items").filter(|items| items.is_object())));
        }
        Self::of(self.root, parts)
    }

    /// Whether the schema declares what stands here secret.
    pub(super) fn is_secret(&self) -> bool {
        self.applied.iter().any(|schema| {
            let is_set = |name: &str| schema.get(name) == Some(&Value::Bool(true));
            let format = schema.get("format").and_then(Value::as_str);
            format == Some("password")
                || ["writeOnly", "x-secret", "x-sensitive"].iter().any(|name| is_set(name))
        })
    }
}

/// The names of all properties that a schema declares secret, wherever it has them.
pub fn declared_names(schema: &Value) -> Vec<String> {
    let (mut names, mut left) = (Vec::new(), vec![schema]);
    while let Some(part) = left.pop() {
        let properties = part.get("properties").and_then(Value::as_object);
        let is_secret = |part: &&Value| Place::of(schema, vec![*part]).is_secret();
        let secret = properties.into_iter().flatten().filter(|(_, part)| is_secret(part));
        names.extend(secret.map(|(name, _)| name.clone()));
        match part {
            Value::Object(fields) => left.extend(fields.values()),
            Value::Array(items) => left.extend(items),
            _ => {}
        }
    }
    names
}
