//! Keywords of one place of a schema, gathered from its `$ref`, `allOf` and alternatives.

use serde_json::Value;

use super::keyword::{Keywords, is_null, keyword, last_segment, list, resolve};
use super::types::Types;

const MAX_PARTS: usize = 24;
const MAX_MEANING: usize = 40;

/// The keyword sets that apply together at one place, nearest first.
#[derive(Default)]
pub(super) struct SchemaView<'a> {
    parts: Vec<&'a Keywords>,
    /// The reference to a named type, which is not followed.
    pub(super) named: Option<&'a str>,
    /// The last word of the last reference that was followed.
    pub(super) reference: Option<&'a str>,
    /// Alternatives other than null, where there are several.
    pub(super) variants: Vec<&'a Value>,
    pub(super) nullable: bool,
    pub(super) never: bool,
}

impl<'a> SchemaView<'a> {
    pub(super) fn of(schema: &'a Value, root: &'a Value, types: &Types<'_>) -> Self {
        let mut view = Self::default();
        view.gather(schema, root, types);
        view
    }

    fn gather(&mut self, schema: &'a Value, root: &'a Value, types: &Types<'_>) {
        let Value::Object(part) = schema else {
            self.never |= schema == &Value::Bool(false);
            return;
        };
        if self.parts.len() >= MAX_PARTS || self.parts.iter().any(|known| std::ptr::eq(*known, part)) {
            return;
        }
        self.parts.push(part);
        self.nullable |= keyword(part, "nullable") == Some(&Value::Bool(true));
        if let Some(reference) = keyword(part, "$ref").and_then(Value::as_str) {
            if types.has(reference) {
                self.named = Some(reference);
            } else if let Some(target) = resolve(reference, root) {
                self.reference = Some(last_segment(reference));
                self.gather(target, root, types);
            }
        }
        for member in list(part, "allOf") {
            self.gather(member, root, types);
        }
        for variants in ["anyOf", "oneOf"].map(|name| list(part, name)) {
            let real = || variants.iter().filter(|variant| !is_null(variant));
            self.nullable |= variants.iter().any(is_null);
            match real().count() {
                0 => {}
                1 => real().for_each(|variant| self.gather(variant, root, types)),
                _ if self.variants.is_empty() => self.variants = real().collect(),
                _ => {}
            }
        }
    }

    /// The nearest value of a keyword.
    pub(super) fn get(&self, name: &str) -> Option<&'a Value> {
        self.parts.iter().find_map(|part| keyword(part, name))
    }

    /// The nearest text of a keyword that is not blank.
    pub(super) fn text(&self, name: &str) -> Option<&'a str> {
        let mut texts = self.parts.iter().filter_map(|part| keyword(part, name)?.as_str());
        texts.find(|text| !text.trim().is_empty())
    }

    /// Properties with whether they are required: required ones first, else in the author's order.
    pub(super) fn properties(&self) -> Vec<Property<'a>> {
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
        found.sort_by_key(|property| !property.required);
        found
    }

    /// The names of required properties, sorted.
    fn required(&self) -> Vec<&'a str> {
        let lists = self.parts.iter().flat_map(|part| list(part, "required"));
        let mut names: Vec<&str> = lists.filter_map(Value::as_str).collect();
        names.sort_unstable();
        names
    }

    /// The schema of properties that are not listed, where one is given.
    pub(super) fn other_values(&self) -> Option<&'a Value> {
        let patterns = || self.get("patternProperties")?.as_object()?.values().next();
        self.get("additionalProperties").filter(|schema| !schema.is_boolean()).or_else(patterns)
    }

    /// The schema of array elements.
    pub(super) fn items(&self) -> Option<&'a Value> {
        self.get("items").filter(|items| !items.is_array())
    }

    /// The schemas of the first array elements, where each has its own.
    pub(super) fn tuple(&self) -> &'a [Value] {
        let tuple = self.get("prefixItems").or_else(|| self.get("items"));
        tuple.and_then(Value::as_array).map_or(&[], Vec::as_slice)
    }

    /// The one value that is allowed.
    pub(super) fn constant(&self) -> Option<&'a Value> {
        let single = || self.get("enum")?.as_array().filter(|values| values.len() == 1)?.first();
        self.get("const").or_else(single)
    }

    /// The meaning of a constant, where the schema gives it in a few words.
    pub(super) fn meaning(&self) -> Option<&'a str> {
        let constant = self.constant()?.as_str();
        let text = self.text("description").or_else(|| self.text("title"))?;
        (constant != Some(text) && text.len() <= MAX_MEANING).then_some(text)
    }

    /// The names of required properties, where a variant has no other keyword.
    pub(super) fn only_requires(&self) -> Option<Vec<&'a str>> {
        let bare = self.parts.iter().all(|part| part.keys().all(|key| key == "required"));
        let names = self.required();
        (bare && !names.is_empty()).then_some(names)
    }
}

/// One argument or field.
pub(super) struct Property<'a> {
    pub(super) name: &'a str,
    pub(super) schema: &'a Value,
    pub(super) required: bool,
}
