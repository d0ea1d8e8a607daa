//! The policy of a tool (when to use it, when not to), taken from the rules in its long description.
//!
//! A rule is a bullet below a heading that says so ("When to use:", "DO NOT create when:"), a line that
//! starts with a tick or a cross, or a sentence that is itself a rule ("Never call this twice.").

use std::sync::LazyLock;

use regex::Regex;

use crate::config::ShortDescription;
use crate::docstring::{self, Docstring};
use crate::plain_text::{sentence_end, without_marks, without_opening};
use crate::short::capped;
use toolcrib_definition::markdown::{Fences, item};
use toolcrib_definition::{Policy, beginning};

const MAX_ITEMS: usize = 8;
const ITEM: ShortDescription = ShortDescription { max_chars: 160, max_tokens: usize::MAX };
/// Longer descriptions are read up to here.
const MAX_TEXT: usize = 40_000;

#[derive(Clone, Copy, PartialEq)]
enum Rule {
    Do,
    Dont,
    Edge,
}

/// The rules of a description, which has these parts, in a short form; `None` when it gives none clearly.
pub fn extract(description: &str, parts: &Docstring) -> Option<Policy> {
    let start = beginning(description, MAX_TEXT);
    let of_start = (start.len() < description.len()).then(|| docstring::split(start));
    let parts = of_start.as_ref().unwrap_or(parts);
    let mut found = Policy::default();
    let mut under: Option<Rule> = None;
    let mut fences = Fences::default();
    let texts = std::iter::once(&parts.body).chain(&parts.notes).map(|text| on_lines(text));
    for paragraph in lines(&texts.collect::<Vec<_>>().join("\n\n")) {
        if fences.holds(&paragraph) || paragraph.is_empty() {
            continue;
        }
        under = read(&paragraph, under, &mut found);
    }
    (!found.is_empty()).then_some(found)
}

/// Reads one line and says which rules the bullets after it are.
fn read(line: &str, under: Option<Rule>, found: &mut Policy) -> Option<Rule> {
    if let Some((rule, text)) = ticked(line) {
        // `✅ Create when:` is a heading; `✅ Files: any size` is a rule.
        return match text.trim_end().strip_suffix(['*', ' ']).unwrap_or(text).split_once(':') {
            Some((head, after)) if is_heading(head) => {
                items(after.trim_matches(['*', ' '])).for_each(|item| add(found, rule, item));
                Some(rule)
            }
            _ => {
                add(found, rule, text);
                under
            }
        };
    }
    if let Some(text) = item(line) {
        match under {
            Some(rule) => add(found, rule, text),
            None => sentences(text, found),
        }
        return under;
    }
    if let Some((rule, text)) = heading(line) {
        items(text).for_each(|item| add(found, rule, item));
        return Some(rule);
    }
    sentences(line, found);
    None
}

/// Whether the words before a colon announce a list: they end with `when`, `if`, `for` or `use`.
fn is_heading(head: &str) -> bool {
    let head = without_marks(head).to_lowercase();
    let last = head.split_whitespace().last().unwrap_or_default();
    head.split_whitespace().count() <= 8 && matches!(last, "when" | "if" | "for" | "use" | "to" | "cases")
}

