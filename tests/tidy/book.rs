//! The documentation as a book: every page has a place in `SUMMARY.md`, and links lead to files and headings.

use std::collections::BTreeSet;

use super::{pages, root};

#[test]
fn every_page_has_one_place_in_the_summary() {
    let summary = std::fs::read_to_string(root().join("SUMMARY.md")).unwrap();
    let listed: Vec<&str> = links(&summary).collect();
    let unique: BTreeSet<&str> = listed.iter().copied().collect();
    assert_eq!(listed.len(), unique.len(), "a page is listed twice");
    let missing: Vec<String> =
        pages().into_iter().map(|(name, _)| name).filter(|name| !unique.contains(name.as_str())).collect();
    assert!(missing.is_empty(), "SUMMARY.md does not list {missing:?}");
}

#[test]
fn links_of_pages_lead_to_files_and_headings() {
    let mut wrong = Vec::new();
    for (name, text) in pages() {
        for link in links(&text).filter(|link| !link.contains("://") && !link.starts_with("mailto:")) {
            let (path, place) = link.split_once('#').unwrap_or((link, ""));
            let file =
                if path.is_empty() { root().join(&name) } else { root().join(&name).with_file_name(path) };
            let is_there = match std::fs::read_to_string(&file) {
                Ok(target) => place.is_empty() || headings(&target).contains(place),
                Err(_) => file.is_dir(),
            };
            if !is_there {
                wrong.push(format!("{name}: {link}"));
            }
        }
    }
    assert!(wrong.is_empty(), "these links lead nowhere: {wrong:#?}");
}

/// Lines outside of fenced blocks.
fn prose(text: &str) -> impl Iterator<Item = &str> {
    let mut fence = None;
    text.lines().filter(move |line| {
        let marks = &line.trim_start()[..line.trim_start().bytes().take_while(|byte| *byte == b'`').count()];
        match fence {
            Some(length) if marks.len() >= length => fence = None,
            None if marks.len() >= 3 => fence = Some(marks.len()),
            None => return true,
            Some(_) => {}
        }
        false
    })
}

/// Targets of the links of a page.
fn links(text: &str) -> impl Iterator<Item = &str> {
    prose(text).flat_map(|line| {
        let outside_of_code = line.split("](").skip(1);
        outside_of_code.filter_map(|rest| rest.split_once(')').map(|(target, _)| target))
    })
}

/// Names of the headings of a page, as links have them.
fn headings(text: &str) -> BTreeSet<String> {
    let headings = prose(text).filter_map(|line| line.strip_prefix('#'));
    let kept = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | ' ');
    headings
        .map(|line| line.trim_start_matches('#').trim())
        .map(|line| line.to_lowercase().chars().filter(|c| kept(*c)).collect::<String>().replace(' ', "-"))
        .collect()
}
