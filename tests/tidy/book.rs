//! The documentation as a book: every page has a place in the summary, and links lead to files and headings.

use std::collections::BTreeSet;

use super::{pages, root};

const SUMMARY: &str = ".ci/book/SUMMARY.md";

#[test]
fn every_page_has_one_place_in_the_summary() {
    let summary = std::fs::read_to_string(root().join(SUMMARY)).unwrap();
    let listed = links(&summary);
    let unique: BTreeSet<&String> = listed.iter().collect();
    assert_eq!(listed.len(), unique.len(), "a page is listed twice");
    let missing: Vec<String> =
        pages().into_iter().map(|(name, _)| name).filter(|name| !unique.contains(name)).collect();
    assert!(missing.is_empty(), "{SUMMARY} does not list {missing:?}");
}

#[test]
fn links_of_pages_lead_to_files_and_headings() {
    let mut wrong = Vec::new();
    for (name, text) in pages() {
        for link in
            links(&text).into_iter().filter(|link| !link.contains("://") && !link.starts_with("mailto:"))
        {
            let (path, place) = link.split_once('#').unwrap_or((&link, ""));
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

#[test]
fn every_guide_leads_to_the_glossary() {
    let is_guide = |name: &str| {
        name.starts_with("docs/") && name.matches('/').count() == 1 && name != "docs/glossary.md"
    };
    let without: Vec<String> = pages()
        .into_iter()
        .filter(|(name, text)| is_guide(name) && !links(text).iter().any(|link| link.contains("glossary.md")))
        .map(|(name, _)| name)
        .collect();
    assert!(without.is_empty(), "these pages link no word to the glossary: {without:?}");
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

/// Targets of the links of a page, outside of code.
fn links(text: &str) -> Vec<String> {
    let without_code = |line: &str| line.split('`').step_by(2).collect::<String>();
    let targets = |line: String| {
        let found = line.split("](").skip(1).filter_map(|rest| rest.split_once(')'));
        found.map(|(target, _)| target.to_string()).collect::<Vec<_>>()
    };
    prose(text).map(without_code).flat_map(targets).collect()
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
