//! Values that a description names: `e.g. octocat`, `such as 'SFO'`, `(Buy/Sell)`, `Defaults to main`.

use std::sync::LazyLock;

use serde_json::Value;

use super::literal::literal;
use super::phrases::Phrases;
use crate::tool::beginning;

/// Most characters of a description that are read.
const MAX_READ: usize = 800;
/// Most values of one description.
const MAX_VALUES: usize = 3;
/// Most places of one marker that are read.
const MAX_PLACES: usize = 4;

/// The form of a value after a marker that stands without quotes.
#[derive(Clone, Copy, PartialEq)]
enum Bare {
    /// A word, or a name of a few words.
    Yes,
    /// A name, a number or an identifier: a plain word reads like the rest of the sentence.
    Proper,
    No,
}

/// Words that come before values, the clearest first.
const MARKERS: [(&str, Bare); 38] = [
    ("e.g.", Bare::Yes),
    ("e.g", Bare::Yes),
    ("eg:", Bare::Yes),
    ("eg.", Bare::Yes),
    ("for example", Bare::Yes),
    ("for instance", Bare::Proper),
    ("example:", Bare::Yes),
    ("examples:", Bare::Yes),
    ("ex:", Bare::Yes),
    ("example", Bare::No),
    ("examples include", Bare::Yes),
    ("such as", Bare::Proper),
    ("like", Bare::Proper),
    ("in this case", Bare::Proper),
    ("i.e.", Bare::Proper),
    ("i.e", Bare::Proper),
    ("one of:", Bare::Yes),
    ("one of", Bare::Proper),
    ("options:", Bare::Yes),
    ("options are", Bare::Yes),
    ("options include", Bare::Yes),
    ("supported:", Bare::Yes),
    ("values:", Bare::Yes),
    ("values are", Bare::Proper),
    ("can be", Bare::No),
    ("could be", Bare::No),
    ("must be", Bare::No),
    ("should be", Bare::No),
    ("supports", Bare::No),
    ("either", Bare::No),
    ("default:", Bare::Yes),
    ("default is", Bare::Yes),
    ("default value is", Bare::Yes),
    ("default value:", Bare::Yes),
    ("defaults to", Bare::Yes),
    ("default=", Bare::Yes),
    ("default to", Bare::Yes),
    ("default", Bare::No),
];

/// The first values that a description names; none where it names none.
pub(super) fn named(description: &str) -> Vec<String> {
    let start = beginning(description, MAX_READ);
    let marked = after_markers(start).find_map(|(rest, bare)| marked(rest, bare));
    marked
        .or_else(|| loose_list(start))
        .or_else(|| alternatives(start))
        .or_else(|| kinds(start))
        .unwrap_or_default()
}

/// The values after a marker.
fn marked(rest: &str, bare: Bare) -> Option<Vec<String>> {
    let quoted = quoted_list(rest);
    if !quoted.is_empty() {
        return Some(quoted);
    }
    let one = match bare {
        Bare::Yes => plain(rest),
        Bare::Proper => plain(rest).filter(|value| is_proper(value)).or_else(|| first_of_list(rest, 2)),
        Bare::No => None,
    };
    one.map(|value| vec![value])
}

/// The first number that a description names.
pub(super) fn number(description: &str) -> Option<f64> {
    let start = beginning(description, MAX_READ);
    let lower = start.to_ascii_lowercase();
    let defaults = ["default", "default of"].into_iter().flat_map(|marker| after(start, &lower, marker));
    let marked = after_markers(start).filter(|(_, bare)| *bare != Bare::No).map(|(rest, _)| rest);
    marked.chain(defaults).find_map(|rest| {
        let rest = rest.trim_start_matches(['\'', '"', '`', '$']);
        let end =
            rest.find(|c: char| !c.is_ascii_digit() && !matches!(c, '.' | ',' | '-')).unwrap_or(rest.len());
        let is_whole_word = !rest[end..].starts_with(|c: char| c.is_alphabetic() || matches!(c, ':' | '/'));
        let digits = rest[..end].trim_end_matches(['.', ',', '-']).replace(',', "");
        digits.parse::<f64>().ok().filter(|number| is_whole_word && number.is_finite())
    })
}

/// The list or object that a description writes out as an example.
pub(super) fn structure(description: &str) -> Option<Value> {
    let start = beginning(description, MAX_READ);
    let found = after_markers(start)
        .filter(|(rest, _)| rest.starts_with(['[', '{']))
        .find_map(|(rest, _)| literal(rest).map(|(value, _)| value));
    found.filter(|value| !super::kind::is_blank(value))
}

