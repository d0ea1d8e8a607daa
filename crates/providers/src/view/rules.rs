//! The rules of a format for schemas.

/// Rules of a format for schemas (docs/reference/formats.md).
#[derive(Clone, Copy, Debug)]
pub(crate) struct SchemaRules {
    /// Whether references are unknown, and are replaced by their targets.
    pub(crate) inline: bool,
    /// Rule of the root.
    pub(crate) root: Root,
    /// The keywords known below the root, any when empty; other limits go into the description.
    pub(crate) keywords: &'static [&'static str],
    /// Rule of the names of properties.
    pub(crate) keys: Keys,
    /// Whether an object without properties is refused, so that a tool without arguments has no schema.
    pub(crate) omit_empty: bool,
    /// The strict subset of the provider.
    pub(crate) strict: Option<Strict>,
}

/// Rule of the root of a schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Root {
    /// An object, with any keyword.
    Object,
    /// An object that has `properties`; no `oneOf`, `anyOf`, `allOf`, `enum`, `const` or `not`.
    Properties,
    /// `type`, `properties` and `required`, and nothing else.
    Bare,
}

/// Rule of the names of properties.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Keys {
    Any,
    /// `^[a-zA-Z0-9_.-]{1,64}$`.
    Portable,
}

/// A subset of JSON Schema that a provider can enforce.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Strict {
    /// OpenAI's: every property required, optional ones nullable (docs/reference/formats.md, Strict schemas).
    OpenAi,
    /// Anthropic's (docs/reference/formats.md, Anthropic Messages).
    Anthropic,
}
