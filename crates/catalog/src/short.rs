//! Short descriptions: when to use the tool, in one line, derived from the long description.

use std::sync::LazyLock;

use hashbrown::HashMap;
use indexmap::IndexMap;
use rayon::prelude::*;
use regex::Regex;
use unicode_segmentation::UnicodeSegmentation;

use super::names::bare;
use super::structure::spelled;
use super::{Catalog, Tool, docstring};
use crate::config::{Category, ShortDescription as Cap};
use toolcrib_definition::grammar::{WordClass, plural, singular};
use toolcrib_definition::markup::{markdown, without_prompt_tags};
use toolcrib_definition::tokens::estimate;
use toolcrib_definition::{CategoryPath, beginning, clean_line, clean_text, words};

/// Whether a text is within a cap.
fn holds(cap: Cap, text: &str) -> bool {
    text.chars().count() <= cap.max_chars && estimate(text) <= cap.max_tokens
}

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
        let bare = matches!(*opening, "" | "use " | "use this ");
        if bare {
            link(rest).filter(|_| !starts_with_any(text, &["that ", "which ", "will ", "can ", "to "]))
        } else {
            None
        }
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
fn capitalised(text: &str) -> String {
    let word = text.split_whitespace().next().unwrap_or("");
    let mut chars = text.chars();
    match chars.next() {
        Some(first)
            if word
                .trim_end_matches([',', ':', '.'])
                .chars()
                .all(|c| c.is_lowercase() || c == '-' || c == '/' || c == '\'') =>
        {
            first.to_uppercase().chain(chars).collect()
        }
        _ => text.to_string(),
    }
}

/// `Some` shortened text when a text is over the cap: cut after a clause or a word, with an ellipsis.
pub fn capped(text: &str, cap: Cap) -> Option<String> {
    if holds(cap, text) {
        return None;
    }
    let start: String = text.chars().take(cap.max_chars).collect();
    let fits = |end: &usize| holds(cap, &cut(&start[..*end]));
    let borders = borders(&start, start.len() < text.len());
    let last = borders.iter().rev().copied().find(fits).filter(|&end| !cut(&start[..end]).is_empty());
    let Some(last) = last else {
        let grapheme = start.grapheme_indices(true).map(|(at, _)| at).filter(|&at| at > 0).rev().find(fits);
        return Some(grapheme.map_or_else(String::new, |end| cut(&start[..end])));
    };
    let clause = borders.iter().rev().copied().find(|&end| {
        end <= last
            && end * 5 >= last * 3
            && start[..end].ends_with([',', ';', ':', '，', '；', '、', '：', '.', ')'])
            && fits(&end)
    });
    Some(cut(&start[..clause.unwrap_or(last)]))
}

/// Where a text may be cut: after a word, and between the characters of scripts without spaces.
fn borders(text: &str, more_follows: bool) -> Vec<usize> {
    let mut borders = Vec::new();
    let mut before = ' ';
    for (at, grapheme) in text.grapheme_indices(true) {
        let c = grapheme.chars().next().unwrap_or(' ');
        if at > 0
            && ((c.is_whitespace() && !before.is_whitespace())
                || (spaceless(before) && !is_closing(c))
                || spaceless(c))
        {
            borders.push(at);
        }
        before = c;
    }
    if !more_follows {
        borders.push(text.len());
    }
    borders
}

/// A start of a text, without a dangling conjunction or mark, and an ellipsis.
fn cut(start: &str) -> String {
    const DANGLING: [&str; 24] = [
        "a", "an", "the", "and", "or", "of", "to", "with", "for", "in", "on", "by", "from", "as", "at",
        "that", "which", "e.g", "i.e", "including", "using", "such", "via", "is",
    ];
    let mark = |c: char| {
        c.is_whitespace()
            || (!c.is_alphanumeric() && !matches!(c, ')' | ']' | '}' | '%' | '"' | '\'' | '>' | '）' | '」'))
    };
    let mut text = start.trim_end_matches(mark);
    while let Some((rest, word)) = text.rsplit_once(char::is_whitespace)
        && DANGLING.contains(&word.to_ascii_lowercase().as_str())
    {
        text = rest.trim_end_matches(mark);
    }
    let text = without_open_bracket(text).trim_end_matches(mark);
    if text.is_empty() { String::new() } else { format!("{text}…") }
}

