//! HTML and Markdown escapes in descriptions as plain Markdown, which an agent reads without decoding.
//!
//! Code keeps every character. A tag counts as HTML if it has a known name and is closed, or needs no end; any other text in
//! angle brackets is the author's, such as `<id>`.

use std::borrow::Cow;
use std::collections::BTreeSet;

use pulldown_cmark::{Event, Parser};

use crate::is_hidden;

/// Tags that need no end.
const OPEN: [&str; 11] = ["br", "hr", "img", "wbr", "p", "li", "tr", "td", "th", "dt", "dd"];
/// Tags of which only the content stays.
const PLAIN: [&str; 22] = [
    "abbr", "big", "body", "center", "cite", "del", "dfn", "figure", "font", "html", "ins", "label", "mark",
    "nobr", "q", "s", "small", "span", "strike", "sub", "u", "wbr",
];
/// Tags that stand apart from the text around them.
const BLOCKS: [&str; 16] = [
    "article", "aside", "blockquote", "details", "div", "dl", "footer", "header", "hr", "main", "p",
    "section", "summary", "table", "tbody", "thead",
];
/// Longest tag, in bytes.
const MAX_TAG: usize = 2_000;
/// Longest entity, in bytes.
const MAX_ENTITY: usize = 34;
/// Deepest indentation of a list.
const MAX_DEPTH: usize = 6;
/// Characters that Markdown authors escape.
const ESCAPED: [char; 8] = ['*', '_', '[', ']', '<', '>', '~', '`'];

/// A description with its HTML, entities and escapes as Markdown.
pub fn from_html(text: &str) -> Cow<'_, str> {
    let has_escape = || text.match_indices('\\').any(|(at, _)| text[at + 1..].starts_with(ESCAPED));
    let has_entity = || text.match_indices('&').any(|(at, _)| entity(&text[at..]).is_some());
    let has_tag = || text.match_indices('<').any(|(at, _)| Tag::read(&text[at..]).is_some());
    let lower = text.to_ascii_lowercase();
    // Beyond this there is no style sheet, which nobody has to look for again and again.
    let styles = lower.rfind("</style>").unwrap_or_default();
    if !(has_tag() || has_entity() || has_escape() || styles > 0) {
        return Cow::Borrowed(text);
    }
    let mut writer = Writer { out: String::with_capacity(text.len()), ..Writer::default() };
    let closed: BTreeSet<String> =
        text.match_indices("</").filter_map(|(at, _)| Tag::read(&text[at..]).map(|tag| tag.name)).collect();
    let style_at = |at: usize| if at < styles { style(&lower[at..]) } else { None };
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let tag =
            || Tag::read(rest).filter(|tag| OPEN.contains(&tag.name.as_str()) || closed.contains(&tag.name));
        let length = match c {
            '`' if writer.code == 0 => writer.code_span(rest),
            '<' => match (style_at(text.len() - rest.len()), tag()) {
                (Some(length), _) => length,
                (None, Some(tag)) => {
                    let length = tag.length;
                    writer.tag(tag);
                    length
                }
                (None, None) => writer.text(c),
            },
            '&' => match entity(rest) {
                Some((decoded, length)) => {
                    for c in decoded.chars().filter(|&c| !is_hidden(c)) {
                        writer.text(c);
                    }
                    length
                }
                None => writer.text(c),
            },
            '\\' if writer.code == 0 && rest[1..].starts_with(ESCAPED) => writer.escaped(rest),
            _ => writer.text(c),
        };
        rest = &rest[length..];
    }
    Cow::Owned(writer.written())
}

/// A tag, opening or closing.
struct Tag {
    name: String,
    is_end: bool,
    /// Where a link leads.
    href: Option<String>,
    alt: Option<String>,
    length: usize,
}

