//! One line of untrusted text: escaped just enough that it is text and nothing else.

use std::borrow::Cow;
use std::ops::Range;

use super::code::{backtick_runs, code};
use super::links::{is_web, without_links};
use super::markers::break_marker;
use super::plain::{PLAIN_INLINE, is_plain};
use toolcrib_definition::clean_line;

/// Text as one line without markup, except the code spans that its author wrote. A link becomes its text, followed by
/// its address where that is a web address. A word that Markdown would read as markup becomes code.
pub fn inline(text: &str) -> String {
    if is_plain(text, &PLAIN_INLINE) && block_marker(text).is_none() {
        return text.to_string();
    }
    let line = clean_line(text);
    let line = without_links(&line, &code_spans(&line));
    let line = Line::read(&line).without_stars();
    let line = break_marker(&line, "<! --");
    Line::read(&line).written()
}

/// A name as one line that shows every character of it: as code where Markdown would read more than its text.
pub fn name(text: &str) -> String {
    if is_plain(text, &PLAIN_INLINE) && block_marker(text).is_none() {
        return text.to_string();
    }
    let line = clean_line(text);
    let is_text = !line.contains(['[', ']', '`', '\\', '<', '&']) && Line::read(&line).written() == line;
    if is_text && block_marker(&line).is_none() { line } else { code(&line) }
}

/// The line, and facts that need a look at all of it.
struct Line<'a> {
    text: &'a str,
    /// Closed code spans.
    spans: Vec<Range<usize>>,
    /// From the first `*`, `_` or `~` that can open emphasis to the last that can close it.
    stars: Range<usize>,
    underscores: Range<usize>,
    tildes: Range<usize>,
}

impl<'a> Line<'a> {
    fn read(text: &'a str) -> Self {
        let spans = code_spans(text);
        let mut line = Self { text, spans, stars: 0..0, underscores: 0..0, tildes: 0..0 };
        line.stars = line.emphasis('*');
        line.underscores = line.emphasis('_');
        line.tildes = line.emphasis('~');
        line
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
            '*' => self.stars.contains(&at) && self.flanks(c, at) != (false, false),
            '_' => self.underscores.contains(&at) && self.flanks(c, at) != (false, false),
            '~' => self.tildes.contains(&at),
            _ => false,
        }
    }

    /// Places of `c` outside code spans.
    fn places(&self, c: char) -> impl Iterator<Item = usize> {
        let mut spans = self.spans.iter().peekable();
        self.text.match_indices(c).map(|(at, _)| at).filter(move |&at| {
            while spans.next_if(|span| span.end <= at).is_some() {}
            spans.peek().is_none_or(|span| at < span.start)
        })
    }

    fn around(&self, start: usize, end: usize) -> (Option<char>, Option<char>) {
        (self.text[..start].chars().next_back(), self.text[end..].chars().next())
    }

    /// The run of `c` around `at`; of a longer one than any name has, only a part.
    fn run(&self, c: char, at: usize) -> (usize, usize) {
        let before = self.text[..at].bytes().rev().take(8).take_while(|&b| b == c as u8).count();
        let after = self.text[at..].bytes().take(8).take_while(|&b| b == c as u8).count();
        (at - before, at + after)
    }

    /// Whether the character at `at` can open, and can close, emphasis.
    fn flanks(&self, c: char, at: usize) -> (bool, bool) {
        let (start, end) = self.run(c, at);
        let (before, after) = self.around(start, end);
        let is_space = |c: Option<char>| c.is_none_or(char::is_whitespace);
        let is_word = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
        let within_word = c == '_' && is_word(before) && is_word(after);
        (!is_space(after) && !within_word, !is_space(before) && !within_word)
    }

    fn emphasis(&self, c: char) -> Range<usize> {
        let open = self.places(c).find(|&at| self.flanks(c, at).0);
        let close = self.places(c).filter(|&at| self.flanks(c, at).1).last();
        open.zip(close).map_or(0..0, |(open, close)| open..(close + 1).max(open))
    }

    /// The line without the stars of bold and emphasized text, which are not worth their tokens here.
    fn without_stars(&self) -> Cow<'a, str> {
        let is_word = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
        let is_text = |c: Option<char>| c.is_some_and(|c| !c.is_whitespace() && c != '*');
        let mut out = String::new();
        let mut done = 0;
        let mut open = None;
        for at in self.places('*').filter(|&at| !self.text[..at].ends_with('*')) {
            let stars = self.run('*', at).1 - at;
            if stars > 2 {
                open = None;
                continue;
            }
            let (before, after) = self.around(at, at + stars);
            if is_text(after) && !is_word(before) && before != Some('\\') && (stars == 2 || is_word(after)) {
                open = Some((at, stars));
            } else if is_text(before)
                && before != Some('\\')
                && !is_word(after)
                && let Some((start, _)) = open.take_if(|(_, opened)| *opened == stars)
            {
                out.push_str(&self.text[done..start]);
                out.push_str(&self.text[start + stars..at]);
                done = at + stars;
            }
        }
        if done == 0 {
            return Cow::Borrowed(self.text);
        }
        out.push_str(&self.text[done..]);
        Cow::Owned(out)
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

/// The closed code spans of a line.
fn code_spans(text: &str) -> Vec<Range<usize>> {
    let runs: Vec<(usize, usize)> = backtick_runs(text).collect();
    let mut spans = Vec::new();
    let mut unclosed: Vec<usize> = Vec::new();
    let mut next = 0;
    while let Some(&(start, length)) = runs.get(next) {
        next += 1;
        // A backslash takes the first backtick out of the run.
        let before = &text[..start];
        let escaped = (before.len() - before.trim_end_matches('\\').len()) % 2;
        let start = start + escaped;
        let length = length - escaped;
        if length == 0 || unclosed.contains(&length) {
            continue;
        }
        match runs[next..].iter().position(|&(_, other)| other == length) {
            Some(more) => {
                spans.push(start..runs[next + more].0 + length);
                next += more + 1;
            }
            None => unclosed.push(length),
        }
    }
    spans
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
