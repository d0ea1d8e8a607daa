//! One line of untrusted text: escaped just enough that it is text and nothing else.

use std::collections::HashSet;
use std::ops::Range;

use super::code::code;
use super::links::{is_of_a_website, is_web};
use super::markers::break_marker;
use super::plain::{is_markup, is_plain};
use toolcrib_definition::clean_line;
use toolcrib_definition::markdown::{Edit, Inline, Link, edited};

/// Most readings of a line: one that still has emphasis then is shown as code.
const MAX_READINGS: usize = 5;

/// Text as one line without markup, except the code spans that its author wrote. A link becomes its text, followed by
/// its address where that is a web address. A word that Markdown would read as markup becomes code.
pub fn inline(text: &str) -> String {
    if is_plain(text, is_markup) && block_marker(text).is_none() {
        return text.to_string();
    }
    let line = without_links_and_emphasis(&clean_line(text));
    let mut line = Line::read(&break_marker(&line, "<! --")).written();
    // What is code now can have hidden emphasis from the parser.
    for _ in 0..MAX_READINGS {
        let read = Line::read(&line);
        if read.marks.is_empty() {
            return line;
        }
        line = read.written();
    }
    code(&line)
}

/// A name as one line that shows every character of it: as code where Markdown would read more than its text.
pub fn name(text: &str) -> String {
    if is_plain(text, is_markup) && block_marker(text).is_none() {
        return text.to_string();
    }
    let line = clean_line(text);
    let is_text = !line.contains(['[', ']', '`', '\\', '<', '&']) && Line::read(&line).written() == line;
    if is_text && block_marker(&line).is_none() { line } else { code(&line) }
}

/// The line with its links as text, and without the marks of emphasis, which are not worth their tokens here. The target of a
/// link stays if it is a web address; a link that leads nowhere stays as it is.
fn without_links_and_emphasis(line: &str) -> String {
    let read = Inline::read(line);
    let is_link =
        |link: &&Link| !link.text.is_empty() && (is_web(&link.target) || is_of_a_website(&link.target));
    let mut edits: Vec<Edit> = Vec::new();
    for link in read.links.iter().filter(is_link) {
        let [before, after] = link.around();
        let target = if is_web(&link.target) { format!(" ({})", link.target) } else { String::new() };
        edits.extend([(before, String::new()), (after, target)]);
    }
    let marks = read.emphasis.iter().filter(|emphasis| emphasis.is_meant(line));
    let marks = marks.flat_map(|emphasis| [emphasis.opening.clone(), emphasis.closing.clone()]);
    edits.extend(marks.map(|mark| (mark, String::new())));
    edited(line, edits)
}

/// The line, and what Markdown reads in it.
struct Line<'a> {
    text: &'a str,
    /// Code spans.
    spans: Vec<Range<usize>>,
    /// Places of the characters that emphasize text.
    marks: HashSet<usize>,
}

impl<'a> Line<'a> {
    fn read(text: &'a str) -> Self {
        let Inline { code, emphasis, .. } = Inline::read(text);
        let marks =
            emphasis.into_iter().flat_map(|emphasis| emphasis.opening.chain(emphasis.closing)).collect();
        Self { text, spans: code, marks }
    }

    /// The line as Markdown: words with markup are code, and nothing else changes.
    fn written(&self) -> String {
        let mut out = String::with_capacity(self.text.len() + 8);
        let mut spans = self.spans.iter().peekable();
        let mut start = 0;
        let mut is_marked = block_marker(self.text).is_some() || begins_task(self.text);
        let mut at = 0;
        while at < self.text.len() {
            if let Some(span) = spans.next_if(|span| span.start == at) {
                at = span.end;
                continue;
            }
            let Some(c) = self.text[at..].chars().next() else { break };
            if c == ' ' {
                self.write_word(start..at, is_marked, &mut out);
                out.push(' ');
                (start, is_marked) = (at + 1, false);
            }
            is_marked |= self.is_markup(c, at);
            at += c.len_utf8();
        }
        self.write_word(start..self.text.len(), is_marked, &mut out);
        out
    }

