//! Plausible values by the name of an argument, or else by the subject of its description.

use std::sync::LazyLock;

use super::About;
use super::date;
use super::phrases::Phrases;
use super::tables::{FILES, FORMATS, NAMES, NUMBERS, PHRASES, SENSES};
use crate::tool::grammar::singular;
use crate::tool::{beginning, each_word, words};

/// Words that say of which kind a value is and not what it is about.
const VAGUE: [&str; 20] = [
    "name", "value", "string", "text", "number", "code", "type", "title", "id", "ids", "identifier", "list",
    "array", "names", "details", "input", "kind", "full", "new", "updated",
];
/// Names that say more of a value than a phrase of the description does.
const CLEAR: [&str; 17] = [
    "url", "uri", "link", "domain", "host", "hostname", "website", "path", "file", "description", "summary",
    "title", "message", "content", "text", "comment", "question",
];
/// Words that end the subject of a description.
const SUBJECT_ENDS: [&str; 29] = [
    "of", "to", "for", "in", "from", "that", "which", "where", "as", "on", "used", "is", "with", "being",
    "whose", "who", "at", "by", "must", "should", "and", "or", "created", "during", "within", "into",
    "containing", "based", "relative",
];

/// A value for a format of JSON Schema or OpenAPI.
pub(super) fn by_format(format: &str) -> Option<&'static str> {
    FORMATS.get(format).copied()
}

/// A number for an argument, by its name or else by its description.
pub(super) fn number(name: &str, description: &str) -> Option<f64> {
    let names = words(name);
    let find = |word: &str| NUMBERS.get(word).copied();
    let own = || lookup(&names, find).or_else(|| find(names.last()?));
    let size = [("centimeters", 170.0), ("inches", 70.0), ("person", 170.0), ("patient", 170.0)];
    if names.ends_with(&["height".into()])
        && let Some((_, height)) = size.iter().find(|(word, _)| description.contains(word))
    {
        return Some(*height);
    }
    let found = match is_vague(&names) {
        true => described(&subject(description), find).or_else(own),
        false => own().or_else(|| described(&subject(description), find)),
    }?;
    let is_numbered = name.ends_with(|c: char| c.is_ascii_digit());
    let at = if is_numbered { ordinal(name, description) as f64 } else { 0.0 };
    let is_percent = found < 1.0 && found > 0.0 && description.contains("ercent");
    let found = if is_percent { found * 100.0 } else { found };
    Some(if found == 0.0 { at } else { found * (1.0 + at) })
}

/// A string for an argument of a tool, by its name or else by its description. `owner` is the object that it stands in.
pub(super) fn string(name: &str, description: &str, about: &About<'_>, owner: Option<&str>) -> String {
    let mut names = words(name);
    names.retain(|word| word.chars().any(char::is_alphabetic));
    let lower = description.to_ascii_lowercase();
    let is_end = |word: &String| {
        word.starts_with("end") || ["to", "until", "before", "out", "return"].contains(&word.as_str())
    };
    if names.last().is_some_and(|last| last == "format") && tells(&lower, "yyyy") {
        return "YYYY-MM-DD".to_string();
    }
    if let Some(date) = date::by_form(description, names.iter().any(is_end)) {
        let is_past = ["histor", "past", "birth"].iter().any(|cue| place(&lower, cue).is_some());
        return if is_past { date.replacen("2030", "2020", 1) } else { date };
    }
    let is_clear = names.last().is_some_and(|last| CLEAR.contains(&last.as_str()));
    if !is_clear && let Some(value) = by_phrase(&lower) {
        return value.to_string();
    }
    if let [.., last] = names.as_slice()
        && matches!(last.as_str(), "id" | "ids" | "identifier")
    {
        let own = &names[..names.len() - 1];
        return if own.is_empty() { identifier(&nouns(about.name, owner)) } else { identifier(own) };
    }
    if let Some(path) = file(&names, &lower) {
        return path;
    }
    let find = |word: &str| NAMES.get(word).copied();
    let subject = subject(description);
    let own = || sense(&names, &lower, about).or_else(|| lookup(&names, find));
    let said = || described(&subject, find);
    let found = if is_vague(&names) { said().or_else(own) } else { own().or_else(said) };
    match found {
        Some(found) if names.len() > 1 && names.ends_with(&["name".into()]) && found.contains(['(', '/']) => {
            unknown(&names, &subject)
        }
        _ if names.len() == 1 && names[0] == "name" => by_noun(description, nouns(about.name, owner)),
        Some(found) => nth(found, ordinal(name, description)),
        None => unknown(&names, &subject),
    }
}

