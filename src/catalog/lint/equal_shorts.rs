//! Tools with equal short descriptions: an index cannot tell them apart.

use hashbrown::HashMap;

use crate::catalog::Tool;
use crate::finding::{Code, Finding};

/// Most names that a message lists.
const LISTED: usize = 3;

/// Reports each tool whose short description an earlier one has.
pub(super) fn equal_shorts(tools: &[&Tool], findings: &mut Vec<Finding>) {
    let mut holders: HashMap<String, Vec<&str>> = HashMap::new();
    for tool in tools {
        let earlier = holders.entry(tool.short.to_lowercase()).or_default();
        if !earlier.is_empty() {
            let names: Vec<String> = earlier.iter().take(LISTED).map(|name| format!("`{name}`")).collect();
            let message = format!("the short description is that of {}", names.join(", "));
            let finding = Finding::new(Code::ShortEqual, message).tool(&tool.name).at(tool.place.clone());
            findings
                .push(finding.help("say in each `short_description` when to use it rather than the other"));
        }
        earlier.push(&tool.name);
    }
}