/// The texts after the markers of a description, by the rank of their markers.
fn after_markers(text: &str) -> impl Iterator<Item = (&str, Bare)> {
    static INDEX: LazyLock<Phrases> =
        LazyLock::new(|| Phrases::of(MARKERS.iter().map(|(marker, _)| *marker)));
    let lower = text.to_ascii_lowercase();
    let mut places = INDEX.places(&lower);
    places.retain(|&(rank, at)| is_whole(&lower, at, MARKERS[rank].0));
    let mut count = 0;
    let mut before = None;
    places.retain(|&(rank, _)| {
        count = if before == Some(rank) { count + 1 } else { 1 };
        before = Some(rank);
        count <= MAX_PLACES
    });
    places.into_iter().map(move |(rank, at)| {
        let (marker, bare) = MARKERS[rank];
        (value_at(text, at + marker.len()), bare)
    })
}

/// The text after each place of a marker.
fn after<'t>(text: &'t str, lower: &str, marker: &str) -> impl Iterator<Item = &'t str> + use<'t> {
    let places: Vec<usize> = lower
        .match_indices(marker)
        .filter(|(at, _)| !lower[..*at].ends_with(char::is_alphanumeric) && is_whole(lower, *at, marker))
        .map(|(at, _)| at + marker.len())
        .take(MAX_PLACES)
        .collect();
    places.into_iter().map(move |end| value_at(text, end))
}

/// Whether no word goes on after a marker.
fn is_whole(lower: &str, at: usize, marker: &str) -> bool {
    !(marker.ends_with(char::is_alphabetic) && lower[at + marker.len()..].starts_with(char::is_alphanumeric))
}

/// The text from a place on, without what stands before a value.
fn value_at(text: &str, at: usize) -> &str {
    text[at..].trim_start_matches([',', ':', ' ', '\n', '-', '(', '*', '•'])
}

/// The quoted values at the start of a text: `'a', 'b' or 'c'`.
fn quoted_list(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some((value, after)) = quoted(rest).filter(|_| found.len() < MAX_VALUES) {
        found.push(value);
        rest = after.trim_start_matches([',', ' ', '/', '|', '\n']);
        rest =
            ["or ", "and "].into_iter().find_map(|word| rest.strip_prefix(word)).unwrap_or(rest).trim_start();
    }
    found
}

/// A quoted value at the start of a text, and the text after it.
fn quoted(text: &str) -> Option<(String, &str)> {
    let quote = text.chars().next()?;
    let close = match quote {
        '"' | '\'' | '`' => quote,
        '“' => '”',
        '‘' => '’',
        _ => return None,
    };
    let inside = text.trim_start_matches(quote);
    let end = inside
        .match_indices(close)
        .map(|(at, _)| at)
        .find(|at| !inside[at + close.len_utf8()..].starts_with(char::is_alphanumeric))?;
    let found = inside[..end].trim_matches(['"', '\'', '`']);
    let is_short = !found.trim().is_empty() && found.chars().count() <= 80;
    (is_short && !is_nothing(found) && !is_placeholder(found))
        .then(|| (found.to_string(), inside[end..].trim_start_matches(close)))
}

/// Quoted values at any place: two or more beside each other, or one that is explained (`'SKU' for ...`).
fn loose_list(text: &str) -> Option<Vec<String>> {
    const EXPLAINED: [&str; 5] = [" for ", " refers to ", " means ", ": ", " - "];
    const OF_OTHERS: [&str; 13] = [
        "via", "use", "using", "call", "by", "from", "with", "see", "through", "parameter", "parameters",
        "field", "tool",
    ];
    let is_start = |at: &usize| {
        let before = &text[..*at];
        let word = before.trim_end().rsplit(|c: char| !c.is_alphanumeric()).next().unwrap_or("");
        !before.ends_with(char::is_alphanumeric) && !is_one_of(word, &OF_OTHERS)
    };
    let quotes = text.match_indices(['"', '\'', '`', '“', '‘']).map(|(at, _)| at);
    quotes.filter(is_start).take(20).find_map(|at| {
        let list = quoted_list(&text[at..]);
        let is_explained = || {
            quoted(&text[at..]).is_some_and(|(_, after)| EXPLAINED.iter().any(|word| after.starts_with(word)))
        };
        (list.len() > 1 || !list.is_empty() && is_explained()).then_some(list)
    })
}

/// Words between slashes or bars, in parentheses or after a colon: `(Buy/Sell)`, `direction: up|down`.
fn alternatives(text: &str) -> Option<Vec<String>> {
    let opens = text.char_indices().filter(|(_, c)| matches!(c, '(' | ':' | '['));
    let list = |(at, open): (usize, char)| {
        let inside = if at == 0 && open == ' ' { text } else { &text[at + 1..] };
        let end = match open {
            '(' => inside.find([')', '.'])?,
            '[' => inside.find(']')?,
            _ => inside.find(['.', '\n', ';', ',']).unwrap_or(inside.len()),
        };
        let inside = &inside[..end];
        let words: Vec<&str> = match open {
            ' ' if inside.contains('|') => inside.split('|').map(str::trim).collect(),
            ' ' => inside.split(" or ").map(str::trim).collect(),
            '(' if inside.matches(", ").count() > 1 && !is_query(text) => {
                inside.trim_end_matches(", etc").split(", ").collect()
            }
            _ => inside.split(['/', '|']).map(str::trim).collect(),
        };
        let is_word = |word: &&str| {
            !word.is_empty()
                && word.len() <= 30
                && word.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-'))
        };
        let is_list = words.len() > 1 && words.iter().all(|word| is_word(word) && is_value(word));
        is_list.then(|| words.into_iter().take(MAX_VALUES).map(str::to_string).collect())
    };
    opens.take(20).chain([(0, ' ')]).find_map(list)
}

