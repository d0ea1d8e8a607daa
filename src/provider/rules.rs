//! Rules of a provider: names, limits, schemas, deferral.

use super::view::{Keys, Root, SchemaRules};
use crate::catalog::Tool;

/// Rules of a provider.
pub(super) struct Rules {
    /// Rule of the names of functions.
    pub(super) names: NameRule,
    /// The most entries that the list of tools may have.
    pub(super) max_entries: Option<usize>,
    /// Native deferral of tools, if there is any.
    pub(super) native: Native,
    /// Marks for the prompt cache.
    pub(super) cache: Cache,
    /// Rules of schemas.
    pub(super) schema: SchemaRules,
    /// The smallest schema through which a function still takes arguments.
    pub(super) stub: Stub,
}

/// Plain JSON Schema with `properties` at the root; most wires differ little from it.
pub(super) const JSON_SCHEMA: SchemaRules = SchemaRules {
    inline: false,
    root: Root::Properties,
    keywords: &[],
    keys: Keys::Any,
    omit_empty: false,
    strict: None,
};

/// Native deferral of tools.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Native {
    /// Not at all.
    No,
    /// Each deferred tool is an entry of the list.
    Single,
    /// Deferred tools are in namespaces, each an entry of the list.
    Grouped,
}

/// Marks for the prompt cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cache {
    /// The wire has none.
    Never,
    /// Every model takes them.
    OnByDefault,
    /// Some models refuse them.
    OffByDefault,
}

/// The smallest schema that a provider takes and that allows any arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stub {
    /// `{"type":"object"}`.
    Bare,
    /// `{"type":"object","properties":{}}`.
    Empty,
    /// An object without properties is refused, and without a schema no arguments pass: they go below `args`.
    Args,
}

/// Rule of the names that a provider takes (docs/reference/wires.md, Limits by provider).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NameRule {
    /// `^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$`: safe names as they are.
    Safe,
    /// `^[a-zA-Z_][a-zA-Z0-9_]{0,63}$`: safe names without dashes.
    Underscores,
    /// `^[A-Za-z0-9_.-]{1,128}$`: canonical names where they fit.
    Mcp,
}

impl NameRule {
    /// The name of a tool on this wire.
    pub(super) fn name(self, tool: &Tool) -> String {
        match self {
            NameRule::Safe => tool.safe_name.clone(),
            NameRule::Underscores => tool.safe_name.replace('-', "_"),
            NameRule::Mcp => {
                let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-');
                let is_legal = !tool.name.is_empty() && tool.name.len() <= 128 && tool.name.chars().all(fits);
                if is_legal { tool.name.clone() } else { tool.safe_name.clone() }
            }
        }
    }
}
