//! The types of the values at one place of a schema.

use indexmap::IndexSet;
use serde_json::Value;

use super::type_words::standard_type;
use super::view::SchemaView;

/// Most types of one place that are read.
const MAX_TYPES: usize = 12;

/// The kind of the values at a place. Null, which may be allowed beside it, is in `SchemaView::is_nullable`.
pub enum Kind<'a> {
    /// Nothing fits.
    Never,
    /// A type with a name of its own, by the reference to it.
    Named(&'a str),
    /// One value.
    Constant(&'a Value),
    /// Several values.
    Values(&'a [Value]),
    /// One of several schemas.
    Variants,
    /// Any value of its types (`SchemaView::types`).
    Typed,
}

/// One JSON type, with the schemas of its contents.
pub(crate) enum Type<'a> {
    Any,
    /// A type without contents, also one that JSON does not know.
    Plain(&'a str),
    Array(Option<&'a Value>),
    /// An array whose first elements have schemas of their own.
    Tuple(&'a [Value]),
    Object,
    /// An object of any names with values of one schema.
    Map(&'a Value),
}

impl<'a> SchemaView<'a> {
    /// The kind of its values.
    pub fn kind(&self) -> Kind<'a> {
        if self.is_never {
            return Kind::Never;
        }
        if let Some(reference) = self.named {
            return Kind::Named(reference);
        }
        if let Some(value) = self.constant() {
            return Kind::Constant(value);
        }
        match self.get("enum").and_then(Value::as_array) {
            Some(values) if !values.is_empty() => Kind::Values(values),
            _ if !self.variants.is_empty() => Kind::Variants,
            _ => Kind::Typed,
        }
    }

    /// The types that it declares, each once and null last; where it declares none, the type that its keywords are for.
    pub(crate) fn types(&self) -> Vec<Type<'a>> {
        let several = self.get("type").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        let one = self.get("type").and_then(Value::as_str);
        let words = several.iter().filter_map(Value::as_str).take(MAX_TYPES).chain(one);
        let mut words: IndexSet<&str> = words.map(|word| standard_type(word).unwrap_or(word)).collect();
        if words.is_empty() {
            words.insert("");
        }
        words.sort_by_key(|word| *word == "null");
        words.into_iter().map(|word| self.read_type(word)).collect()
    }

    fn read_type(&self, word: &'a str) -> Type<'a> {
        let may_be_array = matches!(word, "array" | "");
        let may_be_object = matches!(word, "object" | "");
        let has_properties = self.get("properties").is_some_and(Value::is_object);
        match (self.tuple(), self.items(), self.other_values()) {
            (tuple, ..) if may_be_array && !tuple.is_empty() => Type::Tuple(tuple),
            (_, Some(items), _) if may_be_array => Type::Array(Some(items)),
            (_, _, Some(values)) if may_be_object && !has_properties => Type::Map(values),
            _ if word == "array" => Type::Array(None),
            _ if word == "object" || (word.is_empty() && has_properties) => Type::Object,
            _ if word.is_empty() => Type::Any,
            _ => Type::Plain(word),
        }
    }
}