/// Removes a bracket that opens near the end and never closes, with its content.
fn without_open_bracket(text: &str) -> &str {
    match text.rfind(['(', '（', '[']) {
        Some(at) if !text[at..].contains([')', '）', ']']) && at * 2 > text.len() => &text[..at],
        _ => text,
    }
}

fn is_closing(c: char) -> bool {
    matches!(c, '，' | '。' | '、' | '；' | '：' | '）' | '！' | '？' | '」' | '』' | ',' | '.' | ')')
}

fn spaceless(c: char) -> bool {
    matches!(c, '\u{e00}'..='\u{eff}' | '\u{3001}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{ff01}'..='\u{ff60}' | '\u{20000}'..='\u{3ffff}')
}

// Openings of descriptions that many tools share: they tell no tool from another, so that no short description is made of them.

/// Fewest tools that share an opening.
const MIN_TOOLS: usize = 3;
/// Most words of a label such as `Tool description:`.
const LABEL_WORDS: usize = 4;
/// Most openings that are taken off one description.
const MAX_OPENINGS: usize = 4;

/// The sentences and labels with which at least [`MIN_TOOLS`] descriptions begin, while something follows.
#[derive(Debug, Default)]
pub struct SharedOpenings {
    counts: HashMap<String, usize>,
}

impl SharedOpenings {
    /// Finds the openings that descriptions share, layer by layer.
    pub fn of<'d>(descriptions: impl Iterator<Item = &'d str>) -> Self {
        let mut rests: Vec<&str> = descriptions.collect();
        let mut shared = Self::default();
        for _ in 0..MAX_OPENINGS {
            let opening = |rest: &&str| split(rest).map(|(opening, _)| without_marks(opening));
            let openings: Vec<String> = rests.par_iter().filter_map(opening).collect();
            let mut counts: HashMap<String, usize> = HashMap::new();
            openings.into_iter().for_each(|opening| *counts.entry(opening).or_default() += 1);
            counts.retain(|_, count| *count >= MIN_TOOLS);
            if counts.is_empty() {
                break;
            }
            shared.counts.extend(counts);
            rests = rests.into_par_iter().filter_map(|rest| shared.without_one(rest)).collect();
        }
        shared
    }

    /// The description without the openings that it shares with others.
    pub fn strip<'d>(&self, description: &'d str) -> &'d str {
        let mut rest = description;
        for _ in 0..MAX_OPENINGS {
            match self.without_one(rest) {
                Some(after) => rest = after,
                None => break,
            }
        }
        rest
    }

    fn without_one<'d>(&self, text: &'d str) -> Option<&'d str> {
        let (opening, rest) = split(text)?;
        self.counts.contains_key(&without_marks(opening)).then_some(rest)
    }
}

/// The label or the first sentence of a text, and the rest, which is not empty.
fn split(text: &str) -> Option<(&str, &str)> {
    let text = text.trim_start();
    let line = text.lines().next()?;
    let label =
        line.find(": ").map(|at| at + 1).filter(|&end| line[..end].split_whitespace().count() <= LABEL_WORDS);
    let end = label.unwrap_or_else(|| sentence_end(line));
    let rest = text[end..].trim_start();
    (!rest.is_empty()).then_some((&text[..end], rest))
}

// Markdown to plain text, and where its first sentence ends.