/// A heading that announces rules, and what follows it on its line.
fn heading(line: &str) -> Option<(Rule, &str)> {
    let (head, text) = match line.split_once([':', '：']) {
        Some((head, text)) if text.is_empty() || text.starts_with([' ', '*']) => {
            (head, text.trim_matches(['*', ' ']))
        }
        Some(_) => return None,
        None if line.starts_with('#') || (line.starts_with("**") && line.ends_with("**")) => (line, ""),
        None => return None,
    };
    let head = without_marks(head).to_lowercase();
    // An emoji may stand before it.
    let head = head.trim_start_matches(|c: char| !c.is_alphanumeric());
    let words = head.split_whitespace().count();
    let has = |starts: &[&str]| starts.iter().any(|start| head.starts_with(start));
    let ends = |ends: &[&str]| ends.iter().any(|end| head.ends_with(end));
    let negative = has(&[
        "do not ", "don't ", "don’t ", "never", "avoid", "not for", "when not to", "not suitable",
        "not recommended",
    ]);
    if words <= 8
        && (negative
            && (ends(&["when", "if", "for", "use", "to", "avoid", "never"])
                || has(&["when not to", "do not use", "don't use", "avoid"])))
    {
        return Some((Rule::Dont, text));
    }
    let positive = has(&[
        "when to use", "when to call", "when should", "best for", "ideal for", "good for", "use this when",
        "use this tool when", "use when", "use this for", "use this tool for", "use for", "use this if",
        "use cases", "use it when", "only use",
    ]);
    let to_do = words <= 6 && ends(&[" when", " only when", " only if"]) && !negative;
    if words <= 8 && (positive || to_do) {
        return Some((Rule::Do, text));
    }
    (words <= 4 && has(&["edge case", "if ambiguous", "if unsure", "if in doubt", "if unclear"]))
        .then_some((Rule::Edge, text))
}

/// The items of a text that follows its heading on the same line: `- a - b`, or the whole text.
fn items(text: &str) -> impl Iterator<Item = &str> {
    let (text, mark) = text.strip_prefix("- ").map_or((text, "\n"), |listed| (listed, " - "));
    text.split(mark)
}

fn ticked(line: &str) -> Option<(Rule, &str)> {
    let line = item(line).unwrap_or(line);
    let marks = [(Rule::Do, ["✅", "✔", "👍"]), (Rule::Dont, ["❌", "🚫", "⛔"])];
    marks
        .iter()
        .find_map(|(rule, marks)| marks.iter().find_map(|mark| Some((*rule, line.strip_prefix(mark)?))))
}

// Word borders are those of ASCII: Unicode ones cost the regex engine ten times the time.
static DONT: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?i)^(?:do not|don['’]t|never|avoid (?:using|calling|creating)|not (?:for|intended|suitable)|must not|should not|this (?:tool|function|endpoint|api) (?:should|must) not|this (?:tool|function) is not (?:for|intended|suitable|meant))(?-u:\b)|(?-u:\b)(?:do not|don['’]t|should not|must not|never) (?:use|call|invoke) (?:this|it)(?-u:\b)|(?-u:\b)not be used (?:for|to|when|if|with|in)(?-u:\b)").ok()
});
static DO: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?i)^(?:(?:please )?(?:always |only )?(?:use|call|invoke|run)(?: this| it)?(?: (?:tool|function|action|method|command))?(?: only)? (?:when|if|for|whenever|before|after (?:[b-zB-Z]|a |an |all )|instead)|only (?:use|call)(?-u:\b)|always (?:use|call|check|read|verify|prefer|ask|confirm|run)(?-u:\b)|best (?:used )?(?:for|when)(?-u:\b)|ideal (?:for|when)(?-u:\b)|(?:you )?must (?:use|call|read|check|run|first)(?-u:\b)|prefer this(?-u:\b)|use this (?:tool )?(?:before|after)(?-u:\b)|(?:this tool )?(?:should|must)(?: only)? be (?:used|called) (?:when|if|for|before|after|only)(?-u:\b)|this (?:tool|function) (?:should|must)(?: only)? be (?:used|called) (?:when|if|for|before|after|only)(?-u:\b))").ok()
});
static EDGE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?i)^(?:if|when) (?:it is |it's |you are |you're |still )?(?:ambiguous|unsure|uncertain|unclear|in doubt|not sure|the (?:user|request|intent|query) is (?:ambiguous|unclear))(?-u:\b)").ok()
});
static LABEL: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?i)^(?:important|critical|warning|caution|attention|note|remember|tip|hint)(?: note)?\s*[:!]+\s*",
    )
    .ok()
});
/// `CREATE TASK when:`, `When not to use:` or a tick in the middle of a line.
static INLINE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"\s(?:- )?((?:(?:[A-Z][A-Z']+ )+(?:[a-z]+ )?(?:when|WHEN|if|IF|for|FOR)|(?:When|WHEN) (?:(?:not|NOT) )?(?:to|TO) (?:use|USE)|(?:Do not|Don['’]t) use (?:when|if|for)): |[✅✔❌🚫⛔])").ok()
});

