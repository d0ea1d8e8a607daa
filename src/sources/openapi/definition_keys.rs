//! Keys in `$defs`: one for each schema that some `$ref` leads to.

use std::collections::HashMap;

use super::name::{Names, portable};
use crate::finding::pointer_split;

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