/// The first sentence with content, on one line and without markdown.
fn first_sentence(text: &str) -> String {
    let mut title = String::new();
    let mut disclaimer = String::new();
    let mut rest = text;
    while !rest.trim().is_empty() {
        let (paragraph, after) = paragraph(rest);
        rest = after;
        if paragraph.starts_with(char::from(0)) {
            continue;
        }
        let plain = without_marks(&paragraph);
        let mut sentence = said(&plain);
        let mut end = sentence.len();
        while is_disclaimer(sentence) {
            let after = plain[end..].trim_start();
            if disclaimer.is_empty() {
                disclaimer = sentence.to_string();
            }
            end = plain.len() - after.len();
            sentence = said(after);
            end += sentence.len();
        }
        if sentence.is_empty() || is_rule(sentence) {
            continue;
        }
        // `**Required scope:** tasks:write` says what a call needs, not what it does.
        let is_label = (paragraph.starts_with("**")
            && (paragraph.contains(":**") || paragraph.contains("**:")))
            || is_need(sentence);
        let is_title = paragraph.starts_with('#')
            || (is_label && !rest.trim().is_empty())
            || (!sentence.contains(' ') && sentence.is_ascii());
        if !is_title {
            return sentence.to_string();
        }
        if title.is_empty() {
            title = sentence.to_string();
        }
    }
    if title.is_empty() { disclaimer } else { title }
}

/// Whether a sentence is a label with what a call needs: `Required role: admin`.
fn is_need(sentence: &str) -> bool {
    const BEGINNINGS: [&str; 7] = [
        "authorization", "permission", "rate limit", "required permission", "required role",
        "required scope", "scope",
    ];
    let label = sentence.split_once(": ").map(|(label, _)| label.to_lowercase());
    label.is_some_and(|label| {
        label.split(' ').count() <= 3 && BEGINNINGS.iter().any(|beginning| label.starts_with(beginning))
    })
}

/// Whether a sentence tells the state of a tool, and not its use.
fn is_disclaimer(sentence: &str) -> bool {
    const BEGINNINGS: [&str; 12] = [
        "beta", "caution", "deprecated", "disclaimer", "experimental", "important", "internal", "note",
        "notice", "preview", "this", "warning",
    ];
    const STATES: [&str; 9] = [
        "at your own risk", "deprecated", "early access", "experimental", "in beta", "in preview",
        "public preview", "subject to change", "without notice",
    ];
    let lower = sentence.to_lowercase();
    let word = lower.split(|c: char| !c.is_alphabetic()).next().unwrap_or_default();
    let is_labelled =
        word != "this" && lower[word.len()..].starts_with([':', '!', ' ', ']', '.']) && lower.contains(':');
    let is_state = STATES.iter().any(|state| lower.contains(state));
    BEGINNINGS.contains(&word) && (is_labelled || is_state) || is_state && lower.contains(" is ")
}

/// The first sentence of a line, with the next ones as long as it is only a word or a label.
fn said(plain: &str) -> &str {
    let mut end = 0;
    while end < plain.len() {
        end += sentence_end(&plain[end..]);
        let said = plain[..end].trim();
        if said.split_whitespace().count() > 1 || !said.is_ascii() {
            break;
        }
    }
    plain[..end].trim()
}

/// Whether a text has only marks.
fn is_rule(text: &str) -> bool {
    !text.chars().any(char::is_alphanumeric)
}

/// The first paragraph as one line, and the rest. Code blocks come out as a zero byte.
fn paragraph(text: &str) -> (String, &str) {
    let text = text.trim_start_matches(['\n', '\r']);
    let mut line_of: Vec<&str> = Vec::new();
    let mut at = 0;
    if text.trim_start().starts_with("```") {
        let open = text.find("```").unwrap_or(0) + 3;
        let close = text[open..].find("```").map_or(text.len(), |close| open + close + 3);
        return ("\0".to_string(), &text[close..]);
    }
    for line in text.split_inclusive('\n') {
        let trimmed = line.trim();
        if trimmed.is_empty() || line_of.last().is_some_and(|above| breaks(above, trimmed)) {
            break;
        }
        line_of.push(trimmed);
        at += line.len();
    }
    if line_of.is_empty() {
        at = text.find('\n').map_or(text.len(), |end| end + 1);
    }
    (line_of.join(" "), &text[at..])
}

