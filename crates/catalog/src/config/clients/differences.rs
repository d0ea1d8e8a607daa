//! What an entry has that works otherwise here than in its client.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::keys::unused;
use super::placeholder::inputs;
use super::sign_in::chosen_here;
use crate::config::difference::Difference;

/// The differences of an entry, beside those that its rules and times show.
pub(super) fn of_entry(entry: &Map<String, Value>) -> Vec<Difference> {
    let keys = unused(entry).map(|(key, change)| Difference::Key { key: key.into(), change });
    let chosen = chosen_here(entry).map(|(key, change)| Difference::Key { key, change });
    let inputs = entry.values().flat_map(inputs).collect::<BTreeMap<_, _>>();
    let inputs = inputs.into_iter().map(|(input, variable)| Difference::Input { input, variable });
    keys.chain(chosen).chain(inputs).collect()
}
