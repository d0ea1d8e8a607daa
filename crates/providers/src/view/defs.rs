//! Definitions: `$defs` of a schema whose references all lead there, and those that take the place of references.

use std::collections::VecDeque;

use serde_json::{Map, Value};

use toolcrib_definition::schema::walk::below;

/// Keys of definitions.
pub(super) const DEFS: &str = "#/$defs/";

/// Removes definitions without references; the others stand in the order of their first reference.
pub(super) fn prune(view: &mut Value) {
    let Some(Value::Object(mut defs)) = view.as_object_mut().and_then(|root| root.shift_remove("$defs"))
    else {
        return;
    };
    let mut queue: VecDeque<String> = VecDeque::new();
    let mut kept = Map::new();
    referred_to(view, &mut |name| queue.push_back(name.to_string()));
    while let Some(name) = queue.pop_front() {
        if let Some(found) = defs.swap_remove(&name) {
            referred_to(&found, &mut |name| queue.push_back(name.to_string()));
            kept.insert(name, found);
        }
    }
    if !kept.is_empty()
        && let Some(root) = view.as_object_mut()
    {
        root.insert("$defs".into(), Value::Object(kept));
    }
}

/// Calls with the names of the definitions that a schema refers to, with repeats, in its order; `""` for the root.
pub(super) fn referred_to<'a>(schema: &'a Value, visit: &mut dyn FnMut(&'a str)) {
    let Some(object) = schema.as_object() else { return };
    if let Some(reference) = object.get("$ref").and_then(Value::as_str) {
        visit(reference.strip_prefix(DEFS).unwrap_or_default());
    }
    for (key, value) in object.iter().filter(|(key, _)| *key != "$defs") {
        below(key, value).for_each(|child| referred_to(child, visit));
    }
}

/// Takes the definitions out of a root.
pub(super) fn take_defs(root: &mut Map<String, Value>) -> Map<String, Value> {
    match root.shift_remove("$defs") {
        Some(Value::Object(defs)) => defs,
        _ => Map::new(),
    }
}

/// Most parts that definitions may add to a schema in the place of references.
pub(super) const MAX_PARTS: usize = 20_000;

/// The definitions that take the place of references: none within itself, and not more parts than a schema may get.
pub(super) struct Opening<'a> {
    defs: &'a Map<String, Value>,
    /// The definitions around a place, outermost first.
    pub(super) open: Vec<String>,
    left: usize,
}

impl<'a> Opening<'a> {
    pub(super) fn of(defs: &'a Map<String, Value>) -> Self {
        Self { defs, open: Vec::new(), left: MAX_PARTS }
    }

    /// The definition that a reference leads to, which is open from now on.
    pub(super) fn enter(&mut self, reference: &str) -> Option<&'a Value> {
        let name = reference.strip_prefix(DEFS)?;
        if self.open.iter().any(|open| open == name) {
            return None;
        }
        let target = self.defs.get(name)?;
        self.left = self.left.checked_sub(measure(target).0)?;
        self.open.push(name.to_string());
        Some(target)
    }
}

/// Number of values within a value, and its depth.
pub(super) fn measure(value: &Value) -> (usize, usize) {
    let inside = |parts: &mut dyn Iterator<Item = &Value>| {
        parts
            .map(measure)
            .fold((1, 0), |(nodes, deepest), (more, depth)| (nodes + more, deepest.max(depth + 1)))
    };
    match value {
        Value::Object(object) => inside(&mut object.values()),
        Value::Array(list) => inside(&mut list.iter()),
        _ => (1, 0),
    }
}
