//! Schema views: what a provider takes, derived from the canonical schema, which stays as it is (DEF-2, DEF-5).

use serde_json::{Value, json};

/// What schemas may say on a wire (formats.md, section 1).
#[derive(Clone, Copy, Debug)]
pub(super) struct SchemaRules {
    /// References are not known, and are replaced by what they refer to.
    pub(super) inline: bool,
    /// What the root may be.
    pub(super) root: Root,
    /// The keywords known below the root; any when empty.
    pub(super) keywords: &'static [&'static str],
    /// What is said of limits that the keywords cannot express goes into the description.
    pub(super) words: bool,
    /// Which names properties may have.
    pub(super) keys: Keys,
    /// An object without properties is refused, so that a tool without arguments has no schema.
    pub(super) omit_empty: bool,
    /// The subset in which the provider can hold a model to the schema.
    pub(super) strict: Option<Strict>,
    /// How many strict tools one request may have.
    pub(super) max_strict: usize,
}

/// What the root of a schema may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Root {
    /// An object, with any keyword.
    Object,
    /// An object that has `properties`; no `oneOf`, `anyOf`, `allOf`, `enum`, `const` or `not`.
    Properties,
    /// `type`, `properties` and `required`, and nothing else.
    Bare,
}

/// Which names properties may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Keys {
    /// Any.
    Any,
    /// `^[a-zA-Z0-9_.-]{1,64}$`.
    Portable,
}

/// A subset in which a provider can hold a model to a schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Strict {
    /// OpenAI's: every property required, optional ones nullable (formats.md, section 2).
    OpenAi,
    /// Anthropic's (formats.md, section 4).
    Anthropic,
}

/// A schema as a provider takes it.
#[derive(Debug)]
pub(super) struct View {
    /// The schema; none where an empty one is refused.
    pub(super) schema: Option<Value>,
    /// Whether it is within the strict subset, and was asked to be.
    pub(super) strict: bool,
    /// Why it is not, when it was asked to be.
    pub(super) not_strict: Option<String>,
    /// What the canonical schema says and this one cannot; never refuses what the canonical one accepts.
    pub(super) loosened: Vec<String>,
}

/// Derives a view. The error says why the tool cannot be bound at all.
pub(super) fn view(schema: &Value, rules: &SchemaRules, compact: bool, strict: bool) -> Result<View, String> {
    let _ = (rules, compact, strict);
    let mut schema = schema.clone();
    if let Some(object) = schema.as_object_mut() {
        object.entry("type").or_insert(json!("object"));
        object.entry("properties").or_insert(json!({}));
    }
    Ok(View { schema: Some(schema), strict: false, not_strict: None, loosened: Vec::new() })
}

/// The properties that `view` renames: the name that the provider sees, and the canonical one.
pub(super) fn renamed(schema: &Value, keys: Keys) -> Vec<(String, String)> {
    let _ = (schema, keys);
    Vec::new()
}