/// Whether a text is about a search: its lists say where is searched, and not what for.
fn is_query(text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    ["query", "search", "sql statement"].iter().any(|word| lower.contains(word))
}

/// Kinds that a sentence lists: "Common areas include residential design, commercial design".
fn kinds(text: &str) -> Option<Vec<String>> {
    if is_query(text) {
        return None;
    }
    let lower = text.to_ascii_lowercase();
    let markers = ["include", "includes", "including"].into_iter();
    let lists =
        markers.flat_map(|marker| after(text, &lower, marker)).find_map(|rest| first_of_list(rest, 3));
    lists.map(|first| vec![first])
}

/// The first of a list of words at the start of a text, if the list has at least so many.
fn first_of_list(text: &str, least: usize) -> Option<String> {
    const ARTICLES: [&str; 7] = ["a ", "an ", "the ", "your ", "its ", "their ", "any "];
    let sentence = text.split(['.', '\n', '(', ')', ';']).next()?;
    let items: Vec<&str> = sentence.split(',').flat_map(|part| part.split(" or ")).map(str::trim).collect();
    let is_item = |item: &&str| {
        let is_made = item.starts_with(char::is_alphanumeric) && item.split_whitespace().count() <= 3;
        is_made && is_value(item) && !ARTICLES.iter().any(|article| item.starts_with(article))
    };
    (items.len() >= least && items[..2].iter().all(is_item)).then(|| items[0].to_string())
}

/// A value without quotes at the start of a text, unless it reads like the rest of the sentence.
fn plain(text: &str) -> Option<String> {
    let end = text.find([',', ';', ')', '\n', '|']).unwrap_or(text.len());
    let found = text[..end].split(". ").next()?.split(" or ").next()?.split(" for ").next()?;
    let found = found.trim().trim_end_matches('.');
    let words = found.split_whitespace().count();
    let is_name = found.starts_with(|c: char| c.is_uppercase() || c.is_numeric()) && words <= 3;
    let is_long = found.chars().count() > 60 || found.contains(['"', '\'', '`', '(', '=', '{', '[', '*']);
    let is_fit = (is_name || words == 1 && found.len() > 1) && !is_long && is_value(found);
    is_fit.then(|| format!("{found}{}", state(&text[end..]).unwrap_or_default()))
}

/// The state after a city: `, CA`.
fn state(text: &str) -> Option<&str> {
    let code = text.strip_prefix(", ")?.get(..2)?;
    let is_code = code.bytes().all(|byte| byte.is_ascii_uppercase());
    (is_code && !text[4..].starts_with(char::is_alphanumeric)).then(|| &text[..4])
}

/// Whether a value without quotes is a name, a number or an identifier.
fn is_proper(text: &str) -> bool {
    text.starts_with(|c: char| c.is_uppercase() || c.is_numeric()) || text.contains(['_', '/', '@', ':', '-'])
}

/// Whether a mention is a value and not a placeholder or a word of the sentence.
pub(super) fn is_value(text: &str) -> bool {
    const NO_VALUES: [&str; 41] = [
        "the", "a", "an", "if", "in", "to", "for", "when", "this", "use", "it", "we", "empty", "not", "any",
        "all", "your", "string", "str", "int", "integer", "float", "number", "boolean", "bool", "list",
        "array", "dict", "object", "optional", "required", "and", "or", "json", "see", "default", "provided",
        "specified", "s", "n", "etc",
    ];
    !is_one_of(text, &NO_VALUES) && !is_nothing(text) && !is_placeholder(text)
}

fn is_nothing(text: &str) -> bool {
    is_one_of(text, &["none", "null", "undefined", "true", "false"])
}

fn is_one_of(text: &str, words: &[&str]) -> bool {
    words.iter().any(|word| word.eq_ignore_ascii_case(text))
}

/// Whether a text stands for another: `<id>`, `your_key`, `YYYY-MM-DD`.
pub(super) fn is_placeholder(text: &str) -> bool {
    const PARTS: [&str; 11] =
        ["...", "yyyy", "mm-dd", "mm/dd", "hh:mm", "xxx", "your_", "your-", "your ", "user:pass", "${"];
    let lower = text.to_ascii_lowercase();
    text.contains(['<', '>', '…']) || PARTS.iter().any(|part| lower.contains(part))
}
