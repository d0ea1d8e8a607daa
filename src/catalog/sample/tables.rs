//! Tables of plausible values, read from `values.txt`.

use std::sync::LazyLock;

use hashbrown::HashMap;

type Words = HashMap<&'static str, &'static str>;

/// Texts by the name of an argument.
pub(super) static NAMES: LazyLock<Words> = LazyLock::new(|| words("names").collect());
/// Texts by a format of JSON Schema or OpenAPI.
pub(super) static FORMATS: LazyLock<Words> = LazyLock::new(|| words("formats").collect());
/// Files by a word for their content.
pub(super) static FILES: LazyLock<Words> = LazyLock::new(|| words("files").collect());
/// Phrases of descriptions that say of which kind a text is, the clearest first.
pub(super) static PHRASES: LazyLock<Vec<(&str, &str)>> = LazyLock::new(|| words("phrases").collect());
/// Numbers by the name of an argument.
pub(super) static NUMBERS: LazyLock<HashMap<&str, f64>> = LazyLock::new(|| {
    words("numbers").filter_map(|(name, value)| Some((name, value.parse().ok()?))).collect()
});
/// A sense of a word: cues around the word, and the value.
pub(super) type Sense = (Vec<&'static str>, &'static str);
/// The senses of words.
pub(super) static SENSES: LazyLock<HashMap<&str, Vec<Sense>>> = LazyLock::new(|| {
    let mut senses: HashMap<&str, Vec<Sense>> = HashMap::new();
    for (left, value) in lines("senses") {
        let (word, cues) = left.split_once(": ").unwrap_or((left, ""));
        senses.entry(word).or_default().push((cues.split("; ").collect(), value));
    }
    senses
});

/// The words of a section, each with its value.
fn words(section: &'static str) -> impl Iterator<Item = (&'static str, &'static str)> {
    lines(section).flat_map(|(left, value)| left.split("; ").map(move |word| (word, value)))
}

/// The two sides of each line of a section.
fn lines(section: &'static str) -> impl Iterator<Item = (&'static str, &'static str)> {
    let mut current = "";
    include_str!("values.txt").lines().filter_map(move |line| {
        if let Some(title) = line.strip_prefix('[') {
            current = title.trim_end_matches(']');
        }
        line.split_once(" = ").filter(|_| current == section)
    })
}
