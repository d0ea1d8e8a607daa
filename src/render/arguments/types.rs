//! Definitions that get a name: recursive ones, and large ones that are used more than once.

use indexmap::IndexMap;
use serde_json::Value;

use crate::catalog::schema_view::{last_segment, list};
use crate::finding::resolve_local;

/// Fewest fields of a definition used twice that is listed once, under a name.
const BIG: usize = 4;
const MAX_DEPTH: usize = 100;
const MAX_NAME: usize = 60;

/// The named definitions of a schema, by reference.
#[derive(Default)]
pub(super) struct Types<'a> {
    names: IndexMap<&'a str, String>,
}

impl<'a> Types<'a> {
    /// Finds the definitions that get a name.
    pub(super) fn of(root: &'a Value) -> Self {
        let mut survey = Survey { root, seen: IndexMap::new() };
        survey.visit(root, 0);
        let mut types = Self::default();
        for (reference, seen) in &survey.seen {
            if seen.recursive || (seen.uses > 1 && seen.fields >= BIG) {
                let name = types.free_name(reference);
                types.names.insert(reference, name);
            }
        }
        types
    }

    pub(super) fn has(&self, reference: &str) -> bool {
        self.names.contains_key(reference)
    }

    /// The name of a definition, if it is plain enough to stand in a sentence.
    pub(super) fn name(&self, reference: &str) -> &str {
        self.names.get(reference).map_or("any", String::as_str)
    }

    fn free_name(&self, reference: &str) -> String {
        let plain = |c: char| if c.is_alphanumeric() || matches!(c, '-' | '.') { c } else { '_' };
        let name: String = last_segment(reference).chars().take(MAX_NAME).map(plain).collect();
        let name = name.trim_matches(|c| matches!(c, '_' | '-' | '.'));
        let name = if name.is_empty() { "Arguments" } else { name };
        let taken = |name: &str| self.names.values().any(|other| other == name);
        if !taken(name) {
            return name.to_string();
        }
        (2..).map(|n| format!("{name}-{n}")).find(|name| !taken(name)).unwrap_or_default()
    }
}

#[derive(Default)]
struct Usage {
    uses: usize,
    fields: usize,
    recursive: bool,
    open: bool,
}

/// One walk over everything that can be reached from the root.
struct Survey<'a> {
    root: &'a Value,
    seen: IndexMap<&'a str, Usage>,
}

impl<'a> Survey<'a> {
    /// Visits a schema; returns the number of fields it takes when written in place, at most `BIG`.
    fn visit(&mut self, schema: &'a Value, depth: usize) -> usize {
        let Value::Object(part) = schema else { return 0 };
        if depth > MAX_DEPTH {
            return 0;
        }
        let mut fields = 0;
        for (keyword, value) in part {
            let below = match (keyword.as_str(), value) {
                ("$ref", Value::String(reference)) => self.follow(reference, depth),
                ("properties", Value::Object(properties)) => {
                    properties.values().map(|schema| 1 + self.visit(schema, depth + 1)).sum()
                }
                ("patternProperties", Value::Object(patterns)) => {
                    patterns.values().map(|schema| self.visit(schema, depth + 1)).sum()
                }
                ("allOf" | "anyOf" | "oneOf" | "prefixItems" | "items", Value::Array(_)) => {
                    list(part, keyword).iter().map(|schema| self.visit(schema, depth + 1)).sum()
                }
                ("items" | "additionalProperties", schema) => self.visit(schema, depth + 1),
                _ => 0,
            };
            fields = BIG.min(fields + below);
        }
        fields
    }

    fn follow(&mut self, reference: &'a str, depth: usize) -> usize {
        let seen = self.seen.entry(reference).or_default();
        seen.uses += 1;
        seen.recursive |= seen.open;
        if seen.uses > 1 {
            return seen.fields;
        }
        let Some(target) = resolve_local(reference, self.root) else { return 0 };
        seen.open = true;
        let fields = self.visit(target, depth + 1);
        if let Some(seen) = self.seen.get_mut(reference) {
            seen.open = false;
            seen.fields = fields;
        }
        fields
    }
}
