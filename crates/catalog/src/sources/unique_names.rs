//! Names that are unique in one place, and that every provider accepts.

use std::collections::{HashMap, HashSet};

use toolcrib_definition::document::pointer_split;

/// Names that are unique in one place.
#[derive(Default)]
pub(super) struct Names {
    taken: HashSet<String>,
    next: HashMap<String, usize>,
}

impl Names {
    /// Takes a name; returns false if it is already taken.
    pub(super) fn take(&mut self, name: &str) -> bool {
        self.taken.insert(name.to_string())
    }

    /// Takes a name, with a number if it is already taken.
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

/// Whether every provider accepts this as an argument name.
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

/// The `$defs` keys of all `$ref` targets: one for each place, the same in all tools.
#[derive(Default)]
pub(super) struct DefinitionKeys {
    by_pointer: HashMap<String, String>,
    pointers: HashMap<String, String>,
    names: Names,
}

impl DefinitionKeys {
    /// Reserves a key for another definition.
    pub(super) fn reserve(&mut self, key: &str) {
        self.names.take(key);
    }

    /// The key of the schema at a pointer: its last segment, with a number if that is already taken.
    pub(super) fn of(&mut self, pointer: &str) -> String {
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
