//! The document as a whole: its dialect, and the targets of its references.

use std::cell::OnceCell;

use serde_json::Value;

use super::report::{Loss, Report};
use toolcrib_definition::document::{SchemaNames, percent_decoded};
use toolcrib_definition::finding::Code;

/// The longest chain of references that is followed.
const MAX_HOPS: usize = 32;

/// The dialect of a document's schemas.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Dialect {
    Swagger2,
    /// OpenAPI 3.0.
    Draft30,
    /// OpenAPI 3.1 and later: JSON Schema 2020-12.
    Draft31,
}

/// A document, with lookup tables.
pub(super) struct Document<'d> {
    pub(super) root: &'d Value,
    pub(super) dialect: Dialect,
    file_name: String,
    names: OnceCell<SchemaNames>,
}

/// Target of a `$ref`.
pub(super) enum Target<'d> {
    /// A value of this document, and its pointer.
    Local(&'d Value, String),
    /// Nothing.
    Broken,
    /// Another document.
    Remote,
}

/// The version that a document declares.
pub(super) fn version(document: &Value) -> Option<(&'static str, String)> {
    ["openapi", "swagger"].into_iter().find_map(|field| match document.get(field)? {
        Value::String(version) => Some((field, version.clone())),
        Value::Number(version) => Some((field, version.to_string())),
        _ => None,
    })
}

impl<'d> Document<'d> {
    pub(super) fn new(file: &str, root: &'d Value) -> Self {
        let dialect = match version(root) {
            Some(("swagger", _)) => Dialect::Swagger2,
            Some((_, version)) if version.starts_with("3.0") || version == "3" => Dialect::Draft30,
            _ => Dialect::Draft31,
        };
        let file_name = file.rsplit(['/', '\\']).next().unwrap_or(file).to_string();
        Self { root, dialect, file_name, names: OnceCell::new() }
    }

    /// The version that the document declares.
    pub(super) fn version(&self) -> &'d str {
        self.root.get("openapi").and_then(Value::as_str).unwrap_or_default()
    }

    /// The value at a JSON pointer.
    pub(super) fn at(&self, pointer: &str) -> Option<&'d Value> {
        self.root.pointer(pointer)
    }

    /// The target of `reference`. Names given by `$anchor` and `$id` count; nothing is ever fetched.
    pub(super) fn resolve(&self, reference: &str) -> Target<'d> {
        self.resolve_within(reference, &mut MAX_HOPS.clone())
    }

    fn resolve_within(&self, reference: &str, hops: &mut usize) -> Target<'d> {
        let (base, fragment) = reference.split_once('#').unwrap_or((reference, ""));
        let itself = base.is_empty()
            || base.trim_start_matches("./") == self.file_name
            || self.root.get("$self").and_then(Value::as_str) == Some(base);
        let named = || self.names().pointer(base).or_else(|| self.names().pointer(&format!("{base}#")));
        let base = if itself { Some("") } else { named() };
        let Some(base) = base else { return Target::Remote };
        let fragment = percent_decoded(fragment);
        let pointer = match &*fragment {
            "" => base.to_string(),
            path if path.starts_with('/') => format!("{base}{path}"),
            anchor => match self.names().pointer(&format!("#{anchor}")) {
                Some(pointer) => pointer.to_string(),
                None => return Target::Broken,
            },
        };
        match self.at(&pointer) {
            Some(value) if !pointer.is_empty() => Target::Local(value, pointer),
            _ => self.through(&pointer, hops).unwrap_or(Target::Broken),
        }
    }

    /// The target of a pointer that leads through another `$ref`, such as that of `components` in a file of its own.
    fn through(&self, pointer: &str, hops: &mut usize) -> Option<Target<'d>> {
        let mut value = self.root;
        let mut at = String::new();
        for segment in pointer.split('/').skip(1) {
            let step = format!("/{segment}");
            while value.pointer(&step).is_none() {
                *hops = hops.checked_sub(1)?;
                match self.resolve_within(value.get("$ref")?.as_str()?, hops) {
                    Target::Local(target, pointer) => (value, at) = (target, pointer),
                    other => return Some(other),
                }
            }
            value = value.pointer(&step)?;
            at.push_str(&step);
        }
        (!at.is_empty()).then_some(Target::Local(value, at))
    }

    /// The target of `reference` in a schema at `pointer`. Schemas that were pasted into a document refer to their
    /// own root, so that is tried when the document has no such target.
    pub(super) fn resolve_from(&self, reference: &str, pointer: &str) -> Target<'d> {
        let found = self.resolve(reference);
        let (Target::Broken, Some(path)) = (&found, reference.strip_prefix('#')) else { return found };
        let mut ancestor = pointer;
        while path.starts_with('/') && !ancestor.is_empty() {
            let target = format!("{ancestor}{}", percent_decoded(path));
            if let Some(value) = self.at(&target) {
                return Target::Local(value, target);
            }
            ancestor = ancestor.rsplit_once('/').map_or("", |(parent, _)| parent);
        }
        found
    }

    /// Follows the `$ref`s of a value; `None` after reporting one that cannot be resolved, with what is lost then.
    pub(super) fn follow(
        &self,
        value: &'d Value,
        pointer: String,
        loss: Loss,
        report: &mut Report,
    ) -> Option<(&'d Value, String)> {
        let mut at = value;
        let mut place = pointer;
        for _ in 0..MAX_HOPS {
            let Some(reference) = at.get("$ref").and_then(Value::as_str) else { return Some((at, place)) };
            match self.resolve(reference) {
                Target::Local(next, pointer) => (at, place) = (next, pointer),
                Target::Broken => {
                    report.broken(reference, &place, loss);
                    return None;
                }
                Target::Remote => {
                    report.remote(reference, &place, loss);
                    return None;
                }
            }
        }
        report.unresolved(Code::SchemaReferenceBroken, &place, "a chain of $refs never ends", None, loss);
        None
    }

    /// The names that schemas of the document give themselves.
    fn names(&self) -> &SchemaNames {
        self.names.get_or_init(|| SchemaNames::of(self.root, &["$id"]))
    }
}
