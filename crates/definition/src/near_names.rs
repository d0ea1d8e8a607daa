//! Near names: the policy by which one name is read as another, or suggested in its place. An edit is a letter too many, too
//! few, wrong, or swapped with the next (Damerau-Levenshtein).

use strsim::damerau_levenshtein;

/// Bytes of the longest name: comparing longer texts would cost time and memory without end.
const LONGEST: usize = 200;

/// Likeness, from 0 to 1, below which a name is not suggested: the two have nothing to do with each other.
const LEAST: f64 = 0.6;

/// The lengths, in characters, from which a name may be off by one edit and by two, and still be read as the known one.
/// Shorter names are as likely to be other names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SlipPolicy {
    /// The least length for one edit.
    pub one_edit: usize,
    /// The least length for two edits.
    pub two_edits: usize,
}

impl SlipPolicy {
    /// An argument of a call, or a field beside it.
    pub const ARGUMENT: Self = Self { one_edit: 4, two_edits: 8 };
    /// A field of a definition in a file.
    pub const DEFINITION_FIELD: Self = Self { one_edit: 5, two_edits: 6 };
    /// A word of a query: no schema checks its reading, so two edits take a longer word.
    pub const QUERY_WORD: Self = Self { one_edit: 5, two_edits: 9 };

    /// The most edits that a name of this length may be off by.
    pub fn max_edits(self, length: usize) -> usize {
        usize::from(length >= self.one_edit) + usize::from(length >= self.two_edits)
    }

    /// Whether a name is a slip for a known one.
    pub fn is_slip(self, name: &str, known: &str) -> bool {
        let edits = self.max_edits(known.chars().count());
        edits > 0 && name.len() <= LONGEST && damerau_levenshtein(name, known) <= edits
    }
}

/// Whether a normalized name may stand for a known one in a call that is only offered: also short names, off by one edit,
/// when they begin alike.
pub fn is_plausible(name: &str, known: &str) -> bool {
    let begins_alike = known.len() >= 2 && name.chars().next() == known.chars().next();
    name == known
        || SlipPolicy::ARGUMENT.is_slip(name, known)
        || (begins_alike && name.len() <= LONGEST && damerau_levenshtein(name, known) <= 1)
}

/// A name without the differences of spelling between models: letter case and separators.
pub fn normalized(name: &str) -> String {
    name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// The known names most like `name`, best first, at most three; empty when nothing is close.
pub fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    if name.len() > LONGEST {
        return Vec::new();
    }
    let name = name.to_lowercase();
    let letters = Letters::of(&name);
    // Edit distance relative to the longer name; a name that contains the other counts as close.
    let likeness = |candidate: &str| {
        let candidate = candidate.to_lowercase();
        let a = name.as_str();
        let b = candidate.as_str();
        let holds = a.len() >= 4 && b.len() >= 4 && (a.contains(b) || b.contains(a));
        // The distance is costly, and the letters alone rule out nearly every name of a large catalog.
        if !holds && letters.likeness(&Letters::of(b)) < LEAST {
            return None;
        }
        let edits = strsim::normalized_damerau_levenshtein(a, b);
        Some(if holds { edits.max(0.7) } else { edits }).filter(|likeness| *likeness >= LEAST)
    };
    let known = known.into_iter().filter(|candidate| candidate.len() <= LONGEST);
    let mut scored: Vec<(f64, &str)> =
        known.filter_map(|candidate| Some((likeness(candidate)?, candidate))).collect();
    scored.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(b.1)));
    scored.dedup_by(|a, b| a.1 == b.1);
    scored.into_iter().take(3).map(|(_, candidate)| candidate).collect()
}

/// Number of occurrences of each letter in a name, in 64 classes.
struct Letters {
    counts: [u8; 64],
    length: usize,
}

impl Letters {
    fn of(name: &str) -> Self {
        let mut letters = Self { counts: [0; 64], length: 0 };
        for c in name.chars() {
            letters.length += 1;
            let count = &mut letters.counts[c as usize % 64];
            *count = count.saturating_add(1);
        }
        letters
    }

    /// Upper bound of the similarity by edits: each letter that only one of them has takes an edit.
    fn likeness(&self, other: &Self) -> f64 {
        let shared: usize = self.counts.iter().zip(&other.counts).map(|(a, b)| usize::from(*a.min(b))).sum();
        let longest = self.length.max(other.length);
        if longest == 0 { 1.0 } else { shared as f64 / longest as f64 }
    }
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn a_slip_of_the_finger_finds_its_name() {
        let known = ["create_issue", "list_issues", "search_code"];
        assert_eq!(nearest("craete_issue", known), ["create_issue"]);
        assert_eq!(nearest("issues", known), ["list_issues"]);
        assert!(nearest("weather", known).is_empty());
    }

    #[test]
    fn telling_names_apart_by_their_letters_loses_none() {
        let names =
            ["create_issue", "issue_create", "list_pull_requests", "täsk.löschen", "get", "a", "ab", ""];
        let others =
            ["craete_issue", "issues", "list_pull_request", "task.loschen", "gte", "b", "ba", "list_issues"];
        for name in names {
            for other in others {
                let edits = strsim::normalized_damerau_levenshtein(name, other);
                let letters = super::Letters::of(name).likeness(&super::Letters::of(other));
                assert!(letters >= edits - 1e-9, "{name} and {other}: {letters} is less than {edits}");
            }
        }
    }
}
