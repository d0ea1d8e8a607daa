//! One place of a schema as readers take it: its `$ref`, its `allOf` and its one alternative beside null read as one.

use serde_json::{Map, Value};

use super::walk::keyword;
use crate::document::resolve_local;
use crate::words;

/// Most schemas that are read as one.
const MAX_PARTS: usize = 24;
/// Longest meaning of a constant, and longest title that is shown, in bytes.
const MAX_MEANING: usize = 40;
const MAX_TITLE: usize = 80;

/// The keyword sets that apply together at one place, nearest first.
#[derive(Debug)]
pub struct SchemaView<'a> {
    /// The whole schema, in which references are followed.
    pub root: &'a Value,
    parts: Vec<&'a Keywords>,
    /// The reference to a named type, which is not followed.
    pub(crate) named: Option<&'a str>,
    /// The last word of the last reference that was followed.
    reference: Option<&'a str>,
    /// Alternatives other than null, where there are several.
    pub variants: Vec<&'a Value>,
    /// Whether null is allowed beside its type.
    pub(crate) is_nullable: bool,
    pub(super) is_never: bool,
}

impl<'a> SchemaView<'a> {
    /// A place of the schema `root`.
    pub fn of(schema: &'a Value, root: &'a Value) -> Self {
        Self::with_names(schema, root, &|_| false)
    }

    /// A place of the schema `root`, some of whose references are known by a name.
    pub(crate) fn with_names(schema: &'a Value, root: &'a Value, is_named: &dyn Fn(&str) -> bool) -> Self {
        let mut view = Self {
            root,
            parts: Vec::new(),
            named: None,
            reference: None,
            variants: Vec::new(),
            is_nullable: false,
            is_never: false,
        };
        view.gather(schema, is_named);
        view
    }

    /// Another place of the same schema.
    pub fn at(&self, schema: &'a Value) -> Self {
        Self::of(schema, self.root)
    }

    fn gather(&mut self, schema: &'a Value, is_named: &dyn Fn(&str) -> bool) {
        let Value::Object(part) = schema else {
            self.is_never |= schema == &Value::Bool(false);
            return;
        };
        if self.parts.len() >= MAX_PARTS || self.parts.iter().any(|known| std::ptr::eq(*known, part)) {
            return;
        }
        self.parts.push(part);
        self.is_nullable |= keyword(part, "nullable") == Some(&Value::Bool(true));
        if let Some(reference) = keyword(part, "$ref").and_then(Value::as_str) {
            if is_named(reference) {
                self.named = Some(reference);
            } else if let Some(target) = resolve_local(reference, self.root) {
                self.reference = Some(last_segment(reference));
                self.gather(target, is_named);
            }
        }
        for member in list(part, "allOf") {
            self.gather(member, is_named);
        }
        for variants in ["anyOf", "oneOf"].map(|name| list(part, name)) {
            let real = || variants.iter().filter(|variant| !is_null(variant));
            self.is_nullable |= variants.iter().any(is_null);
            match real().count() {
                0 => {}
                1 => real().for_each(|variant| self.gather(variant, is_named)),
                _ if self.variants.is_empty() => self.variants = real().collect(),
                _ => {}
            }
        }
    }