/// A value of which only the name is known.
fn unknown(names: &[String], subject: &[String]) -> String {
    match names.split_last() {
        Some((last, entity)) if last == "name" && !entity.is_empty() => {
            format!("example-{}", entity.join("-"))
        }
        Some((last, _)) if matches!(last.as_str(), "number" | "num" | "no" | "nr") => "42".to_string(),
        _ if is_vague(names) && !subject.is_empty() => of_name(&subject[subject.len() - 1..]),
        _ => of_name(names),
    }
}

/// The value that a table has for the subject of a description: for its last words together, or for one of them.
fn described<T>(subject: &[String], find: impl Fn(&str) -> Option<T>) -> Option<T> {
    let end = subject.len();
    let together = (end > 1).then(|| find(&subject[end - 2..].join("_"))).flatten();
    let telling = subject.iter().rev().filter(|word| !says_kind(word));
    together.or_else(|| telling.take(1).find_map(|word| find(word).or_else(|| find(&singular(word)))))
}

/// The value of a word with several senses, by the words around it.
fn sense(names: &[String], lower: &str, about: &About<'_>) -> Option<&'static str> {
    let telling = names.iter().rev().find(|word| !says_kind(word)).or(names.last())?;
    let name = singular(telling.trim_end_matches(|c: char| c.is_ascii_digit()));
    let senses = SENSES.get(name.as_str())?;
    let opening = beginning(about.description, 160);
    let around = format!("{} {}", words(about.name).join(" "), opening).to_ascii_lowercase();
    let near = |text: &str| {
        let is_near = |cues: &[&str]| cues.iter().any(|cue| place(text, cue).is_some());
        senses.iter().find(|(cues, _)| is_near(cues)).map(|(_, value)| *value)
    };
    near(&names.join(" ")).or_else(|| near(lower)).or_else(|| near(&around))
}

/// The text after a phrase that begins with a word.
fn place<'t>(text: &'t str, phrase: &str) -> Option<&'t str> {
    let mut places = text.match_indices(phrase);
    let at = places.find(|(at, _)| !text[..*at].ends_with(|c: char| c.is_alphanumeric() || c == '_'))?.0;
    Some(&text[at + phrase.len()..])
}

/// Whether a text has a phrase as whole words.
fn tells(text: &str, phrase: &str) -> bool {
    place(text, phrase).is_some_and(begins_word)
}

/// Whether the word before a text ends there, be it in the plural.
fn begins_word(after: &str) -> bool {
    let after = after.strip_prefix('s').unwrap_or(after);
    !after.starts_with(|c: char| c.is_alphanumeric() || c == '_')
}

/// The value of the clearest phrase that a text has as whole words, where it begins for the first time.
fn by_phrase(text: &str) -> Option<&'static str> {
    static INDEX: LazyLock<Phrases> =
        LazyLock::new(|| Phrases::of(PHRASES.iter().map(|(phrase, _)| *phrase)));
    let mut places = INDEX.places(text);
    places.retain(|&(_, at)| !text[..at].ends_with('_'));
    places.dedup_by_key(|(rank, _)| *rank);
    let told = places.into_iter().find(|&(rank, at)| begins_word(&text[at + PHRASES[rank].0.len()..]));
    told.map(|(rank, _)| PHRASES[rank].1)
}

/// A name for the noun that a description is about, or else that the tool's name ends in.
fn by_noun(description: &str, nouns: Vec<String>) -> String {
    let about = subject(description);
    let is_named = tells(&description.to_ascii_lowercase(), "name");
    let of = |word: &&String| !says_kind(word);
    let told = about.iter().rev().find(of).filter(|_| is_named && !description.starts_with("A "));
    let Some(noun) = told.or_else(|| nouns.iter().rev().find(of)).map(|noun| singular(noun)) else {
        return "example".to_string();
    };
    let known = NAMES.get(noun.as_str()).filter(|text| !text.contains("://"));
    known.map_or_else(|| format!("example-{noun}"), |text| nth(text, 0))
}

/// The words of the object that an argument stands in, else of the tool's name without its verb.
fn nouns(tool: &str, owner: Option<&str>) -> Vec<String> {
    let mut nouns = words(owner.unwrap_or(tool));
    nouns.retain(|word| word.chars().any(char::is_alphabetic));
    if owner.is_none() && !nouns.is_empty() {
        nouns.remove(0);
    }
    nouns.iter().map(|word| singular(word)).collect()
}

/// The value at a place of a list that is written with bars.
fn nth(values: &str, at: usize) -> String {
    let all: Vec<&str> = values.split('|').collect();
    all[at.min(all.len() - 1)].to_string()
}

