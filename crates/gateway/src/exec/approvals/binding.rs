//! What an approval is bound to: a hash of the tool's definition and its configured backend.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::exec::backend::Backends;
use toolcrib_catalog::{Catalog, Tool};
use toolcrib_definition::Backend;

/// Hexadecimal digits of a hash that is shown: 128 bits, too many to guess.
const DIGITS: usize = 32;

/// What a person reads of a tool before deciding, to compare later definitions with it.
pub fn readable_definition(tool: &Tool) -> Value {
    json!({
        "description": tool.description,
        "effect": tool.effect.as_str(),
        "parameters": tool.parameters.schema(),
    })
}

/// A hash of the definition and the configured backend, for which an approval holds in addition to op and arguments. Of a tool
/// of several steps, it covers their tools too.
pub fn binding(tool: &Tool, catalog: &Catalog, key: &str) -> String {
    let mut bound = Vec::new();
    let mut left = vec![tool];
    let mut known = BTreeSet::new();
    while let Some(tool) = left.pop() {
        let backend = Backends::configured(tool, &catalog.config);
        bound.push(json!([tool.definition, tool.effect.as_str(), backend]));
        if let Some(Backend::Steps(backend)) = &tool.definition.backend {
            let called = backend.steps.iter().rev().filter_map(|step| catalog.find(&step.op));
            left.extend(called.filter(|tool| known.insert(&tool.name)));
        }
    }
    hash(key, &json!(bound).to_string())
}

pub(super) fn hash(key: &str, text: &str) -> String {
    let key = blake3::derive_key("toolcrib: hashes of approvals", key.as_bytes());
    blake3::keyed_hash(&key, text.as_bytes()).to_hex()[..DIGITS].to_string()
}
