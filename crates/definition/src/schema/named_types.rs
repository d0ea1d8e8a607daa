//! Definitions that get a name where a schema is shown: recursive ones, and large ones that are used more than once.

use indexmap::IndexMap;
use serde_json::Value;

use super::node::{TypeNames, last_segment};
use super::walk::below;
use crate::document::resolve_local;

/// Fewest fields of a definition used twice that is listed once, under a name.
const BIG: usize = 4;
const MAX_SURVEY_DEPTH: usize = 100;
const MAX_NAME: usize = 60;

/// The names of these definitions, by reference.
pub fn named_types(root: &Value) -> TypeNames<'_> {
    let mut survey = Survey { root, seen: IndexMap::new() };
    survey.visit(root, 0);
    let mut names = TypeNames::new();
    for (reference, seen) in &survey.seen {
        if seen.recursive || (seen.uses > 1 && seen.fields >= BIG) {
            let name = free_name(reference, &names);
            names.insert(reference, name);
        }
    }
    names
}

/// A name that is plain enough to stand in a sentence, and that no other definition has.
fn free_name(reference: &str, names: &TypeNames<'_>) -> String {
    let plain = |c: char| if c.is_alphanumeric() || matches!(c, '-' | '.') { c } else { '_' };
    let name: String = last_segment(reference).chars().take(MAX_NAME).map(plain).collect();
    let name = name.trim_matches(|c| matches!(c, '_' | '-' | '.'));
    let name = if name.is_empty() { "Arguments" } else { name };
    let numbered = (2..).map(|n| format!("{name}-{n}"));
    let mut names_to_try = std::iter::once(name.to_string()).chain(numbered);
    names_to_try.find(|name| names.values().all(|other| other != name)).unwrap_or_default()
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
        if depth > MAX_SURVEY_DEPTH {
            return 0;
        }
        let mut fields = 0;
        for (keyword, value) in
            part.iter().filter(|(keyword, _)| !matches!(keyword.as_str(), "$defs" | "definitions"))
        {
            let own = usize::from(keyword == "properties");
            let below: usize = match (keyword.as_str(), value) {
                ("$ref", Value::String(reference)) => self.follow(reference, depth),
                (keyword, value) => {
                    below(keyword, value).map(|schema| own + self.visit(schema, depth + 1)).sum()
                }
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