/// Whether a line begins a new block although no blank line stands before it.
fn breaks(above: &str, line: &str) -> bool {
    const OPEN: [&str; 26] = [
        "a", "an", "the", "and", "or", "of", "to", "with", "for", "in", "on", "by", "from", "your", "its",
        "their", "this", "is", "are", "as", "at", "that", "into", "using", "given", "via",
    ];
    let marked = line.starts_with(['#', '|', '•', '✅', '❌'])
        || line.starts_with("```")
        || line.starts_with("- ")
        || line.starts_with("* ")
        || line
            .split_once(['.', ')'])
            .is_some_and(|(n, rest)| n.parse::<u8>().is_ok() && rest.starts_with(' '));
    let last_word = above.rsplit(' ').next().unwrap_or("").to_ascii_lowercase();
    let open = above.ends_with(',') || OPEN.contains(&last_word.as_str());
    let short = above.chars().count() <= 60;
    above.starts_with('#')
        || marked
        || (short && !open && !line.starts_with(|c: char| c.is_lowercase() || c == '('))
}

static LINK: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"!?\[([^\[\]]*)\]\([^()\s]*\)").ok());
/// One line of plain text: links, emphasis, code ticks, bullets and headings are taken away.
pub(super) fn without_marks(line: &str) -> String {
    let line = clean_line(line);
    let has_marks = line.bytes().any(|byte| matches!(byte, b'*' | b'[' | b'<' | b'`' | b'&' | b'_'));
    let text = if has_marks { without_inline_marks(line) } else { line };
    let text = text.trim_start_matches(['#', '>', '•', '|', '-', '–', '—', '*', ':', '🔍', '💡']);
    text.trim_start_matches(|c: char| c.is_whitespace() || is_emoji(c)).trim_end().to_string()
}

fn without_inline_marks(line: String) -> String {
    let replace = |regex: &LazyLock<Option<Regex>>, text: String, with: &str| match &**regex {
        Some(regex) => regex.replace_all(&text, with).into_owned(),
        None => text,
    };
    let text = replace(&LINK, line, "$1");
    let text = text.replace("**", "").replace('`', "");
    clean_line(&without_underscores(&without_stars(&text)))
}

/// Emphasis with single stars, which stand at the borders of words and not between spaces.
fn without_stars(text: &str) -> String {
    let chars: Vec<char> = text.chars().collect();
    let opens = |at: usize| {
        let before = at.checked_sub(1).map_or(' ', |before| chars[before]);
        !before.is_alphanumeric() && chars.get(at + 1).is_some_and(|c| c.is_alphanumeric())
    };
    let closes = |at: usize| {
        let before = at.checked_sub(1).map_or(' ', |before| chars[before]);
        before.is_alphanumeric() && !chars.get(at + 1).is_some_and(|c| c.is_alphanumeric())
    };
    let stars: Vec<usize> = (0..chars.len()).filter(|&at| chars[at] == '*').collect();
    let paired = stars.len() == 2 && opens(stars[0]) && closes(stars[1]);
    chars.iter().enumerate().filter(|(at, _)| !(paired && stars.contains(at))).map(|(_, c)| c).collect()
}

/// Emphasis with `__`, which Python's own names carry too: those are followed by letters and stay.
fn without_underscores(text: &str) -> String {
    if text.starts_with("__") && text.matches("__").count() == 2 && text.contains(' ') {
        text.replacen("__", "", 2)
    } else {
        text.to_string()
    }
}

fn is_emoji(c: char) -> bool {
    matches!(c, '\u{2300}'..='\u{23ff}' | '\u{2600}'..='\u{27bf}' | '\u{2b00}'..='\u{2bff}' | '\u{fe0f}' | '\u{1f000}'..='\u{1faff}')
}

/// Words that end in a full stop without ending a sentence.
const ABBREVIATIONS: [&str; 24] = [
    "e.g", "i.e", "eg", "ie", "etc", "vs", "cf", "approx", "incl", "no", "nos", "dr", "mr", "mrs", "ms",
    "st", "inc", "ltd", "corp", "fig", "sec", "u.s", "max", "min",
];