    fn write_word(&self, range: Range<usize>, is_marked: bool, out: &mut String) {
        const AROUND: [char; 10] = ['"', '\'', '(', ')', ',', '.', ':', '!', '?', '”'];
        let word = &self.text[range.clone()];
        if !is_marked {
            // A link that is left leads nowhere; with a space it is text.
            let has_link = self.text[range.start..range.end].contains("](")
                || word.starts_with('[') && word.contains("]:");
            if has_link && self.spans.iter().all(|span| span.end <= range.start || span.start >= range.end) {
                out.push_str(&word.replace("](", "] (").replace("]:", "] :"));
            } else {
                out.push_str(word);
            }
            return;
        }
        let core = word.trim_matches(AROUND);
        let is_first = range.start == 0;
        let core = if core.is_empty() || is_first || core.starts_with('\\') { word } else { core };
        let from = word.find(core).unwrap_or_default();
        out.extend([&word[..from], code(core).as_str(), &word[from + core.len()..]]);
    }

    /// Whether Markdown would read more than a character at this place.
    fn is_markup(&self, c: char, at: usize) -> bool {
        let next = at + c.len_utf8();
        match c {
            '`' => true,
            '<' => self.may_open_html(next),
            '&' => self.may_hide(next),
            '*' | '_' | '~' => self.marks.contains(&at),
            _ => false,
        }
    }

    /// Whether a tag, or an address other than of the web or of mail, may follow an angle bracket.
    fn may_open_html(&self, next: usize) -> bool {
        let rest = &self.text[next..];
        let word =
            rest.split(|c: char| c.is_whitespace() || matches!(c, '<' | '>')).next().unwrap_or_default();
        let is_address = rest[word.len()..].starts_with('>') && (is_web(word) || is_mail(word));
        let is_letter = |text: &str| text.starts_with(|c: char| c.is_ascii_alphabetic());
        let is_declaration = |text: &str| is_letter(text) || text.starts_with("--") || text.starts_with('[');
        let begins = match rest.split_at_checked(1) {
            Some(("!", after)) => is_declaration(after),
            Some(("/" | "?", _)) => true,
            _ => is_letter(rest),
        };
        begins && !is_address
    }

    /// Entities can stand for hidden characters; only well-known ones pass.
    fn may_hide(&self, next: usize) -> bool {
        let rest = &self.text[next..];
        let name = rest.trim_start_matches(|c: char| c.is_ascii_alphanumeric());
        let is_entity = rest.starts_with('#') || (name.len() < rest.len() && name.starts_with(';'));
        is_entity && !matches!(&rest[..rest.len() - name.len()], "lt" | "gt" | "amp" | "quot" | "apos")
    }
}

/// Whether a word is an address of mail.
fn is_mail(word: &str) -> bool {
    let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_' | '+');
    word.split_once('@').is_some_and(|(name, host)| {
        !name.is_empty()
            && name.chars().all(is_name)
            && host
                .split('.')
                .all(|part| !part.is_empty() && part.chars().all(|c| c.is_ascii_alphanumeric() || c == '-'))
    })
}

/// Whether a line begins like an item of a list of tasks.
fn begins_task(line: &str) -> bool {
    ["[ ] ", "[x] ", "[X] "].iter().any(|mark| line.starts_with(mark))
}

/// The character that would turn the line into a block if it stood alone.
fn block_marker(line: &str) -> Option<usize> {
    let first = line.chars().next()?;
    let rest = &line[first.len_utf8()..];
    let ends = |rest: &str| rest.is_empty() || rest.starts_with(' ');
    let is_marker = match first {
        '#' => ends(rest.trim_start_matches('#')),
        '+' => ends(rest),
        '-' | '=' | '*' | '_' => ends(rest) || rest.starts_with([first, '|', ':']),
        ':' => ends(rest) || rest.starts_with(['-', ':']),
        '~' => rest.starts_with("~~"),
        '>' | '|' => true,
        '0'..='9' => {
            let rest = line.trim_start_matches(|c: char| c.is_ascii_digit());
            let at = line.len() - rest.len();
            return (rest.starts_with(['.', ')']) && ends(&rest[1..])).then_some(at);
        }
        _ => false,
    };
    is_marker.then_some(0)
}
