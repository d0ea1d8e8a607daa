//! Short descriptions: when to use the tool, in one line, derived from the long description.

mod capped;
pub(crate) mod first_sentence;
mod shared_openings;

pub(crate) use capped::capped;
pub(crate) use shared_openings::SharedOpenings;

use crate::config::ShortDescription as Cap;
use crate::docstring;
use first_sentence::first_sentence;
use toolcrib_definition::markdown::without_prompt_tags;
use toolcrib_definition::words;

/// The short description of a tool: the first sentence of the long one, or the words of the name.
pub fn derive(name: &str, description: &str, cap: Cap) -> String {
    let body = docstring::split(&without_prompt_tags(description)).body;
    let sentence = first_sentence(&body);
    let text = if sentence.is_empty() { capitalised(&words(name).join(" ")) } else { direct(&sentence) };
    capped(&text, cap).unwrap_or(text)
}

/// Openings of a description without content; the verb after them remains.
const OPENINGS: [&str; 8] = ["", "this is ", "use ", "use this ", "provides ", "an mcp ", "mcp ", "call "];
const NOUNS: [&str; 12] = [
    "this tool ", "the tool ", "a tool ", "tool ", "this function ", "the function ", "a function ",
    "function ", "this endpoint ", "this api ", "this method ", "this command ",
];
const LINKS: [&str; 22] = [
    "will allow you to ", "allows you to ", "allows users to ", "allows the user to ", "enables you to ",
    "enables users to ", "lets you ", "helps you to ", "helps you ", "helps to ", "helps users ",
    "can be used to ", "is used to ", "may be used to ", "is useful to ", "that can ", "that ", "which ",
    "will ", "can ", "used to ", "to ",
];

/// A sentence without its opening boilerplate and final full stop, capitalised.
fn direct(sentence: &str) -> String {
    let mut text = sentence;
    if let Some(rest) = without_opening(text) {
        text = rest;
    }
    let bare = text.strip_suffix(['.', '。', ':', '：']).unwrap_or(text).trim_end();
    let keeps_dot = bare.ends_with('.') || bare.ends_with("etc");
    capitalised(if keeps_dot { text } else { bare })
}

fn without_opening(text: &str) -> Option<&str> {
    let rest = OPENINGS.iter().find_map(|opening| {
        let rest = strip_ignoring_case(text, opening)?;
        if let Some(rest) = NOUNS.iter().find_map(|noun| strip_ignoring_case(rest, noun)) {
            return Some(link(rest).unwrap_or(rest));
        }
        let is_bare = matches!(*opening, "" | "use " | "use this ");
        let has_link = starts_with_any(text, &["that ", "which ", "will ", "can ", "to "]);
        if is_bare && !has_link { link(rest) } else { None }
    })?;
    let says_little = [
        "is ", "are ", "was ", "has ", "should ", "must ", "requires ", "does ", "when ", "if ", "for ",
        "only ", "cannot ", "with ", "in ", "and ", "of ", "name", "call", "be ", "also ", "after ",
        "before ",
    ];
    (!starts_with_any(rest, &says_little) && rest.starts_with(char::is_alphabetic) && rest.contains(' '))
        .then_some(rest)
}

fn link(text: &str) -> Option<&str> {
    LINKS.iter().find_map(|link| strip_ignoring_case(text, link))
}

fn starts_with_any(text: &str, starts: &[&str]) -> bool {
    starts.iter().any(|start| strip_ignoring_case(text, start).is_some())
}

fn strip_ignoring_case<'a>(text: &'a str, start: &str) -> Option<&'a str> {
    text.get(..start.len()).filter(|head| head.eq_ignore_ascii_case(start)).map(|head| &text[head.len()..])
}

/// A first letter in upper case, unless the first word is an identifier such as `iOS` or `get_page`.
pub(crate) fn capitalised(text: &str) -> String {
    let word = text.split_whitespace().next().unwrap_or("");
    let is_plain = |c: char| c.is_lowercase() || matches!(c, '-' | '/' | '\'');
    let mut chars = text.chars();
    match chars.next() {
        Some(first) if word.trim_end_matches([',', ':', '.']).chars().all(is_plain) => {
            first.to_uppercase().chain(chars).collect()
        }
        _ => text.to_string(),
    }
}

#[cfg(test)]
mod tests;