impl Tag {
    /// The known tag that a text begins with.
    fn read(text: &str) -> Option<Self> {
        let inner = text.strip_prefix('<')?;
        let (is_end, inner) = inner.strip_prefix('/').map_or((false, inner), |inner| (true, inner));
        let letters = inner.chars().take_while(char::is_ascii_alphanumeric).take(12);
        let name: String = letters.map(|letter| letter.to_ascii_lowercase()).collect();
        let after = &inner[name.len()..];
        if !is_known(&name) || !after.starts_with([' ', '\t', '\n', '/', '>']) {
            return None;
        }
        let mut quote = None;
        let end = after.bytes().take(MAX_TAG).position(|byte| {
            match (quote, byte) {
                (None, b'"' | b'\'') => quote = Some(byte),
                (Some(open), byte) if open == byte => quote = None,
                _ => {}
            }
            quote.is_none() && byte == b'>'
        })?;
        let attributes = &after[..end];
        // Text such as `a < b and c > d` has no tag.
        if attributes.contains('<') {
            return None;
        }
        let length = text.len() - after.len() + end + 1;
        let href = attribute(attributes, "href");
        Some(Self { href, alt: attribute(attributes, "alt"), name, is_end, length })
    }
}

fn is_known(name: &str) -> bool {
    const OTHERS: [&str; 14] =
        ["a", "b", "strong", "i", "em", "code", "kbd", "pre", "samp", "tt", "var", "sup", "ul", "ol"];
    let is_heading = name.len() == 2 && name.starts_with('h') && matches!(name.as_bytes()[1], b'1'..=b'6');
    is_heading || [&OPEN[..], &PLAIN, &BLOCKS, &OTHERS].iter().any(|names| names.contains(&name))
}

/// The length of the style sheet that a text in small letters begins with, if it does.
fn style(lower: &str) -> Option<usize> {
    const END: &str = "</style>";
    let is_style = lower.starts_with("<style>") || lower.starts_with("<style ");
    is_style.then(|| lower.find(END)).flatten().map(|at| at + END.len())
}

/// The value of an attribute.
fn attribute(attributes: &str, name: &str) -> Option<String> {
    let lower = attributes.to_ascii_lowercase();
    let value_at = |at: usize| {
        let value = attributes[at + name.len()..].trim_start().strip_prefix('=')?.trim_start();
        lower[..at].ends_with(char::is_whitespace).then_some(value)
    };
    let value = lower.match_indices(name).find_map(|(at, _)| value_at(at))?;
    let value = match value.chars().next()? {
        quote @ ('"' | '\'') => value[1..].split(quote).next()?,
        _ => value.split_whitespace().next()?,
    };
    Some(value.replace("&amp;", "&"))
}

/// The text of the entity that a text begins with, and the length of the entity.
fn entity(text: &str) -> Option<(String, usize)> {
    let length = text.bytes().take(MAX_ENTITY).position(|byte| byte == b';')? + 1;
    let source = &text[..length];
    let is_name = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'#';
    if !source[1..length - 1].bytes().all(is_name) {
        return None;
    }
    let parts = Parser::new(source).filter_map(|event| match event {
        Event::Text(text) => Some(text.into_string()),
        _ => None,
    });
    let decoded: String = parts.collect();
    (decoded != source).then(|| (decoded.replace('\u{a0}', " "), length))
}

/// The Markdown so far, and what is open in it.
#[derive(Default)]
struct Writer {
    out: String,
    /// Open code elements, and the place in `out` where the outermost begins.
    code: usize,
    code_from: usize,
    is_fence: bool,
    /// Marks of emphasis, with the places where their content begins.
    marks: Vec<(&'static str, usize)>,
    /// Targets of open links, with the places of their texts.
    links: Vec<(Option<String>, usize)>,
    /// The next number of each open list; none in a list of bullets.
    lists: Vec<Option<usize>>,
    /// Cells of the row at hand, and whether the row is the first of its table.
    cells: usize,
    is_first_row: bool,
}

impl Writer {
    fn text(&mut self, c: char) -> usize {
        if c == '|' && self.cells > 0 {
            self.out.push('\\');
        }
        // Lines between elements are no more than a paragraph apart.
        if c != '\n' || self.code > 0 || !self.out.ends_with("\n\n") {
            self.out.push(c);
        }
        c.len_utf8()
    }

    /// Copies a code span or a fence of the author's, and returns its length.
    fn code_span(&mut self, rest: &str) -> usize {
        let ticks = rest.len() - rest.trim_start_matches('`').len();
        let marks = &rest[..ticks];
        let mut from = ticks;
        while let Some(at) = rest[from..].find(marks).map(|at| from + at) {
            let run = rest[at..].len() - rest[at..].trim_start_matches('`').len();
            if run == ticks {
                self.out.push_str(&rest[..at + run]);
                return at + run;
            }
            from = at + run;
        }
        self.out.push_str(marks);
        ticks
    }

