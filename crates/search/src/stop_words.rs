//! Words that say nothing, or little, about the tool that is meant.

use std::sync::LazyLock;

use hashbrown::HashSet;

use super::stems::stemmed;
use super::words::plain;

fn listed(text: &'static str) -> impl Iterator<Item = &'static str> {
    text.lines().filter(|line| !line.starts_with('#')).flat_map(str::split_whitespace)
}

static STOP: LazyLock<HashSet<&str>> = LazyLock::new(|| listed(include_str!("words/stop.txt")).collect());
static FOREIGN: LazyLock<HashSet<String>> =
    LazyLock::new(|| listed(include_str!("words/foreign_stop.txt")).flat_map(plain).collect());
static WEAK: LazyLock<HashSet<String>> =
    LazyLock::new(|| listed(include_str!("words/weak.txt")).map(|word| stemmed(word).into_owned()).collect());

/// Whether a word says nothing about the tool that is meant.
pub(super) fn is_stop(word: &str) -> bool {
    STOP.contains(word)
}

/// Whether a word says nothing in a request in another language.
pub(super) fn is_foreign_stop(word: &str) -> bool {
    FOREIGN.contains(word)
}

/// Whether a stem is a weak word.
pub(super) fn is_weak(stem: &str) -> bool {
    WEAK.contains(stem)
}