fn sentences(line: &str, found: &mut Policy) {
    let plain = without_marks(line);
    let mut rest = plain.as_str();
    while !rest.trim().is_empty() {
        let (sentence, after) = rest.split_at(sentence_end(rest));
        rest = without_opening(after);
        let label = LABEL.as_ref().and_then(|label| label.find(sentence));
        let sentence = &sentence[label.map_or(0, |label| label.end())..];
        let is = |rule: &LazyLock<Option<Regex>>| rule.as_ref().is_some_and(|rule| rule.is_match(sentence));
        let is_rule = !sentence.ends_with(':') && sentence.split_whitespace().nth(2).is_some();
        let rules = [(Rule::Edge, &EDGE), (Rule::Dont, &DONT), (Rule::Do, &DO)];
        if let Some((rule, _)) = rules.into_iter().find(|(_, pattern)| is_rule && is(pattern)) {
            add(found, rule, sentence);
        }
    }
}

/// Adds an item; a rule for the unclear case may stand at the end of the last of the clear ones.
fn add(found: &mut Policy, rule: Rule, text: &str) {
    let is_edge = |text: &str| EDGE.as_ref().is_some_and(|edge| edge.is_match(text.trim()));
    let forbids = |text: &str| DONT.as_ref().is_some_and(|dont| dont.is_match(text));
    let text = without_marks(text);
    let text = text.as_str();
    let (first, after) = text.split_at(sentence_end(text));
    match rule {
        Rule::Do | Rule::Dont if is_edge(text) => push(&mut found.edge_cases, text),
        Rule::Do | Rule::Dont if is_edge(after) => {
            add(found, rule, first);
            push(&mut found.edge_cases, after);
        }
        // A prohibition stays one below any heading.
        Rule::Do if forbids(text) => push(&mut found.donts, text),
        Rule::Do => push(&mut found.dos, text),
        Rule::Dont => push(&mut found.donts, text),
        Rule::Edge => push(&mut found.edge_cases, text),
    }
}

fn push(items: &mut Vec<String>, text: &str) {
    let text = without_opening(text);
    let text = text.strip_suffix(['.', ';', ',']).unwrap_or(text);
    let text = capped(text, ITEM).unwrap_or_else(|| text.to_string());
    if items.len() < MAX_ITEMS && text.chars().any(char::is_alphanumeric) && !items.contains(&text) {
        items.push(text);
    }
}

/// The text with headings that stand in the middle of a line moved to lines of their own.
fn on_lines(text: &str) -> String {
    match &*INLINE {
        Some(inline) => inline.replace_all(text, "\n$1").into_owned(),
        None => text.to_string(),
    }
}

/// Lines, with those that a wrapped one goes on with joined to it.
fn lines(text: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for line in text.lines().map(str::trim) {
        let starts_new = line.is_empty()
            || item(line).is_some()
            || ticked(line).is_some()
            || is_upper_case(line)
            || line.starts_with(['#', '`', '|']);
        let is_whole = |above: &str| above.is_empty() || above.ends_with([':', '.', '!', '?', '`']);
        match found.last_mut() {
            Some(above) if !starts_new && !line.ends_with(':') && !is_whole(above) => {
                above.push(' ');
                above.push_str(line);
            }
            _ => found.push(line.to_string()),
        }
    }
    found
}

/// Whether a line opens with a word in capitals, as `NEVER` and `DO NOT` do.
fn is_upper_case(line: &str) -> bool {
    let mut words = line.split_whitespace();
    let loud = |word: &str| word.len() > 1 && word.chars().all(|c| c.is_ascii_uppercase());
    words.next().is_some_and(|word| loud(word) && (word.len() > 3 || words.next().is_some_and(loud)))
}

#[cfg(test)]
mod tests;