    /// A word with escapes: without them if that leaves text, else as code. Returns the length of the rest of the word.
    fn escaped(&mut self, rest: &str) -> usize {
        let is_end = |c: char| c.is_whitespace() || matches!(c, '`' | '"' | '\'' | ',' | ';');
        let start = self.out.rfind(is_end).map_or(0, |at| self.out.ceil_char_boundary(at + 1));
        let mut end = 0;
        let mut chars = rest.char_indices().peekable();
        while let Some((at, c)) = chars.next() {
            let is_escape = c == '\\' && chars.next_if(|(_, next)| ESCAPED.contains(next)).is_some();
            if !is_escape && is_end(c) {
                break;
            }
            end = chars.peek().map_or(rest.len(), |(next, _)| *next);
            debug_assert!(end > at);
        }
        let word = format!("{}{}", &self.out[start..], &rest[..end]);
        let plain =
            ESCAPED.iter().fold(word.clone(), |word, c| word.replace(&format!("\\{c}"), &c.to_string()));
        let is_pattern = plain.contains('\\') || word.contains(['^', '$', '+', '{']);
        let bytes = plain.as_bytes();
        let is_within_words = |at: usize| {
            let is_word =
                |at: Option<usize>| at.and_then(|at| bytes.get(at)).is_some_and(u8::is_ascii_alphanumeric);
            is_word(at.checked_sub(1)) && is_word(Some(at + 1))
        };
        let is_name = !plain.contains(['*', '[', ']', '<', '>', '~', '`'])
            && plain.match_indices('_').all(|(at, _)| is_within_words(at));
        self.out.truncate(start);
        match () {
            () if is_pattern && !word.contains('`') => self.out.extend(["`", word.as_str(), "`"]),
            () if is_name || plain.contains('`') => self.out.push_str(&plain),
            () => {
                let core = plain.trim_end_matches(['.', ':', '!', '?', ')']).trim_start_matches('(');
                let at = plain.find(core).unwrap_or_default();
                let before = &plain[..at];
                let after = &plain[at + core.len()..];
                self.out.extend([before, "`", core, "`", after]);
            }
        }
        end
    }

    fn tag(&mut self, tag: Tag) {
        let name = tag.name.as_str();
        if self.code > 0 {
            return self.tag_in_code(name, tag.is_end);
        }
        match (name, tag.is_end) {
            ("b" | "strong", false) => self.marks.push(("**", self.out.len())),
            ("i" | "em" | "var", false) => self.marks.push(("*", self.out.len())),
            ("b" | "strong" | "i" | "em" | "var", true) => self.end_mark(),
            ("code" | "kbd" | "samp" | "tt" | "pre", false) => {
                if name == "pre" {
                    self.apart(2);
                }
                (self.code, self.code_from, self.is_fence) = (1, self.out.len(), name == "pre");
            }
            ("a", false) => self.links.push((tag.href, self.out.len())),
            ("a", true) => self.end_link(),
            ("br", _) => self.apart(1),
            ("img", false) => self.out.extend(tag.alt),
            ("sup", false) => self.out.push('^'),
            ("ul", false) => self.list(None),
            ("ol", false) => self.list(Some(1)),
            ("ul" | "ol", true) => {
                self.lists.pop();
                self.apart(if self.lists.is_empty() { 2 } else { 1 });
            }
            ("li" | "dt", false) => self.item(),
            ("dd", false) => {
                self.out.truncate(self.out.trim_end().len());
                self.out.push_str(": ");
            }
            ("tr", false) => {
                self.apart(1);
                self.cells = 0;
            }
            ("tr", true) => self.end_row(),
            ("td" | "th", false) => {
                self.out.push_str(if self.cells == 0 { "| " } else { " | " });
                self.cells += 1;
            }
            ("table", false) => {
                self.apart(2);
                self.is_first_row = true;
            }
            ("p", _) if self.cells > 0 || !self.lists.is_empty() => {
                self.out.push_str(if self.out.ends_with(char::is_whitespace) { "" } else { " " });
            }
            (name, false) if name.starts_with('h') && name.len() == 2 && name != "hr" => {
                self.apart(2);
                self.out.push_str("## ");
            }
            (name, _) if name.starts_with('h') && name.len() == 2 || BLOCKS.contains(&name) => self.apart(2),
            _ => {}
        }
    }

