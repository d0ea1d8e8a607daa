//! Turns a long untrusted description into a block of Markdown that is safe under one of our headings.
//!
//! 1. The text is cleaned, and the indentation that docstrings carry is removed.
//! 2. A parser reads it as part of a page; forbidden elements are corrected in the source.
//! 3. Step 2 is repeated, with and without extensions, until neither finds anything to correct.
//! 4. A text that still fails is put into a code fence.

use std::ops::Range;

use pulldown_cmark::{CodeBlockKind, Event, LinkType, Options, Parser, Tag, TagEnd};

use super::code::{code, fence};
use super::links::{is_of_a_website, is_web};
use super::markers::break_marker;
use toolcrib_definition::markdown::{Edit, edited};
use toolcrib_definition::{clean_text, hidden_characters};

const MAX_READINGS: usize = 9;
const AFTER: &str = "\n\n# .\n";

/// Turns text into Markdown that cannot affect the rest of the page: lists, code, emphasis and web links stay, headings
/// become bold lines, HTML becomes text. A link that only works on a website becomes its text; any other link is shown
/// as written.
pub fn prose(text: &str) -> String {
    let clean = clean_text(text);
    let clean = dedent(&break_marker(&clean, "<! --"));
    let is_plain = !clean.contains(['<', '#', '[', '`', '~', '&', '=', '*', '_'])
        && !clean.lines().any(|line| line.ends_with('-'));
    if is_plain {
        return clean;
    }
    let extensions = Options::ENABLE_TABLES
        | Options::ENABLE_FOOTNOTES
        | Options::ENABLE_STRIKETHROUGH
        | Options::ENABLE_TASKLISTS;
    let mut text = clean.clone();
    let mut in_order = 0;
    for reading in 0..MAX_READINGS {
        let options = if reading % 2 == 0 { extensions } else { Options::empty() };
        let edits = Reading::of(&text, options);
        if !edits.is_empty() {
            in_order = 0;
            text = edited(&text, edits);
        } else if in_order == 1 {
            return without_blanks(&text);
        } else {
            in_order += 1;
        }
    }
    fence("text", &clean)
}

/// Removes the indentation that all lines but the first have in common, unless the first begins a list or a fence.
fn dedent(text: &str) -> String {
    if !text.starts_with(char::is_alphabetic) {
        return text.to_string();
    }
    let indent = |line: &str| line.len() - line.trim_start_matches(' ').len();
    let common = text.lines().skip(1).filter(|line| !line.is_empty()).map(indent).min().unwrap_or(0);
    if common == 0 {
        return text.to_string();
    }
    let lines = text
        .lines()
        .enumerate()
        .map(|(i, line)| if i == 0 { line } else { line.get(common..).unwrap_or("") });
    lines.collect::<Vec<_>>().join("\n")
}

/// Empties the lines of spaces that edits leave behind, and removes empty lines at both ends.
fn without_blanks(text: &str) -> String {
    let lines = text.split('\n').map(|line| if line.trim_matches(' ').is_empty() { "" } else { line });
    lines.collect::<Vec<_>>().join("\n").trim_matches('\n').to_string()
}

/// An open element during a reading, with the ranges of its source and its content.
struct Open {
    range: Range<usize>,
    content: Option<Range<usize>>,
    is_heading: bool,
    is_link: bool,
    /// Whether only its content is kept.
    is_unwrapped: bool,
}

/// One reading of a text: the elements open now, and the corrections so far.
struct Reading<'a> {
    text: &'a str,
    open: Vec<Open>,
    edits: Vec<Edit>,
}

impl<'a> Reading<'a> {
    /// Corrections needed in `text`, as read with `options`.
    fn of(text: &'a str, options: Options) -> Vec<Edit> {
        let page = format!("{text}{AFTER}");
        let parser = Parser::new_ext(&page, options);
        let mut reading = Reading { text, open: Vec::new(), edits: Vec::new() };
        for (_, definition) in parser.reference_definitions().iter() {
            reading.part(definition.span.clone());
        }
        let mut ends_well = false;
        for (event, range) in parser.into_offset_iter() {
            if matches!(event, Event::Start(Tag::Heading { .. })) && range.start >= text.len() {
                ends_well = reading.open.is_empty();
                break;
            }
            reading.event(event, range);
        }
        if !ends_well && reading.edits.is_empty() {
            // Correcting nothing keeps the text from passing, so that anything unexpected ends up in the fence.
            reading.edits.push((0..0, String::new()));
        }
        reading.edits
    }

