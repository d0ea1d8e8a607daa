//! Nearest names for a name that does not exist.

/// Longer texts are no names; comparing them would cost time and memory without end.
const LONGEST: usize = 200;

/// The known names most like `name`, best first, at most three; empty when nothing is close.
pub fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    if name.len() > LONGEST {
        return Vec::new();
    }
    let wanted = name.to_lowercase();
    let mut scored: Vec<(f64, &str)> = known
        .into_iter()
        .filter(|candidate| candidate.len() <= LONGEST)
        .map(|candidate| (likeness(&wanted, &candidate.to_lowercase()), candidate))
        .filter(|(score, _)| *score >= 0.6)
        .collect();
    scored.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(b.1)));
    scored.dedup_by(|a, b| a.1 == b.1);
    scored.into_iter().take(3).map(|(_, candidate)| candidate).collect()
}

/// 0 to 1: edit distance against the longer name, and a name that holds the other whole counts as close.
fn likeness(a: &str, b: &str) -> f64 {
    let edits = strsim::normalized_damerau_levenshtein(a, b);
    let holds = a.len() >= 4 && b.len() >= 4 && (a.contains(b) || b.contains(a));
    if holds { edits.max(0.7) } else { edits }
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
}