    fn tag_in_code(&mut self, name: &str, is_end: bool) {
        match (name, is_end) {
            ("code" | "kbd" | "samp" | "tt" | "pre", false) => self.code += 1,
            ("code" | "kbd" | "samp" | "tt" | "pre", true) => self.code -= 1,
            ("br", _) if self.is_fence => self.out.push('\n'),
            _ => {}
        }
        if self.code == 0 {
            self.end_code();
        }
    }

    fn end_code(&mut self) {
        self.code = 0;
        let code = self.out.split_off(self.code_from);
        if self.is_fence {
            self.out.extend(["```\n", code.trim_matches('\n').trim_end(), "\n```\n\n"]);
        } else if !code.trim().is_empty() {
            let ticks = if code.contains('`') { "``" } else { "`" };
            self.out.extend([ticks, code.trim(), ticks]);
        }
    }

    fn end_mark(&mut self) {
        let Some((mark, from)) = self.marks.pop() else { return };
        let content = self.out.split_off(from.min(self.out.len()));
        let inner = content.trim();
        let is_line = !content.trim().contains('\n');
        let before = if content.starts_with(char::is_whitespace) { " " } else { "" };
        let after = if content.ends_with(char::is_whitespace) { " " } else { "" };
        let mark = if inner.is_empty() || !is_line { "" } else { mark };
        self.out.extend([before, mark, inner, mark, after]);
    }

    fn end_link(&mut self) {
        let Some((href, from)) = self.links.pop() else { return };
        let text = self.out.split_off(from.min(self.out.len()));
        let is_web =
            |href: &str| ["http://", "https://", "mailto:"].iter().any(|start| href.starts_with(start));
        let escaped = |href: String| href.trim().replace(' ', "%20").replace('(', "%28").replace(')', "%29");
        match href.map(escaped) {
            Some(href) if is_web(&href) && !text.trim().is_empty() && !text.contains('\n') => {
                self.out.extend(["[", text.trim(), "](", href.as_str(), ")"]);
            }
            // Nobody knows what the address is relative to, so that it is no link.
            Some(href) if href.starts_with(['/', '.']) => {
                self.out.extend([text.trim_end(), " (", href.as_str(), ")"])
            }
            _ => self.out.push_str(&text),
        }
    }

    fn list(&mut self, number: Option<usize>) {
        self.apart(if self.lists.is_empty() { 2 } else { 1 });
        self.lists.push(number);
    }

    fn item(&mut self) {
        self.apart(1);
        let depth = self.lists.len().saturating_sub(1).min(MAX_DEPTH);
        self.out.extend(std::iter::repeat_n("  ", depth));
        match self.lists.last_mut() {
            Some(Some(number)) => {
                self.out.push_str(&format!("{number}. "));
                *number += 1;
            }
            _ => self.out.push_str("- "),
        }
    }

    fn end_row(&mut self) {
        if self.cells == 0 {
            return;
        }
        self.out.truncate(self.out.trim_end().len());
        self.out.push_str(" |");
        if std::mem::take(&mut self.is_first_row) {
            self.out.push_str("\n|");
            self.out.extend(std::iter::repeat_n(" --- |", self.cells));
        }
        self.cells = 0;
    }

    /// Ends a line, or a paragraph with two line ends.
    fn apart(&mut self, ends: usize) {
        self.out.truncate(self.out.trim_end_matches([' ', '\t']).len());
        let there = self.out.len() - self.out.trim_end_matches('\n').len();
        if !self.out.is_empty() {
            self.out.extend(std::iter::repeat_n('\n', ends.saturating_sub(there)));
        }
    }

