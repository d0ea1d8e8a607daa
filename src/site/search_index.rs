//! Search over names, short texts and parameters. The script `assets/site.js` has the same rules, so that a query
//! gives the same list in both.

use serde::Serialize;

use super::frame::{clipped, shown_name};
use crate::catalog::Tool;
use crate::tool::clean_line;

/// Most tools on the page.
const MAX_FOUND: usize = 50;
/// Most characters of a query that are read.
pub(super) const MAX_QUERY: usize = 200;
const MAX_WORDS: usize = 12;
/// Most parameters of a tool that are searched, and most characters of them together.
const MAX_PARAMETERS: usize = 40;
const MAX_TEXT: usize = 400;

/// The index of the search: one line per tool, in the order of the site.
#[derive(Debug)]
pub(super) struct SearchIndex {
    lines: Vec<Line>,
}

/// One tool as it is listed, with its words in lower case.
#[derive(Debug)]
struct Line {
    shown: SearchRow,
    name: String,
    short: String,
    more: String,
}

/// The data of a tool for the script: name, file if it differs, short text, category, effect, further words.
#[derive(Debug, Serialize)]
struct SearchRow(String, String, String, String, &'static str, String);

impl SearchIndex {
    /// An index of these tools, each with the titles of its category.
    pub(super) fn new<'a>(tools: impl Iterator<Item = (&'a Tool, String)>) -> Self {
        Self { lines: tools.map(|(tool, category)| Line::of(tool, &category)).collect() }
    }

    /// The best tools for a query, best first, by their positions in the site; and their number.
    pub(super) fn find(&self, query: &str) -> (Vec<usize>, usize) {
        let words = words(&clipped(query, MAX_QUERY));
        let list: Vec<&str> = words.split_whitespace().take(MAX_WORDS).collect();
        let whole = list.concat();
        let mut found: Vec<(u32, usize)> = self
            .lines
            .iter()
            .enumerate()
            .filter_map(|(index, line)| Some((line.score(&list, &whole)?, index)))
            .collect();
        found.sort_by_key(|&(score, index)| (std::cmp::Reverse(score), index));
        let count = found.len();
        (found.into_iter().take(MAX_FOUND).map(|(_, index)| index).collect(), count)
    }

    /// The script that gives all lines to the search box. A script and not JSON, so that pages opened as files can load it.
    pub(super) fn script(&self, version: &str) -> String {
        let lines: Vec<String> =
            self.lines.iter().map(|line| serde_json::to_string(&line.shown).unwrap_or_default()).collect();
        format!("window.toolcribIndex={{version:\"{version}\",tools:[\n{}\n]}}\n", lines.join(",\n"))
    }
}

impl Line {
    fn of(tool: &Tool, category: &str) -> Self {
        let properties = tool.parameters.schema().get("properties").and_then(|list| list.as_object());
        let names = properties.into_iter().flatten().map(|(name, _)| name.as_str()).take(MAX_PARAMETERS);
        let also = tool.aliases.iter().map(String::as_str).chain([tool.op.as_str()]);
        let also = also.chain(tool.written_tags().iter().map(String::as_str)).chain(names);
        let more = clipped(&clean_line(&also.collect::<Vec<_>>().join(" ")), MAX_TEXT);
        let name = shown_name(&tool.name, &tool.safe_name);
        let file = if name == tool.safe_name { String::new() } else { tool.safe_name.clone() };
        let short = clipped(&clean_line(&tool.short), MAX_TEXT);
        let category = clipped(category, 80);
        Self {
            name: words(&name),
            short: words(&short),
            more: words(&format!("{category} {more}")),
            shown: SearchRow(name, file, short, category, tool.effect.as_str(), more),
        }
    }

    /// Score of a tool: every word must be found somewhere.
    fn score(&self, list: &[&str], whole: &str) -> Option<u32> {
        if whole.is_empty() {
            return None;
        }
        let name = self.name.replace(' ', "");
        let mut score = match name.strip_prefix(whole) {
            Some("") => 1000,
            Some(_) => 400,
            None => 0,
        };
        let is_named = score > 0;
        for word in list {
            let best = place(&self.name, word, [60, 40, 25])
                .max(place(&self.short, word, [12, 8, 0]))
                .max(place(&self.more, word, [6, 4, 0]));
            if best == 0 && !is_named {
                return None;
            }
            score += best;
        }
        Some(score)
    }
}

/// Score of a word in a text: as a whole word, as the beginning of one, or within one.
fn place(text: &str, word: &str, [whole, beginning, within]: [u32; 3]) -> u32 {
    let mut best = 0;
    for (at, _) in text.match_indices(word) {
        let begins = text[..at].ends_with(' ');
        let ends = text[at + word.len()..].starts_with(' ');
        best = best.max(match (begins, ends) {
            (true, true) => return whole,
            (true, false) => beginning,
            _ => within,
        });
    }
    best
}

/// The words of a text in lower case, each between spaces.
fn words(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push(' ');
    for c in text.to_lowercase().chars() {
        if c.is_alphanumeric() {
            out.push(c);
        } else if !out.ends_with(' ') {
            out.push(' ');
        }
    }
    if !out.ends_with(' ') {
        out.push(' ');
    }
    out
}
