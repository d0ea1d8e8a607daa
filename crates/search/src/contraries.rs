//! Contraries: verbs that undo what other verbs do. A tool for the contrary of a request is near in every other way.

use std::sync::LazyLock;

use hashbrown::HashMap;

use super::words::stemmed;

/// A line for each pair of contraries: the verbs of one side, a colon, those of the other.
const PAIRS: &str = include_str!("words/contraries.txt");

/// The stems of verbs that do the same as a verb, and of those that do the contrary.
#[derive(Clone, Debug, Default)]
pub(super) struct Sides {
    pub(super) same: Vec<String>,
    pub(super) contrary: Vec<String>,
}

/// The sides of each verb, by its stem.
static TABLE: LazyLock<HashMap<String, Sides>> = LazyLock::new(|| {
    let mut table: HashMap<String, Sides> = HashMap::new();
    let stems =
        |side: &str| side.split_whitespace().map(|verb| stemmed(verb).into_owned()).collect::<Vec<_>>();
    for (one, other) in PAIRS.lines().filter_map(|line| line.split_once(':')) {
        let (one, other) = (stems(one), stems(other));
        for (same, contrary) in [(&one, &other), (&other, &one)] {
            for verb in same {
                let sides = table.entry_ref(verb.as_str()).or_default();
                sides.same.extend_from_slice(same);
                sides.contrary.extend_from_slice(contrary);
            }
        }
    }
    table
});

/// The sides of a verb; any verb with "un" is the contrary of the verb without it.
pub(super) fn of(verb: &str) -> Option<Sides> {
    let own = stemmed(verb);
    let mut sides = TABLE.get(&*own).cloned();
    if let Some(rest) = verb.strip_prefix("un").filter(|rest| rest.len() > 2) {
        sides.get_or_insert_default().contrary.push(stemmed(rest).into_owned());
    }
    sides.map(|mut sides| {
        sides.same.push(own.into_owned());
        sides
    })
}