/// Where the first sentence of a line ends.
pub(super) fn sentence_end(line: &str) -> usize {
    let mut depth = 0usize;
    for (at, c) in line.char_indices() {
        let end = at + c.len_utf8();
        match c {
            '(' | '（' | '[' => depth += 1,
            ')' | '）' | ']' => depth = depth.saturating_sub(1),
            '。' | '！' | '？' if depth == 0 => return end,
            '.' | '!' | '?' if depth == 0 && ends_here(&line[..at], c, &line[end..]) => return end,
            _ => {}
        }
    }
    line.len()
}

/// Whether a mark ends a sentence, judged by the characters around it.
fn ends_here(before: &str, mark: char, after: &str) -> bool {
    let next = after.trim_start_matches(['"', '\'', '”', '’', ')']).chars().next();
    let in_word = |c: &char| !c.is_whitespace() && *c != '(';
    let word_length: usize = before.chars().rev().take(24).take_while(in_word).map(char::len_utf8).sum();
    let word = &before[before.len() - word_length..];
    let follows = after.trim_start().chars().next();
    match next {
        None => true,
        Some(c) if spaced_script(c) => word.len() > 1 || word.chars().any(spaced_script),
        Some(c) if !c.is_whitespace() => false,
        Some(_) if mark != '.' => true,
        Some(_) if ABBREVIATIONS.contains(&word.to_ascii_lowercase().as_str()) => {
            word.eq_ignore_ascii_case("etc") && follows.is_some_and(char::is_uppercase)
        }
        Some(_) if word.chars().count() == 1 && word.chars().all(char::is_uppercase) => false,
        Some(_) => !follows.is_some_and(char::is_lowercase) || word.len() > 3 && !before.ends_with('.'),
    }
}

/// Scripts that put no space between sentences.
fn spaced_script(c: char) -> bool {
    matches!(c, '\u{3000}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{ff00}'..='\u{ffef}')
}

// The purpose of a category in one line, from the names of its tools: what they do, and to what.

/// Most verbs, and most nouns, of a purpose.
const MAX_WORDS: usize = 4;
/// Most characters of a word: a longer one is no word.
const MAX_CHARS: usize = 30;
/// Most tools whose names are read: the words of more would be the same.
const MAX_TOOLS: usize = 400;
/// Most nouns of a purpose, and most characters of a description that are read for them.
const MAX_NOUNS: usize = 3;
const MAX_READ: usize = 300;

impl Catalog {
    /// The `[[category]]` entry of a path.
    pub(super) fn configured_category(&self, path: &str) -> Option<&Category> {
        let is_about = |known: &str| CategoryPath::parse(known).is_some_and(|known| known.as_str() == path);
        self.config.categories.iter().find(|category| is_about(&category.path))
    }

    /// The purpose of a category: in its author's words if there are any, else from the names of these tools.
    pub fn purpose(&self, path: &str, tools: &[&Tool]) -> String {
        let summary =
            self.configured_category(path).and_then(|category| category.summary.as_deref()).map(clean_line);
        summary.filter(|summary| !summary.is_empty()).unwrap_or_else(|| in_words(path, tools))
    }
}

/// The descriptions of sources that tell more than the title does, each as one short line.
pub(super) fn purposes_of_sources(described: Vec<Category>) -> impl Iterator<Item = Category> {
    described.into_iter().filter_map(|category| {
        let text = markdown(category.summary.as_deref()?);
        let text = clean_text(&text);
        let summary = derive(&category.path, &text, Cap::default());
        let is_purpose = tells_more(&category.path, &summary) && !is_disclaimer(&summary);
        is_purpose.then_some(Category { summary: Some(summary), ..category })
    })
}

/// Whether a text says more than the title does.
fn tells_more(title: &str, text: &str) -> bool {
    const FILLERS: [&str; 12] = [
        "api", "endpoint", "group", "method", "operation", "reference", "related", "resource", "rest",
        "route", "service", "tool",
    ];
    let title: Vec<String> = words(title).iter().map(|word| singular(word)).collect();
    let tells = |word: &String| {
        let word = singular(word);
        !matches!(WordClass::of(&word), WordClass::Empty | WordClass::Preposition)
            && !FILLERS.contains(&word.as_str())
            && !title.contains(&word)
    };
    words(text).iter().any(tells) && words(text).len() > 1
}

