//! The types of the values at one place of a schema.

use indexmap::IndexSet;
use serde_json::Value;

use super::node::Node;
use super::type_words::standard_type;

/// Most types of one place that are read.
const MAX_TYPES: usize = 12;

/// The kind of the values at a place. Null, which may be allowed beside it, is in `Node::is_nullable`.
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
    /// Any value of its types (`Node::types`).
    Typed,
}

/// One JSON type, with the nodes of its contents.
pub(crate) enum Type<'a> {
    Any,
    /// A type without contents, also one that JSON does not know.
    Plain(&'a str),
    Array(Option<Node<'a>>),
    /// An array whose first elements have schemas of their own.
    Tuple,
    Object,
    /// An object of any names with values of one schema.
    Map(Node<'a>),
}

impl<'a> Node<'a> {
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
        match self.values {
            Some(values) if !values.is_empty() => Kind::Values(values),
            _ if self.variants().len() > 0 => Kind::Variants,
            _ => Kind::Typed,
        }
    }

    /// The types that it declares, each once and null last; where it declares none, the type that its keywords are for.
    pub(crate) fn types(&self) -> Vec<Type<'a>> {
        let words = self.type_words().take(MAX_TYPES);
        let mut words: IndexSet<&str> = words.map(|word| standard_type(word).unwrap_or(word)).collect();
        if words.is_empty() {
            words.insert("");
        }
        words.sort_by_key(|word| *word == "null");
        words.into_iter().map(|word| self.read_type(word)).collect()
    }

    fn read_type(&self, word: &'a str) -> Type<'a> {
        if matches!(word, "array" | "") {
            if self.tuple().len() > 0 {
                return Type::Tuple;
            }
            if let Some(items) = self.items() {
                return Type::Array(Some(items));
            }
        }
        let values = if self.lists_properties() { None } else { self.other_values() };
        match (word, values) {
            ("object" | "", Some(values)) => Type::Map(values),
            ("array", _) => Type::Array(None),
            ("object", None) => Type::Object,
            ("", None) if self.lists_properties() => Type::Object,
            ("", None) => Type::Any,
            _ => Type::Plain(word),
        }
    }
}
