//! Every subschema that may apply to a value, through all references and combinations, and the secrets that these
//! declare: `format: password`, `writeOnly`, `x-secret`, `x-sensitive`.

use std::cell::OnceCell;
use std::collections::HashMap;
use std::rc::Rc;

use serde_json::Value;

use super::walk::in_place;
use crate::document::percent_decoded;

/// Most subschemas that are visited for one value.
const MOST: usize = 128;

/// Keywords that refer to other schemas.
const REFERENCES: [&str; 3] = ["$ref", "$dynamicRef", "$recursiveRef"];

/// A place in a value, with all subschemas that apply there.
pub(crate) struct Place<'s> {
    references: Rc<References<'s>>,
    applied: Vec<Part<'s>>,
}

impl<'s> Place<'s> {
    /// The whole value.
    pub(crate) fn root(schema: &'s Value) -> Self {
        Self::of(&Rc::new(References::new(schema)), vec![(schema, schema)])
    }

    /// Makes a place from these subschemas, and adds the subschemas of their references and combinations.
    fn of(references: &Rc<References<'s>>, applied: Vec<Part<'s>>) -> Self {
        let mut place = Self { references: Rc::clone(references), applied };
        let mut next = 0;
        while let Some((base, schema)) = place.applied.get(next).copied() {
            next += 1;
            let base = base_of(base, schema);
            let targets = REFERENCES.iter().filter_map(|name| schema.get(name)?.as_str());
            let referred = targets.flat_map(|target| references.targets(target, base));
            // A secret mark also applies in a branch, in an excluded schema, and in the schema of encoded content.
            let parts = schema.as_object().into_iter().flat_map(in_place).chain(schema.get("contentSchema"));
            for part in referred.chain(parts.map(|part| (base, part))) {
                let is_known = |known: &Part<'_>| std::ptr::eq(known.1, part.1);
                if place.applied.len() < MOST && !place.applied.iter().any(is_known) {
                    place.applied.push(part);
                }
            }
        }
        place
    }

    /// A field of an object, and whether the schema declares it by name.
    pub(crate) fn property(&self, name: &str) -> (Place<'s>, bool) {
        let mut parts = Vec::new();
        let mut is_declared = false;
        for (base, schema) in &self.applied {
            let base = base_of(base, schema);
            let begun = parts.len();
            if let Some(property) = schema.get("properties").and_then(|properties| properties.get(name)) {
                parts.push((base, property));
                is_declared = true;
            }
            let patterns = schema.get("patternProperties").and_then(Value::as_object);
            let fits =
                |pattern: &str| regex::Regex::new(pattern).map_or(true, |pattern| pattern.is_match(name));
            let fitting = patterns.into_iter().flatten().filter(|(pattern, _)| fits(pattern));
            parts.extend(fitting.map(|(_, part)| (base, part)));
            if parts.len() == begun {
                let others = ["additionalProperties", "unevaluatedProperties"];
                parts.extend(others.iter().filter_map(|name| Some((base, schema.get(name)?))));
            }
        }
        (Self::of(&self.references, parts), is_declared)
    }

    /// An item of a list; without an index, any item.
    pub(crate) fn item(&self, index: Option<usize>) -> Place<'s> {
        let mut parts = Vec::new();
        for (base, schema) in &self.applied {
            let base = base_of(base, schema);
            let tuple = ["prefixItems", "items"].iter().find_map(|name| schema.get(name)?.as_array());
            let tuple = tuple.map(Vec::as_slice).unwrap_or_default();
            let own = index.map_or(tuple, |index| tuple.get(index..=index).unwrap_or_default());
            let is_beyond = own.is_empty() || index.is_none();
            let names = ["items", "additionalItems", "unevaluatedItems", "contains"];
            let others = names[if is_beyond { 0 } else { 3 }..].iter().filter_map(|name| schema.get(name));
            parts.extend(own.iter().chain(others).filter(|part| part.is_object()).map(|part| (base, part)));
        }
        Self::of(&self.references, parts)
    }

    /// Returns true if a value at this place is secret: the schema declares it secret, or expects a list of secrets
    /// instead.
    pub(crate) fn hides(&self, value: &Value) -> bool {
        self.is_secret() || ((value.is_string() || value.is_number()) && self.item(None).is_secret())
    }

    /// Whether the schema declares the value at this place secret.
    pub(crate) fn is_secret(&self) -> bool {
        self.applied.iter().any(|(_, schema)| {
            let is_set = |name: &str| schema.get(name) == Some(&Value::Bool(true));
            let format = schema.get("format").and_then(Value::as_str);
            format == Some("password")
                || ["writeOnly", "x-secret", "x-sensitive"].iter().any(|name| is_set(name))
        })
    }
}

