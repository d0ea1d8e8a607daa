//! One line as Markdown reads it. The line stays as it is: readers cut out of it what they do not want.

use std::ops::Range;

use pulldown_cmark::{Event, LinkType, Options, Parser, Tag};

/// Put before a line, so that nothing in it begins a block.
const BEFORE: &str = "x ";

/// The code, the links and the emphasis of a line.
#[derive(Debug, Default)]
pub struct Inline {
    /// Code spans, with their backticks.
    pub code: Vec<Range<usize>>,
    /// Links and images. An address in angle brackets is text.
    pub links: Vec<Link>,
    pub emphasis: Vec<Emphasis>,
}

/// A link or an image.
#[derive(Debug)]
pub struct Link {
    pub range: Range<usize>,
    /// The text within it; empty where it has none.
    pub text: Range<usize>,
    pub target: String,
}

/// Emphasized text, between two marks.
#[derive(Debug)]
pub struct Emphasis {
    pub opening: Range<usize>,
    pub closing: Range<usize>,
}

/// A part of a text, and what stands in its place.
pub type Edit = (Range<usize>, String);

impl Inline {
    /// Reads a line.
    pub fn read(line: &str) -> Self {
        let mut read = Self::default();
        read.add(line, Options::empty());
        // Struck text changes what else is emphasized, and not every reader knows it.
        if line.contains('~') {
            let mut with_struck = Self::default();
            with_struck.add(line, Options::ENABLE_STRIKETHROUGH);
            read.emphasis.append(&mut with_struck.emphasis);
        }
        read
    }

    fn add(&mut self, line: &str, options: Options) {
        let text = [BEFORE, line].concat();
        let within = |range: Range<usize>| range.start - BEFORE.len()..range.end - BEFORE.len();
        // The links that are open, by their places in the list.
        let mut open: Vec<Option<usize>> = Vec::new();
        for (event, range) in Parser::new_ext(&text, options).into_offset_iter() {
            if let Some(link) = open.last().copied().flatten().and_then(|link| self.links.get_mut(link))
                && !matches!(event, Event::End(_))
            {
                let content = within(range.clone());
                let start = if link.text.is_empty() { content.start } else { link.text.start };
                link.text = start..content.end;
            }
            match event {
                Event::Code(_) => self.code.push(within(range)),
                Event::Start(Tag::Paragraph) => open.push(None),
                Event::Start(tag) => {
                    let range = within(range);
                    open.push(self.start(tag, line, range));
                }
                Event::End(_) => drop(open.pop()),
                _ => {}
            }
        }
    }

    /// Notes an element; the place of a link in the list.
    fn start(&mut self, tag: Tag<'_>, line: &str, range: Range<usize>) -> Option<usize> {
        match tag {
            Tag::Link { link_type: LinkType::Autolink | LinkType::Email, .. } => {}
            Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. } => {
                let text = range.end..range.end;
                self.links.push(Link { range, text, target: dest_url.to_string() });
                return Some(self.links.len() - 1);
            }
            Tag::Emphasis | Tag::Strong | Tag::Strikethrough => {
                let is_double = matches!(tag, Tag::Strong) || line[range.clone()].starts_with("~~");
                let length = if is_double { 2 } else { 1 };
                let opening = range.start..range.start + length;
                self.emphasis.push(Emphasis { opening, closing: range.end - length..range.end });
            }
            _ => {}
        }
        None
    }

    /// The line without marks: a link is its text, and code has no backticks.
    pub fn plain(&self, line: &str) -> String {
        let links = self.links.iter().flat_map(Link::around);
        let emphasis = self.emphasis.iter().filter(|emphasis| emphasis.is_meant(line));
        let emphasis = emphasis.flat_map(|emphasis| [emphasis.opening.clone(), emphasis.closing.clone()]);
        let ticks = self.code.iter().flat_map(|code| {
            let span = &line[code.clone()];
            let length = span.len() - span.trim_start_matches('`').len();
            [code.start..code.start + length, code.end - length..code.end]
        });
        edited(line, links.chain(emphasis).chain(ticks).map(|range| (range, String::new())).collect())
    }
}

impl Link {
    /// The parts of it before and after its text.
    pub fn around(&self) -> [Range<usize>; 2] {
        [self.range.start..self.text.start, self.text.end..self.range.end]
    }
}

impl Emphasis {
    /// Whether its author meant emphasis. Marks within a word, such as `2*3*4`, before no word, such as `"*.md", "*.json"`, and
    /// underscores around a single word, such as `__init__`, are text.
    pub fn is_meant(&self, line: &str) -> bool {
        let is_word = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
        let content = &line[self.opening.end..self.closing.start];
        let is_within_word = is_word(line[..self.opening.start].chars().next_back())
            || is_word(line[self.closing.end..].chars().next());
        let begins_word = is_word(content.chars().next());
        !is_within_word
            && match &line[self.opening.clone()] {
                "**" => true,
                "*" => begins_word,
                "_" | "__" => begins_word && content.contains(' '),
                _ => false,
            }
    }
}

/// A text with edits, in order of position. An edit that overlaps an earlier one is left out.
pub fn edited(text: &str, mut edits: Vec<Edit>) -> String {
    edits.sort_by_key(|(range, _)| range.start);
    let mut out = String::with_capacity(text.len() + 64);
    let mut done = 0;
    for (range, replacement) in edits {
        if range.start >= done && range.end <= text.len() {
            out.push_str(&text[done..range.start]);
            out.push_str(&replacement);
            done = range.end;
        }
    }
    out.push_str(&text[done..]);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_without_marks_keeps_its_words() {
        for (line, plain) in [
            ("**Important:** read *this* `a b`", "Important: read this a b"),
            ("See [the `x` guide](https://a.b/c) and ![i](d.png).", "See the x guide and i."),
            ("- one *two* `` `three` ``", "- one two  `three` "),
            ("__very important__ but __init__ and 2*3*4", "very important but __init__ and 2*3*4"),
            ("*.md, a * b, x**2 and [a](b", "*.md, a * b, x**2 and [a](b"),
            ("such as \"*.md\", \"*.json\" or a/*", "such as \"*.md\", \"*.json\" or a/*"),
            ("~5 MB, ~~old~~ <id> &amp; \\*", "~5 MB, ~~old~~ <id> &amp; \\*"),
        ] {
            assert_eq!(Inline::read(line).plain(line), plain);
        }
    }
}
