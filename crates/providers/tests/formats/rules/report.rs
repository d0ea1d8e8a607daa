//! Broken rules, by payload, tool and place.

use std::collections::{BTreeMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};

/// Lines shown in all, and of each rule.
const SHOWN: usize = 20;
const SHOWN_PER_RULE: usize = 4;

/// The rules that were broken so far.
#[derive(Default)]
pub struct Report {
    /// Catalog, provider and mode that are judged now.
    pub payload: String,
    /// The tool that is judged now.
    pub tool: String,
    breaches: BTreeMap<String, Vec<String>>,
    seen: HashSet<u64>,
}

impl Report {
    /// A report about this payload.
    pub fn of(payload: String) -> Self {
        Report { payload, ..Report::default() }
    }

    /// A rule, and whether it holds at this place.
    pub fn demand(&mut self, holds: bool, rule: &str, pointer: &str) {
        if !holds {
            self.breach(rule, pointer);
        }
    }

    /// A rule that does not hold at this place.
    pub fn breach(&mut self, rule: &str, pointer: &str) {
        let line = format!("{} · {} · {rule} · {pointer}", self.payload, self.tool);
        self.breaches.entry(rule.to_string()).or_default().push(line);
    }

    /// Whether this value is new; what is the same in several payloads is judged once.
    pub fn is_new(&mut self, value: impl Hash) -> bool {
        self.seen.insert(hashed(value))
    }

    /// Fails with the first breaches of each rule.
    #[track_caller]
    pub fn close(self) {
        let count: usize = self.breaches.values().map(Vec::len).sum();
        let per_rule = (SHOWN / self.breaches.len().max(1)).clamp(1, SHOWN_PER_RULE);
        let lines = self.breaches.values().flat_map(|lines| lines.iter().take(per_rule)).take(SHOWN);
        let shown: Vec<&str> = lines.map(|line| line.get(..400).unwrap_or(line)).collect();
        assert!(count == 0, "{count} breaches of {} rules\n{}", self.breaches.len(), shown.join("\n"));
    }
}

/// The hash of a value, to recognise it.
pub fn hashed(value: impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}