    fn written(mut self) -> String {
        if self.code > 0 {
            self.end_code();
        }
        self.end_row();
        while !self.marks.is_empty() {
            self.end_mark();
        }
        while !self.links.is_empty() {
            self.end_link();
        }
        self.out.trim().to_string()
    }
}

/// Most names of tags of a prompt that are looked for.
const MAX_NAMES: usize = 8;

/// A text without the tags of a prompt, such as `<usecase>`: a name in angle brackets that the text also closes.
pub fn without_prompt_tags(text: &str) -> Cow<'_, str> {
    let mut names: Vec<&str> = Vec::new();
    for (at, _) in text.match_indices("</") {
        let after = &text[at + 2..];
        let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
        let name = &after[..after.bytes().take_while(|byte| is_part(byte)).count()];
        if !name.is_empty()
            && after[name.len()..].starts_with('>')
            && !names.contains(&name)
            && names.len() < MAX_NAMES
        {
            names.push(name);
        }
    }
    names.retain(|name| text.contains(&format!("<{name}>")));
    let without = |text: Cow<'_, str>, name: &&str| {
        Cow::Owned(text.replace(&format!("<{name}>"), "\n").replace(&format!("</{name}>"), "\n"))
    };
    names.iter().fold(Cow::Borrowed(text), without)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        assert_eq!(from_html(text), expected, "{text}");
    }

    #[test]
    fn nothing_of_html_is_lost_but_styles() {
        check("<STYLE>p { x: y }</style>Adds a card.", "Adds a card.");
        check("Escapes <script> tags.", "Escapes <script> tags.");
        check(
            r#"<a data-href="x" href = "https://a.example/b_(c)">it</a>"#,
            "[it](https://a.example/b_%28c%29)",
        );
        check(r#"See <a href="/docs/limits">limits</a>."#, "See limits (/docs/limits).");
        check(r#"<a href="javascript:alert(1)">x</a> y<br>"#, "x y");
        check("<table><tr><td>a|b</td></tr></table>", "| a\\|b |\n| --- |");
    }

    #[test]
    fn html_becomes_markdown() {
        check(
            "<b>Required scope: </b><code>tasks:write</code><p>Creates a task in a <a href=\"https://a.example/b\">workspace</a>.</p><ul><li>One.</li><li>Two.</li></ul>",
            "**Required scope:** `tasks:write`\n\nCreates a task in a [workspace](https://a.example/b).\n\n- One.\n- Two.",
        );
        check("One<br/>two<BR>three", "One\ntwo\nthree");
        check("<p>The <strong>name</strong> of it.</p>", "The **name** of it.");
        check("<ol><li>a<ul><li>b</li></ul></li><li>c</li></ol>", "1. a\n  - b\n2. c");
        check(
            "<table><tr><th>A</th><th>B</th></tr><tr><td>1</td><td>2</td></tr></table>",
            "| A | B |\n| --- | --- |\n| 1 | 2 |",
        );
        check("<h2>Use</h2>Text<pre><code>a &lt; b\n</code></pre>", "## Use\n\nText\n\n```\na < b\n```");
        check("10<sup>6</sup> <a href='#x'>below</a> <img src=x alt=\"a graph\">", "10^6 below a graph");
        check("Fish &amp; chips&nbsp;&#8211; &lt;id&gt; &#8203;", "Fish & chips – <id>");
    }

    #[test]
    fn text_that_is_not_html_stays() {
        for text in [
            "Get <id> of List<b>",
            "`<b>x</b>` and ```\n<br>\n```",
            "Name <a@b.example>",
            "a < b and c > d",
            "<usecase>x</usecase>",
            "C:\\path and \\d+ AT&T; a&b",
        ] {
            check(text, text);
        }
    }

    #[test]
    fn escapes_become_text_or_code() {
        check("matches \\*.md files", "matches `*.md` files");
        check("see snake\\_case and a \\<b", "see snake_case and a `<b`");
        check("the pattern ^\\[a-z\\]+$ holds", "the pattern `^\\[a-z\\]+$` holds");
    }

    #[test]
    fn unclosed_and_crossed_elements_lose_nothing() {
        check("<b>a <i>b</b> c</i>", "**a *b* c**");
        check("<code>a<p>b", "<code>a\n\nb");
        check("</b></a></code></ul></tr>x", "x");
        assert!(from_html(&"<b><a href=x><ul><li>".repeat(20_000)).len() < 600_000);
    }

    #[test]
    fn tags_of_a_prompt_end_lines() {
        assert_eq!(without_prompt_tags("<usecase>Do it.</usecase> <id>"), "\nDo it.\n <id>");
    }
}