/// The names of all properties that a schema declares secret, at any depth.
pub fn declared_names<'s>(schema: &'s Value) -> Vec<String> {
    let references = Rc::new(References::new(schema));
    let mut names = Vec::new();
    let mut left = vec![(schema, schema)];
    while let Some((base, part)) = left.pop() {
        let base = base_of(base, part);
        let properties = part.get("properties").and_then(Value::as_object);
        let is_secret =
            |(_, part): &(&String, &'s Value)| Place::of(&references, vec![(base, *part)]).is_secret();
        let secret = properties.into_iter().flatten().filter(is_secret);
        names.extend(secret.map(|(name, _)| name.clone()));
        match part {
            Value::Object(fields) => left.extend(fields.values().map(|part| (base, part))),
            Value::Array(items) => left.extend(items.iter().map(|part| (base, part))),
            _ => {}
        }
    }
    names
}

/// A subschema, preceded by the schema with an `$id` that contains it.
pub(crate) type Part<'s> = (&'s Value, &'s Value);

/// The references of one schema.
pub(crate) struct References<'s> {
    root: &'s Value,
    /// Subschemas by `#anchor`, and by the last segment of an `$id`; filled when a reference first uses a name.
    named: OnceCell<HashMap<String, Vec<Part<'s>>>>,
}

impl<'s> References<'s> {
    pub(crate) fn new(root: &'s Value) -> Self {
        Self { root, named: OnceCell::new() }
    }

    /// Returns all subschemas that a reference may mean. If several have the same name, all of them are meant: hiding
    /// too much is better than hiding too little.
    pub(crate) fn targets(&self, reference: &str, base: &'s Value) -> Vec<Part<'s>> {
        let named = |name: &str| {
            let named = self.named.get_or_init(|| names(self.root));
            named.get(name).map(Vec::as_slice).unwrap_or_default()
        };
        let (uri, fragment) = reference.split_once('#').unwrap_or((reference, ""));
        let fragment = percent_decoded(fragment);
        if !fragment.is_empty() && !fragment.starts_with('/') {
            return named(&format!("#{fragment}")).to_vec();
        }
        let documents = match uri {
            "" => vec![base, self.root],
            uri => named(last_segment(uri)).iter().map(|(_, document)| *document).collect(),
        };
        documents.into_iter().filter_map(|document| part_at(document, &fragment)).collect()
    }
}

/// The part of a document at a pointer, which may lead into a schema with an `$id`.
fn part_at<'s>(document: &'s Value, pointer: &str) -> Option<Part<'s>> {
    let schema = document.pointer(pointer)?;
    let above = pointer.match_indices('/').filter_map(|(end, _)| document.pointer(&pointer[..end]));
    Some((above.fold(document, base_of), schema))
}

/// The schema from which pointers in a subschema start.
pub(crate) fn base_of<'s>(base: &'s Value, schema: &'s Value) -> &'s Value {
    let id = schema.get("$id").and_then(Value::as_str);
    if id.is_some_and(|id| !id.starts_with('#')) { schema } else { base }
}

fn names(root: &Value) -> HashMap<String, Vec<Part<'_>>> {
    let mut named: HashMap<String, Vec<Part<'_>>> = HashMap::new();
    let mut left = vec![(root, root)];
    while let Some((base, value)) = left.pop() {
        let base = base_of(base, value);
        for (key, inner) in value.as_object().into_iter().flatten() {
            match (key.as_str(), inner) {
                ("$anchor" | "$dynamicAnchor", Value::String(name)) => {
                    named.entry(format!("#{name}")).or_default().push((base, value));
                }
                ("$id" | "id", Value::String(id)) => {
                    let (uri, anchor) = id.split_once('#').unwrap_or((id, ""));
                    for name in [last_segment(uri).to_string(), format!("#{anchor}")] {
                        named.entry(name).or_default().push((base, value));
                    }
                }
                _ => left.push((base, inner)),
            }
        }
        left.extend(value.as_array().into_iter().flatten().map(|item| (base, item)));
    }
    named
}

/// Returns the last segment of an `$id` or a reference. Both may be relative to other addresses, but their last
/// segments are equal.
fn last_segment(uri: &str) -> &str {
    uri.trim_end_matches('/').rsplit('/').next().unwrap_or_default()
}
