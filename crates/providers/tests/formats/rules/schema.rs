//! Rules of schemas that several providers share, each a function over the emitted schema.

use std::collections::BTreeSet;
use std::sync::Mutex;

use serde_json::{Map, Value};

use super::report::{Report, hashed};

/// A schema as it was emitted.
pub struct Schema<'v> {
    /// The root.
    pub root: &'v Value,
    /// Where it stands in the body.
    pub pointer: &'v str,
    /// Whether the function is strict.
    pub strict: bool,
    nodes: Vec<Node<'v>>,
}

/// A schema within a schema.
pub struct Node<'v> {
    /// Where.
    pub pointer: String,
    /// The schema; a boolean or an object.
    pub value: &'v Value,
    /// Objects and arrays above it.
    pub depth: usize,
}

impl<'v> Node<'v> {
    /// Its keywords; none when it is a boolean.
    pub fn keywords(&self) -> impl Iterator<Item = (&'v String, &'v Value)> {
        self.value.as_object().into_iter().flatten()
    }

    /// Whether a value of this type is among those described.
    pub fn has_type(&self, word: &str) -> bool {
        match self.value.get("type") {
            Some(Value::String(text)) => text == word,
            Some(Value::Array(words)) => words.iter().any(|listed| listed == word),
            _ => false,
        }
    }

    /// The properties, by name.
    pub fn properties(&self) -> Option<&'v Map<String, Value>> {
        self.value.get("properties").and_then(Value::as_object)
    }

    /// The names that are required.
    pub fn required(&self) -> Vec<&'v str> {
        let listed = self.value.get("required").and_then(Value::as_array);
        listed.into_iter().flatten().filter_map(Value::as_str).collect()
    }
}

const MAPS: [&str; 6] =
    ["properties", "patternProperties", "$defs", "definitions", "dependentSchemas", "dependencies"];
const LISTS: [&str; 5] = ["allOf", "anyOf", "oneOf", "prefixItems", "items"];
const SINGLES: [&str; 12] = [
    "items", "additionalProperties", "not", "if", "then", "else", "contains", "propertyNames",
    "unevaluatedItems", "unevaluatedProperties", "additionalItems", "contentSchema",
];

impl<'v> Schema<'v> {
    /// A schema with all schemas in it.
    pub fn new(root: &'v Value, pointer: &'v str, strict: bool) -> Self {
        let mut nodes = Vec::new();
        let mut open = vec![Node { pointer: pointer.to_string(), value: root, depth: 1 }];
        while let Some(node) = open.pop() {
            let below = usize::from(node.has_type("object") || node.has_type("array"));
            for (key, value) in node.keywords() {
                let mut add = |name: Option<&str>, value: &'v Value| {
                    let tail = name.map(|name| format!("/{}", name.replace('~', "~0").replace('/', "~1")));
                    let pointer = format!("{}/{key}{}", node.pointer, tail.unwrap_or_default());
                    open.push(Node { pointer, value, depth: node.depth + below });
                };
                match value {
                    Value::Object(map) if MAPS.contains(&key.as_str()) => {
                        map.iter().for_each(|(name, value)| add(Some(name), value));
                    }
                    Value::Array(list) if LISTS.contains(&key.as_str()) => {
                        list.iter()
                            .enumerate()
                            .for_each(|(index, value)| add(Some(&index.to_string()), value));
                    }
                    Value::Object(_) | Value::Bool(_) if SINGLES.contains(&key.as_str()) => add(None, value),
                    _ => {}
                }
            }
            nodes.push(node);
        }
        Schema { root, pointer, strict, nodes }
    }

    /// Every schema in it, the root first.
    pub fn nodes(&self) -> &[Node<'v>] {
        &self.nodes
    }
}

/// Section 1, row "root": an object, and said to be one.
pub fn root_is_object(schema: &Schema<'_>, report: &mut Report) {
    report.demand(schema.root["type"] == "object", "the root's type is object", schema.pointer);
}

/// Section 0.4: no bare `{"type":"object"}` on OpenAI-shaped APIs.
pub fn root_has_properties(schema: &Schema<'_>, report: &mut Report) {
    report.demand(schema.root["properties"].is_object(), "the root has properties", schema.pointer);
}

/// Section 1, row "root": these keywords are refused at the top.
pub fn root_lacks(schema: &Schema<'_>, refused: &[&str], report: &mut Report) {
    for word in refused.iter().filter(|word| schema.root.get(**word).is_some()) {
        report.demand(false, &format!("no {word} at the root"), schema.pointer);
    }
}

/// Section 6 and 7: the root has these keywords only.
pub fn root_only(schema: &Schema<'_>, allowed: &[&str], report: &mut Report) {
    let keys = schema.root.as_object().into_iter().flat_map(Map::keys);
    for key in keys.filter(|key| !allowed.contains(&key.as_str())) {
        report.breach("a bare root", &format!("{}/{key}", schema.pointer));
    }
}