    fn event(&mut self, event: Event<'_>, range: Range<usize>) {
        if let Event::End(end) = event {
            if let Some(open) = self.open.pop() {
                self.end(end, open);
            }
            return;
        }
        if let Some(parent) = self.open.last_mut() {
            let content = parent.content.get_or_insert(range.clone());
            content.end = content.end.max(range.end);
        }
        match event {
            Event::Start(tag) => self.start(tag, range),
            Event::Html(_) | Event::InlineHtml(_) => self.show_html(range),
            Event::FootnoteReference(_) => self.in_code(range),
            Event::Rule => {
                let end = range.start + self.source(&range).trim_end().len();
                self.delete(self.with_indent(range.start)..end);
            }
            Event::Text(text)
                if self.source(&range).contains('&') && !hidden_characters(&text).is_empty() =>
            {
                self.after(range, '&');
            }
            _ => {}
        }
    }

    fn start(&mut self, tag: Tag<'_>, range: Range<usize>) {
        let is_unwrapped = matches!(
            &tag,
            Tag::Link { link_type: LinkType::Inline, dest_url, .. } | Tag::Image { link_type: LinkType::Inline, dest_url, .. }
                if is_of_a_website(dest_url)
        );
        match &tag {
            Tag::FootnoteDefinition(_) => self.part(range.clone()),
            Tag::Link { link_type: LinkType::Email, .. } => {}
            Tag::Link { link_type: LinkType::Autolink, dest_url, .. } if !is_web(dest_url) => {
                self.in_code(range.clone());
            }
            Tag::Link { .. } | Tag::Image { .. } if is_unwrapped => {}
            // A reference link becomes text once its definition does.
            Tag::Link { dest_url, link_type: LinkType::Inline, .. }
            | Tag::Image { dest_url, link_type: LinkType::Inline, .. }
                if !is_web(dest_url) =>
            {
                self.part(range.clone());
            }
            // An image is fetched unasked; a link is not.
            Tag::Image { .. } if !self.open.iter().any(|open| open.is_link) => {
                self.delete(range.start..range.start + 1);
            }
            Tag::CodeBlock(CodeBlockKind::Fenced(_))
                if self.open.is_empty() && range.end > self.text.len() =>
            {
                let opening = self.text[range.start..].trim_start();
                let mark = if opening.starts_with('~') { '~' } else { '`' };
                let length = opening.len() - opening.trim_start_matches(mark).len();
                let closing = format!("\n{}", mark.to_string().repeat(length));
                self.edits.push((self.text.len()..self.text.len(), closing));
            }
            _ => {}
        }
        let is_heading = matches!(tag, Tag::Heading { .. });
        let is_link = matches!(tag, Tag::Link { .. });
        self.open.push(Open { range, content: None, is_heading, is_link, is_unwrapped });
    }

    fn end(&mut self, end: TagEnd, element: Open) {
        let Open { range, content, is_unwrapped, .. } = element;
        let is_empty = content.is_none();
        let content = content.unwrap_or(range.start..range.start);
        match end {
            TagEnd::Link | TagEnd::Image if is_unwrapped && is_empty => self.part(range),
            TagEnd::Link | TagEnd::Image if is_unwrapped => {
                self.delete(range.start..content.start);
                self.delete(content.end..range.end);
            }
            TagEnd::Heading(_) => self.heading(range, content),
            TagEnd::Image if self.open.iter().any(|open| open.is_link) => {
                self.delete(range.start..content.start);
                self.delete(content.end..range.end);
            }
            TagEnd::Strong if self.open.iter().any(|open| open.is_heading) => {
                self.delete(range.start..content.start);
                self.delete(content.end..range.end);
            }
            TagEnd::Strong if self.is_label(&range, &content) => {
                self.delete(range.start..range.start + 1);
                self.delete(range.end - 1..range.end);
            }
            _ => {}
        }
    }