/// `Create, list and update issue comments`.
pub fn in_words(path: &str, tools: &[&Tool]) -> String {
    let title = words(path.rsplit('/').next().unwrap_or(path));
    let titles: Vec<String> = words(path).iter().map(|word| singular(word)).collect();
    let mut verbs = Counts::default();
    let mut nouns = Counts::default();
    let mut is_object = false;
    for tool in tools.iter().take(MAX_TOOLS) {
        let name: Vec<String> =
            words(&tool.name).into_iter().filter(|word| word.chars().count() <= MAX_CHARS).collect();
        is_object |= title.iter().all(|word| name.iter().any(|of_name| singular(of_name) == singular(word)));
        let is_verb = |word: &String, leads: bool| match WordClass::of(word) {
            WordClass::Verb => true,
            WordClass::VerbOrNoun => leads && name.len() > 1,
            _ => false,
        };
        let verb = name.first().filter(|word| is_verb(word, true));
        let verb = verb.or_else(|| name.last().filter(|word| is_verb(word, false)));
        if let Some(verb) = verb.filter(|verb| !titles.contains(&singular(verb))) {
            verbs.add(verb.clone(), verb.clone());
        }
        for word in name.iter().filter(|word| Some(*word) != verb && word.len() > 2) {
            let is_noun = matches!(WordClass::of(word), WordClass::Noun | WordClass::VerbOrNoun);
            if is_noun && !titles.contains(&singular(word)) {
                nouns.add(singular(word), word.clone());
            }
        }
    }
    // The name of a server is no object.
    let is_server = tools.first().and_then(|tool| tool.server.as_deref()).is_some_and(|server| {
        let name = path.rsplit('/').next().unwrap_or(path);
        words(bare(server)) == words(name)
    });
    let objects = if is_object && !is_server {
        let (last, before) = title.split_last().map_or(("", &[][..]), |(last, before)| (last, before));
        let before = before.iter().cloned().chain([in_plural(last, tools)]).map(spelled);
        before.collect::<Vec<_>>().join(" ")
    } else {
        let nouns = nouns.frequent().into_iter().filter(|noun| !noun.contains(|c: char| c.is_ascii_digit()));
        listed(&nouns.take(MAX_NOUNS).map(|noun| spelled(in_plural(&noun, tools))).collect::<Vec<_>>())
    };
    let verbs = verbs.frequent();
    match (verbs.is_empty(), objects.is_empty()) {
        (_, true) => String::new(),
        (true, false) => format!("Work with {objects}"),
        (false, false) => capitalised(&format!("{} {objects}", listed(&verbs))),
    }
}

/// A noun in the plural where a tool has the plural, or counts the noun: `an invite`.
fn in_plural(noun: &str, tools: &[&Tool]) -> String {
    let many = plural(&singular(noun));
    let counted = [format!("a {noun} "), format!("an {noun} "), format!("a {noun}."), format!("an {noun}.")];
    let says = |tool: &&Tool| {
        let description = beginning(&tool.description, MAX_READ).to_lowercase();
        words(&tool.name).contains(&many)
            || counted.iter().any(|counted| description.contains(counted))
            || (description.contains(&many) && words(&description).contains(&many))
    };
    if tools.iter().take(MAX_TOOLS).any(says) { many } else { noun.to_string() }
}

/// `a, b and c`.
fn listed(words: &[String]) -> String {
    match words {
        [] => String::new(),
        [only] => only.clone(),
        [before @ .., last] => format!("{} and {last}", before.join(", ")),
    }
}

/// Number of times that each word was counted, with the form in which it came first.
#[derive(Default)]
struct Counts(IndexMap<String, (usize, String)>);

impl Counts {
    fn add(&mut self, word: String, form: String) {
        self.0.entry(word).or_insert((0, form)).0 += 1;
    }

    /// The most frequent words, the earlier first where two are equal.
    fn frequent(mut self) -> Vec<String> {
        self.0.sort_by(|_, one, _, other| other.0.cmp(&one.0));
        self.0.into_values().take(MAX_WORDS).map(|(_, form)| form).collect()
    }
}

#[cfg(test)]
mod tests;
