//! One line of untrusted text: escaped just enough that it is text and nothing else.

use std::borrow::Cow;
use std::ops::Range;

use super::{PLAIN_INLINE, backtick_runs, break_marker, is_plain, without_links};
use crate::tool::clean_line;

/// Text as one line without markup, except the code spans that its author wrote. A link becomes its text, followed by
/// its address where that is a web address.
pub(crate) fn inline(text: &str) -> String {
    if is_plain(text, &PLAIN_INLINE) && block_marker(text).is_none() {
        return text.to_string();
    }
    let line = clean_line(text);
    let line = without_links(&line, &code_spans(&line));
    escaped(&Line::read(&line).without_bold(), true)
}

/// A name as one line that shows every character of it.
pub(crate) fn name(text: &str) -> String {
    if is_plain(text, &PLAIN_INLINE) && block_marker(text).is_none() {
        return text.to_string();
    }
    escaped(&clean_line(text), false)
}

fn escaped(line: &str, keep_code: bool) -> String {
    let line = break_marker(line, "<! --");
    let line = &mut Line::read(&line);
    if !keep_code {
        line.spans.clear();
    }
    let mut out = String::with_capacity(line.text.len() + 8);
    let mut spans = line.spans.iter().peekable();
    let mut from = 0;
    while let Some(c) = line.text[from..].chars().next() {
        let at = from;
        if let Some(span) = spans.next_if(|span| span.start == at) {
            out.push_str(&line.text[span.clone()]);
            from = span.end;
            continue;
        }
        from += c.len_utf8();
        match c {
            '\\' => from += line.backslash(from, &mut out),
            '`' if !keep_code => out.push_str("\\`"),
            '<' if line.may_open_html(from) => out.push_str("&lt;"),
            '&' if line.may_hide(from) => out.push_str("&amp;"),
            _ => {
                if line.needs_escape(c, at) {
                    out.push('\\');
                }
                out.push(c);
            }
        }
    }
    if let Some(at) = block_marker(&out) {
        out.insert(at, '\\');
    }
    out
}

/// The line, and facts that need a look at all of it.
struct Line<'a> {
    text: &'a str,
    /// Closed code spans.
    spans: Vec<Range<usize>>,
    /// Whether square brackets could form a link, or end one around the line.
    brackets: bool,
    /// From the first `_` or `~` that can open emphasis to the last that can close it.
    underscores: Range<usize>,
    tildes: Range<usize>,
}

impl<'a> Line<'a> {
    fn read(text: &'a str) -> Self {
        let spans = code_spans(text);
        let mut line = Self { text, spans, brackets: false, underscores: 0..0, tildes: 0..0 };
        line.brackets = line.brackets_matter();
        line.underscores = line.emphasis('_');
        line.tildes = line.emphasis('~');
        line
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

    /// The line without the `**` of bold text, which is not worth its tokens here.
    fn without_bold(&self) -> Cow<'a, str> {
        let is_word = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
        let is_text = |c: Option<char>| c.is_some_and(|c| !c.is_whitespace() && c != '*');
        let mut out = String::new();
        let mut done = 0;
        let mut open = None;
        for at in self.places('*').filter(|&at| self.text[at + 1..].starts_with('*')) {
            let (before, after) = self.around(at, at + 2);
            if is_text(after) && !is_word(before) && !matches!(before, Some('*' | '\\')) {
                open = Some(at);
            } else if is_text(before)
                && before != Some('\\')
                && !is_word(after)
                && after != Some('*')
                && let Some(open) = open.take()
            {
                out.push_str(&self.text[done..open]);
                out.push_str(&self.text[open + 2..at]);
                done = at + 2;
            }
        }
        if done == 0 {
            return Cow::Borrowed(self.text);
        }
        out.push_str(&self.text[done..]);
        Cow::Owned(out)
    }

    fn brackets_matter(&self) -> bool {
        let mut depth = 0i64;
        let mut opens = self.places('[').peekable();
        for at in self.places(']') {
            while opens.next_if(|&open| open < at).is_some() {
                depth += 1;
            }
            depth -= 1;
            if depth < 0 || self.text[at + 1..].starts_with(['(', '[', ':']) {
                return true;
            }
        }
        let has = |text| self.text.contains(text);
        depth != 0
            || opens.next().is_some()
            || self.text.starts_with('[')
            || has("[^")
            || has("\\[")
            || has("\\]")
    }

    fn needs_escape(&self, c: char, at: usize) -> bool {
        match c {
            '`' => true,
            '*' => self.flanks(c, at) != (false, false),
            '_' => self.underscores.contains(&at) && self.flanks(c, at) != (false, false),
            '~' => self.tildes.contains(&at),
            '[' | ']' => self.brackets,
            _ => false,
        }
    }

    /// Copies a backslash with what it escapes; returns how many bytes that was.
    fn backslash(&self, next: usize, out: &mut String) -> usize {
        match self.text[next..].chars().next() {
            None => out.push_str("\\\\"),
            Some('<') => out.push_str("&lt;"),
            Some('&') => out.push_str("\\\\&amp;"),
            Some(c) if c.is_ascii_punctuation() => {
                out.push('\\');
                out.push(c);
            }
            Some(_) => {
                out.push('\\');
                return 0;
            }
        }
        usize::from(next < self.text.len())
    }

    fn may_open_html(&self, next: usize) -> bool {
        self.text[next..]
            .chars()
            .next()
            .is_none_or(|c| c.is_ascii_alphabetic() || matches!(c, '/' | '!' | '?'))
            || self.may_be_address(next)
    }

    /// Whether an address of mail between angle brackets may follow: it would be a link, also where it begins with a digit.
    fn may_be_address(&self, next: usize) -> bool {
        let rest = &self.text[next..];
        let word =
            rest.split(|c: char| c.is_whitespace() || matches!(c, '<' | '>')).next().unwrap_or_default();
        word.contains('@') && rest[word.len()..].starts_with('>')
    }

    /// Entities can stand for hidden characters; only well-known ones pass.
    fn may_hide(&self, next: usize) -> bool {
        let rest = &self.text[next..];
        let name = rest.trim_start_matches(|c: char| c.is_ascii_alphanumeric());
        let is_entity = rest.starts_with('#') || (name.len() < rest.len() && name.starts_with(';'));
        is_entity && !matches!(&rest[..rest.len() - name.len()], "lt" | "gt" | "amp" | "quot" | "apos")
    }
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
        let (start, length) = (start + escaped, length - escaped);
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