    /// The nearest value of a keyword.
    pub fn get(&self, name: &str) -> Option<&'a Value> {
        self.parts.iter().find_map(|part| keyword(part, name))
    }

    /// The nearest text of a keyword that is not blank.
    pub fn text(&self, name: &str) -> Option<&'a str> {
        let mut texts = self.parts.iter().filter_map(|part| keyword(part, name)?.as_str());
        texts.find(|text| !text.trim().is_empty())
    }

    /// Whether it has one of these keywords, so that one pass may answer for several looks.
    pub(crate) fn has_any(&self, keywords: &[&str]) -> bool {
        self.parts.iter().any(|part| part.keys().any(|key| keywords.contains(&key.as_str())))
    }

    /// Whether no other schema is within it.
    pub fn is_leaf(&self) -> bool {
        const WITHIN: [&str; 5] =
            ["properties", "items", "prefixItems", "additionalProperties", "patternProperties"];
        self.variants.is_empty() && !self.has_any(&WITHIN)
    }

    /// Its properties, in the author's order.
    pub fn properties(&self) -> Vec<Property<'a>> {
        let required = self.required();
        let lists = || self.parts.iter().filter_map(|part| keyword(part, "properties")?.as_object());
        let mut found: Vec<Property<'a>> = Vec::new();
        for (index, properties) in lists().enumerate() {
            for (name, schema) in properties {
                if !lists().take(index).any(|nearer| nearer.contains_key(name)) {
                    let required = required.binary_search(&name.as_str()).is_ok()
                        || schema.get("required") == Some(&Value::Bool(true));
                    found.push(Property { name, schema, required });
                }
            }
        }
        found
    }

    /// The names of required properties, sorted.
    fn required(&self) -> Vec<&'a str> {
        let lists = self.parts.iter().flat_map(|part| list(part, "required"));
        let mut names: Vec<&str> = lists.filter_map(Value::as_str).collect();
        names.sort_unstable();
        names
    }

    /// Its description, or a title that says more than the name.
    pub fn about(&self, name: &str) -> Option<&'a str> {
        let says_more = |title: &&str| title.len() <= MAX_TITLE && words(title) != words(name);
        self.text("description").or_else(|| self.text("title").filter(says_more))
    }

    /// Its own name: a title, or the last word of its reference.
    pub fn name(&self) -> Option<&'a str> {
        self.text("title").or(self.reference).filter(|name| name.len() <= MAX_TITLE)
    }

    /// Whether it is marked as deprecated.
    pub fn is_deprecated(&self) -> bool {
        self.get("deprecated") == Some(&Value::Bool(true))
    }

    /// The schema of properties that are not listed, where one is given.
    pub fn other_values(&self) -> Option<&'a Value> {
        let patterns = || self.get("patternProperties")?.as_object()?.values().next();
        self.get("additionalProperties").filter(|schema| !schema.is_boolean()).or_else(patterns)
    }

    /// The schema of array elements.
    pub fn items(&self) -> Option<&'a Value> {
        self.get("items").filter(|items| !items.is_array())
    }

    /// The schemas of the first array elements, where each has its own.
    pub fn tuple(&self) -> &'a [Value] {
        let tuple = self.get("prefixItems").or_else(|| self.get("items"));
        tuple.and_then(Value::as_array).map_or(&[], Vec::as_slice)
    }

    /// The one value that is allowed.
    pub fn constant(&self) -> Option<&'a Value> {
        let single = || self.get("enum")?.as_array().filter(|values| values.len() == 1)?.first();
        self.get("const").or_else(single)
    }

    /// The meaning of a constant, where the schema gives it in a few words.
    pub fn meaning(&self) -> Option<&'a str> {
        let constant = self.constant()?.as_str();
        let text = self.text("description").or_else(|| self.text("title"))?;
        (constant != Some(text) && text.len() <= MAX_MEANING).then_some(text)
    }

    /// The names of required properties, where a variant has no other keyword.
    pub fn only_requires(&self) -> Option<Vec<&'a str>> {
        let bare = self.parts.iter().all(|part| part.keys().all(|key| key == "required"));
        let names = self.required();
        (bare && !names.is_empty()).then_some(names)
    }
}

/// One argument or field.
pub struct Property<'a> {
    pub name: &'a str,
    pub schema: &'a Value,
    /// Whether the object must have it.
    pub required: bool,
}

/// The keywords of a schema.
type Keywords = Map<String, Value>;

/// The elements of a keyword that should hold a list.
fn list<'a>(part: &'a Keywords, name: &str) -> &'a [Value] {
    keyword(part, name).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// The name in a reference: its last segment that is no keyword.
pub fn last_segment(reference: &str) -> &str {
    let is_name = |word: &&str| {
        !matches!(*word, "" | "items" | "properties" | "additionalProperties" | "anyOf" | "oneOf" | "allOf")
    };
    let mut words = reference.rsplit(['/', '#']).filter(|word| !word.bytes().all(|b| b.is_ascii_digit()));
    words.find(is_name).unwrap_or("")
}

/// Whether nothing but null fits.
fn is_null(schema: &Value) -> bool {
    let Value::Object(part) = schema else { return false };
    let only_null =
        part.get("enum").and_then(Value::as_array).is_some_and(|values| values.as_slice() == [Value::Null]);
    only_null
        || part.get("const") == Some(&Value::Null)
        || part.get("type").is_some_and(|kind| kind == "null")
}
