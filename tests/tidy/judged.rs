//! What judges search teaches nothing: no program that makes vectors, weights or thresholds reads a judging file.

use std::fs;

use super::root;

/// The names of a list in `lab/search/sets.toml`.
fn listed(sets: &str, list: &str) -> Vec<String> {
    let line = sets.lines().find_map(|line| line.strip_prefix(&format!("{list} = ["))).unwrap_or_default();
    let names = line.trim_end_matches(']').split(", ").map(|name| name.trim_matches('"').to_string());
    names.filter(|name| !name.is_empty()).collect()
}

#[test]
fn no_program_that_teaches_search_reads_what_judges_it() {
    let lab = root().join("lab/search");
    let sets = fs::read_to_string(lab.join("sets.toml")).unwrap();
    let judge = listed(&sets, "judge");
    assert!(judge.len() > 2, "{judge:?}");
    for list in ["learn", "fit"] {
        let teaches = listed(&sets, list);
        assert!(
            !teaches.is_empty() && !teaches.iter().any(|name| judge.contains(name)),
            "{list}: {teaches:?}"
        );
    }
    let scripts = fs::read_dir(&lab).unwrap().map(|file| file.unwrap().path()).filter(|file| {
        file.extension().is_some_and(|kind| kind == "py" || kind == "sh") && !file.ends_with("retrieval.py")
    });
    let mut read = 0;
    for script in scripts {
        let text = fs::read_to_string(&script).unwrap();
        for name in &judge {
            assert!(!text.contains(name.as_str()), "{} reads {name}", script.display());
        }
        read += 1;
    }
    assert!(read >= 4, "{read}");
    // Weights are fitted to the features that `observe` gives.
    assert!(!fs::read_to_string(lab.join("judge.rs")).unwrap().contains("observe"));
}