/// The place of an argument among others of its kind: 1 for `color2`, or for "the second color".
fn ordinal(name: &str, description: &str) -> usize {
    const OTHERS: [&str; 8] = ["destination", "to", "end", "target", "arrival", "dest", "y", "new"];
    let digits = &name[name.trim_end_matches(|c: char| c.is_ascii_digit()).len()..];
    match digits.parse::<usize>() {
        Ok(number @ 1..=9) => number - 1,
        _ if words(name).iter().any(|word| OTHERS.contains(&word.as_str())) => 1,
        _ => usize::from(each_word(description).take(4).any(|word| word == "second")),
    }
}

/// The path of a file or folder, where an argument takes one.
fn file(names: &[String], lower: &str) -> Option<String> {
    const PLACES: [&str; 7] = ["path", "file", "filename", "filepath", "paths", "files", "file_path"];
    let (first, last) = (names.first()?.as_str(), names.last()?.as_str());
    if !PLACES.contains(&last)
        && first != "path"
        && !["path to the", "file path"].iter().any(|phrase| lower.contains(phrase))
    {
        return None;
    }
    if !lower.contains("file") && (lower.contains("directory") || lower.contains("folder")) {
        return Some("docs".to_string());
    }
    let mut all = names.iter().cloned().chain(each_word(lower).take(30));
    let kind = all.find_map(|word| FILES.get(word.as_str()))?;
    Some(if lower.contains("absolute") { format!("/data/{kind}") } else { kind.to_string() })
}

fn is_vague(names: &[String]) -> bool {
    names.iter().all(|word| says_kind(word))
}

/// Whether a word says of which kind a value is and not what it is about.
fn says_kind(word: &str) -> bool {
    VAGUE.contains(&word)
}

/// The longest run of words at the end of a name that a table knows; of a vague name any word. `date_of_birth` is a date.
fn lookup<T>(words: &[String], find: impl Fn(&str) -> Option<T>) -> Option<T> {
    let is_link =
        |(at, word): (usize, &String)| at > 0 && (word == "per" || word == "of" && !is_vague(&words[..at]));
    let head = words.iter().enumerate().position(is_link).unwrap_or(words.len());
    let words: Vec<&str> = words[..head]
        .iter()
        .map(|word| word.trim_end_matches(|c: char| c.is_ascii_digit()))
        .filter(|word| !word.is_empty())
        .collect();
    let longer = (0..words.len().saturating_sub(1)).find_map(|start| find(&words[start..].join("_")));
    let vague = words.last().is_some_and(|word| says_kind(word));
    let before = || words.iter().rev().skip(1).filter(|word| !says_kind(word)).find_map(|word| find(word));
    let last = || words.last().and_then(|word| find(word).or_else(|| find(&singular(word))));
    if words.last() == Some(&"text") && words.len() > 1 {
        return longer.or_else(last);
    }
    let is_number = words.last().is_some_and(|word| matches!(*word, "number" | "code" | "string"));
    longer.or_else(|| match (vague, is_number && words.len() > 1) {
        (_, true) => None,
        (true, _) => before().or_else(last),
        _ => last(),
    })
}

/// The words of the subject of a description, the noun last: "The name of the soccer team" is about a soccer team.
fn subject(description: &str) -> Vec<String> {
    let Some(sentence) = description.split(['.', ',', '(', ':', '\n']).next() else { return Vec::new() };
    let sentence = sentence.split(" - ").next().unwrap_or("");
    let owned = sentence.contains(['\'', '’']).then(|| sentence.replace("'s ", " ").replace("’s ", " "));
    let said: Vec<String> = each_word(owned.as_deref().unwrap_or(sentence)).take(40).collect();
    let mut rest = said.as_slice();
    loop {
        let end = rest.iter().position(|word| SUBJECT_ENDS.contains(&word.as_str())).unwrap_or(rest.len());
        let is_about_next = end == 0 || says_kind(&rest[end - 1]);
        match rest.get(end).map(String::as_str) {
            Some("of" | "for") if is_about_next => rest = &rest[end + 1..],
            _ => {
                let content =
                    |word: &&String| !["the", "a", "an", "your", "each", "this"].contains(&word.as_str());
                return rest[..end].iter().filter(content).cloned().collect();
            }
        }
    }
}

/// `task_123` for `task_id`.
fn identifier(entity: &[String]) -> String {
    const NO_ENTITY: [&str; 6] = ["parent", "new", "source", "target", "unique", "internal"];
    match entity.last().filter(|word| !NO_ENTITY.contains(&word.as_str())) {
        Some(word) if entity.len() <= 3 => format!("{word}_123"),
        _ => "123".to_string(),
    }
}

/// Last resort: the name itself says at least which value belongs there.
fn of_name(words: &[String]) -> String {
    match words {
        [] => "example".to_string(),
        words => format!("example {}", words.join(" ")),
    }
}