/// Sections 5 and 7: no keyword is outside the list, below the root.
pub fn keywords_only(schema: &Schema<'_>, allowed: &[&str], report: &mut Report) {
    for node in schema.nodes().iter().skip(1) {
        for (key, _) in node.keywords().filter(|(key, _)| !allowed.contains(&key.as_str())) {
            report.breach("keywords that are known only", &format!("{}/{key}", node.pointer));
        }
    }
}

/// A keyword that must stand nowhere.
pub fn lacks(schema: &Schema<'_>, refused: &[&str], report: &mut Report) {
    for node in schema.nodes() {
        for word in refused.iter().filter(|word| node.value.get(**word).is_some()) {
            report.demand(false, &format!("no {word} anywhere"), &node.pointer);
        }
    }
}

/// Sections 6 and 7: references are inlined.
pub fn no_references(schema: &Schema<'_>, report: &mut Report) {
    lacks(schema, &["$ref", "$dynamicRef", "$recursiveRef", "$defs", "definitions"], report);
}

/// Every reference points into the schema, to something that is there.
pub fn references_resolve(schema: &Schema<'_>, report: &mut Report) {
    for node in schema.nodes() {
        let references = ["$ref", "$dynamicRef"].map(|word| node.value.get(word));
        for reference in references.into_iter().flatten() {
            let target = reference.as_str().and_then(|reference| reference.strip_prefix('#'));
            report.demand(target.is_some(), "references stay in the schema", &node.pointer);
            let resolves = target.is_none_or(|target| resolves(schema.root, target));
            report.demand(resolves, "references point to something", &node.pointer);
        }
    }
}

fn resolves(root: &Value, target: &str) -> bool {
    let plain = percent_decoded(target);
    if plain.is_empty() || plain.starts_with('/') {
        return root.pointer(&plain).is_some();
    }
    let schema = Schema::new(root, "", false);
    schema.nodes().iter().any(|node| {
        ["$anchor", "$dynamicAnchor"].iter().any(|word| node.value.get(word) == Some(&plain.as_str().into()))
    })
}

fn percent_decoded(text: &str) -> String {
    let mut parts = text.split('%');
    let mut bytes = parts.next().unwrap_or_default().as_bytes().to_vec();
    for part in parts {
        match part.get(..2).and_then(|code| u8::from_str_radix(code, 16).ok()) {
            Some(byte) => {
                bytes.push(byte);
                bytes.extend(&part.as_bytes()[2..]);
            }
            None => bytes.extend(format!("%{part}").bytes()),
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Section 2, "array schema missing items"; section 5, "items: missing field".
pub fn arrays_have_items(schema: &Schema<'_>, report: &mut Report) {
    for node in schema.nodes().iter().filter(|node| node.has_type("array")) {
        let has = node.value.get("items").is_some() || node.value.get("prefixItems").is_some();
        report.demand(has, "arrays have items", &node.pointer);
    }
}

/// Section 5: "required[0]: property is not defined".
pub fn required_is_defined(schema: &Schema<'_>, report: &mut Report) {
    for node in schema.nodes() {
        let known = |name: &&str| node.properties().is_some_and(|properties| properties.contains_key(*name));
        report.demand(node.required().iter().all(known), "what is required is defined", &node.pointer);
    }
}

/// Section 4: `^[a-zA-Z0-9_.-]{1,64}$`.
pub fn portable_keys(schema: &Schema<'_>, report: &mut Report) {
    for node in schema.nodes() {
        let keys = node.properties().into_iter().flat_map(Map::keys);
        for key in keys.filter(|key| !is_portable(key)) {
            report.breach("keys of properties match the pattern", &format!("{}/{key}", node.pointer));
        }
    }
}

/// Whether a key of a property is taken everywhere.
pub fn is_portable(key: &str) -> bool {
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-');
    !key.is_empty() && key.len() <= 64 && key.chars().all(fits)
}

/// Section 1, row "schema language": valid against the meta-schema of 2020-12.
pub fn valid_2020_12(schema: &Schema<'_>, report: &mut Report) {
    // Most providers see the same schemas; what was valid for one is valid for all.
    static VALID: Mutex<BTreeSet<u64>> = Mutex::new(BTreeSet::new());
    let hash = hashed(schema.root);
    if VALID.lock().is_ok_and(|valid| valid.contains(&hash)) {
        return;
    }
    match jsonschema::draft202012::meta::validate(schema.root) {
        Ok(()) => drop(VALID.lock().map(|mut valid| valid.insert(hash))),
        Err(error) => {
            let place = format!("{}{}", schema.pointer, error.instance_path());
            report.demand(false, "valid against JSON Schema 2020-12", &place);
        }
    }
}
