//! The followers of the resources of a connection, counted: the older wire has one subscription for all of them.

use std::collections::HashMap;

/// The number of followers of each resource of a connection.
#[derive(Debug, Default)]
pub(super) struct Subscribers(HashMap<String, usize>);

impl Subscribers {
    pub(super) fn add(&mut self, uri: &str) {
        *self.0.entry(uri.to_string()).or_default() += 1;
    }

    /// Removes one follower; `true` when it was the last.
    pub(super) fn remove(&mut self, uri: &str) -> bool {
        let Some(count) = self.0.get_mut(uri) else { return false };
        *count -= 1;
        *count == 0 && self.0.remove(uri).is_some()
    }
}
