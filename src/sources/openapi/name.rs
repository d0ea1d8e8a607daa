//! Makes names: unique ones, portable ones, and names for operations without one.

use std::collections::{HashMap, HashSet};

use crate::finding::pointer_split;
use crate::tool::words;

/// Names that are unique in one place.
#[derive(Default)]
pub(super) struct Names {
    taken: HashSet<String>,
    next: HashMap<String, usize>,
}

impl Names {
    /// Takes a name; false when it is taken.
    pub(super) fn take(&mut self, name: &str) -> bool {
        self.taken.insert(name.to_string())
    }

    /// Takes a name, numbered when it is taken.
    pub(super) fn number(&mut self, name: &str) -> String {
        if self.take(name) {
            return name.to_string();
        }
        let number = self.next.entry(name.to_string()).or_insert(2);
        loop {
            let candidate = format!("{name}_{number}");
            *number += 1;
            if self.taken.insert(candidate.clone()) {
                return candidate;
            }
        }
    }
}

/// Whether every provider takes this as the name of an argument.
pub(super) fn is_portable(name: &str) -> bool {
    (1..=64).contains(&name.len()) && name.bytes().all(is_portable_byte)
}

fn is_portable_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-')
}

/// The portable part of a name: `filter[x]` becomes `filter_x`, and `$top` becomes `top`.
pub(super) fn portable(name: &str, longest: usize, otherwise: &str) -> String {
    if name.len() <= longest && !name.is_empty() && name.bytes().all(is_portable_byte) {
        return name.to_string();
    }
    let mut portable = String::new();
    for c in name.chars() {
        if portable.len() >= longest {
            break;
        }
        if u8::try_from(c).is_ok_and(is_portable_byte) {
            portable.push(c);
        } else if !portable.ends_with('_') {
            portable.push('_');
        }
    }
    let trimmed = portable.trim_matches('_');
    if trimmed.is_empty() { otherwise.to_string() } else { trimmed.to_string() }
}

/// A name from method and path: `get /users/{id}` is `get_users_by_id`.
pub(super) fn of_operation(method: &str, path: &str) -> String {
    let mut parts = words(method);
    for segment in path.split('/') {
        if segment.starts_with('{') {
            parts.push("by".to_string());
        }
        parts.extend(words(segment));
    }
    if parts.is_empty() { "operation".into() } else { parts.join("_") }
}

/// The variables of a path template, in order.
pub(super) fn path_variables(path: &str) -> Vec<&str> {
    let pieces = path.split('{').skip(1);
    pieces
        .filter_map(|piece| piece.split_once('}'))
        .map(|(name, _)| name)
        .filter(|name| !name.is_empty())
        .collect()
}

/// The keys in `$defs` of all targets of `$ref`: one for each place, the same in all tools.
#[derive(Default)]
pub(in crate::sources) struct DefinitionKeys {
    by_pointer: HashMap<String, String>,
    pointers: HashMap<String, String>,
    names: Names,
}

impl DefinitionKeys {
    /// Keeps a key for another definition.
    pub(in crate::sources) fn reserve(&mut self, key: &str) {
        self.names.take(key);
    }

    /// The key of the schema at a pointer: its last segment, numbered when that is taken.
    pub(in crate::sources) fn of(&mut self, pointer: &str) -> String {
        if let Some(key) = self.by_pointer.get(pointer) {
            return key.clone();
        }
        let (_, last) = pointer_split(pointer).unwrap_or_default();
        let key = self.names.number(&portable(&last, 128, "schema"));
        self.by_pointer.insert(pointer.to_string(), key.clone());
        self.pointers.insert(key.clone(), pointer.to_string());
        key
    }

    /// The pointer of the schema that a rewritten `$ref` leads to.
    pub(super) fn pointer(&self, reference: &str) -> Option<&str> {
        self.pointers.get(reference.strip_prefix("#/$defs/")?).map(String::as_str)
    }
}