    /// Makes a heading a bold line; an empty heading disappears.
    fn heading(&mut self, range: Range<usize>, content: Range<usize>) {
        let end = range.start + self.source(&range).trim_end().len();
        if content.is_empty() {
            return self.delete(self.with_indent(range.start)..end);
        }
        let apart = self.open.is_empty();
        let before = self.text[..range.start].trim_end_matches(' ');
        let after = &self.text[end..];
        let above = if apart && !before.is_empty() && !before.ends_with("\n\n") { "\n" } else { "" };
        let below = if apart && !after.is_empty() && !after.starts_with("\n\n") { "\n" } else { "" };
        self.edits.push((self.with_indent(range.start)..content.start, format!("{above}**")));
        self.edits.push((content.end..end.max(content.end), format!("**{below}")));
    }

    /// The start of an element with its indentation, which would remain alone on a line; inside an element it stays.
    fn with_indent(&self, start: usize) -> usize {
        if self.open.is_empty() { self.text[..start].trim_end_matches(' ').len() } else { start }
    }

    /// Whether a line begins with `**Word:**`, which marks a section of a page. Only toolcrib may write such marks.
    fn is_label(&self, range: &Range<usize>, content: &Range<usize>) -> bool {
        let line_start = self.text[..range.start].rfind('\n').map_or(0, |at| at + 1);
        self.text[line_start..range.start].trim().is_empty()
            && (self.text[content.clone()].trim_end().ends_with(':')
                || self.text[range.end..].starts_with(':'))
    }

    fn source(&self, range: &Range<usize>) -> &'a str {
        self.text.get(range.start..range.end.min(self.text.len())).unwrap_or("")
    }

    fn delete(&mut self, range: Range<usize>) {
        if !range.is_empty() {
            self.edits.push((range, String::new()));
        }
    }

    /// Separates the label of a link or a definition from its address, so that both become text.
    fn part(&mut self, range: Range<usize>) {
        let source = self.source(&range);
        let between = ["](", "][", "]:"].iter().filter_map(|between| source.rfind(between)).max();
        match between {
            Some(at) => self.edits.push((range.start + at + 1..range.start + at + 1, " ".into())),
            None => self.after(range, '['),
        }
    }

    /// Puts a space after the first `c` of a range, so that it no longer begins an element.
    fn after(&mut self, range: Range<usize>, c: char) {
        if let Some(at) = self.source(&range).find(c) {
            let at = range.start + at + c.len_utf8();
            self.edits.push((at..at, " ".into()));
        }
    }

    /// Shows a range on one line as code.
    fn in_code(&mut self, range: Range<usize>) {
        let source = self.source(&range);
        if source.contains(['`', '\n']) {
            let first = source.chars().next().unwrap_or('<');
            return self.after(range, first);
        }
        self.edits.push((range.clone(), code(source)));
    }

    /// Shows each tag in a range as code. Anything else that begins like a tag gets a space, which makes it text.
    fn show_html(&mut self, range: Range<usize>) {
        let source = self.source(&range);
        let mut from = 0;
        while let Some(at) = source[from..].find('<').map(|at| from + at) {
            let inner = &source[at + 1..];
            let end = inner.find(['>', '<', '`', '\n']).filter(|&end| inner[end..].starts_with('>'));
            let begins_tag =
                inner.starts_with(|c: char| c.is_ascii_alphabetic() || matches!(c, '/' | '!' | '?'));
            from = at + 1;
            match end {
                Some(end) if begins_tag && end > 0 && !inner[..end].starts_with("!--") => {
                    from = at + end + 2;
                    let tag = range.start + at..range.start + from;
                    self.edits.push((tag.clone(), code(&self.text[tag])));
                }
                _ if begins_tag => {
                    let place = range.start + at + 1;
                    self.edits.push((place..place, " ".into()));
                }
                _ => {}
            }
        }
    }
}
